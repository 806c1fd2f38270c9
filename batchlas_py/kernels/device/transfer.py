"""Moving a whole matrix between global memory and a column-major tile in shared memory.

Lanes lie along the smaller stride, so either memory order is read and written in whole lines. An odd
leading dimension of the tile keeps both walks off bank conflicts.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda

from .arithmetic import arithmetic
from .jit import device, select, static_for

__all__ = ["fetch", "flush"]

WARP = 32
ABREAST = 4  # lines that a warp reads together, to have as many loads in flight
uint32, int64 = np.uint32, np.int64


@device
def _lines(m, n, place, tile):
    """Lines and their length, and the strides along and across them, in memory and in the tile."""
    (_, row_stride, col_stride), (_, one, ld) = place, tile
    columns = abs(row_stride) <= abs(col_stride)
    return (
        select(columns, n, m),
        select(columns, m, n),
        select(columns, int64(row_stride), int64(col_stride)),
        select(columns, int64(col_stride), int64(row_stride)),
        select(columns, one, ld),
        select(columns, ld, one),
    )


def fetch(dtype: str) -> Any:
    """``(a, source, memory, tile, m, n, who)``: read a matrix.

    ``source`` and ``tile`` are the index of the first element, and the row and column strides; ``who`` is
    (lane, warp, warps).
    """
    element, abreast, warp_size = arithmetic(dtype).element, ABREAST, uint32(WARP)
    one = uint32(1)

    @device
    def take(g, x, a, at, across, line, lines, warps):
        last = min(uint32(line + uint32(g) * warps), uint32(lines - one))
        x[g] = a[at + int64(last) * across]

    @device
    def put(g, x, tile, at, across, line, lines, warps):
        this = uint32(line + uint32(g) * warps)
        if this < lines:
            tile[uint32(at + uint32(this * across))] = x[g]

    take_all = static_for(take, range(ABREAST), "x, a, at, across, line, lines, warps")
    put_all = static_for(put, range(ABREAST), "x, tile, at, across, line, lines, warps")

    @device
    def load(a, source, memory, tile, m, n, who):
        lines, length, along, across, tile_along, tile_across = _lines(m, n, source, tile)
        at, origin, (lane, warp, warps) = source[0], tile[0], who
        x = cuda.local.array(abreast, element)
        line = warp
        while line < lines:
            k = lane
            while k < length:
                take_all(x, a, at + int64(k) * along, across, line, lines, warps)
                put_all(x, memory, uint32(origin + uint32(k * tile_along)), tile_across, line, lines, warps)
                k = uint32(k + warp_size)
            line = uint32(line + uint32(abreast) * warps)

    return load


@device
def flush(a, target, memory, tile, m, n, who):
    """Write a matrix; the arguments are those of `fetch`'s function."""
    lines, length, along, across, tile_along, tile_across = _lines(m, n, target, tile)
    at, origin, (lane, warp, warps) = target[0], tile[0], who
    line = warp
    while line < lines:
        k = lane
        while k < length:
            place = uint32(origin + uint32(uint32(k * tile_along) + uint32(line * tile_across)))
            a[at + int64(k) * along + int64(line) * across] = memory[place]
            k = uint32(k + uint32(WARP))
        line = uint32(line + warps)
