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
FULL = np.uint32(0xFFFFFFFF)
PART = 8  # right-hand sides, at most, that a warp stages together
uint32, uint64, int32, int64 = np.uint32, np.uint64, np.int32, np.int64
SOLUTION = ORDER * TILE_PITCH  # where the tile of X begins, behind the one of A


def signature(spec: TrsmSpec) -> tuple[Any, ...]:
    """``(a, a_first, conj, divide, b, b_first, x, x_first, alpha, n, nrhs, tiles)``, matrices strided."""
    one = (*matrix(spec.dtype), COUNT)
    return (*one, INDEX, INDEX, *one, *one, types.float64, types.float64, INDEX, INDEX, COUNT)


def _tile_io(spec: TrsmSpec) -> tuple[Any, Any]:
    """Load and store a lane's part of a block row of X."""

    @device
    def take(c, sums, memory, at):
        sums[c] = memory[at + uint64(c)]

    @device
    def put(c, sums, memory, at):
        memory[at + uint64(c)] = sums[c]

    width = range(spec.width)
    return static_for(take, width, "sums, memory, at"), static_for(put, width, "sums, memory, at")


def _sides_io(spec: TrsmSpec) -> tuple[Any, Any]:
    """Bring a warp's right-hand sides to shared memory, and their solution back to memory."""
    part = min(PART, spec.columns)
    parts, columns = staging(spec.dtype, WARP, part), int32(spec.columns)
    load, store, each = parts.load, parts.store, parts.registers
    element, pitch, step, across = arithmetic(spec.dtype).element, uint32(spec.pitch), uint32(1), int32(part)
    order, warp_size = int32(ORDER), int32(WARP)

    @device
    def fetch(memory, start, b, row_stride, col_stride, n, count, factor, lane):
        i, last = int32(0), max(int32(count - int32(1)), int32(0))
        while i < n:
            rows_at, c = advance(b, int64(i) * int64(row_stride)), int32(0)
            while c < columns:
                held, left = cuda.local.array(each, element), int32(count - c)
                sides_at = advance(rows_at, int64(min(c, last)) * int64(col_stride))
                load(held, sides_at, row_stride, col_stride, int32(n - i), left, factor, int32(0), lane)
                target = uint32(uint32(start + uint32(i) * pitch) + uint32(c))
                store(held, memory, target, pitch, step, row_stride, col_stride, lane)
                c = int32(c + across)
            i = int32(i + order)

    @device
    def flush(memory, start, x, row_stride, col_stride, n, count, lane):
        along_rows = abs(row_stride) <= abs(col_stride)
        position = lane
        while position < int32(n * columns):
            i = select(along_rows, int32(position % n), int32(position // columns))
            j = select(along_rows, int32(position // n), int32(position % columns))
            if j < count:
                value = memory[uint32(uint32(start + uint32(i) * pitch) + uint32(j))]
                x[int32(int32(i * row_stride) + j * col_stride)] = value
            position = int32(position + warp_size)

    return fetch, flush


def _meeting(warps: int) -> Any:
    """Barrier of the block: of its warp, if it has but one."""
    full = FULL

    @device
    def meet_warp():
        cuda.syncwarp(full)

    @device
    def meet_block():
        cuda.syncthreads()

    return meet_warp if warps == 1 else meet_block


def make_kernel(spec: TrsmSpec) -> Any:
    """The kernel; ``*_first`` is where in item 0 a matrix begins, ``divide`` is 0 for a unit diagonal."""
    arith, width, warps = arithmetic(spec.dtype), spec.width, spec.threads // WARP
    element, real, one, make = arith.element, arith.real, arith.element(1), element_of(spec.dtype)
    (take, put), (fetch, flush), meet = _tile_io(spec), _sides_io(spec), _meeting(warps)
    tiles_of_a, subtract = staging(spec.dtype, spec.threads), subtract_tiles(spec.dtype, width)
    load_a, store_a, each_a = tiles_of_a.load, tiles_of_a.store, tiles_of_a.registers
    solve, invert = lower_solve(spec.dtype, unit=False), pivot_inverses(spec.dtype)
    pitch, tile, columns, order = uint64(spec.pitch), int32(spec.tile), int32(spec.columns), int32(ORDER)
    left_pitch, triangle_pitch, unit, nothing = uint32(TILE_PITCH), uint32(ORDER), uint32(1), uint32(0)
    warp_size, registers, solution, step = int32(WARP), ORDER, uint64(SOLUTION), int32(width)
    diagonal, none = uint32(ORDER + 1), uint64(0)

    @device
    def subtract_solved(memory, mine, lane, i, j):
        here, solved = mine + (uint64(i) + uint64(lane)) * pitch, mine + uint64(j) * pitch
        sums, c = cuda.local.array(width, element), int32(0)
        while c < columns:
            take(sums, memory, here + uint64(c))
            subtract(sums, memory, uint64(lane), solved + uint64(c), pitch)
            put(sums, memory, here + uint64(c))
            c = int32(c + step)

    @device
    def solve_diagonal(memory, at, scales, inverses, divide, depth, thread, lane):
        if thread < order:
            pivot = memory[uint32(uint32(thread) * diagonal)]
            invert(pivot, divide != int32(0) and thread < depth, uint32(thread), scales, inverses)
        meet()
        if lane < columns:
            x = cuda.local.array(registers, element)
            solve(x, memory, none, scales, inverses, at + uint64(lane), pitch)
        meet()

    @cuda.jit
    def trsm_cta(
        a, a_row, a_col, a_batch, a_first, conj, divide, b, b_row, b_col, b_batch, b_first,
        x, x_row, x_col, x_batch, x_first, alpha, alpha_i, n, nrhs, tiles,
    ):  # fmt: skip
        memory, held = cuda.shared.array(0, element, alignment=16), cuda.local.array(each_a, element)
        scales, inverses = cuda.shared.array(registers, real), cuda.shared.array(registers, element)
        thread, block = int32(cuda.threadIdx.x), int64(cuda.blockIdx.x)
        lane, warp = int32(thread % warp_size), int32(thread // warp_size)
        item, first = block // tiles, int32(int32(int32(block % tiles) * tile) + int32(warp * columns))
        count, rows = (
            min(columns, int32(nrhs - first)),
            int32(int32(int32(n + order - int32(1)) // order) * order),
        )
        mine = solution + uint64(warp) * uint64(rows) * pitch
        matrix_at = advance(a, item * a_batch + a_first)
        side = int64(min(first, int32(nrhs - int32(1))))

        sides_at = advance(b, item * b_batch + b_first + side * int64(b_col))
        fetch(memory, uint32(mine), sides_at, b_row, b_col, n, count, make(alpha, alpha_i), lane)
        i = int32(0)
        while i < n:
            rows_at, left, j = advance(matrix_at, int64(i) * int64(a_row)), int32(n - i), int32(0)
            load_a(held, rows_at, a_row, a_col, left, n, one, conj, thread)
            while j < i:
                store_a(held, memory, nothing, unit, left_pitch, a_row, a_col, thread)
                meet()
                after = int32(j + order)
                next_at = advance(rows_at, int64(after) * int64(a_col))
                load_a(held, next_at, a_row, a_col, left, int32(n - after), one, conj, thread)
                subtract_solved(memory, mine, lane, i, j)
                meet()
                j = after
            store_a(held, memory, nothing, unit, triangle_pitch, a_row, a_col, thread)
            meet()
            solve_diagonal(memory, mine + uint64(i) * pitch, scales, inverses, divide, left, thread, lane)
            i = int32(i + order)
        target = advance(x, item * x_batch + x_first + side * int64(x_col))
        flush(memory, uint32(mine), target, x_row, x_col, n, count, lane)

    return trsm_cta
