"""Pivoted elimination of one matrix by the lanes of a warp: lane r holds row r in registers.

Steps of ``getf2`` with a lazy swap: a lane never moves its row, it changes the row number it answers
to. The pivot row reaches the other lanes through a mailbox in shared memory, two slots in turn, so
one warp barrier a step orders a store after all reads of the same slot two steps back. The search
for the next pivot starts as soon as its column is updated, before the rest of the update.

Columns past ``n`` and lanes past ``n`` hold copies of live data: work whose results nobody reads.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np
from numba import cuda

from ..specs import TinySpec
from .arithmetic import arithmetic
from .jit import device, select, static_for
from .pivot import pivot_search

__all__ = ["ROW", "STATE", "Elimination", "divider", "elimination", "mailbox_pitch"]

uint32, int32 = np.uint32, np.int32
FULL = uint32(0xFFFFFFFF)
NOBODY = uint32(0xFFFFFFFF)  # the row of a lane past n: negative as int32, so never a candidate

# Slots of a lane's state: its row, the pivot row found and its key, and, once the lane's row is a
# pivot row, where that row came from, with the top bit set if its pivot is zero.
ROW, FOUND, HIGH, LOW, PIVOT = range(5)
STATE = 5
SINGULAR = uint32(0x80000000)
VECTOR_BYTES = 16


def mailbox_pitch(dtype: str, columns: int, rhs: int) -> int:
    """Elements of one mailbox slot: a pivot row and its right-hand sides, in whole 16-byte vectors."""
    size = np.dtype(dtype).itemsize
    return -(-(columns + rhs) * size // VECTOR_BYTES) * VECTOR_BYTES // size


class Elimination(NamedTuple):
    """Device functions of the elimination.

    Attributes
    ----------
    run : device function
        ``(a, b, own, state, mailbox, base, lane, warp_lane, n)``: factor ``a`` in place and carry
        the right-hand sides ``b`` along; ``own`` is where ``keep`` puts what it keeps.
    info : device function
        ``(state, warp_lane)``: first zero pivot, 1-based, on every lane of the matrix.
    pivot : device function
        ``(state)``: the row, 1-based, that was interchanged with the lane's row.
    """

    run: Any
    info: Any
    pivot: Any


def _publishing(columns: int, rhs: int) -> Any:
    first_rhs = uint32(columns)

    @device
    def publish_column(k, j, a, mailbox, slot):
        if k >= j:
            mailbox[slot + uint32(k)] = a[k]

    @device
    def publish_rhs(q, b, mailbox, slot):
        mailbox[slot + first_rhs + uint32(q)] = b[q]

    row = static_for(publish_column, range(columns), "j, a, mailbox, slot")
    sides = static_for(publish_rhs, range(rhs), "b, mailbox, slot")

    @device
    def publish(j, a, b, mailbox, slot):
        row(j, a, mailbox, slot)
        sides(b, mailbox, slot)

    return publish


def _updating(dtype: str, columns: int, rhs: int) -> tuple[Any, Any]:
    multiply_subtract = arithmetic(dtype).multiply_subtract
    first_rhs = uint32(columns)

    @device
    def update_column(k, a, l, mailbox, slot):
        a[k] = multiply_subtract(a[k], l, mailbox[slot + uint32(k)])

    @device
    def update_later(k, j, a, l, mailbox, slot):
        if k > j:
            update_column(k, a, l, mailbox, slot)

    @device
    def update_rhs(q, b, l, mailbox, slot):
        b[q] = multiply_subtract(b[q], l, mailbox[slot + first_rhs + uint32(q)])

    later = static_for(update_later, range(columns), "j, a, l, mailbox, slot")
    sides = static_for(update_rhs, range(rhs), "b, l, mailbox, slot")

    @device
    def update(j, a, b, l, mailbox, slot):
        later(j, a, l, mailbox, slot)
        sides(b, l, mailbox, slot)

    return update_column, update


def _finding(dtype: str, lanes: int) -> Any:
    arith = arithmetic(dtype)
    key, search = arith.key, pivot_search(arith.words, lanes)

    @device
    def find(j, a, state, warp_lane):
        row = state[ROW]
        candidate = int32(row) >= j
        high, low = key(a[j], candidate)
        state[HIGH], state[LOW], state[FOUND] = search(high, low, row, candidate, warp_lane)

    return find


def _pivoting(dtype: str) -> tuple[Any, Any, Any]:
    arith, mark = arithmetic(dtype), SINGULAR
    scale, times_real, reciprocal = arith.scale, arith.times_real, arith.reciprocal

    @device
    def singular(state):
        return (state[HIGH] | state[LOW]) == uint32(0)

    @device
    def record(state):
        state[PIVOT] = select(singular(state), uint32(state[FOUND] | mark), state[FOUND])

    @device
    def invert(pivot, state):
        s = scale(state[HIGH])
        return s, reciprocal(times_real(pivot, s))

    return singular, record, invert


@functools.cache
def divider(dtype: str) -> Any:
    """``(value, s, inverse) -> value / pivot``, the pivot given by its scale and scaled reciprocal."""
    arith = arithmetic(dtype)
    multiply, times_real = arith.multiply, arith.times_real

    @device
    def divide(value, s, inverse):
        return multiply(times_real(value, s), inverse)

    return divide


def elimination(spec: TinySpec, keep: Any) -> Elimination:
    """Elimination on the lanes and register columns of ``spec``.

    Parameters
    ----------
    spec : TinySpec
        Sizes and element type.
    keep : device function
        ``(mine, s, inverse, own)``: called each step with the scale and reciprocal of the pivot;
        ``mine`` holds on the lane whose row it became.
    """
    dtype, lanes, columns, rhs = spec.dtype, spec.lanes, spec.columns, spec.rhs
    find = _finding(dtype, lanes)
    publish = _publishing(columns, rhs)
    update_column, update = _updating(dtype, columns, rhs)
    singular, record, invert = _pivoting(dtype)
    divide = divider(dtype)
    find_zero = pivot_search(1, lanes)
    zero, full, none, one, nobody, mark = (
        arithmetic(dtype).element(0),
        FULL,
        uint32(0),
        uint32(1),
        NOBODY,
        SINGULAR,
    )
    pitch = uint32(mailbox_pitch(dtype, columns, rhs))

    @device
    def step(j, a, b, own, state, mailbox, base, warp_lane):
        row, p = state[ROW], state[FOUND]
        slot = uint32(base + uint32(j & 1) * pitch)
        if row == p:
            publish(j, a, b, mailbox, slot)
            record(state)
        row = select(row == p, uint32(j), select(row == uint32(j), p, row))
        state[ROW] = row
        cuda.syncwarp(full)

        s, inverse = invert(mailbox[slot + uint32(j)], state)
        keep(row == uint32(j), s, inverse, own)
        below = int32(row) > j and not singular(state)
        quotient = divide(a[j], s, inverse)
        l = select(below, quotient, zero)
        a[j] = select(below, quotient, a[j])

        update_column(j + 1, a, l, mailbox, slot)
        find(j + 1, a, state, warp_lane)
        update(j + 1, a, b, l, mailbox, slot)

    @device
    def step_if_any(j, a, b, own, state, mailbox, base, warp_lane, n):
        if uint32(j + 1) < n:
            step(j, a, b, own, state, mailbox, base, warp_lane)

    @device
    def finish(j, a, own, state, n):
        if uint32(j + 1) == n:
            mine = state[ROW] == uint32(j)
            if mine:
                record(state)
            s, inverse = invert(a[j], state)
            keep(mine, s, inverse, own)

    always = columns - spec.slack  # steps before this follow for every n
    steps = static_for(step, range(always), "a, b, own, state, mailbox, base, warp_lane")
    more = static_for(
        step_if_any, range(always, columns - 1), "a, b, own, state, mailbox, base, warp_lane, n"
    )
    final = static_for(finish, range(always, columns), "a, own, state, n")

    @device
    def run(a, b, own, state, mailbox, base, lane, warp_lane, n):
        state[ROW] = select(lane < n, lane, nobody)
        state[PIVOT] = none
        find(int32(0), a, state, warp_lane)
        steps(a, b, own, state, mailbox, base, warp_lane)
        more(a, b, own, state, mailbox, base, warp_lane, n)
        final(a, own, state, n)

    @device
    def info(state, warp_lane):
        zero_pivot = state[PIVOT] >= mark
        found, _, first = find_zero(uint32(zero_pivot), none, state[ROW], zero_pivot, warp_lane)
        return select(found == none, none, uint32(first + one))

    @device
    def pivot(state):
        return uint32(uint32(state[PIVOT] & ~mark) + one)

    return Elimination(run, info, pivot)
