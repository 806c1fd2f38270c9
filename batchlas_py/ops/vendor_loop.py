"""The vendor's routines for single matrices, item after item on a few streams: for batches of few large ones.

The family is getrf's; other operations take their items through `each_item`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from ..dtypes import itemsize
from ..family import Call, Family, Verdict
from ..problem import DeviceInfo, Problem
from ..runtime.memory import ALIGNMENT, scratch
from ..runtime.streams import MOST, forked
from ..vendor import cusolver
from ..views import BatchView
from .common import column_major_result, needs_gpu, vendor_present

__all__ = ["FAMILY", "each_item", "item_at"]

INT_BYTES: Final = 4


def _can_run(problem: Problem, device: DeviceInfo) -> Verdict:
    verdict = needs_gpu(device)
    return vendor_present(device) if verdict.ok else verdict


def each_item(call: Call, size: int, enqueue: Callable[[int, int, int], None]) -> None:
    """``enqueue(item, stream, workspace)`` for every item; each stream has workspace of ``size`` bytes."""
    batch, ordinal = call.problem.batch, call.device.ordinal
    part, lanes = -(-size // ALIGNMENT) * ALIGNMENT, min(MOST, batch)
    with (
        scratch(part * lanes, call.stream, ordinal) as workspace,
        forked(call.stream, ordinal, lanes) as streams,
    ):
        for i in range(batch):
            lane = i % lanes
            enqueue(i, streams[lane], workspace + lane * part)


def item_at(view: BatchView, i: int) -> int:
    """Address of an item."""
    return view.ptr + i * view.batch_stride * itemsize(view.dtype)


def _launch(call: Call) -> None:
    """cusolverDn?getrf for every item."""
    ordinal, shape = call.device.ordinal, (call.problem.m, call.problem.n)
    with column_major_result(call.operands["lu"], call, call.operands["a"]) as lu:
        size = cusolver.getrf_bytes(lu.dtype, ordinal, shape, (lu.ptr, lu.ld))
        each_item(call, size, partial(_factor, lu, call))


def _factor(lu: BatchView, call: Call, i: int, stream: int, workspace: int) -> None:
    """Enqueue one item."""
    m, n = call.problem.m, call.problem.n
    ipiv, info = call.operands["ipiv"].ptr, call.operands["info"].ptr
    cusolver.getrf(
        lu.dtype,
        call.device.ordinal,
        stream,
        (m, n),
        (item_at(lu, i), lu.ld),
        workspace,
        ipiv + i * min(m, n) * INT_BYTES,
        info + i * INT_BYTES,
    )


FAMILY: Final = Family("getrf", "vendor/loop", _can_run, _launch)
