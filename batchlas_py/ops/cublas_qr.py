"""The vendor families of QR on the GPU: cuBLAS's batched geqrf, cuSOLVER's orgqr and ormqr item by item."""

from __future__ import annotations

from typing import Final

from ..dtypes import is_complex
from ..family import Call
from ..vendor import cublas, cusolver
from ..views import block
from .common import column_major, column_major_result, copy, pointers
from .vendor_loop import each_item, item_at

__all__ = ["geqrf", "orgqr", "ormqr"]

INFO_BYTES: Final = 256  # in front of a stream's workspace


def geqrf(call: Call) -> None:
    """cublas?geqrfBatched."""
    ops, problem = call.operands, call.problem
    tau = ops["tau"]
    with (
        column_major_result(ops["qr"], call, ops["a"]) as qr,
        pointers(qr, call) as factors,
        pointers(tau, call) as weights,
    ):
        cublas.geqrf_batched(
            qr.dtype,
            call.device.ordinal,
            call.stream,
            (problem.m, problem.n),
            (factors, qr.ld),
            weights,
            problem.batch,
        )


def orgqr(call: Call) -> None:
    """cusolverDn?orgqr for every item."""
    ops, problem, ordinal = call.operands, call.problem, call.device.ordinal
    shape, tau = (problem.m, problem.n, problem.k), ops["tau"]
    with column_major_result(ops["q"], call) as q:
        if problem.k:
            rows, vectors = slice(0, problem.m), slice(0, problem.k)
            copy(block(ops["qr"], rows, vectors), block(q, rows, vectors), call)
        size = cusolver.orgqr_bytes(q.dtype, ordinal, shape, (q.ptr, q.ld), tau.ptr)

        def form(i: int, stream: int, workspace: int) -> None:
            cusolver.orgqr(
                q.dtype, ordinal, stream, shape, (item_at(q, i), q.ld), item_at(tau, i),
                (workspace + INFO_BYTES, size), workspace,
            )  # fmt: skip

        each_item(call, INFO_BYTES + size, form)


def ormqr(call: Call) -> None:
    """cusolverDn?ormqr for every item."""
    ops, problem, ordinal = call.operands, call.problem, call.device.ordinal
    shape, tau, dtype = (problem.m, problem.n, problem.k), ops["tau"], problem.dtype
    letters = problem.side + ("T" if problem.trans == "C" and not is_complex(dtype) else problem.trans)
    with column_major(ops["qr"], call) as qr, column_major_result(ops["x"], call, ops["c"]) as x:
        size = cusolver.ormqr_bytes(dtype, ordinal, letters, shape, (qr.ptr, qr.ld), tau.ptr, (x.ptr, x.ld))

        def multiply(i: int, stream: int, workspace: int) -> None:
            cusolver.ormqr(
                dtype, ordinal, stream, letters, shape, (item_at(qr, i), qr.ld), item_at(tau, i),
                (item_at(x, i), x.ld), (workspace + INFO_BYTES, size), workspace,
            )  # fmt: skip

        each_item(call, INFO_BYTES + size, multiply)
