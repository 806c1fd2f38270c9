"""Moving lower triangles between memory and row-per-lane registers.

Loads read a clamped index instead of branching: what is right of the diagonal, or past ``n``, holds copies of
elements of the triangle. Stores leave the other triangle alone, and write the diagonal from a real number.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import cuda

from .jit import device, select, static_for

__all__ = ["TriangleIO", "tile_elements", "triangle_rows"]

uint32, int32 = np.uint32, np.int32
FULL = uint32(0xFFFFFFFF)


class TriangleIO(NamedTuple):
    """Device functions that move the rows of a lower triangle; ``a`` points to its first element.

    Attributes
    ----------
    load : device function
        ``(rows, a, row_stride, col_stride, tile, base, lane, n)``
    put : device function
        ``(rows, diagonal, tile, base, lane)``: rows to a tile in shared memory.
    store : device function
        ``(rows, diagonal, a, row_stride, col_stride, tile, base, lane, n, valid)``: write the triangle;
        where rows are turned through the tile they must be there.
    """

    load: Any
    put: Any
    store: Any


def tile_elements(lanes: int, columns: int) -> int:
    """Elements of the tile of one matrix."""
    return columns * (lanes + 1)


def triangle_rows(dtype: str, lanes: int, columns: int, slack: int, *, staged: bool) -> TriangleIO:
    """Row-major triangles pass through a tile if ``staged``; otherwise each lane moves its own row."""
    put = _putting(dtype, lanes, columns)
    load, store = (_staged if staged else _direct)(dtype, lanes, columns, columns - slack + 1)
    return TriangleIO(load, put, store)


def _putting(dtype: str, lanes: int, columns: int) -> Any:
    element, pitch, width = np.dtype(dtype).type, uint32(lanes + 1), uint32(columns)

    @device
    def put_one(k, rows, diagonal, tile, start, lane):
        tile[start + uint32(k)] = select(lane == uint32(k), element(diagonal), rows[k])

    put_all = static_for(put_one, range(columns), "rows, diagonal, tile, start, lane")

    @device
    def put(rows, diagonal, tile, base, lane):
        if lane < width:
            put_all(rows, diagonal, tile, uint32(base + lane * pitch), lane)

    return put


def _direct(dtype: str, lanes: int, columns: int, safe: int) -> tuple[Any, Any]:
    element = np.dtype(dtype).type

    @device
    def load_one(k, rows, a, row_stride, col_stride, row, n):
        column = k if k < safe else min(k, int32(n - uint32(1)))
        rows[k] = a[int32(int32(max(row, column) * row_stride) + int32(column * col_stride))]

    @device
    def store_one(k, rows, diagonal, a, offset, col_stride, row):
        if k <= row:
            value = select(k == row, element(diagonal), rows[k])
            a[int32(offset + int32(k * col_stride))] = value

    load_all = static_for(load_one, range(columns), "rows, a, row_stride, col_stride, row, n")
    store_all = static_for(store_one, range(columns), "rows, diagonal, a, offset, col_stride, row")

    @device
    def load(rows, a, row_stride, col_stride, tile, base, lane, n):
        load_all(rows, a, row_stride, col_stride, int32(min(lane, uint32(n - uint32(1)))), n)

    @device
    def store(rows, diagonal, a, row_stride, col_stride, tile, base, lane, n, valid):
        if valid and lane < n:
            row = int32(lane)
            store_all(rows, diagonal, a, int32(row * row_stride), col_stride, row)

    return load, store


def _staged(dtype: str, lanes: int, columns: int, safe: int) -> tuple[Any, Any]:
    pitch, last, full = uint32(lanes + 1), uint32(columns - 1), FULL

    @device
    def fetch_row(i, a, row_stride, col_stride, tile, base, lane, n):
        row = i if i < safe else min(i, int32(n - uint32(1)))
        column = int32(min(lane, uint32(row)))
        value = a[int32(int32(row * row_stride) + int32(column * col_stride))]
        tile[base + uint32(i) * pitch + lane] = value

    @device
    def take(k, rows, tile, start):
        rows[k] = tile[start + uint32(k)]

    @device
    def flush_row(i, a, row_stride, offset, tile, base, lane, n):
        if lane <= uint32(i) and (i < safe or uint32(i) < n):
            a[int32(int32(i * row_stride) + offset)] = tile[base + uint32(i) * pitch + lane]

    fetch = static_for(fetch_row, range(columns), "a, row_stride, col_stride, tile, base, lane, n")
    take_all = static_for(take, range(columns), "rows, tile, start")
    flush = static_for(flush_row, range(columns), "a, row_stride, offset, tile, base, lane, n")

    @device
    def load(rows, a, row_stride, col_stride, tile, base, lane, n):
        fetch(a, row_stride, col_stride, tile, base, lane, n)
        cuda.syncwarp(full)
        take_all(rows, tile, uint32(base + min(lane, last) * pitch))
        cuda.syncwarp(full)

    @device
    def store(rows, diagonal, a, row_stride, col_stride, tile, base, lane, n, valid):
        if valid and lane < n:
            flush(a, row_stride, int32(int32(lane) * col_stride), tile, base, lane, n)

    return load, store
