"""Cholesky elimination by the lanes of a warp, A = L L^H: lane r of a block holds row r in registers.

A step takes the pivot from its lane, scales its column, and has it reach all lanes through a mailbox in shared
memory, conjugated. Slots are used in turn, so one warp barrier a step orders a store after all reads of the
same slot two steps back; with a slot for each step the mailbox holds L^H in the end.

Registers right of the diagonal hold numbers that nobody reads. A pivot that is not positive makes NaN of all
that follows; which one was first is read off the pivots afterwards.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numba import cuda

from ...dtypes import is_complex
from .arithmetic import arithmetic
from .inverse_root import roots
from .jit import device, select, static_for
from .narrow_solve import conjugated

__all__ = ["broadcast", "elimination", "first_failure", "mailbox_pitch", "solving"]

uint32, int32 = np.uint32, np.int32
FULL = uint32(0xFFFFFFFF)
WARP = 32
VECTOR_BYTES = 16


def mailbox_pitch(dtype: str, entries: int) -> int:
    """Elements of one mailbox slot, in whole 16-byte vectors."""
    size = np.dtype(dtype).itemsize
    return -(-entries * size // VECTOR_BYTES) * VECTOR_BYTES // size


@functools.cache
def broadcast(dtype: str) -> Any:
    """``(z, lane) -> z`` of that lane of the warp."""
    element, full = np.dtype(dtype).type, FULL

    @device
    def real(z, lane):
        return cuda.shfl_sync(full, z, lane)

    @device
    def both(z, lane):
        return element(complex(cuda.shfl_sync(full, z.real, lane), cuda.shfl_sync(full, z.imag, lane)))

    return both if is_complex(dtype) else real


@functools.cache
def first_failure(dtype: str, lanes: int) -> Any:
    """``(pivot, first) -> info``: of the block whose rows begin at lane ``first``, 0 if all are positive."""
    full, mask, zero = FULL, uint32(0xFFFFFFFF >> (WARP - lanes)), arithmetic(dtype).real(0)

    @device
    def find(pivot, first):
        failed = uint32(cuda.ballot_sync(full, not pivot > zero))
        return int32(cuda.ffs(uint32(failed >> first) & mask))

    return find


def _sides(dtype: str, first_rhs: int, rhs: int) -> tuple[Any, Any]:
    arith = arithmetic(dtype)
    times_real, multiply_subtract, start = arith.times_real, arith.multiply_subtract, uint32(first_rhs)

    @device
    def publish_one(q, b, inverse, mailbox, slot):
        b[q] = times_real(b[q], inverse)
        mailbox[slot + start + uint32(q)] = b[q]

    @device
    def update_one(q, b, l, below, mailbox, slot):
        b[q] = select(below, multiply_subtract(b[q], l, mailbox[slot + start + uint32(q)]), b[q])

    return (
        static_for(publish_one, range(rhs), "b, inverse, mailbox, slot"),
        static_for(update_one, range(rhs), "b, l, below, mailbox, slot"),
    )


def _updating(dtype: str, columns: int) -> Any:
    multiply_subtract = arithmetic(dtype).multiply_subtract

    @device
    def update_later(k, j, a, l, mailbox, slot):
        if k > j:
            a[k] = multiply_subtract(a[k], l, mailbox[slot + uint32(k)])

    return static_for(update_later, range(columns), "j, a, l, mailbox, slot")


def elimination(dtype: str, columns: int, *, always: int, slots: int, pitch: int, rhs: int = 0) -> Any:
    """Elimination of blocks of up to ``columns`` columns.

    Parameters
    ----------
    dtype : str
    columns : int
        Register columns; `mailbox_pitch` of them and of ``rhs`` is the least ``pitch``.
    always : int
        Steps that follow for every n; later ones only up to ``n``.
    slots, pitch : int
        Slots of the mailbox, and elements from one to the next.
    rhs : int
        Right-hand sides, which lie in a slot from element ``columns`` on.

    Returns
    -------
    device function
        ``(a, b, pivot, mailbox, base, row, first, n)``: make rows of L of ``a`` in place, but for the
        diagonal, whose square goes to ``pivot[0]``, and carry the right-hand sides ``b`` along. The rows of
        the block begin at lane ``first``; lanes behind them have their rows solved with L^H.
    """
    times_real, inverse_root = arithmetic(dtype).times_real, roots(dtype).inverse
    publish_sides, update_sides = _sides(dtype, columns, rhs)
    update, conjugate, full = _updating(dtype, columns), conjugated(dtype), FULL
    width, turns, distance, one = uint32(columns), int32(slots), uint32(pitch), arithmetic(dtype).real(1)

    @device
    def step(j, a, b, pivot, mailbox, base, row, first):
        slot = uint32(base + uint32(j % turns) * distance)
        diagonal = cuda.shfl_sync(full, a[j].real, int32(first + uint32(j)))
        pivot[0] = select(row == uint32(j), diagonal, pivot[0])
        inverse = inverse_root(diagonal)
        l = times_real(a[j], inverse)
        a[j] = l
        if row < width:
            mailbox[slot + row] = conjugate(l, True)
        if rhs and row == uint32(j):
            publish_sides(b, inverse, mailbox, slot)
        cuda.syncwarp(full)
        update(j, a, l, mailbox, slot)
        update_sides(b, l, int32(row) > j, mailbox, slot)

    @device
    def step_if_any(j, a, b, pivot, mailbox, base, row, first, n):
        if uint32(j) < n:
            step(j, a, b, pivot, mailbox, base, row, first)

    steps = static_for(step, range(always), "a, b, pivot, mailbox, base, row, first")
    more = static_for(
        step_if_any, range(always, columns), "a, b, pivot, mailbox, base, row, first, n"
    )

    @device
    def run(a, b, pivot, mailbox, base, row, first, n):
        pivot[0] = one
        steps(a, b, pivot, mailbox, base, row, first)
        more(a, b, pivot, mailbox, base, row, first, n)

    return run


def solving(dtype: str, columns: int, pitch: int) -> Any:
    """``X L^H = A`` for a row of A in registers, L^H in a mailbox of `elimination` with all its slots.

    Returns
    -------
    device function
        ``(x, mailbox, base, inverses, at)``: solve in place; ``inverses[at + k]`` is that of pivot k of L.
    """
    times_real, update = arithmetic(dtype).times_real, _updating(dtype, columns)
    distance = uint32(pitch)

    @device
    def step(k, x, mailbox, base, inverses, at):
        x[k] = times_real(x[k], inverses[at + uint32(k)])
        update(k, x, x[k], mailbox, uint32(base + uint32(k) * distance))

    return static_for(step, range(columns), "x, mailbox, base, inverses, at")
