"""Moving matrices between memory and row-per-lane registers.

Loads read a clamped index instead of branching, so rows and columns past ``n`` copy live ones.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import cuda

from .jit import device, static_for

__all__ = ["RowIO", "direct_rows", "staged_rows", "tile_elements"]

uint32, int32, int64 = np.uint32, np.int32, np.int64
FULL = uint32(0xFFFFFFFF)


class RowIO(NamedTuple):
    """Device functions that load and store the rows of a matrix.

    Attributes
    ----------
    load : device function
        ``(a, source, at, row_stride, col_stride, tile, base, lane, n)``
    store : device function
        ``(a, target, at, row_stride, col_stride, tile, base, row, lane, n, valid)``: each lane writes
        the row it answers to.
    """

    load: Any
    store: Any


def direct_rows(columns: int, slack: int) -> RowIO:
    """Each lane reads and writes its own row, any strides; whole lines when rows are adjacent."""
    safe = columns - slack + 1  # columns below this exist for every n

    @device
    def load_column(k, a, source, at, col_stride, n):
        column = k if k < safe else min(k, int32(n - uint32(1)))
        a[k] = source[at + int64(col_stride) * int64(column)]

    @device
    def store_column(k, a, target, at, col_stride, n):
        if k < safe or uint32(k) < n:
            target[at + int64(col_stride) * int64(k)] = a[k]

    load_columns = static_for(load_column, range(columns), "a, source, at, col_stride, n")
    store_columns = static_for(store_column, range(columns), "a, target, at, col_stride, n")

    @device
    def load(a, source, at, row_stride, col_stride, tile, base, lane, n):
        row = min(lane, uint32(n - uint32(1)))
        load_columns(a, source, at + int64(row) * int64(row_stride), col_stride, n)

    @device
    def store(a, target, at, row_stride, col_stride, tile, base, row, lane, n, valid):
        if valid and lane < n:
            store_columns(a, target, at + int64(row) * int64(row_stride), col_stride, n)

    return RowIO(load, store)


def tile_elements(lanes: int, columns: int) -> int:
    """Elements of the tile through which `staged_rows` transposes one matrix."""
    return columns * (lanes + 1)


def staged_rows(lanes: int, columns: int, slack: int) -> RowIO:
    """Row-major matrices: the lanes read along a row, and turn it through a tile with an odd pitch."""
    last, pitch, full, safe = columns - 1, uint32(lanes + 1), FULL, columns - slack + 1

    @device
    def fetch_row(i, source, at, row_stride, column, tile, base, lane, n):
        row = i if i < safe else min(i, int32(n - uint32(1)))
        tile[base + uint32(i) * pitch + lane] = source[at + int64(row_stride) * int64(row) + column]

    @device
    def take(k, a, tile, start):
        a[k] = tile[start + uint32(k)]

    @device
    def put(k, a, tile, start):
        tile[start + uint32(k)] = a[k]

    @device
    def flush_row(i, target, at, row_stride, tile, base, lane, n):
        if i < safe or uint32(i) < n:
            target[at + int64(row_stride) * int64(i) + int64(lane)] = tile[base + uint32(i) * pitch + lane]

    fetch = static_for(fetch_row, range(columns), "source, at, row_stride, column, tile, base, lane, n")
    take_all = static_for(take, range(columns), "a, tile, start")
    put_all = static_for(put, range(columns), "a, tile, start")
    flush = static_for(flush_row, range(columns), "target, at, row_stride, tile, base, lane, n")

    @device
    def load(a, source, at, row_stride, col_stride, tile, base, lane, n):
        fetch(source, at, row_stride, int64(min(lane, uint32(n - uint32(1)))), tile, base, lane, n)
        cuda.syncwarp(full)
        take_all(a, tile, base + min(lane, uint32(last)) * pitch)
        cuda.syncwarp(full)

    @device
    def store(a, target, at, row_stride, col_stride, tile, base, row, lane, n, valid):
        cuda.syncwarp(full)
        if lane < n:
            put_all(a, tile, base + row * pitch)
        cuda.syncwarp(full)
        if valid and lane < n:
            flush(target, at, row_stride, tile, base, lane, n)

    return RowIO(load, store)
