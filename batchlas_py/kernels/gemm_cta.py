"""C = alpha A B + beta C for batches of small matrices with any strides, a tile of C a thread block.

A lane owns a row of the tile and a warp some of its columns; A and B pass through shared memory in slices of
32 along the inner extent. Transposes are strides, conjugates a flag. The sum starts at ``beta C`` and has
``-alpha A`` times B taken off, term by term in fused operations: with alpha = -1 it rounds as an elimination.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda, types

from .block_specs import GemmSpec
from .device.arithmetic import arithmetic
from .device.jit import device, static_for
from .device.pointers import advance
from .device.scalars import element_of
from .device.signature import COUNT, INDEX, matrix
from .device.tiles import ORDER, TILE_PITCH, staging, subtract_tiles

__all__ = ["make_kernel", "signature"]

WARP = 32
uint32, uint64, int32, int64 = np.uint32, np.uint64, np.int32, np.int64


def signature(spec: GemmSpec) -> tuple[Any, ...]:
    """``(a, conj_a, b, conj_b, c, alpha, beta, m, n, k, row_tiles, tiles)``, scalars in two parts."""
    one, scalar = matrix(spec.dtype), (types.float64, types.float64)
    sizes = (INDEX, INDEX, INDEX, INDEX, COUNT)
    return (*one, INDEX, *one, INDEX, *one, *scalar, *scalar, *sizes)


def _accumulator(spec: GemmSpec) -> tuple[Any, Any]:
    arith = arithmetic(spec.dtype)
    multiply, zero = arith.multiply, arith.element(0)

    @device
    def start_sum(i, sums, c, col_stride, column, n, beta):
        sums[i] = zero
        if beta != zero:
            sums[i] = multiply(beta, c[int32(min(int32(column + i), int32(n - int32(1))) * col_stride)])

    @device
    def store_sum(i, sums, c, col_stride, column, n):
        if int32(column + i) < n:
            c[int32(int32(column + i) * col_stride)] = sums[i]

    return (
        static_for(start_sum, range(spec.width), "sums, c, col_stride, column, n, beta"),
        static_for(store_sum, range(spec.width), "sums, c, col_stride, column, n"),
    )


def make_kernel(spec: GemmSpec) -> Any:
    """The kernel; ``tiles`` is the number of tiles of one matrix, ``row_tiles`` of them down a column."""
    arith, width = arithmetic(spec.dtype), spec.width
    element, one, make = arith.element, arith.element(1), element_of(spec.dtype)
    start, store = _accumulator(spec)
    stage, subtract = staging(spec.dtype, spec.threads), subtract_tiles(spec.dtype, width)
    load_tile, store_tile, each = stage.load, stage.store, stage.registers
    across, order, warp_size, per_warp = int32(spec.tile[1]), int32(ORDER), int32(WARP), int32(width)
    pitch, left_pitch, right = uint32(TILE_PITCH + 3), uint32(TILE_PITCH), uint32(ORDER * TILE_PITCH)
    elements, unit, step, nothing = ORDER * (2 * TILE_PITCH + 3), int32(1), uint32(1), uint32(0)

    @cuda.jit
    def gemm_cta(
        a, a_row, a_col, a_batch, conj_a, b, b_row, b_col, b_batch, conj_b, c, c_row, c_col, c_batch,
        alpha, alpha_i, beta, beta_i, m, n, k, row_tiles, tiles,
    ):  # fmt: skip
        memory, sums = cuda.shared.array(elements, element, alignment=16), cuda.local.array(width, element)
        thread, block = int32(cuda.threadIdx.x), int64(cuda.blockIdx.x)
        item, part = block // tiles, int32(block % tiles)
        row0, col0 = int32(int32(part % row_tiles) * order), int32(int32(part // row_tiles) * across)
        lane, mine = int32(thread % warp_size), int32(int32(thread // warp_size) * per_warp)
        row, column = int32(row0 + lane), int32(col0 + mine)
        factor = make(-alpha, -alpha_i)

        here = advance(c, item * c_batch + int64(min(row, int32(m - unit))) * int64(c_row))
        start(sums, here, c_col, column, n, make(beta, beta_i))
        inner = int32(0)
        while inner < k:
            depth, left, below = (
                int32(k - inner),
                cuda.local.array(each, element),
                cuda.local.array(each, element),
            )
            a_at = advance(a, item * a_batch + int64(row0) * int64(a_row) + int64(inner) * int64(a_col))
            b_at = advance(b, item * b_batch + int64(inner) * int64(b_row) + int64(col0) * int64(b_col))
            load_tile(left, a_at, a_row, a_col, int32(m - row0), depth, factor, conj_a, thread)
            load_tile(below, b_at, b_row, b_col, depth, int32(n - col0), one, conj_b, thread)
            cuda.syncthreads()
            store_tile(left, memory, nothing, step, left_pitch, a_row, a_col, thread)
            store_tile(below, memory, right, pitch, step, b_row, b_col, thread)
            cuda.syncthreads()
            subtract(sums, memory, uint64(lane), uint64(right) + uint64(mine), uint64(pitch))
            inner = int32(inner + order)
        if row < m:
            store(sums, here, c_col, column, n)

    return gemm_cta
