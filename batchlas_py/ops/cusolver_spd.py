"""The vendor families of Cholesky on the GPU: cuSOLVER's batched calls, and cuBLAS's solves.

The transpose of a row-major matrix is column-major at the same addresses, and its other triangle has the
transposed factor: solves take such factors as they lie. Only other strides are copied.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

from ..dtypes import is_complex
from ..family import Call
from ..runtime.memory import scratch
from ..vendor import cusolver
from ..views import BatchView, transposed
from . import cublas_blas
from .common import (
    column_major,
    column_major_result,
    column_major_scratch,
    copy,
    invalidate,
    pointers,
)
from .triangles import as_lower, merge, solves

__all__ = ["posv", "potrf", "potrs"]

OTHER_TRIANGLE: Final = {"L": "U", "U": "L"}
INFO_BYTES: Final = 4


def potrf(call: Call) -> None:
    """cusolverDn?potrfBatched of a copy, because it writes to the other triangle too."""
    lower, info = as_lower(call.operands["c"], call.problem.uplo), call.operands["info"]
    with column_major_scratch(lower, call) as factors, pointers(factors, call) as table:
        copy(lower, factors, call)
        cusolver.potrf_batched(
            lower.dtype,
            call.device.ordinal,
            call.stream,
            "L",
            lower.rows,
            (table, factors.ld),
            info.ptr,
            lower.batch,
        )
        merge(factors, info, lower, 0, call)


def potrs(call: Call) -> None:
    """cusolverDn?potrsBatched, which takes one right-hand side; more by two solves of cuBLAS."""
    if call.problem.nrhs == 1:
        _one_side(call)
        return
    ops = call.operands
    for solve, source in zip(solves(call.problem), ("b", "x"), strict=True):
        cublas_blas.trsm(
            replace(call, problem=solve, operands={"a": ops["c"], "b": ops[source], "x": ops["x"]})
        )


def posv(call: Call) -> None:
    """Factor, then solve; the solution of an item that is not positive definite is NaN."""
    potrf(call)
    potrs(call)
    invalidate(call.operands["x"], call.operands["info"], call)


def _one_side(call: Call) -> None:
    problem, ops = call.problem, call.operands
    with (
        _factor(ops["c"], problem.uplo, call) as (factor, uplo),
        column_major_result(ops["x"], call, ops["b"]) as x,
        pointers(factor, call) as factors,
        pointers(x, call) as sides,
        scratch(INFO_BYTES, call.stream, call.device.ordinal) as argument_error,
    ):
        cusolver.potrs_batched(
            x.dtype,
            call.device.ordinal,
            call.stream,
            uplo,
            (problem.n, problem.nrhs),
            (factors, factor.ld),
            (sides, x.ld),
            argument_error,
            problem.batch,
        )


@contextmanager
def _factor(c: BatchView, uplo: str, call: Call) -> Iterator[tuple[BatchView, str]]:
    """A column-major factor of the matrix; a row-major complex one is that of the conjugate, and copied."""
    if c.layout == "C" and not is_complex(c.dtype):
        yield transposed(c), OTHER_TRIANGLE[uplo]
        return
    with column_major(c, call) as columns:
        yield columns, uplo
