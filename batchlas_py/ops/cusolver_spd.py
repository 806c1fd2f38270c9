"""The vendor families of Cholesky on the GPU: cuSOLVER's batched calls, and cuBLAS's solves.

cuSOLVER writes to more of its matrices than it should: to the other triangle, and to factors that it is to
solve with. It gets copies, in columns.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from ..family import Call
from ..runtime.memory import scratch
from ..vendor import cusolver
from . import cublas_blas
from .common import (
    column_major_result,
    column_major_scratch,
    copy,
    invalidate,
    pointers,
)
from .triangles import as_lower, merge, solves

__all__ = ["posv", "potrf", "potrs"]

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
    """CuSOLVER writes to the factors, so that it gets a copy."""
    problem, ops = call.problem, call.operands
    with (
        column_major_scratch(ops["c"], call) as factor,
        column_major_result(ops["x"], call, ops["b"]) as x,
        pointers(factor, call) as factors,
        pointers(x, call) as sides,
        scratch(INFO_BYTES, call.stream, call.device.ordinal) as argument_error,
    ):
        copy(ops["c"], factor, call)
        cusolver.potrs_batched(
            x.dtype,
            call.device.ordinal,
            call.stream,
            problem.uplo,
            (problem.n, problem.nrhs),
            (factors, factor.ld),
            (sides, x.ld),
            argument_error,
            problem.batch,
        )
