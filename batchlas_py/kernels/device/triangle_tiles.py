"""Lower triangles as tiles of 32 x 32 in shared memory, and what the lanes of a warp do with such tiles.

Tile (i, k) has number i (i + 1) / 2 + k. Its rows are `potrf_pitch` elements apart, so that lanes read whole
vectors of a row each, and all lanes one vector together, without conflicts. Rows and columns past the matrix
hold those of the identity, which is its own factor: sizes that are no multiple of 32 need no other code.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda

from ...capability import TILE_ORDER, potrf_pitch
from .arithmetic import arithmetic
from .jit import device, select, static_for
from .narrow_solve import conjugated

__all__ = ["ORDER", "rows_io", "subtract_product", "tile_at", "triangle_io"]

ORDER = TILE_ORDER
ABREAST = 8  # lines that a warp reads together, to have as many loads in flight
VECTOR_BYTES = 16
uint32, uint64, int32, int64 = np.uint32, np.uint64, np.int32, np.int64


def tile_at(dtype: str) -> Any:
    """``(i, k) -> index`` of the first element of a tile."""
    size, one, half = uint32(ORDER * potrf_pitch(dtype)), uint32(1), uint32(1)

    @device
    def at(i, k):
        return uint32(uint32(uint32(uint32(i * uint32(i + one)) >> half) + k) * size)

    return at


def triangle_io(dtype: str) -> tuple[Any, Any]:
    """Load and store of all tiles of a matrix by all warps, along the smaller stride.

    Returns
    -------
    device function
        ``(a, row_stride, col_stride, n, memory, tiles, who)``; ``who`` is (lane, warp, warps).
    device function
        The same; it writes the lower triangle alone.
    """
    load_lines, store_lines = _lines_io(dtype)
    place, parts, one = tile_at(dtype), uint32(ORDER // ABREAST), uint32(1)
    abreast, order = uint32(ABREAST), uint32(ORDER)

    def over_lines(move: Any) -> Any:
        @device
        def every(a, row_stride, col_stride, n, memory, tiles, who):
            lane, warp, warps = who
            columns, i, turn = abs(row_stride) <= abs(col_stride), uint32(0), uint32(0)
            while i < tiles:
                part = uint32(0)
                while part < uint32(uint32(i + one) * parts):
                    if turn == warp:
                        k, line = uint32(part // parts), uint32(uint32(part % parts) * abreast)
                        corner = uint32(i * order), uint32(k * order)
                        move(a, row_stride, col_stride, n, memory, place(i, k), corner, line, lane, columns)
                    turn = uint32(turn + one)
                    turn = select(turn == warps, uint32(0), turn)
                    part = uint32(part + one)
                i = uint32(i + one)

        return every

    return over_lines(load_lines), over_lines(store_lines)


def _lines_io(dtype: str) -> tuple[Any, Any]:
    """Move some columns of a tile, a row a lane, or some of its rows, a column a lane."""
    element, abreast, distance = np.dtype(dtype).type, ABREAST, uint32(potrf_pitch(dtype))
    one, zero = element(1), element(0)

    @device
    def locate(g, line, lane, columns):
        this = uint32(line + uint32(g))
        return select(columns, lane, this), select(columns, this, lane)

    @device
    def take(g, held, a, row_stride, col_stride, n, corner, line, lane, columns):
        i, j = locate(g, line, lane, columns)
        row, column = uint32(corner[0] + i), uint32(corner[1] + j)
        last = uint32(n - uint32(1))
        k = min(column, last)
        r = max(min(row, last), k)
        value = a[int32(int32(int32(r) * row_stride) + int32(int32(k) * col_stride))]
        held[g] = select(row < n and column <= row, value, select(row == column, one, zero))

    @device
    def put(g, held, memory, at, line, lane, columns):
        i, j = locate(g, line, lane, columns)
        memory[uint32(uint32(at + i * distance) + j)] = held[g]

    @device
    def write(g, held, a, row_stride, col_stride, n, corner, line, lane, columns):
        i, j = locate(g, line, lane, columns)
        row, column = uint32(corner[0] + i), uint32(corner[1] + j)
        if row < n and column <= row:
            a[int32(int32(int32(row) * row_stride) + int32(int32(column) * col_stride))] = held[g]

    @device
    def get(g, held, memory, at, line, lane, columns):
        i, j = locate(g, line, lane, columns)
        held[g] = memory[uint32(uint32(at + i * distance) + j)]

    lines = range(ABREAST)
    take_all = static_for(take, lines, "held, a, row_stride, col_stride, n, corner, line, lane, columns")
    write_all = static_for(write, lines, "held, a, row_stride, col_stride, n, corner, line, lane, columns")
    put_all = static_for(put, lines, "held, memory, at, line, lane, columns")
    get_all = static_for(get, lines, "held, memory, at, line, lane, columns")

    @device
    def load(a, row_stride, col_stride, n, memory, at, corner, line, lane, columns):
        held = cuda.local.array(abreast, element)
        take_all(held, a, row_stride, col_stride, n, corner, line, lane, columns)
        put_all(held, memory, at, line, lane, columns)

    @device
    def store(a, row_stride, col_stride, n, memory, at, corner, line, lane, columns):
        held = cuda.local.array(abreast, element)
        get_all(held, memory, at, line, lane, columns)
        write_all(held, a, row_stride, col_stride, n, corner, line, lane, columns)

    return load, store


def rows_io(dtype: str) -> tuple[Any, Any]:
    """``(x, memory, at)``: a lane's row of a tile to `ORDER` registers, and back."""

    @device
    def take(k, x, memory, at):
        x[k] = memory[at + uint32(k)]

    @device
    def put(k, x, memory, at):
        memory[at + uint32(k)] = x[k]

    return static_for(take, range(ORDER), "x, memory, at"), static_for(put, range(ORDER), "x, memory, at")


def subtract_product(dtype: str) -> Any:
    """Product of a tile with the conjugate transpose of another one, subtracted from a row in registers.

    Returns
    -------
    device function
        ``(x, memory, own, other)``: ``x[c] -= sum_k memory[own + k] conj(memory[other + c pitch + k])``;
        ``own`` counts the lane's row in.
    """
    arith, conjugate = arithmetic(dtype), conjugated(dtype)
    multiply_subtract, element = arith.multiply_subtract, arith.element
    width = max(1, VECTOR_BYTES // np.dtype(dtype).itemsize)
    step, order, distance = uint32(width), uint32(ORDER), uint32(potrf_pitch(dtype))

    @device
    def hold(d, l, memory, at):
        l[d] = memory[at + uint32(d)]

    @device
    def term(d, c, x, l, memory, at):
        x[c] = multiply_subtract(x[c], l[d], conjugate(memory[at + uint32(d)], True))

    hold_all = static_for(hold, range(width), "l, memory, at")
    terms = static_for(term, range(width), "c, x, l, memory, at")

    @device
    def column(c, x, l, memory, at):
        terms(c, x, l, memory, uint32(at + uint32(c) * distance))

    columns = static_for(column, range(ORDER), "x, l, memory, at")

    @device
    def subtract(x, memory, own, other):
        l, k = cuda.local.array(width, element), uint32(0)
        while k < order:
            hold_all(l, memory, uint32(own + k))
            columns(x, l, memory, uint32(other + k))
            k = uint32(k + step)

    return subtract
