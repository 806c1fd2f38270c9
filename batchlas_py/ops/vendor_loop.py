"""The vendor's getrf of single matrices, item after item on a few streams: for batches of few large ones."""

from __future__ import annotations

from typing import Final

from ..dtypes import itemsize
from ..family import Call, Family, Verdict
from ..problem import DeviceInfo, Problem
from ..runtime.memory import ALIGNMENT, scratch
from ..runtime.streams import MOST, forked
from ..vendor import cusolver
from ..views import BatchView
from .common import column_major_result, needs_gpu, vendor_present

__all__ = ["FAMILY"]

INT_BYTES: Final = 4


def _can_run(problem: Problem, device: DeviceInfo) -> Verdict:
    verdict = needs_gpu(device)
    return vendor_present(device) if verdict.ok else verdict


def _launch(call: Call) -> None:
    """cusolverDn?getrf for every item; each stream has a part of the workspace."""
    ordinal, shape = call.device.ordinal, (call.problem.m, call.problem.n)
    with column_major_result(call.operands["lu"], call, call.operands["a"]) as lu:
        size = cusolver.getrf_bytes(lu.dtype, ordinal, shape, (lu.ptr, lu.ld))
        part = -(-size // ALIGNMENT) * ALIGNMENT
        lanes = min(MOST, lu.batch)
        with (
            scratch(part * lanes, call.stream, ordinal) as workspace,
            forked(call.stream, ordinal, lanes) as streams,
        ):
            for i in range(lu.batch):
                lane = i % lanes
                _factor(lu, i, call, streams[lane], workspace + lane * part)


def _factor(lu: BatchView, i: int, call: Call, stream: int, workspace: int) -> None:
    """Enqueue one item."""
    m, n = call.problem.m, call.problem.n
    ipiv, info = call.operands["ipiv"].ptr, call.operands["info"].ptr
    cusolver.getrf(
        lu.dtype,
        call.device.ordinal,
        stream,
        (m, n),
        (lu.ptr + i * lu.batch_stride * itemsize(lu.dtype), lu.ld),
        workspace,
        ipiv + i * min(m, n) * INT_BYTES,
        info + i * INT_BYTES,
    )


FAMILY: Final = Family("getrf", "vendor/loop", _can_run, _launch)
