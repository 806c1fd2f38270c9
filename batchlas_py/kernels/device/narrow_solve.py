"""Forward substitution with a lower triangle for a few right-hand sides, which lie in shared memory.

Triangles of order `ORDER` on the diagonal are solved by one warp, a row a lane. What is below one is then
subtracted by all warps, a row a lane, and every sum runs over its columns from low to high in fused
operations. Factors whose rows are contiguous pass through a slice of shared memory, so that they too are read
in whole lines.

``who`` is (lane, warp, warps); sides lie side by side, element (i, q) at ``sides + i rhs + q``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda

from ...dtypes import is_complex
from ..block_specs import ORDER, GetrsCtaSpec
from .arithmetic import arithmetic
from .interchanges import meet
from .jit import device, select, static_for
from .lu_rows import divider
from .opaque import opaque
from .pointers import advance
from .tiles import TILE_PITCH

__all__ = ["conjugated", "lower_solve"]

FULL = np.uint32(0xFFFFFFFF)
uint32, uint64, int32, int64 = np.uint32, np.uint64, np.int32, np.int64


def conjugated(dtype: str) -> Any:
    """``(z, wanted) -> z`` or its conjugate."""
    element = np.dtype(dtype).type

    @device
    def same(z, wanted):
        return z

    @device
    def flipped(z, wanted):
        return element(complex(z.real, select(wanted, -z.imag, z.imag)))

    return flipped if is_complex(dtype) else same


def _from_lane(dtype: str) -> Any:
    """``(z, lane) -> z`` of that lane."""
    element, full = np.dtype(dtype).type, FULL

    @device
    def real(z, lane):
        return cuda.shfl_sync(full, z, lane)

    @device
    def both(z, lane):
        return element(complex(cuda.shfl_sync(full, z.real, lane), cuda.shfl_sync(full, z.imag, lane)))

    return both if is_complex(dtype) else real


def _triangle_loader(spec: GetrsCtaSpec) -> Any:
    """``(memory, tile, a, row_stride, col_stride, turned, order, who)``: bring a square of factors.

    In shared memory its columns, or rows if ``turned``, begin `TILE_PITCH` elements apart. A barrier is to
    follow.
    """
    element, abreast, zero = arithmetic(spec.dtype).element, spec.depth, arithmetic(spec.dtype).element(0)
    lines, pitch = int32(spec.depth), uint64(TILE_PITCH)

    @device
    def take(g, held, a, at, step, left):
        value = zero
        if g < left:
            value = a[int32(at + int32(g * step))]
        held[g] = value

    @device
    def put(g, held, memory, at, left):
        if g < left:
            memory[at + uint64(g) * pitch] = held[g]

    take_all = static_for(take, range(abreast), "held, a, at, step, left")
    put_all = static_for(put, range(abreast), "held, memory, at, left")

    @device
    def load(memory, tile, a, row_stride, col_stride, turned, order, who):
        lane, warp, warps = who
        along, across = select(turned, col_stride, row_stride), select(turned, row_stride, col_stride)
        line, held = int32(warp * lines), cuda.local.array(abreast, element)
        while line < order:
            left, first = int32(order - line), int32(int32(lane * along) + int32(line * across))
            if lane < order:
                take_all(held, a, first, opaque(across), left)
                put_all(held, memory, uint64(tile) + uint64(lane) + uint64(line) * pitch, left)
            line = int32(line + int32(lines * warps))

    return load


def _sides_io(rhs: int) -> tuple[Any, Any]:
    """``(sums, memory, at)``: a row of right-hand sides to registers, and back."""

    @device
    def take(q, sums, memory, at):
        sums[q] = memory[at + uint64(q)]

    @device
    def put(q, sums, memory, at):
        memory[at + uint64(q)] = sums[q]

    return static_for(take, range(rhs), "sums, memory, at"), static_for(put, range(rhs), "sums, memory, at")


def _diagonal_solve(spec: GetrsCtaSpec) -> Any:
    """``(memory, triangle, sides, order, divides, lane)``: one warp solves with a staged triangle.

    ``triangle`` is (first element, row step, column step); rows are divided by its diagonal if ``divides``.
    """
    arith, rhs, one = arithmetic(spec.dtype), spec.rhs, int32(1)
    element, zero, key, scale = arith.element, arith.element(0), arith.key, arith.scale
    times_real, reciprocal, multiply_subtract = arith.times_real, arith.reciprocal, arith.multiply_subtract
    divide, from_lane, (take, put) = divider(spec.dtype), _from_lane(spec.dtype), _sides_io(rhs)

    @device
    def clear(q, x):
        x[q] = zero

    @device
    def quotient(z, s, inverse, divides):
        if divides:
            z = divide(z, s, inverse)
        return z

    @device
    def finish(q, x, s, inverse, divides):
        x[q] = quotient(x[q], s, inverse, divides)

    @device
    def eliminate(q, x, factor, k, s, inverse, divides, lane):
        solved = from_lane(quotient(x[q], s, inverse, divides), k)
        x[q] = select(lane > k, multiply_subtract(x[q], factor, solved), x[q])

    clear_all = static_for(clear, range(rhs), "x")
    finish_all = static_for(finish, range(rhs), "x, s, inverse, divides")
    step = static_for(eliminate, range(rhs), "x, factor, k, s, inverse, divides, lane")

    @device
    def solve(memory, triangle, sides, order, divides, lane):
        (first, row_step, col_step), x = triangle, cuda.local.array(rhs, element)
        mine, here = min(lane, int32(order - one)), uint64(sides) + uint64(lane) * uint64(rhs)
        at = int32(first + int32(mine * row_step))
        pivot = memory[uint32(at + int32(mine * col_step))]
        high, _ = key(pivot, True)
        s = scale(high)
        inverse = reciprocal(times_real(pivot, s))
        clear_all(x)
        if lane < order:
            take(x, memory, here)
        k = int32(0)
        while k < order:
            step(x, memory[uint32(at)], k, s, inverse, divides, lane)
            at, k = int32(at + col_step), int32(k + one)
        finish_all(x, s, inverse, divides)
        if lane < order:
            put(x, memory, here)

    return solve


def _slices(spec: GetrsCtaSpec) -> tuple[Any, Any]:
    """``(held, memory, at, a, row_stride, col_stride, lane)``: the lane's row of a slice to registers.

    The first reads it there, the second by way of shared memory.
    """
    depth, each, full = int32(spec.depth), range(spec.depth), FULL
    abreast, pitch = int32(ORDER // spec.depth), uint64(spec.pitch)

    @device
    def take(j, held, a, along, col_stride):
        held[j] = a[int32(along + int32(j * col_stride))]

    @device
    def take_across(e, held, a, along, step):
        held[e] = a[int32(along + int32(e * step))]

    @device
    def put_across(e, held, memory, at):
        memory[at + uint64(e) * uint64(abreast)] = held[e]

    @device
    def take_back(j, held, memory, at):
        held[j] = memory[at + uint64(j) * pitch]

    take_all = static_for(take, each, "held, a, along, col_stride")
    take_all_across = static_for(take_across, each, "held, a, along, step")
    put_all_across = static_for(put_across, each, "held, memory, at")
    take_all_back = static_for(take_back, each, "held, memory, at")

    @device
    def direct(held, memory, at, a, row_stride, col_stride, lane):
        take_all(held, a, int32(lane * row_stride), opaque(col_stride))

    @device
    def turned(held, memory, at, a, row_stride, col_stride, lane):
        j, i = int32(lane % depth), int32(lane // depth)
        along, step = (
            int32(int32(i * row_stride) + int32(j * col_stride)),
            opaque(int32(abreast * row_stride)),
        )
        take_all_across(held, a, along, step)
        cuda.syncwarp(full)
        put_all_across(held, memory, uint64(at) + uint64(i) + uint64(j) * pitch)
        cuda.syncwarp(full)
        take_all_back(held, memory, uint64(at) + uint64(lane))

    return direct, turned


def _rows_below(spec: GetrsCtaSpec) -> Any:
    """``(memory, slice_at, a, row_stride, col_stride, solved, sides, dead, by_slices, lane)``.

    A warp subtracts `ORDER` rows of factors, of `ORDER` columns, times the sides at ``solved``. All rows are
    read, but the first ``dead`` do not count.
    """
    arith, rhs, depth, order = arithmetic(spec.dtype), spec.rhs, spec.depth, int32(ORDER)
    element, multiply_subtract = arith.element, arith.multiply_subtract
    (direct, turned), (take, put) = _slices(spec), _sides_io(rhs)

    @device
    def one(q, sums, factor, memory, at):
        sums[q] = multiply_subtract(sums[q], factor, memory[at + uint64(q)])

    row = static_for(one, range(rhs), "sums, factor, memory, at")

    @device
    def column(j, sums, held, memory, at):
        row(sums, held[j], memory, at + uint64(j) * uint64(rhs))

    columns = static_for(column, range(depth), "sums, held, memory, at")

    @device
    def subtract(memory, slice_at, a, row_stride, col_stride, solved, sides, dead, by_slices, lane):
        sums, held = cuda.local.array(rhs, element), cuda.local.array(depth, element)
        here, k = uint64(sides) + uint64(lane) * uint64(rhs), int32(0)
        if lane >= dead:
            take(sums, memory, here)
        while k < order:
            at = advance(a, int64(k) * int64(col_stride))
            if by_slices:
                turned(held, memory, slice_at, at, row_stride, col_stride, lane)
            else:
                direct(held, memory, slice_at, at, row_stride, col_stride, lane)
            if lane >= dead:
                columns(sums, held, memory, uint64(solved) + uint64(k) * uint64(rhs))
            k = int32(k + int32(depth))
        if lane >= dead:
            put(sums, memory, here)

    return subtract


def lower_solve(spec: GetrsCtaSpec) -> Any:
    """``(memory, triangle, staged, places, a, row_stride, col_stride, turned, n, divides, who)``: solve.

    ``triangle`` is how a triangle lies once it is in shared memory, (first element, row step, column step),
    and ``staged`` whether the first is there already. ``places`` are the elements at which triangles, slices
    and sides begin. ``turned`` tells that the factors' rows are contiguous, not their columns. The last rows
    are read together with some above them, so that none is past the end. Ends with a barrier.
    """
    load, solve_diagonal, subtract = _triangle_loader(spec), _diagonal_solve(spec), _rows_below(spec)
    order, rhs, area, zero = int32(ORDER), int32(spec.rhs), int32(spec.depth * spec.pitch), int32(0)

    @device
    def solve(memory, triangle, staged, places, a, row_stride, col_stride, turned, n, divides, who):
        (tile, slices, sides), (lane, warp, warps), start = places, who, zero
        slice_at = int32(slices + int32(warp * area))
        while start < n:
            left, solved = min(order, int32(n - start)), int32(sides + int32(start * rhs))
            column = advance(a, int64(start) * int64(col_stride))
            if start > zero or not staged:
                corner = advance(column, int64(start) * int64(row_stride))
                load(memory, tile, corner, row_stride, col_stride, turned, left, who)
            meet(warps)
            if warp == zero:
                solve_diagonal(memory, triangle, solved, left, divides, lane)
            meet(warps)
            start = int32(start + order)
            row = int32(start + int32(warp * order))
            while row < n:
                top = min(row, int32(n - order))
                at, below = advance(column, int64(top) * int64(row_stride)), int32(sides + int32(top * rhs))
                dead = int32(row - top)
                subtract(memory, slice_at, at, row_stride, col_stride, solved, below, dead, turned, lane)
                row = int32(row + int32(warps * order))

    return solve
