"""A X = B for positive definite matrices up to 32 x 32 and a few right-hand sides, in one launch.

`potrf_tiny`'s elimination carries the right-hand sides along, so forward substitution costs no pass of its
own. Back substitution takes the rows of L from a tile, where a lane reads down its column. A pivot
that is not positive makes NaN of all unknowns.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import cuda

from .cholesky_specs import SpdTinySpec
from .device.arithmetic import arithmetic
from .device.cholesky_rows import broadcast, first_failure
from .device.inverse_root import roots
from .device.jit import device, select, static_for
from .device.narrow_solve import conjugated
from .device.pointers import advance
from .device.signature import COUNT, INDEX, INTS, matrix
from .potrf_tiny import WARP, factoring, tile_pitch

__all__ = ["make_kernel", "signature"]

FULL = np.uint32(0xFFFFFFFF)
uint32, int32, int64 = np.uint32, np.int32, np.int64


class _Sides(NamedTuple):
    load: Any
    store: Any


def _sides(spec: SpdTinySpec) -> _Sides:
    """Loading and storing a lane's row of the right-hand sides, conjugated if ``conj``."""
    conjugate = conjugated(spec.dtype)

    @device
    def load_one(q, b, source, offset, col_stride, nrhs, conj):
        column = min(q, int32(nrhs - int32(1)))
        b[q] = conjugate(source[int32(offset + int32(column * col_stride))], conj)

    @device
    def store_one(q, b, target, offset, col_stride, nrhs, conj):
        if q < nrhs:
            target[int32(offset + int32(q * col_stride))] = conjugate(b[q], conj)

    return _Sides(
        static_for(load_one, range(spec.rhs), "b, source, offset, col_stride, nrhs, conj"),
        static_for(store_one, range(spec.rhs), "b, target, offset, col_stride, nrhs, conj"),
    )


def _back_substitution(spec: SpdTinySpec) -> Any:
    """``L^H X = Y`` from the last row on: its lane finishes x_j, the lanes above subtract it."""
    arith, conjugate, from_lane = arithmetic(spec.dtype), conjugated(spec.dtype), broadcast(spec.dtype)
    multiply_subtract, times_real = arith.multiply_subtract, arith.times_real
    pitch, last, none = uint32(tile_pitch(spec)), uint32(spec.columns - 1), uint32(0)

    @device
    def one(q, j, b, inverse, l, above, lane, source):
        x = from_lane(times_real(b[q], inverse), source)
        rest = select(lane < above, multiply_subtract(b[q], l, x), b[q])
        b[q] = select(lane == uint32(j), x, rest)

    every = static_for(one, range(spec.rhs), "j, b, inverse, l, above, lane, source")

    @device
    def step(j, b, inverse, tile, base, lane, first, n):
        l = conjugate(tile[base + uint32(j) * pitch + min(lane, last)], True)
        above = select(uint32(j) < n, uint32(j), none)
        every(j, b, inverse, l, above, lane, int32(first + uint32(j)))

    return static_for(step, reversed(range(spec.columns)), "b, inverse, tile, base, lane, first, n")


def signature(spec: SpdTinySpec) -> tuple[Any, ...]:
    """``(b, x, c, info, conj, n, nrhs, batch)``, each matrix with its strides."""
    return (*(3 * matrix(spec.dtype)), INTS, INDEX, INDEX, INDEX, COUNT)


def make_kernel(spec: SpdTinySpec) -> Any:
    """The kernel ``posv_tiny(b, x, c, info, conj, n, nrhs, batch)``; ``c`` is factored in place.

    With ``conj`` the matrix of the system is the conjugate of the one whose lower triangle ``c`` holds.
    Strides (row, column, matrix) count elements; rows' and columns' are int32, matrices' int64.
    """
    arith, (root, inverse_root) = arithmetic(spec.dtype), roots(spec.dtype)
    element, real = arith.element, arith.real
    run, (load, store) = factoring(spec)
    (load_sides, store_sides), solve = _sides(spec), _back_substitution(spec)
    failure = first_failure(spec.dtype, spec.lanes)
    lanes, warp, per_block = uint32(spec.lanes), uint32(WARP), uint32(spec.per_block)
    columns, rhs, pitch = spec.columns, spec.rhs, uint32(tile_pitch(spec))
    shared_total, full = spec.threads * tile_pitch(spec), FULL

    @cuda.jit
    def posv_tiny(
        b, b_row, b_col, b_batch, x, x_row, x_col, x_batch, c, c_row, c_col, c_batch, info, conj, order,
        nrhs, batch,
    ):  # fmt: skip
        thread, n = uint32(cuda.threadIdx.x), uint32(order)
        lane, member = uint32(thread % lanes), uint32(thread // lanes)
        item = uint32(uint32(cuda.blockIdx.x) * per_block + member)
        valid, flip = item < uint32(batch), conj != int32(0)
        source = int64(min(item, uint32(uint32(batch) - uint32(1))))
        factor, row = advance(c, source * c_batch), int32(min(lane, uint32(n - uint32(1))))

        memory = cuda.shared.array(shared_total, element, alignment=16)
        base, first = uint32(uint32(thread - lane) * pitch), uint32(uint32(thread % warp) - lane)
        own = uint32(thread * pitch)
        rows, right = cuda.local.array(columns, element), cuda.local.array(rhs, element)
        pivot = cuda.local.array(1, real)

        load(rows, factor, c_row, c_col, memory, base, lane, n)
        load_sides(right, advance(b, source * b_batch), int32(row * b_row), b_col, nrhs, flip)
        run(rows, right, pivot, memory, base, own, lane, first)
        failed, diagonal = failure(pivot[0], lane < n, first), root(pivot[0])
        memory[own + lane] = element(diagonal)
        cuda.syncwarp(full)
        solve(right, inverse_root(pivot[0]), memory, base, lane, first, n)
        if valid and lane < n:
            store(rows, diagonal, factor, c_row, c_col, memory, base, lane, n)
            target = advance(x, source * x_batch)
            store_sides(right, target, int32(row * x_row), x_col, nrhs, flip)
        if valid and lane == uint32(0):
            info[item] = failed

    return posv_tiny
