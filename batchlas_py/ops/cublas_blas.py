"""The vendor families of products and triangular solves on the GPU.

cuBLAS wants columns. The transpose of a row-major matrix has them at the same addresses: a problem with a
row-major result is stated for the transposes, and a row-major operand goes in as its transpose, with the
other ``trans``. Only the rest is copied: other layouts, and conjugation without transposition.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from ..dtypes import is_complex
from ..family import Call
from ..vendor import cublas
from ..views import BatchView, transposed
from .common import clear, column_major, column_major_result, pointers

__all__ = ["gemm", "trsm"]

OTHER_SIDE: Final = {"L": "R", "R": "L"}
OTHER_TRIANGLE: Final = {"L": "U", "U": "L"}


def gemm(call: Call) -> None:
    """cublas?gemmStridedBatched."""
    problem = call.problem
    a, b, c = (call.operands[name] for name in "abc")
    transa, transb = tuple(problem.trans)
    if c.layout == "C":
        a, b, c, transa, transb = transposed(b), transposed(a), transposed(c), transb, transa
    with (
        _factor(a, transa, call) as (left, transa),
        _factor(b, transb, call) as (right, transb),
        column_major_result(c, call, c if problem.beta != 0 else None) as result,
    ):
        cublas.gemm_strided_batched(
            c.dtype,
            call.device.ordinal,
            call.stream,
            transa + transb,
            (c.rows, c.cols, problem.k),
            (problem.alpha, problem.beta),
            _place(left),
            _place(right),
            _place(result),
            problem.batch,
        )


def trsm(call: Call) -> None:
    """cublas?trsmBatched."""
    problem = call.problem
    a, b, x = (call.operands[name] for name in "abx")
    if problem.alpha == 0:
        clear(x, call)
        return
    side, uplo = problem.side, problem.uplo
    if x.layout == "C":
        a, b, x = transposed(a), transposed(b), transposed(x)
        side, uplo = OTHER_SIDE[side], OTHER_TRIANGLE[uplo]
    if _goes_in_transposed(a, problem.trans):
        uplo = OTHER_TRIANGLE[uplo]
    with (
        _factor(a, problem.trans, call) as (triangle, trans),
        column_major_result(x, call, b) as result,
        pointers(triangle, call) as triangles,
        pointers(result, call) as sides,
    ):
        cublas.trsm_batched(
            x.dtype,
            call.device.ordinal,
            call.stream,
            side + uplo + trans + problem.diag,
            (x.rows, x.cols),
            problem.alpha,
            (triangles, triangle.ld),
            (sides, result.ld),
            problem.batch,
        )


def _goes_in_transposed(view: BatchView, trans: str) -> bool:
    return view.layout == "C" and (trans != "C" or not is_complex(view.dtype))


@contextmanager
def _factor(view: BatchView, trans: str, call: Call) -> Iterator[tuple[BatchView, str]]:
    """A column-major operand and its ``trans`` that mean ``op`` of the given one."""
    if _goes_in_transposed(view, trans):
        yield transposed(view), "T" if trans == "N" else "N"
        return
    with column_major(view, call) as columns:
        yield columns, trans


def _place(view: BatchView) -> tuple[int, int, int]:
    return view.ptr, view.ld, view.batch_stride
