"""A X = alpha B with a lower triangle A, for batches with any strides, a tile of right-hand sides a block.

The tile of X lies in shared memory from beginning to end. Block rows of 32 follow one another: what is solved
already is subtracted, tile by tile of A, and the diagonal triangle solved with a right-hand side a thread.

Upper triangles, transposes and right-hand triangles are lower ones with other strides, even negative ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda, types

from .block_specs import TrsmSpec
from .device.arithmetic import arithmetic
from .device.jit import device, select, static_for
from .device.pointers import advance
from .device.scalars import element_of
from .device.signature import COUNT, INDEX, matrix
from .device.tiles import ORDER, TILE_PITCH, lower_solve, pivot_inverses, staging, subtract_tiles

__all__ = ["make_kernel", "signature"]

WARP = 32
uint32, uint64, int32, int64 = np.uint32, np.uint64, np.int32, np.int64
SOLUTION = ORDER * TILE_PITCH  # where the tile of X begins, behind the one of A


def signature(spec: TrsmSpec) -> tuple[Any, ...]:
    """``(a, a_first, conj, divide, b, b_first, x, x_first, alpha, n, nrhs, tiles)``, matrices strided."""
    one = (*matrix(spec.dtype), COUNT)
    return (*one, INDEX, INDEX, *one, *one, types.float64, types.float64, INDEX, INDEX, COUNT)


def _tile_io(spec: TrsmSpec) -> tuple[Any, Any, Any]:
    """Load and store a lane's part of a block row of X, and write the tile back to memory."""
    pitch, step, tile, first = uint32(spec.pitch), int32(spec.threads), int32(spec.tile), uint32(SOLUTION)

    @device
    def take(c, sums, memory, at):
        sums[c] = memory[uint32(at + uint32(c))]

    @device
    def put(c, sums, memory, at):
        memory[uint32(at + uint32(c))] = sums[c]

    @device
    def flush(memory, x, row_stride, col_stride, n, count, thread):
        along_rows = abs(row_stride) <= abs(col_stride)
        position = thread
        while position < int32(n * tile):
            i = select(along_rows, int32(position % n), int32(position // tile))
            j = select(along_rows, int32(position // n), int32(position % tile))
            if j < count:
                value = memory[uint32(uint32(first + uint32(i) * pitch) + uint32(j))]
                x[int32(int32(i * row_stride) + j * col_stride)] = value
            position = int32(position + step)

    width = range(spec.width)
    return static_for(take, width, "sums, memory, at"), static_for(put, width, "sums, memory, at"), flush


def _diagonal_solve(spec: TrsmSpec) -> Any:
    """Solve a block row with the staged triangle; every thread of the block calls it."""
    arith, pitch, across, order = arithmetic(spec.dtype), uint64(spec.pitch), int32(spec.tile), uint32(ORDER)
    element, registers, nothing = arith.element, ORDER, uint64(0)
    solve, invert = lower_solve(spec.dtype, unit=False), pivot_inverses(spec.dtype)

    @device
    def solve_diagonal(memory, start, scales, inverses, divide, depth, thread):
        if thread < int32(ORDER):
            pivot = memory[uint32(uint32(thread) * uint32(order + uint32(1)))]
            invert(pivot, divide != int32(0) and thread < depth, uint32(thread), scales, inverses)
        cuda.syncthreads()
        if thread < across:
            x = cuda.local.array(registers, element)
            solve(x, memory, nothing, scales, inverses, uint64(start) + uint64(thread), pitch)
        cuda.syncthreads()

    return solve_diagonal


def make_kernel(spec: TrsmSpec) -> Any:
    """The kernel; ``*_first`` is where in item 0 a matrix begins, ``divide`` is 0 for a unit diagonal."""
    arith, width = arithmetic(spec.dtype), spec.width
    element, real, one, make = arith.element, arith.real, arith.element(1), element_of(spec.dtype)
    take, put, flush = _tile_io(spec)
    tiles_of_a, tiles_of_b = staging(spec.dtype, spec.threads), staging(spec.dtype, spec.threads, spec.tile)
    load_a, store_a, load_b, store_b = tiles_of_a.load, tiles_of_a.store, tiles_of_b.load, tiles_of_b.store
    each_a, each_b = tiles_of_a.registers, tiles_of_b.registers
    subtract, solve_diagonal = subtract_tiles(spec.dtype, width), _diagonal_solve(spec)
    pitch, across, order, columns = uint32(spec.pitch), int32(spec.tile), int32(ORDER), uint32(ORDER)
    left_pitch, warp_size, per_warp, registers = uint32(TILE_PITCH), int32(WARP), int32(width), ORDER
    unit, nothing, solution, wide_pitch = uint32(1), uint32(0), uint32(SOLUTION), uint64(spec.pitch)

    @cuda.jit
    def trsm_cta(
        a, a_row, a_col, a_batch, a_first, conj, divide, b, b_row, b_col, b_batch, b_first,
        x, x_row, x_col, x_batch, x_first, alpha, alpha_i, n, nrhs, tiles,
    ):  # fmt: skip
        memory, sums = cuda.shared.array(0, element, alignment=16), cuda.local.array(width, element)
        scales, inverses = cuda.shared.array(registers, real), cuda.shared.array(registers, element)
        thread, block = int32(cuda.threadIdx.x), int64(cuda.blockIdx.x)
        item, first = block // tiles, int32(int32(block % tiles) * across)
        lane, mine = uint32(thread % warp_size), uint32(int32(thread // warp_size) * per_warp)
        count, matrix_at = min(across, int32(nrhs - first)), advance(a, item * a_batch + a_first)
        sides_at = advance(b, item * b_batch + b_first + int64(first) * int64(b_col))

        i = int32(0)
        while i < n:
            sides = cuda.local.array(each_b, element)
            factor, rows_at = make(alpha, alpha_i), advance(sides_at, int64(i) * int64(b_row))
            load_b(sides, rows_at, b_row, b_col, int32(n - i), count, factor, int32(0), thread)
            store_b(sides, memory, uint32(solution + uint32(i) * pitch), pitch, unit, b_row, b_col, thread)
            i = int32(i + order)
        i = int32(0)
        while i < n:
            at, start, left = (
                advance(matrix_at, int64(i) * int64(a_row)),
                uint32(solution + uint32(i) * pitch),
                int32(n - i),
            )
            here, held = uint32(uint32(start + lane * pitch) + mine), cuda.local.array(each_a, element)
            load_a(held, at, a_row, a_col, left, n, one, conj, thread)
            cuda.syncthreads()
            take(sums, memory, here)
            j = int32(0)
            while j < i:
                store_a(held, memory, nothing, unit, left_pitch, a_row, a_col, thread)
                cuda.syncthreads()
                after = int32(j + order)
                load_a(
                    held,
                    advance(at, int64(after) * int64(a_col)),
                    a_row,
                    a_col,
                    left,
                    int32(n - after),
                    one,
                    conj,
                    thread,
                )
                subtract(
                    sums,
                    memory,
                    uint64(lane),
                    uint64(solution) + uint64(j) * wide_pitch + uint64(mine),
                    wide_pitch,
                )
                cuda.syncthreads()
                j = after
            put(sums, memory, here)
            store_a(held, memory, nothing, unit, columns, a_row, a_col, thread)
            cuda.syncthreads()
            solve_diagonal(memory, start, scales, inverses, divide, left, thread)
            i = int32(i + order)
        flush(
            memory,
            advance(x, item * x_batch + x_first + int64(first) * int64(x_col)),
            x_row,
            x_col,
            n,
            count,
            thread,
        )

    return trsm_cta
