"""Triangular solves in which a thread keeps ``order`` rows of its own right-hand side in registers.

The factors come from a tile in shared memory, column k from element ``k pitch`` on: all threads read the same
vector at a time, and a product needs no more than a quarter of a read.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import cuda

from ...dtypes import itemsize
from .arithmetic import arithmetic
from .jit import device, select, static_for
from .lu_rows import divider

__all__ = ["ColumnSolve", "column_solve", "tile_copy", "together"]

uint32, uint64, int32, int64 = np.uint32, np.uint64, np.int32, np.int64
UNDER_WAY = 64  # bytes that a thread loads at once


def together(dtype: str) -> int:
    """Elements that a thread loads before it uses the first, 8 at most."""
    return min(8, UNDER_WAY // itemsize(dtype))


class ColumnSolve(NamedTuple):
    """Device functions on the registers ``x`` of a thread.

    Attributes
    ----------
    subtract : device function
        ``(x, y, memory, at)``: off ``x`` come `together` columns of the tile, from ``at`` on, times ``y``.
    lower, upper : device function
        ``(x, memory, at, scales, inverses, first, divide)``: solve with a triangle of the tile at ``at``; if
        ``divide``, row i is divided by what `pivot_inverses` left at ``first + i``.
    """

    subtract: Any
    lower: Any
    upper: Any


def column_solve(dtype: str, order: int, pitch: int) -> ColumnSolve:
    """The device functions for tiles of one order."""
    multiply_subtract, divide_by = arithmetic(dtype).multiply_subtract, divider(dtype)
    between, each = uint64(pitch), together(dtype)

    @device
    def off(i, factor, x, memory, at):
        x[i] = multiply_subtract(x[i], memory[at + uint64(i)], factor)

    column = static_for(off, range(order), "factor, x, memory, at")

    @device
    def term(k, x, y, memory, at):
        column(y[k], x, memory, at + uint64(k) * between)

    @device
    def below(i, k, x, memory, at):
        if i > k:
            x[i] = multiply_subtract(x[i], memory[at + uint64(i)], x[k])

    @device
    def above(i, k, x, memory, at):
        if i < k:
            x[i] = multiply_subtract(x[i], memory[at + uint64(i)], x[k])

    rows_below = static_for(below, range(order), "k, x, memory, at")
    rows_above = static_for(above, range(order), "k, x, memory, at")

    @device
    def finish(k, x, scales, inverses, first, divide):
        if divide:
            i = uint32(first + uint32(k))
            x[k] = divide_by(x[k], scales[i], inverses[i])

    @device
    def down(k, x, memory, at, scales, inverses, first, divide):
        finish(k, x, scales, inverses, first, divide)
        rows_below(k, x, memory, at + uint64(k) * between)

    @device
    def up(k, x, memory, at, scales, inverses, first, divide):
        finish(k, x, scales, inverses, first, divide)
        rows_above(k, x, memory, at + uint64(k) * between)

    names = "x, memory, at, scales, inverses, first, divide"
    return ColumnSolve(
        static_for(term, range(each), "x, y, memory, at"),
        static_for(down, range(order), names),
        static_for(up, reversed(range(order)), names),
    )


def tile_copy(dtype: str, order: int, pitch: int) -> Any:
    """Copy of a tile to shared memory, zero outside of the matrix, by ``warps`` rows of ``order`` lanes each.

    Returns
    -------
    device function
        ``(memory, at, a, row_stride, col_stride, rows, cols, lane, warp, warps)``; lanes go along the smaller
        stride.
    """
    element, between, size = arithmetic(dtype).element, uint32(pitch), int32(order)
    each, zero = together(dtype), element(0)

    @device
    def load(e, held, a, near, far, line, warps, inside, lines):
        at = int32(line + int32(int32(e) * warps))
        last = max(int32(lines - int32(1)), int32(0))
        value = a[int32(near + int32(min(at, last) * far))]
        held[e] = select(inside and at < lines, value, zero)

    @device
    def store(e, held, memory, near, far, line, warps):
        at = int32(line + int32(int32(e) * warps))
        if at < size:
            memory[uint32(near + uint32(uint32(at) * far))] = held[e]

    load_all = static_for(load, range(each), "held, a, near, far, line, warps, inside, lines")
    store_all = static_for(store, range(each), "held, memory, near, far, line, warps")

    @device
    def copy(memory, at, a, row_stride, col_stride, rows, cols, lane, warp, warps):
        down = abs(row_stride) <= abs(col_stride)
        near, far = select(down, row_stride, col_stride), select(down, col_stride, row_stride)
        length, lines = select(down, rows, cols), select(down, cols, rows)
        near_pitch = select(down, uint32(1), between)
        far_pitch = select(down, between, uint32(1))
        from_at = int32(min(lane, max(int32(length - int32(1)), int32(0))) * near)
        to = uint32(at + uint32(uint32(lane) * near_pitch))
        line = warp
        while line < size:
            held = cuda.local.array(each, element)
            load_all(held, a, from_at, far, line, warps, lane < length, lines)
            store_all(held, memory, to, far_pitch, line, warps)
            line = int32(line + int32(int32(each) * warps))

    return copy
