"""The native family of gemm: one launch, any strides."""

from __future__ import annotations

import numpy as np

from ..family import Call, Family, Verdict
from ..kernels.block_choice import gemm_spec
from ..problem import DeviceInfo, Problem
from ..runtime.launch import kernel
from ..runtime.registry import KernelSource
from ..views import BatchView, transposed
from .common import kernel_matrix, needs_gpu

__all__ = ["FAMILY"]

int32 = np.int32


def _can_run(problem: Problem, device: DeviceInfo) -> Verdict:
    return needs_gpu(device)


def _factor(view: BatchView, trans: str) -> tuple[BatchView, bool]:
    """``op(view)`` as strides, and whether its elements are conjugated."""
    return view if trans == "N" else transposed(view), trans == "C"


def _launch(call: Call) -> None:
    """C = alpha op(A) op(B) + beta C; where C is row-major, C^T = op(B)^T op(A)^T."""
    problem, c = call.problem, call.operands["c"]
    inner = problem.k if problem.alpha != 0 else 0
    left = _factor(call.operands["a"], problem.trans[0])
    right = _factor(call.operands["b"], problem.trans[1])
    if abs(c.row_stride) > abs(c.col_stride):
        c = transposed(c)
        left, right = ((transposed(view), conj) for view, conj in (right, left))
    spec = gemm_spec(c.dtype)
    rows, cols = spec.tile
    row_tiles, col_tiles = -(-c.rows // rows), -(-c.cols // cols)
    scalars = [part for value in (problem.alpha, problem.beta) for part in _parts(value)]
    kernel(KernelSource("gemm_cta", spec), call.device.ordinal).launch(
        call.stream, c.batch * row_tiles * col_tiles,
        *kernel_matrix(left[0]), int32(left[1]), *kernel_matrix(right[0]), int32(right[1]), *kernel_matrix(c),
        *scalars, int32(c.rows), int32(c.cols), int32(inner), int32(row_tiles), row_tiles * col_tiles,
    )  # fmt: skip


def _parts(value: complex) -> tuple[np.float64, np.float64]:
    return np.float64(value.real), np.float64(value.imag)


FAMILY = Family("gemm", "cta", _can_run, _launch)
