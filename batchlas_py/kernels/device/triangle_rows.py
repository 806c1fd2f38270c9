"""Moving lower triangles between memory and row-per-lane registers.

Registers right of the diagonal, or past ``n``, hold numbers that nobody reads. Stores leave the other
triangle alone, and write the diagonal from a real number.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import cuda

from .jit import device, select, static_for
from .opaque import opaque

__all__ = ["TriangleIO", "triangle_rows"]

uint32, int32 = np.uint32, np.int32
FULL = uint32(0xFFFFFFFF)


class TriangleIO(NamedTuple):
    """Device functions that move the rows of a lower triangle; ``a`` points to its first element.

    Attributes
    ----------
    load : device function
        ``(rows, a, row_stride, col_stride, tile, base, lane, n)``
    store : device function
        ``(rows, diagonal, a, row_stride, col_stride, tile, base, lane, n)`` writes the triangle; where rows
        are turned through the tile they must be there. Lanes past ``n`` do not call it.
    """

    load: Any
    store: Any


def triangle_rows(dtype: str, columns: int, pitch: int, *, staged: bool) -> TriangleIO:
    """Row-major triangles pass through a tile if ``staged``; otherwise each lane moves its own row."""
    return _staged(columns, pitch) if staged else _direct(dtype, columns)


def _direct(dtype: str, columns: int) -> TriangleIO:
    element = np.dtype(dtype).type
    one = element(1)

    @device
    def load_one(k, rows, a, offset, col_stride, row):
        rows[k] = one
        if k <= row:
            rows[k] = a[int32(offset + int32(k * col_stride))]

    @device
    def store_one(k, rows, diagonal, a, offset, col_stride, row):
        if k <= row:
            value = select(k == row, element(diagonal), rows[k])
            a[int32(offset + int32(k * col_stride))] = value

    load_all = static_for(load_one, range(columns), "rows, a, offset, col_stride, row")
    store_all = static_for(store_one, range(columns), "rows, diagonal, a, offset, col_stride, row")

    @device
    def load(rows, a, row_stride, col_stride, tile, base, lane, n):
        row = int32(min(lane, uint32(n - uint32(1))))
        load_all(rows, a, int32(row * row_stride), col_stride, row)

    @device
    def store(rows, diagonal, a, row_stride, col_stride, tile, base, lane, n):
        row = opaque(int32(lane))
        store_all(rows, diagonal, a, int32(row * row_stride), opaque(col_stride), row)

    return TriangleIO(load, store)


def _staged(columns: int, pitch: int) -> TriangleIO:
    distance, last, full = uint32(pitch), uint32(columns - 1), FULL

    @device
    def fetch_row(i, a, row_stride, col_stride, tile, start, lane, n):
        row = min(i, int32(n - uint32(1)))
        column = int32(min(lane, uint32(row)))
        value = a[int32(int32(row * row_stride) + int32(column * col_stride))]
        tile[start + uint32(i) * distance] = value

    @device
    def take(k, rows, tile, start):
        rows[k] = tile[start + uint32(k)]

    @device
    def flush_row(i, a, row_stride, offset, tile, start, lane, left):
        if uint32(uint32(i) - lane) < left:
            a[int32(int32(i * row_stride) + offset)] = tile[start + uint32(i) * distance]

    fetch = static_for(fetch_row, range(columns), "a, row_stride, col_stride, tile, start, lane, n")
    take_all = static_for(take, range(columns), "rows, tile, start")
    flush = static_for(flush_row, range(columns), "a, row_stride, offset, tile, start, lane, left")

    @device
    def load(rows, a, row_stride, col_stride, tile, base, lane, n):
        fetch(a, row_stride, col_stride, tile, uint32(base + lane), lane, n)
        cuda.syncwarp(full)
        take_all(rows, tile, uint32(base + min(lane, last) * distance))
        cuda.syncwarp(full)

    @device
    def store(rows, diagonal, a, row_stride, col_stride, tile, base, lane, n):
        offset, left = int32(int32(lane) * col_stride), uint32(n - lane)
        flush(a, opaque(row_stride), offset, tile, uint32(base + lane), lane, left)

    return TriangleIO(load, store)
