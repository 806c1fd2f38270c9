"""The families cta and lpanel of potrf: a whole matrix in shared memory, or panels of it in registers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from ..capability import POTRF_BLOCKS_PER_SM, potrf_bytes
from ..family import YES, Call, Enqueue, Family, Verdict, no
from ..kernels.cholesky_choice import PANELS, cta_warps, lpanel_spec, potrf_cta_spec
from ..problem import DeviceInfo, Problem
from ..runtime.launch import kernel
from ..runtime.registry import KernelSource
from ..views import BatchView
from .common import kernel_matrix, native
from .triangles import as_lower

__all__ = ["CTA", "LPANELS", "cta_can_run", "factor"]

WARP: Final = 32


class _Plan(NamedTuple):
    """How a batch is launched: the kernel, threads and bytes of dynamic shared memory of a block."""

    source: KernelSource
    threads: int
    shared: int = 0


def cta_can_run(problem: Problem, device: DeviceInfo) -> Verdict:
    """Whether `POTRF_BLOCKS_PER_SM` triangles fit into the shared memory that a block can use."""
    verdict = native(problem, device)
    if not verdict.ok:
        return verdict
    if potrf_cta_spec(problem.dtype, device.arch) is None:
        return no(
            f"a row of a tile needs more registers than a thread has for {problem.dtype} on {device.arch}"
        )
    need, share = potrf_bytes(problem.dtype, problem.n), device.shared_budget // POTRF_BLOCKS_PER_SM
    if need <= share:
        return YES
    return no(
        f"n = {problem.n} needs {need:,} B of shared memory, "
        f"a block's share for {POTRF_BLOCKS_PER_SM} blocks per multiprocessor is {share:,} B"
    )


def _cta_plan(dtype: str, n: int, arch: str) -> _Plan:
    spec = potrf_cta_spec(dtype, arch)
    assert spec is not None, f"no kernel for {dtype} on {arch}"
    threads = WARP * cta_warps(n, spec)
    return _Plan(KernelSource("potrf_cta", spec), threads, potrf_bytes(dtype, n))


def _lpanel_plan(dtype: str, n: int, columns: int) -> _Plan:
    return _Plan(KernelSource("potrf_lpanel", lpanel_spec(dtype, columns)), -(-n // WARP) * WARP)


def _prepared(plan: _Plan, lower: BatchView, ordinal: int) -> Enqueue:
    """``(stream, (address of the matrices, address of info))``."""
    code, rest, n = kernel(plan.source, ordinal), kernel_matrix(lower)[1:], np.int32(lower.rows)

    def enqueue(stream: int, addresses: Sequence[int]) -> None:
        matrices, info = addresses
        code.launch(stream, lower.batch, matrices, *rest, info, n, threads=plan.threads, shared=plan.shared)

    return enqueue


def _family(name: str, can_run: Any, plan_of: Any) -> Family:
    def prepare(call: Call) -> Enqueue:
        lower = as_lower(call.operands["c"], call.problem.uplo)
        return _prepared(plan_of(call.problem, call.device), lower, call.device.ordinal)

    def launch(call: Call) -> None:
        prepare(call)(call.stream, [view.ptr for view in call.operands.values()])

    return Family("potrf", name, can_run, launch, prepare)


def _lpanel(columns: int) -> Family:
    def can_run(problem: Problem, device: DeviceInfo) -> Verdict:
        verdict, most = native(problem, device), lpanel_spec(problem.dtype, columns).threads
        if verdict.ok and problem.n > most:
            return no(f"n = {problem.n} needs {problem.n} threads, a block of this kernel has {most}")
        return verdict

    def plan(problem: Problem, device: DeviceInfo) -> _Plan:
        return _lpanel_plan(problem.dtype, problem.n, columns)

    return _family(f"lpanel:panel={columns}", can_run, plan)


def factor(lower: BatchView, info: BatchView, call: Call) -> None:
    """Factor blocks in place by their lower triangle, in one launch: whole, or else by panels."""
    device, n = call.device, lower.rows
    problem = Problem("potrf", lower.dtype, n, n, lower.batch, uplo="L", layout=lower.layout)
    if cta_can_run(problem, device).ok:
        plan = _cta_plan(lower.dtype, n, device.arch)
    else:
        plan = _lpanel_plan(lower.dtype, n, PANELS[0])
    _prepared(plan, lower, device.ordinal)(call.stream, (lower.ptr, info.ptr))


CTA: Final = _family(
    "cta", cta_can_run, lambda problem, device: _cta_plan(problem.dtype, problem.n, device.arch)
)
LPANELS: Final = tuple(map(_lpanel, PANELS))
