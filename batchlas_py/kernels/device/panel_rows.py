"""Pivoted elimination of a tall panel by a thread block: each thread holds whole rows in registers.

Steps of ``getf2`` with a lazy swap. Every warp finds its best row for the next column and offers it, key and
all, in a slot of its own; one barrier later each warp elects the winner among the offers and reads the pivot
row from the winner's slot. Offers have two sets of slots in turn, so that one barrier a column is enough: a
slot is written again only after the barrier behind its last readers. The search for the next pivot starts as
soon as its column is updated, before the rest of the update. A block of one warp needs no election.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import cuda

from .arithmetic import arithmetic
from .jit import device, select, static_for
from .lu_rows import divider
from .pivot import pivot_search

__all__ = ["FIRST_ZERO", "STATE", "PanelSteps", "mailbox_pitch", "panel_steps"]

uint32, int32, int64 = np.uint32, np.int32, np.int64
WARP = 32
WARP_BITS = 5
FULL = NO_ROW = uint32(0xFFFFFFFF)

# Slots of a thread's state: key and code of its warp's best row, and the first zero pivot, 1-based.
# A code is the row's number with the warp's below it, so that the lowest code is the lowest row.
HIGH, LOW, CODE, FIRST_ZERO = range(4)
STATE = 4


def mailbox_pitch(dtype: str, columns: int) -> int:
    """Elements between two offered rows: whole 16-byte vectors."""
    per_vector = max(1, 16 // np.dtype(dtype).itemsize)
    return -(-columns // per_vector) * per_vector


class PanelSteps(NamedTuple):
    """Device functions of the elimination.

    Attributes
    ----------
    start : device function
        ``(a, row, state, lane, warp)``: find the first pivot of this warp.
    run : device function
        ``(a, row, l, state, mailbox, keys, codes, place, ipiv, at, base, steps)``: factor the rows in ``a``;
        ``place`` is (lane, warp, warps of the block). Pivots go to ``ipiv[at:]``, counted from ``base``.
    """

    start: Any
    run: Any


def _searching(dtype: str, columns: int, rows: int) -> Any:
    arith = arithmetic(dtype)
    key, search = arith.key, pivot_search(arith.words, WARP)
    none, zero, bits = NO_ROW, uint32(0), uint32(WARP_BITS)

    @device
    def consider(r, j, a, row, state, warp):
        candidate = int32(row[r]) >= j
        high, low = key(a[r * int32(columns) + j], candidate)
        code = select(candidate, uint32(uint32(row[r] << bits) | warp), none)
        nearer = low > state[LOW] or (low == state[LOW] and code < state[CODE])
        better = high > state[HIGH] or (high == state[HIGH] and nearer)
        state[HIGH] = select(better, high, state[HIGH])
        state[LOW] = select(better, low, state[LOW])
        state[CODE] = select(better, code, state[CODE])

    consider_all = static_for(consider, range(rows), "j, a, row, state, warp")

    @device
    def find(j, a, row, state, lane, warp):
        state[HIGH], state[LOW], state[CODE] = zero, zero, none
        consider_all(j, a, row, state, warp)
        code = state[CODE]
        state[HIGH], state[LOW], state[CODE] = search(state[HIGH], state[LOW], code, code != none, lane)

    return find


def _publishing(dtype: str, columns: int, rows: int) -> Any:
    pitch, bits = uint32(mailbox_pitch(dtype, columns)), uint32(WARP_BITS)

    @device
    def publish_column(k, r, j, a, mailbox, at):
        if k >= j:
            mailbox[at + uint32(k)] = a[r * int32(columns) + k]

    publish = static_for(publish_column, range(columns), "r, j, a, mailbox, at")

    @device
    def offer_row(r, j, a, row, state, mailbox, slot, warp):
        if uint32(uint32(row[r] << bits) | warp) == state[CODE]:
            publish(r, j, a, mailbox, uint32(slot * pitch))

    return static_for(offer_row, range(rows), "j, a, row, state, mailbox, slot, warp")


def _electing(dtype: str, warps: int) -> tuple[Any, Any]:
    """How a warp announces its best row, and how all agree on one."""
    search, none, zero = pivot_search(arithmetic(dtype).words, WARP), NO_ROW, uint32(0)
    low_of, code_of, full = uint32(2 * warps), uint32(4 * warps), FULL

    @device
    def announce_nothing(state, keys, slot, lane):
        pass

    @device
    def elect_alone(state, keys, first, lane, warps):
        cuda.syncwarp(full)
        return state[HIGH], state[LOW], state[CODE]

    @device
    def announce(state, keys, slot, lane):
        if lane == zero:
            keys[slot], keys[low_of + slot], keys[code_of + slot] = state[HIGH], state[LOW], state[CODE]

    @device
    def elect(state, keys, first, lane, warps):
        cuda.syncthreads()
        slot = uint32(first + min(lane, uint32(warps - uint32(1))))
        code = select(lane < warps, keys[code_of + slot], none)
        candidate = code != none
        high = select(candidate, keys[slot], zero)
        low = select(candidate, keys[low_of + slot], zero)
        return search(high, low, code, candidate, lane)

    return (announce_nothing, elect_alone) if warps == 1 else (announce, elect)


def _eliminating(dtype: str, columns: int, rows: int) -> tuple[Any, Any, Any]:
    arith = arithmetic(dtype)
    multiply_subtract, zero = arith.multiply_subtract, arith.element(0)
    divide = divider(dtype)

    @device
    def relabel(r, j, row, p):
        row[r] = select(row[r] == p, uint32(j), select(row[r] == uint32(j), p, row[r]))

    @device
    def scale_row(r, j, a, row, l, s, inverse, singular):
        below = int32(row[r]) > j and not singular
        at = r * int32(columns) + j
        quotient = divide(a[at], s, inverse)
        l[r] = select(below, quotient, zero)
        a[at] = select(below, quotient, a[at])

    @device
    def update_row(r, k, a, l, u):
        at = r * int32(columns) + k
        a[at] = multiply_subtract(a[at], l[r], u)

    update_rows = static_for(update_row, range(rows), "k, a, l, u")

    @device
    def update_column(k, j, a, l, mailbox, slot):
        if k > j:
            update_rows(k, a, l, mailbox[slot + uint32(k)])

    later = static_for(update_column, range(columns), "j, a, l, mailbox, slot")
    return (
        static_for(relabel, range(rows), "j, row, p"),
        static_for(scale_row, range(rows), "j, a, row, l, s, inverse, singular"),
        (update_rows, later),
    )


def panel_steps(dtype: str, columns: int, rows: int, warps: int) -> PanelSteps:
    """Elimination of panels up to ``columns`` wide, ``rows`` rows a thread, up to ``warps`` warps."""
    arith = arithmetic(dtype)
    scale, times_real, reciprocal = arith.scale, arith.times_real, arith.reciprocal
    find = _searching(dtype, columns, rows)
    publish, (announce, elect) = _publishing(dtype, columns, rows), _electing(dtype, warps)
    relabel, scale_rows, (update_rows, later) = _eliminating(dtype, columns, rows)
    pitch, slots = uint32(mailbox_pitch(dtype, columns)), uint32(warps)
    bits, last, none = uint32(WARP_BITS), int32(columns - 1), uint32(0)
    warp_mask = uint32((1 << WARP_BITS) - 1)

    @device
    def settle(j, state, ipiv, at, base, p, singular):
        ipiv[at + int64(j)] = int32(base + int32(p) + int32(1))
        first = singular and state[FIRST_ZERO] == none
        state[FIRST_ZERO] = select(first, uint32(j + int32(1)), state[FIRST_ZERO])

    @device
    def step(j, a, row, l, state, mailbox, keys, lane, warp, warps, ipiv, at, base):
        first = uint32(uint32(j & int32(1)) * slots)
        publish(j, a, row, state, mailbox, uint32(first + warp), warp)
        announce(state, keys, uint32(first + warp), lane)
        high, low, code = elect(state, keys, first, lane, warps)
        p, singular = uint32(code >> bits), (high | low) == none
        slot = uint32(uint32(first + uint32(code & warp_mask)) * pitch)
        if lane == none and warp == none:
            settle(j, state, ipiv, at, base, p, singular)
        relabel(j, row, p)
        s = scale(high)
        inverse = reciprocal(times_real(mailbox[slot + uint32(j)], s))
        scale_rows(j, a, row, l, s, inverse, singular)
        if j < last:
            update_rows(j + int32(1), a, l, mailbox[slot + uint32(j + int32(1))])
            find(j + int32(1), a, row, state, lane, warp)
            later(j + int32(1), a, l, mailbox, slot)

    @device
    def step_if_any(j, a, row, l, state, mailbox, keys, lane, warp, warps, ipiv, at, base, steps):
        if j < steps:
            step(j, a, row, l, state, mailbox, keys, lane, warp, warps, ipiv, at, base)

    arguments = "a, row, l, state, mailbox, keys, lane, warp, warps, ipiv, at, base, steps"
    run = static_for(step_if_any, range(columns), arguments)

    @device
    def start(a, row, state, lane, warp):
        state[FIRST_ZERO] = none
        find(int32(0), a, row, state, lane, warp)

    return PanelSteps(start, run)
