"""The vendor families of LU on the GPU: cuBLAS's batched calls between layout changes."""

from __future__ import annotations

from ..family import Call
from ..vendor import cublas
from .common import column_major, column_major_result, invalidate, pointers

__all__ = ["gesv", "getrf", "getri", "getrs"]


def getrf(call: Call) -> None:
    """cublas?getrfBatched."""
    n, batch, ops = call.problem.n, call.problem.batch, call.operands
    with column_major_result(ops["lu"], call, ops["a"]) as lu, pointers(lu, call) as table:
        cublas.getrf_batched(
            lu.dtype,
            call.device.ordinal,
            call.stream,
            n,
            table,
            lu.ld,
            ops["ipiv"].ptr,
            ops["info"].ptr,
            batch,
        )


def getrs(call: Call) -> None:
    """cublas?getrsBatched."""
    problem, ops = call.problem, call.operands
    with (
        column_major(ops["lu"], call) as lu,
        column_major_result(ops["x"], call, ops["b"]) as x,
        pointers(lu, call) as factors,
        pointers(x, call) as sides,
    ):
        cublas.getrs_batched(
            lu.dtype,
            call.device.ordinal,
            call.stream,
            problem.trans or "N",
            (problem.n, problem.nrhs),
            (factors, lu.ld),
            ops["ipiv"].ptr,
            (sides, x.ld),
            problem.batch,
        )


def getri(call: Call) -> None:
    """cublas?getriBatched; the inverse of a singular item is NaN."""
    ops = call.operands
    with (
        column_major(ops["lu"], call) as lu,
        column_major_result(ops["inv"], call) as inv,
        pointers(lu, call) as factors,
        pointers(inv, call) as inverses,
    ):
        cublas.getri_batched(
            lu.dtype,
            call.device.ordinal,
            call.stream,
            call.problem.n,
            (factors, lu.ld),
            ops["ipiv"].ptr,
            (inverses, inv.ld),
            ops["info"].ptr,
            call.problem.batch,
        )
    invalidate(ops["inv"], ops["info"], call)


def gesv(call: Call) -> None:
    """Factor, then solve; the solution of a singular item is NaN."""
    getrf(call)
    getrs(call)
    invalidate(call.operands["x"], call.operands["info"], call)
