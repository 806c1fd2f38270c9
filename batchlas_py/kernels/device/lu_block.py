"""Pivoted elimination of one matrix in memory by the warps of a block, or by one warp.

Steps of ``getf2``, right-looking. Warp w owns the columns w, w + warps, ...; its lanes lie along their
rows, so nobody else touches a column while it is interchanged and updated. The next pivot column goes
ahead of the others: a team updates it, searches it, interchanges it and divides it, while the other
warps still update theirs. The team is the owner of the column, or every warp if the matrix is tall.

Two barriers a column. That of the team orders what its warps found before all that read it: offers
of pivots, and the row that makes way. Values that others may read are not overwritten before it: the
row that the last interchange brings down waits in a register. That of the block ends a step: the
column, now multipliers, its pivot and the columns behind it are then read by other warps than wrote
them. A pivot's number has two places in turn, since the next one is found while slow warps still read
it; so no third barrier is needed. In a warp, or a team of one warp, both are warp barriers.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numba import cuda

from ...capability import reduction_bytes
from ...dtypes import itemsize
from .arithmetic import arithmetic
from .jit import device, select, static_for
from .lu_rows import divider
from .pivot import pivot_search

__all__ = ["WARP", "area_elements", "barrier", "elimination"]

WARP = 32
MAX_WARPS = 16
TALL = 128  # rows beyond which every warp searches the pivot column
ABREAST = 4  # columns that a warp updates together
uint32, int32, int64 = np.uint32, np.int32, np.int64
FULL, NO_ROW, SINGULAR = uint32(0xFFFFFFFF), uint32(0xFFFFFFFF), uint32(0x80000000)


@device
def _in_shared(place, row, column):
    origin, _, ld = place
    return uint32(uint32(origin + row) + uint32(column * ld))


@device
def _in_global(place, row, column):
    origin, row_stride, col_stride = place
    return int64(origin + int64(row) * int64(row_stride) + int64(column) * int64(col_stride))


_ADDRESS: Final = {"shared": _in_shared, "global": _in_global}


def barrier(scope: str) -> Any:
    """The barrier of all who work on one matrix."""
    full = FULL

    @device
    def meet_block():
        cuda.syncthreads()

    @device
    def meet_warp():
        cuda.syncwarp(full)

    return meet_block if scope == "block" else meet_warp


def area_elements(dtype: str) -> int:
    """Elements that the slots of one matrix take: offers of pivots, the row that makes way, pivots."""
    return reduction_bytes(dtype) // itemsize(dtype)


class _Slots(NamedTuple):
    """Places in the area: ``corner`` in elements, after the offered values; the others in words."""

    corner: int
    rows: int
    pivots: int


def _slots(dtype: str) -> _Slots:
    words = (MAX_WARPS + 1) * itemsize(dtype) // 4
    return _Slots(MAX_WARPS, words, words + MAX_WARPS)


def _advancing(dtype: str, address: Any) -> Any:
    arith = arithmetic(dtype)
    key, multiply_subtract, nothing = arith.key, arith.multiply_subtract, arith.element(0)
    zero, one, none = uint32(0), uint32(1), NO_ROW

    @device
    def updated(tile, place, r, c, j, p, lower, upper, live):
        raw = select(r == p, lower, tile[address(place, r, c)])
        l = select(live, tile[address(place, r, j)], nothing)
        return select(c == zero, raw, multiply_subtract(raw, l, upper))

    @device
    def advance(tile, place, c, p, live, m, first, stride):
        """Column ``c`` after the step before it, and the best of this thread's rows."""
        j = uint32(c - select(c == zero, zero, one))
        upper, lower = tile[address(place, p, c)], tile[address(place, j, c)]
        held = best = nothing
        high, low, row = zero, zero, none
        r = uint32(c + first)
        while r < m:
            x = updated(tile, place, r, c, j, p, lower, upper, live)
            if r == p:
                held = x
            else:
                tile[address(place, r, c)] = x
            x_high, x_low = key(x, True)
            better = row == none or x_high > high or (x_high == high and x_low > low)
            best = select(better, x, best)
            high, low = select(better, x_high, high), select(better, x_low, low)
            row = select(better, r, row)
            r = uint32(r + stride)
        return upper, held, best, high, low, row

    return advance


def _electing(dtype: str) -> tuple[Any, Any]:
    arith, slots = arithmetic(dtype), _slots(dtype)
    key, search = arith.key, pivot_search(arith.words, WARP)
    rows, corner = uint32(slots.rows), uint32(slots.corner)
    one, none, bits, last_lane = uint32(1), NO_ROW, uint32(5), uint32(WARP - 1)

    @device
    def offer(values, words, area, seat, lane, best, high, low, row):
        """Each warp of the team puts down its best row."""
        values_at, words_at = area
        candidate = row != none
        high, low, winner = search(high, low, row, candidate, lane)
        if candidate and row == winner:
            values[uint32(values_at + seat)] = best
            words[uint32(words_at + rows + seat)] = row
        return high, low, winner

    @device
    def elect(values, words, area, lane, team, c, m, high, low, row):
        """The best offer; warps beyond the last row made none, and their slots hold older ones."""
        values_at, words_at = area
        seats = min(team, uint32(uint32(uint32(m - c) + last_lane) >> bits))
        if seats > one:
            seat, candidate = min(lane, uint32(seats - one)), lane < seats
            offered = words[uint32(words_at + rows + seat)]
            own_high, own_low = key(values[uint32(values_at + seat)], candidate)
            high, low, row = search(own_high, own_low, offered, candidate, lane)
        seat = uint32(uint32(uint32(row - c) >> bits) & uint32(team - one))
        return values[uint32(values_at + seat)], values[uint32(values_at + corner)], high, low, row

    return offer, elect


def _settling(dtype: str, address: Any) -> Any:
    arith, divide = arithmetic(dtype), divider(dtype)
    scale, times_real, reciprocal = arith.scale, arith.times_real, arith.reciprocal

    @device
    def settle(tile, place, c, p, q, pivot, corner, held, high, singular, m, first, stride):
        """Interchange rows ``c`` and ``q`` of column ``c``, and divide what is below by the pivot."""
        s = scale(high)
        inverse = reciprocal(times_real(pivot, s))
        r = uint32(c + first)
        while r < m:
            at = address(place, r, c)
            x = select(r == q, corner, select(r == p, held, tile[at]))
            x = select(singular, x, divide(x, s, inverse))
            tile[at] = select(r == c, pivot, x)
            r = uint32(r + stride)

    return settle


def _updating(dtype: str, address: Any, count: int) -> Any:
    """Subtract the outer product of step ``j`` from ``count`` columns, ``c`` and on in steps of ``warps``."""
    arith, one, warp_size = arithmetic(dtype), uint32(1), uint32(WARP)
    multiply_subtract, element, nothing = arith.multiply_subtract, arith.element, arith.element(0)

    @device
    def take(g, x, tile, place, r, c, warps):
        x[g] = tile[address(place, r, uint32(c + uint32(g) * warps))]

    @device
    def put(g, x, l, u, tile, place, r, c, warps):
        tile[address(place, r, uint32(c + uint32(g) * warps))] = multiply_subtract(x[g], l, u[g])

    take_all = static_for(take, range(count), "x, tile, place, r, c, warps")
    put_all = static_for(put, range(count), "x, l, u, tile, place, r, c, warps")

    @device
    def update(tile, place, j, live, c, m, lane, warps):
        u, x = cuda.local.array(count, element), cuda.local.array(count, element)
        take_all(u, tile, place, j, c, warps)
        r = uint32(uint32(j + one) + lane)
        while r < m:
            l = select(live, tile[address(place, r, j)], nothing)
            take_all(x, tile, place, r, c, warps)
            put_all(x, l, u, tile, place, r, c, warps)
            r = uint32(r + warp_size)

    return update


def _following(dtype: str, address: Any) -> Any:
    several, single = _updating(dtype, address, ABREAST), _updating(dtype, address, 1)
    one, two, abreast, warp_size = uint32(1), uint32(2), uint32(ABREAST), uint32(WARP)
    others = uint32(ABREAST - 1)

    @device
    def swap(tile, place, j, p, n, lane, warp, warps):
        """Interchange rows ``j`` and ``p`` in all columns of this warp but those that the team did."""
        c = uint32(warp + lane * warps)
        while c < n and p != j:
            if c != j and c != uint32(j + one):
                at, other = address(place, j, c), address(place, p, c)
                tile[at], tile[other] = tile[other], tile[at]
            c = uint32(c + warp_size * warps)

    @device
    def update_columns(tile, place, j, live, m, n, lane, warp, warps):
        """Subtract the outer product of step ``j`` from this warp's columns behind the next one."""
        c, mask = uint32(j + two), uint32(warps - one)
        c = uint32(c + uint32(uint32(uint32(warp + warps) - uint32(c & mask)) & mask))
        while uint32(c + others * warps) < n:
            several(tile, place, j, live, c, m, lane, warps)
            c = uint32(c + abreast * warps)
        while c < n:
            single(tile, place, j, live, c, m, lane, warps)
            c = uint32(c + warps)

    return swap, update_columns


def elimination(dtype: str, scope: str, storage: str) -> Any:
    """Elimination of a matrix in ``storage`` ``"shared"`` or ``"global"`` by a ``"block"`` or a ``"warp"``.

    Returns
    -------
    device function
        ``(tile, place, m, n, values, words, area, who, ipiv, pivot_at, base) -> info``. ``place`` is
        (index of the first element, row stride, column stride), ``who`` (lane, warp, warps), the last a
        power of two. ``values[area[0]:]`` and ``words[area[1]:]`` are the same memory of `area_elements`.
        Pivots go to ``ipiv[pivot_at:]``, counted from ``base``; info counts from 1. Whoever works on the
        matrix may read all of it afterwards.
    """
    address, slots, meet = _ADDRESS[storage], _slots(dtype), barrier(scope)
    advance, settle = _advancing(dtype, address), _settling(dtype, address)
    (offer, elect), (swap, update_columns) = _electing(dtype), _following(dtype, address)
    zero, one, full, mark, tall = uint32(0), uint32(1), FULL, SINGULAR, uint32(TALL)
    corner_at, pivots_at, warp_size = uint32(slots.corner), uint32(slots.pivots), uint32(WARP)

    @device
    def pivot_column(
        tile, place, c, p, live, m, values, words, area, lane, seat, team, ipiv, pivot_at, base
    ):  # fmt: skip
        first, stride = uint32(seat * warp_size + lane), uint32(team * warp_size)
        upper, held, best, high, low, row = advance(tile, place, c, p, live, m, first, stride)
        high, low, row = offer(values, words, area, seat, lane, best, high, low, row)
        if first == zero:
            values[uint32(area[0] + corner_at)] = select(p == c, held, tile[address(place, c, c)])
        if team > one:
            meet()
        else:
            cuda.syncwarp(full)
        pivot, corner, high, low, q = elect(values, words, area, lane, team, c, m, high, low, row)
        singular = (high | low) == zero
        if first == zero:
            tile[address(place, uint32(c - select(c == zero, zero, one)), c)] = upper
            words[uint32(area[1] + pivots_at + uint32(c & one))] = select(singular, uint32(q | mark), q)
            ipiv[pivot_at + int64(c)] = int32(uint32(q + one) + uint32(base))
        settle(tile, place, c, p, q, pivot, corner, held, high, singular, m, first, stride)

    @device
    def eliminate(tile, place, m, n, values, words, area, who, ipiv, pivot_at, base):
        lane, warp, warps = who
        steps, team = min(m, n), select(m > tall, warps, one)
        info, p, c, live = zero, zero, zero, False
        while c <= steps:
            j = uint32(c - select(c == zero, zero, one))
            if c > zero:
                found = words[uint32(area[1] + pivots_at + uint32(j & one))]
                p, live = uint32(found & ~mark), found < mark
                info = select(info == zero and not live, c, info)
            if c < steps and (team > one or warp == uint32(c & uint32(warps - one))):
                seat = select(team > one, warp, zero)
                pivot_column(
                    tile, place, c, p, live, m, values, words, area, lane, seat, team, ipiv, pivot_at, base
                )  # fmt: skip
            if c > zero:
                swap(tile, place, j, p, n, lane, warp, warps)
                cuda.syncwarp(full)
                update_columns(tile, place, j, live, m, n, lane, warp, warps)
            meet()
            c = uint32(c + one)
        return info

    return eliminate
