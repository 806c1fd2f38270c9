"""The family cta of potrs: both triangles in one launch, for a few right-hand sides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from ..family import Call, Enqueue, Family
from ..kernels.block_choice import potrs_cta_spec
from ..runtime.launch import kernel
from ..runtime.registry import KernelSource
from .common import kernel_matrix
from .getrs_cta import Plan, can_run
from .triangles import as_lower

__all__ = ["FAMILY"]

int32 = np.int32


def _prepare(call: Call) -> Enqueue:
    """Everything of a launch but the stream and the addresses."""
    problem, ops, device = call.problem, call.operands, call.device
    spec = potrs_cta_spec(problem.dtype, problem.nrhs, device.arch)
    assert spec is not None, "can_run refuses it"
    lower, b, x = as_lower(ops["c"], problem.uplo), ops["b"], ops["x"]
    plan = Plan.within(spec, problem.n, device.arch, device.shared_budget, turned=True)
    code = kernel(KernelSource("potrs_cta", spec), device.ordinal)
    of_c, of_b, of_x = (kernel_matrix(view)[1:] for view in (lower, b, x))
    flags = abs(lower.row_stride) > abs(lower.col_stride), problem.uplo == "U"
    numbers = [*map(int32, (*flags, problem.n, problem.nrhs, *plan.places)), problem.batch]
    blocks, threads, shared, names = -(-problem.batch // plan.members), plan.threads, plan.shared, list(ops)

    def enqueue(stream: int, addresses: Sequence[int]) -> None:
        at = dict(zip(names, addresses, strict=True))
        code.launch(
            stream, blocks, at["c"], *of_c, at["b"], *of_b, at["x"], *of_x, *numbers, threads=threads,
            shared=shared,
        )  # fmt: skip

    return enqueue


def _launch(call: Call) -> None:
    _prepare(call)(call.stream, [view.ptr for view in call.operands.values()])


FAMILY: Final = Family("potrs", "cta", can_run, _launch, _prepare)
