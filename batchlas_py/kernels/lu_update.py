"""What follows a factored panel in one launch: interchange, triangular solve and trailing update.

One block updates a tile of columns right of a panel of k <= 32 columns: the tile's rows are permuted, its
first k rows U12 solved with the panel's unit lower triangle, and L21 U12 subtracted from the rows below.
Each element of the tile is read once and written once.

Interchanges only ever bring rows of the first k down, so rows below need no staging: a row is its own, or
one of the first k, which are staged before anything is written.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda

from .block_specs import UpdateSpec
from .device.arithmetic import arithmetic
from .device.jit import device, select, static_for
from .device.pointers import advance
from .device.signature import COUNT, INDEX, INTS, matrix, pointer
from .device.tiles import ORDER, TRIANGLE, lower_solve, subtract_products

__all__ = ["make_kernel", "signature"]

WARP = 32
uint32, uint64, int32, int64 = np.uint32, np.uint64, np.int32, np.int64
OLD_PITCH = ORDER + 1


def signature(spec: UpdateSpec) -> tuple[Any, ...]:
    """``(panel, a, moved, moved_stride, rows, k, cols, tiles)``; panel and ``a`` share their strides."""
    return (pointer(spec.dtype), *matrix(spec.dtype), INTS, COUNT, INDEX, INDEX, INDEX, INDEX)


def _staging(spec: UpdateSpec) -> Any:
    """Stage the triangle and the first rows of the tile as they are; all loads before the first store."""
    element, zero = arithmetic(spec.dtype).element, arithmetic(spec.dtype).element(0)
    order, warps, old_pitch = int32(ORDER), int32(spec.threads // WARP), int32(OLD_PITCH)
    triangle_each, tile_each = ORDER * WARP // spec.threads, spec.tile * WARP // spec.threads

    @device
    def load_factor(e, held, panel, offset, col_stride, lane, warp, k):
        c = int32(e * warps + warp)
        value = panel[int32(offset + min(c, int32(k - int32(1))) * col_stride)]
        held[e] = select(lane < k and c < lane, value, zero)

    @device
    def load_row(e, held, a, offset, col_stride, warp, width):
        held[e] = a[int32(offset + min(int32(e * warps + warp), int32(width - int32(1))) * col_stride)]

    @device
    def store_column(e, held, memory, first, pitch, lane, warp):
        memory[uint32(int32(first + int32(e * warps + warp) * pitch) + lane)] = held[e]

    load_factors = static_for(
        load_factor, range(triangle_each), "held, panel, offset, col_stride, lane, warp, k"
    )
    load_rows = static_for(load_row, range(tile_each), "held, a, offset, col_stride, warp, width")
    store_factors = static_for(store_column, range(triangle_each), "held, memory, first, pitch, lane, warp")
    store_rows = static_for(store_column, range(tile_each), "held, memory, first, pitch, lane, warp")

    @device
    def stage(memory, old, panel, a, row_stride, col_stride, moved, lane, warp, k, width):
        source = moved[min(lane, int32(k - int32(1)))]
        factors, rows = cuda.local.array(triangle_each, element), cuda.local.array(tile_each, element)
        row = int32(min(lane, int32(k - int32(1))) * row_stride)
        load_factors(factors, panel, row, col_stride, lane, warp, k)
        load_rows(rows, a, row, col_stride, warp, width)
        store_factors(factors, memory, int32(0), order, lane, warp)
        store_rows(rows, memory, old, old_pitch, lane, warp)
        return source

    return stage


def _permuting(spec: UpdateSpec) -> Any:
    """Gather the rows that come first, from the staged ones or from below."""
    element, zero, warps = (
        arithmetic(spec.dtype).element,
        arithmetic(spec.dtype).element(0),
        int32(spec.threads // WARP),
    )
    pitch, old_pitch, each = int32(spec.pitch), int32(OLD_PITCH), spec.tile * WARP // spec.threads

    @device
    def load_row(e, held, a, offset, col_stride, warp, width):
        held[e] = a[int32(offset + min(int32(e * warps + warp), int32(width - int32(1))) * col_stride)]

    @device
    def store_row(e, held, staged, memory, old, solved, source, lane, warp, k):
        c = int32(e * warps + warp)
        value = memory[uint32(int32(old + c * old_pitch) + source)] if staged else held[e]
        memory[uint32(int32(solved + lane * pitch) + c)] = select(lane < k, value, zero)

    load_rows = static_for(load_row, range(each), "held, a, offset, col_stride, warp, width")
    store_rows = static_for(
        store_row, range(each), "held, staged, memory, old, solved, source, lane, warp, k"
    )

    @device
    def permute(memory, old, solved, a, row_stride, col_stride, source, lane, warp, k, width):
        held, staged = cuda.local.array(each, element), source < k
        if not staged:
            load_rows(held, a, int32(source * row_stride), col_stride, warp, width)
        store_rows(held, staged, memory, old, solved, source, lane, warp, k)

    return permute


def _updating(spec: UpdateSpec) -> Any:
    """Subtract L21 U12 from a group of ``spec.width`` columns of 32 rows, one row a lane."""
    arith = arithmetic(spec.dtype)
    element, depth, width = arith.element, spec.depth, spec.width
    subtract = subtract_products(spec.dtype, depth, width)
    parts = ORDER // depth
    wide, old_pitch = uint64(spec.pitch), int32(OLD_PITCH)

    @device
    def load_factor(i, l, panel, offset, col_stride, first, k):
        l[i] = panel[int32(offset + min(int32(first + i), int32(k - int32(1))) * col_stride)]

    @device
    def load_sum(c, sums, a, offset, col_stride, column, count):
        sums[c] = a[int32(offset + min(int32(column + c), int32(count - int32(1))) * col_stride)]

    @device
    def replace_sum(c, sums, memory, source, column, count):
        sums[c] = memory[uint32(source + min(int32(column + c), int32(count - int32(1))) * old_pitch)]

    @device
    def store_sum(c, sums, a, offset, col_stride, column, count, live):
        if live and int32(column + c) < count:
            a[int32(offset + int32(column + c) * col_stride)] = sums[c]

    load_factors = static_for(load_factor, range(depth), "l, panel, offset, col_stride, first, k")
    load_sums = static_for(load_sum, range(width), "sums, a, offset, col_stride, column, count")
    replace_sums = static_for(replace_sum, range(width), "sums, memory, source, column, count")
    store_sums = static_for(store_sum, range(width), "sums, a, offset, col_stride, column, count, live")

    @device
    def part(p, sums, l, memory, solved, column, panel, offset, col_stride, k):
        first = p * int32(depth)
        if parts > 1:
            load_factors(l, panel, offset, col_stride, first, k)
        subtract(sums, l, memory, uint64(solved) + uint64(first) * wide + uint64(column), wide)

    every_part = static_for(
        part, range(parts), "sums, l, memory, solved, column, panel, offset, col_stride, k"
    )
    return element, load_factors, (load_sums, replace_sums), every_part, store_sums


def make_kernel(spec: UpdateSpec) -> Any:
    """The kernel ``lu_update(panel, a, strides, moved, moved_stride, rows, k, cols, tiles)``.

    ``panel`` is the factored panel, ``a`` the columns right of it, both from the panel's first row on;
    ``moved[i]`` is the row that row i was. One block for each of the ``tiles`` tiles of each matrix.
    """
    stage, permute, solve = _staging(spec), _permuting(spec), lower_solve(spec.dtype, unit=True)
    element, load_factors, (load_sums, replace_sums), every_part, store_sums = _updating(spec)
    depth, width, once = spec.depth, spec.width, spec.depth == ORDER
    tile, group, groups = int32(spec.tile), int32(spec.width), int32(spec.tile // spec.width)
    warps, warp_size, one = int32(spec.threads // WARP), int32(WARP), int32(1)
    solved, old = int32(TRIANGLE), int32(TRIANGLE + ORDER * spec.pitch)
    pitch, order = int32(spec.pitch), ORDER

    @device
    def write_first_rows(memory, a, row_stride, col_stride, lane, warp, k, count):
        c = warp
        while c < count:
            if lane < k:
                value = memory[uint32(int32(solved + lane * pitch) + c)]
                a[int32(int32(lane * row_stride) + c * col_stride)] = value
            c = int32(c + warps)

    @device
    def update_below(memory, panel, a, row_stride, col_stride, moved, lane, warp, rows, k, count):
        l, sums = cuda.local.array(depth, element), cuda.local.array(width, element)
        chunks = int32(int32(rows - k + warp_size - one) // warp_size)
        total = int32(chunks * groups)
        share = int32(int32(total + warps - one) // warps)
        work, end, current = int32(warp * share), min(total, int32(int32(warp + one) * share)), int32(-1)
        while work < end:
            chunk, column = int32(work // groups), int32(int32(work % groups) * group)
            row = int32(int32(k + chunk * warp_size) + lane)
            live, row = row < rows, min(row, int32(rows - one))
            here = int32(row * row_stride)
            if once and chunk != current:
                load_factors(l, panel, here, col_stride, int32(0), k)
                current = chunk
            source = moved[row]
            if column < count:
                load_sums(sums, a, here, col_stride, column, count)
                if source < k:
                    replace_sums(sums, memory, int32(old + source), column, count)
                every_part(sums, l, memory, solved, column, panel, here, col_stride, k)
                store_sums(sums, a, here, col_stride, column, count, live)
            work = int32(work + one)

    @cuda.jit
    def lu_update(panel, a, row_stride, col_stride, batch_stride, moved, moved_stride, rows, k, cols, tiles):
        memory = cuda.shared.array(0, element, alignment=16)
        thread, block = int32(cuda.threadIdx.x), int32(cuda.blockIdx.x)
        lane, warp = int32(thread % warp_size), int32(thread // warp_size)
        item, first = int64(block // tiles), int32(int32(block % tiles) * tile)
        count = min(tile, int32(cols - first))
        factors, origin = advance(panel, item * batch_stride), advance(moved, item * moved_stride)
        tile_at = advance(a, item * batch_stride + int64(first) * int64(col_stride))

        source = stage(memory, old, factors, tile_at, row_stride, col_stride, origin, lane, warp, k, count)
        cuda.syncthreads()
        permute(memory, old, solved, tile_at, row_stride, col_stride, source, lane, warp, k, count)
        cuda.syncthreads()
        if thread < tile:
            x, none = cuda.local.array(order, element), cuda.local.array(1, element)
            solve(x, memory, uint64(0), none, none, uint64(solved) + uint64(thread), uint64(pitch))
        cuda.syncthreads()
        write_first_rows(memory, tile_at, row_stride, col_stride, lane, warp, k, count)
        update_below(memory, factors, tile_at, row_stride, col_stride, origin, lane, warp, rows, k, count)

    return lu_update
