"""What a list of row interchanges amounts to, worked out by the warps of a block.

The list is cut into groups of a warp's width. Each lane follows the two rows of its entry back through the
group, which needs no other group; then the groups are put together one after another.
"""

from __future__ import annotations

import numpy as np
from numba import cuda

from .jit import device, select

__all__ = ["WARP", "compact", "interchanged_row", "meet", "partner", "replay"]

WARP = 32
FULL = np.uint32(0xFFFFFFFF)
uint32, int32, int64 = np.uint32, np.int32, np.int64


@device
def meet(warps):
    """Barrier of the ``warps`` warps that work together: one of them, or the block."""
    if warps > int32(1):
        cuda.syncthreads()
    else:
        cuda.syncwarp(FULL)


@device
def partner(ipiv, at, own, m):
    """Row, from 0, that row ``own`` is interchanged with: itself if the entry is no row."""
    row = int32(ipiv[at] - int32(1))
    return select(row >= int32(0) and row < m, row, own)


@device
def interchanged_row(row, own, other):
    """Where a row goes when ``own`` and ``other`` are interchanged."""
    return select(row == own, other, select(row == other, own, row))


@device
def _traced(own, other, first, live, backward, lane):
    """Where the contents of two rows were before a group, and whether a lower lane has the same ``other``."""
    own_from, other_from, repeated, full = own, other, False, FULL
    s = int32(0)
    while s < live:
        j = select(backward, s, int32(int32(live - int32(1)) - s))
        here, there = int32(first + j), cuda.shfl_sync(full, other, j)
        own_from, other_from = (
            interchanged_row(own_from, here, there),
            interchanged_row(other_from, here, there),
        )
        repeated = repeated or (j < lane and there == other)
        s = int32(s + int32(1))
    return own_from, other_from, repeated


@device
def replay(rows, at, ipiv, ipiv_at, first, count, m, backward, who):
    """``rows[at + i]``, i < m, becomes the row whose contents the interchanges bring to row i.

    Entry e interchanges row ``first + e``; ``who`` is (lane, warp, warps). Ends with a barrier.
    """
    lane, warp, warps = who
    i = int32(int32(warp * int32(WARP)) + lane)
    while i < m:
        rows[uint32(at + uint32(i))] = i
        i = int32(i + int32(warps * int32(WARP)))
    meet(warps)
    groups = int32(int32(count + int32(WARP - 1)) // int32(WARP))
    start = int32(0)
    while start < groups:
        order = int32(start + warp)
        group = select(backward, int32(int32(groups - int32(1)) - order), order)
        begin = int32(group * int32(WARP))
        live = select(order < groups, min(int32(WARP), int32(count - begin)), int32(0))
        base, own, other = int32(first + begin), int32(-1), int32(-1)
        if lane < live:
            own = int32(base + lane)
            other = partner(ipiv, ipiv_at + int64(int32(begin + lane)), own, m)
        own_from, other_from, repeated = _traced(own, other, base, live, backward, lane)
        turn = int32(0)
        while turn < min(warps, int32(groups - start)):
            if turn == warp:
                _compose(rows, at, own, other, own_from, other_from, repeated, base, live, lane)
            meet(warps)
            turn = int32(turn + int32(1))
        start = int32(start + warps)


@device
def _compose(rows, at, own, other, own_from, other_from, repeated, base, live, lane):
    """Put a group behind the ones before it; each row that it touches is written once."""
    mine, theirs = own, other
    if lane < live:
        mine, theirs = rows[uint32(at + uint32(own_from))], rows[uint32(at + uint32(other_from))]
    cuda.syncwarp(FULL)
    if lane < live:
        rows[uint32(at + uint32(own))] = mine
        if not repeated and (other < base or other >= int32(base + live)):
            rows[uint32(at + uint32(other))] = theirs


@device
def _moves(rows, at, row, m, every):
    moved = False
    if row < m:
        moved = every or rows[uint32(at + uint32(row))] != row
    return moved


@device
def compact(rows, at, slots_at, moved_at, counts_at, m, every, who):
    """List the rows that move, or all, ascending from ``moved_at``; ``slots_at + i`` tells row i's place.

    Returns how many there are. A barrier is to follow.
    """
    lane, warp, warps = who
    width = int32(warps * int32(WARP))
    span = int32(int32(int32(m + width - int32(1)) // width) * int32(WARP))
    begin, full = int32(warp * span), FULL
    end, found, i = int32(begin + span), int32(0), int32(begin)
    while i < end:
        found = int32(
            found
            + int32(cuda.popc(uint32(cuda.ballot_sync(full, _moves(rows, at, int32(i + lane), m, every)))))
        )
        i = int32(i + int32(WARP))
    if lane == int32(0):
        rows[uint32(counts_at + uint32(warp))] = found
    meet(warps)
    before, total, w = int32(0), int32(0), int32(0)
    while w < warps:
        number = rows[uint32(counts_at + uint32(w))]
        before, total = int32(before + select(w < warp, number, int32(0))), int32(total + number)
        w = int32(w + int32(1))
    i, lower = int32(begin), uint32(uint32(uint32(1) << uint32(lane)) - uint32(1))
    while i < end:
        row = int32(i + lane)
        moved = _moves(rows, at, row, m, every)
        mask = uint32(cuda.ballot_sync(full, moved))
        place = int32(before + int32(cuda.popc(uint32(mask & lower))))
        if moved:
            rows[uint32(moved_at + uint32(place))] = row
            rows[uint32(slots_at + uint32(row))] = place
        before = int32(before + int32(cuda.popc(mask)))
        i = int32(i + int32(WARP))
    return total
