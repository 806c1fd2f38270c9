"""Copy a batch of matrices between layouts, through a tile so that both sides move whole lines.

One block moves one tile of one matrix. The tile is read along the source's unit stride and written
along the target's; its odd pitch keeps both free of bank conflicts.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda

from .device.signature import COUNT, INDEX, matrix
from .specs import RelayoutSpec

__all__ = ["TILE", "make_kernel", "signature"]

TILE = 32
int32, int64 = np.int32, np.int64


def signature(spec: RelayoutSpec) -> tuple[Any, ...]:
    """``(source, target, rows, cols, tile_rows, tiles)``."""
    return (*matrix(spec.dtype), *matrix(spec.dtype), INDEX, INDEX, INDEX, COUNT)


def make_kernel(spec: RelayoutSpec) -> Any:
    """The kernel; ``tiles`` is the number of tiles of one matrix, ``tile_rows`` of them down a column."""
    element, pitch = np.dtype(spec.dtype).type, TILE + 1
    tile_size, edge, rows_per_pass = TILE * pitch, int32(TILE), spec.threads // TILE
    passes, step = TILE // rows_per_pass, int32(rows_per_pass)
    read_columns, write_columns = spec.read_columns, spec.write_columns

    @cuda.jit
    def relayout(
        source, s_row, s_col, s_batch, target, t_row, t_col, t_batch, rows, cols, tile_rows, tiles
    ):  # fmt: skip
        tile = cuda.shared.array(tile_size, element)
        block = int64(cuda.blockIdx.x)
        item, part = block // tiles, int32(block % tiles)
        row0, col0 = int32(part % tile_rows) * edge, int32(part // tile_rows) * edge
        fast, slow = int32(cuda.threadIdx.x) % edge, int32(cuda.threadIdx.x) // edge

        for k in range(passes):
            other = slow + int32(k) * step
            i, j = (fast, other) if read_columns else (other, fast)
            if row0 + i < rows and col0 + j < cols:
                at = item * s_batch + int64(row0 + i) * int64(s_row) + int64(col0 + j) * int64(s_col)
                tile[j * pitch + i] = source[at]
        cuda.syncthreads()
        for k in range(passes):
            other = slow + int32(k) * step
            i, j = (fast, other) if write_columns else (other, fast)
            if row0 + i < rows and col0 + j < cols:
                at = item * t_batch + int64(row0 + i) * int64(t_row) + int64(col0 + j) * int64(t_col)
                target[at] = tile[j * pitch + i]

    return relayout
