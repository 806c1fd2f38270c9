"""Moving matrices between memory and column-per-lane registers: lane k of a group holds column k.

The lanes go along the smaller stride, a slice of a few rows at a time, and turn it through a tile in shared
memory, so that both memory orders move whole sectors. Loads read a clamped index instead of branching; what
lies outside of the matrix is zero in registers.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import cuda

from .arithmetic import arithmetic
from .jit import device, select, static_for
from .opaque import opaque

__all__ = ["ColumnIO", "column_io", "tile_elements"]

uint32, int32 = np.uint32, np.int32
FULL = uint32(0xFFFFFFFF)
SLICE = 8  # rows that are turned together
TOGETHER = 16  # rows, at most, that are loaded together: each load holds its address


class ColumnIO(NamedTuple):
    """Device functions that load and store what a group of lanes holds.

    Attributes
    ----------
    load : device function
        ``(a, source, row_stride, col_stride, m, n, tile, at, lane)``: m and n are the rows and columns from
        ``source`` on, and may be negative where the group lies outside of the matrix.
    store : device function
        ``(a, own, scales, target, row_stride, col_stride, m, n, tile, at, lane, diagonal)``: ``diagonal`` is
        the row, counted as registers are, that the lane's column meets the diagonal in.
    """

    load: Any
    store: Any


def _height(rows: int, lanes: int) -> int:
    height = min(SLICE, lanes)
    while rows % height:
        height //= 2
    return height


def _together(rows: int, height: int) -> int:
    """Rows whose loads are under way together: whole slices."""
    slices = rows // height
    return next(
        part * height
        for part in range(slices, 0, -1)
        if slices % part == 0 and (part == 1 or part * height <= TOGETHER)
    )


def tile_elements(rows: int, lanes: int) -> int:
    """Elements of a group's tile in shared memory."""
    return lanes * (_height(rows, lanes) + 1)


def _walk(rows: int, lanes: int) -> Any:
    """``(row_stride, col_stride, lane) -> (row, down, column, across)``: the first cell, and the steps."""
    height = _height(rows, lanes)
    step, width, none, one = int32(height), int32(lanes // height), int32(0), int32(1)

    @device
    def walk(row_stride, col_stride, lane):
        down = abs(row_stride) <= abs(col_stride)
        return (
            select(down, int32(lane % step), none),
            select(down, none, one),
            select(down, int32(lane // step), lane),
            select(down, width, none),
        )

    return walk


def column_io(dtype: str, rows: int, lanes: int, value: Any) -> ColumnIO:
    """Transfer of ``rows`` registers a lane; ``value(i, a, own, scales, diagonal)`` is what row i stores."""
    return ColumnIO(_loading(dtype, rows, lanes), _storing(rows, lanes, value))


def _loading(dtype: str, rows: int, lanes: int) -> Any:
    zero, height, full = arithmetic(dtype).element(0), _height(rows, lanes), FULL
    pitch, step, walk, one = uint32(height + 1), int32(height), _walk(rows, lanes), int32(1)

    @device
    def fetch(e, first, a, source, row_stride, col_stride, m, n, path):
        row, down, column, across = path
        i = int32(first + e)
        r = int32(int32(row + (i % step) * down) + (i // step) * step)
        c = int32(column + (i % step) * across)
        at = int32(int32(min(r, int32(m - one)) * row_stride) + min(c, int32(n - one)) * col_stride)
        a[i] = select(r < m and c < n, source[at], zero)

    @device
    def put(e, first, a, tile, at, path):
        row, down, column, across = path
        r, c = uint32(row + e * down), uint32(column + e * across)
        tile[uint32(uint32(at + c * pitch) + r)] = a[first + e]

    @device
    def take(e, first, a, tile, start):
        a[first + e] = tile[uint32(start + uint32(e))]

    put_all = static_for(put, range(height), "first, a, tile, at, path")
    take_all = static_for(take, range(height), "first, a, tile, start")

    @device
    def turn(s, first, a, tile, at, path, start):
        slice_at = int32(first + s)
        put_all(slice_at, a, tile, at, path)
        cuda.syncwarp(full)
        take_all(slice_at, a, tile, start)
        cuda.syncwarp(full)

    @device
    def batch(first, a, source, row_stride, col_stride, m, n, tile, at, lane):
        mine = opaque(lane)
        path, start = walk(row_stride, col_stride, mine), uint32(at + uint32(mine) * pitch)
        fetch_some(first, a, source, row_stride, col_stride, m, n, path)
        turn_some(first, a, tile, at, path, start)

    together = _together(rows, height)
    fetch_some = static_for(fetch, range(together), "first, a, source, row_stride, col_stride, m, n, path")
    turn_some = static_for(turn, range(0, together, height), "first, a, tile, at, path, start")
    arguments = "a, source, row_stride, col_stride, m, n, tile, at, lane"
    load = static_for(batch, range(0, rows, together), arguments)
    return load


def _storing(rows: int, lanes: int, value: Any) -> Any:
    height, full = _height(rows, lanes), FULL
    pitch, walk = uint32(height + 1), _walk(rows, lanes)

    @device
    def give(e, first, a, own, scales, diagonal, tile, start):
        tile[uint32(start + uint32(e))] = value(int32(first + e), a, own, scales, diagonal)

    @device
    def flush(e, first, target, row_stride, col_stride, m, n, tile, at, path):
        row, down, column, across = path
        i, c = int32(row + e * down), int32(column + e * across)
        r = int32(i + first)
        if r < m and c < n:
            from_tile = tile[uint32(uint32(at + uint32(c) * pitch) + uint32(i))]
            target[int32(int32(r * row_stride) + c * col_stride)] = from_tile

    give_all = static_for(give, range(height), "first, a, own, scales, diagonal, tile, start")
    flush_all = static_for(
        flush, range(height), "first, target, row_stride, col_stride, m, n, tile, at, path"
    )

    @device
    def turn(first, a, own, scales, target, row_stride, col_stride, m, n, tile, at, lane, diagonal):
        mine = opaque(lane)
        path, start = walk(row_stride, col_stride, mine), uint32(at + uint32(mine) * pitch)
        give_all(first, a, own, scales, opaque(diagonal), tile, start)
        cuda.syncwarp(full)
        flush_all(first, target, row_stride, col_stride, opaque(m), opaque(n), tile, at, path)
        cuda.syncwarp(full)

    arguments = "a, own, scales, target, row_stride, col_stride, m, n, tile, at, lane, diagonal"
    store = static_for(turn, range(0, rows, height), arguments)
    return store
