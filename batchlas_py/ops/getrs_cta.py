"""The family cta of getrs: permutation and both triangles in one launch, for a few right-hand sides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from ..dtypes import itemsize
from ..family import YES, Call, Enqueue, Family, Verdict, no
from ..kernels.block_choice import NARROW, getrs_cta_spec, getrs_cta_warps
from ..kernels.block_specs import ORDER, WARP, GetrsCtaSpec
from ..problem import DeviceInfo, Problem
from ..runtime.launch import kernel
from ..runtime.registry import KernelSource
from ..views import BatchView, transposed
from .common import kernel_matrix, native

__all__ = ["FAMILY", "Plan", "can_run", "lower_factors"]

int32 = np.int32
MEMBERS: Final = 4  # matrices of a block, a warp each


def can_run(problem: Problem, device: DeviceInfo) -> Verdict:
    """Whether the sides fit into the registers of a thread, and into the shared memory of a block."""
    verdict = native(problem, device)
    if not verdict.ok:
        return verdict
    spec = getrs_cta_spec(problem.dtype, problem.nrhs, device.arch)
    if spec is None:
        return no(f"nrhs = {problem.nrhs} is above {max(NARROW[problem.dtype])}")
    need = Plan(spec, problem.n, turned=True).shared
    if need <= device.shared_budget:
        return YES
    return no(
        f"n = {problem.n} with nrhs = {problem.nrhs} needs {need:,} B of shared memory, "
        f"a block has {device.shared_budget:,} B"
    )


@dataclass(frozen=True, slots=True)
class Plan:
    """How a matrix is laid out in a block.

    Attributes
    ----------
    spec : GetrsCtaSpec
        The kernel.
    n : int
        Order of the matrices.
    turned : bool
        Whether the factors, as a lower triangle, have contiguous rows.
    members, warps : int
        Matrices of a block, and warps that work on one.
    """

    spec: GetrsCtaSpec
    n: int
    turned: bool
    members: int = 1
    warps: int = 1

    @classmethod
    def within(cls, spec: GetrsCtaSpec, n: int, arch: str, budget: int, *, turned: bool) -> Plan:
        """As many matrices, or warps, as are useful and fit into the shared memory of a block."""
        parts = MEMBERS if n <= ORDER else getrs_cta_warps(n, arch)
        plans = (
            cls(spec, n, turned, *((some, 1) if n <= ORDER else (1, some))) for some in range(parts, 0, -1)
        )
        return next((plan for plan in plans if plan.shared <= budget), cls(spec, n, turned))

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return WARP * self.members * self.warps

    @property
    def shared(self) -> int:
        """Bytes of dynamic shared memory of a block."""
        return self.members * self.places[-1] * itemsize(self.spec.dtype)

    @property
    def places(self) -> tuple[int, int, int]:
        """Elements before the slices, before the sides, and in all that a matrix takes."""
        slices = self.warps if self.turned and self.n > ORDER else 0
        spec, n = self.spec, self.n
        return spec.slices_at(n), spec.sides_at(n, slices), spec.area(n, slices)


def lower_factors(lu: BatchView, trans: str) -> tuple[BatchView, bool]:
    """The factors with the lower triangle first, and whether their rows are contiguous then."""
    factors = lu if trans == "N" else transposed(lu)
    return factors, abs(factors.row_stride) > abs(factors.col_stride)


def _prepare(call: Call) -> Enqueue:
    """Everything of a launch but the stream and the addresses."""
    problem, ops, device = call.problem, call.operands, call.device
    spec = getrs_cta_spec(problem.dtype, problem.nrhs, device.arch)
    assert spec is not None, "can_run refuses it"
    factors, turned = lower_factors(ops["lu"], problem.trans)
    plan = Plan.within(spec, problem.n, device.arch, device.shared_budget, turned=turned)
    code = kernel(KernelSource("getrs_cta", spec), device.ordinal)
    lu, b, x = (kernel_matrix(view)[1:] for view in (factors, ops["b"], ops["x"]))
    flags = turned, problem.trans != "N", problem.trans == "C"
    numbers = [*map(int32, (*flags, problem.n, problem.nrhs, *plan.places)), problem.batch]
    blocks, threads, shared, names = -(-problem.batch // plan.members), plan.threads, plan.shared, list(ops)

    def enqueue(stream: int, addresses: Sequence[int]) -> None:
        at = dict(zip(names, addresses, strict=True))
        code.launch(
            stream, blocks, at["lu"], *lu, at["ipiv"], at["b"], *b, at["x"], *x, *numbers,
            threads=threads, shared=shared,
        )  # fmt: skip

    return enqueue


def _launch(call: Call) -> None:
    _prepare(call)(call.stream, [view.ptr for view in call.operands.values()])


FAMILY: Final = Family("getrs", "cta", can_run, _launch, _prepare)
