"""Cholesky factorization, A = L L^H, of a whole matrix in shared memory, a block a matrix.

The lower triangle lies there as tiles of 32 x 32 (`device.triangle_tiles`), right-looking: the first warp
brings the next diagonal tile up to date and factors it in registers, while the others take the column before
it off the rest; then the warps solve the tiles below it, a row a lane. Two barriers a column of tiles. The
triangle is read once and written once, the other one left alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda

from ..capability import potrf_pitch
from .cholesky_specs import PotrfCtaSpec
from .device.arithmetic import arithmetic
from .device.cholesky_rows import elimination, first_failure, solving
from .device.inverse_root import roots
from .device.jit import device, select
from .device.pointers import advance
from .device.signature import INDEX, INTS, matrix
from .device.triangle_tiles import ORDER, rows_io, subtract_product, tile_at, triangle_io

__all__ = ["make_kernel", "signature"]

WARP = 32
uint32, int32, int64 = np.uint32, np.int32, np.int64


def signature(spec: PotrfCtaSpec) -> tuple[Any, ...]:
    """``(c, info, n)``, the matrix with its strides."""
    return (*matrix(spec.dtype), INTS, INDEX)


def _diagonal(spec: PotrfCtaSpec) -> Any:
    """``(x, memory, tile, inverses, at, lane) -> info``: factor a diagonal tile, whose rows are ``x``."""
    arith, (root, inverse_root) = arithmetic(spec.dtype), roots(spec.dtype)
    element, real = arith.element, arith.real
    run = elimination(spec.dtype, ORDER, potrf_pitch(spec.dtype))
    failure, none, pitch = first_failure(spec.dtype, WARP), uint32(0), uint32(potrf_pitch(spec.dtype))

    @device
    def factor(x, memory, tile, inverses, at, lane):
        pivot, sides = cuda.local.array(1, real), cuda.local.array(1, element)
        own = uint32(tile + lane * pitch)
        run(x, sides, pivot, memory, tile, own, lane, none)
        inverses[at + lane] = inverse_root(pivot[0])
        memory[own + lane] = element(root(pivot[0]))
        return failure(pivot[0], True, none)

    return factor


def _updating(spec: PotrfCtaSpec) -> Any:
    """``(memory, inverses, at, j, tiles, who, info) -> info``: the column before ``j`` off what follows.

    The first warp factors the diagonal tile ``j``, and has no other unless it is the only one.
    """
    element, order, pitch = arithmetic(spec.dtype).element, ORDER, uint32(potrf_pitch(spec.dtype))
    (take, put), subtract = rows_io(spec.dtype), subtract_product(spec.dtype)
    factor, place, zero, one, width = (
        _diagonal(spec),
        tile_at(spec.dtype),
        uint32(0),
        uint32(1),
        uint32(ORDER),
    )

    @device
    def update(memory, inverses, at, j, tiles, who, info):
        lane, warp, warps = who
        x = cuda.local.array(order, element)
        last, k, turn = select(j == zero, one, tiles), j, zero
        while k < last:
            i = k
            while i < select(j == zero, one, tiles):
                if turn == warp:
                    here = uint32(place(i, k) + lane * pitch)
                    take(x, memory, here)
                    if j > zero:
                        before = uint32(j - one)
                        subtract(x, memory, uint32(place(i, before) + lane * pitch), place(k, before))
                    if k == j and i == j:
                        failed = factor(x, memory, place(i, k), inverses, at, lane)
                        if info == int32(0) and failed != int32(0):
                            info = int32(uint32(failed) + uint32(j * width))
                    else:
                        put(x, memory, here)
                turn = uint32(turn + one)
                turn = select(turn == warps, select(warps > one, one, zero), turn)
                i = uint32(i + one)
            k = uint32(k + one)
        return info

    return update


def _solving(spec: PotrfCtaSpec) -> Any:
    """``(memory, inverses, at, j, tiles, who)``: the tiles below the diagonal tile ``j``."""
    element, order, pitch = arithmetic(spec.dtype).element, ORDER, uint32(potrf_pitch(spec.dtype))
    (take, put), solve_row = rows_io(spec.dtype), solving(spec.dtype, ORDER, potrf_pitch(spec.dtype))
    place, one = tile_at(spec.dtype), uint32(1)

    @device
    def solve(memory, inverses, at, j, tiles, who):
        lane, warp, warps = who
        x = cuda.local.array(order, element)
        i = uint32(uint32(j + one) + warp)
        while i < tiles:
            here = uint32(place(i, j) + lane * pitch)
            take(x, memory, here)
            solve_row(x, memory, place(j, j), inverses, at)
            put(x, memory, here)
            i = uint32(i + warps)

    return solve


def make_kernel(spec: PotrfCtaSpec) -> Any:
    """The kernel ``potrf_cta(c, strides, info, n)``, in place; a block a matrix, of any number of warps.

    Strides (row, column, matrix) count elements. Dynamic shared memory is `capability.potrf_bytes`.
    """
    arith = arithmetic(spec.dtype)
    element, real, halves = arith.element, arith.real, np.dtype(spec.dtype).itemsize
    load, store = triangle_io(spec.dtype)
    update, solve, place = _updating(spec), _solving(spec), tile_at(spec.dtype)
    parts = uint32(halves // np.dtype(real).itemsize)
    warp_size, one, bits, rest = uint32(WARP), uint32(1), uint32(5), uint32(ORDER - 1)

    @cuda.jit
    def potrf_cta(c, c_row, c_col, c_batch, info, order):
        memory = cuda.shared.array(0, element, alignment=16)
        inverses = cuda.shared.array(0, real, alignment=16)
        thread, n, item = uint32(cuda.threadIdx.x), uint32(order), int64(cuda.blockIdx.x)
        lane, warps = uint32(thread % warp_size), uint32(uint32(cuda.blockDim.x) // warp_size)
        who, tiles = (lane, uint32(thread // warp_size), warps), uint32(uint32(n + rest) >> bits)
        at = uint32(place(tiles, uint32(0)) * parts)
        source = advance(c, item * c_batch)

        load(source, c_row, c_col, n, memory, tiles, who)
        cuda.syncthreads()
        failed, j = int32(0), uint32(0)
        while j < tiles:
            failed = update(memory, inverses, at, j, tiles, who, failed)
            cuda.syncthreads()
            solve(memory, inverses, at, j, tiles, who)
            cuda.syncthreads()
            j = uint32(j + one)
        store(source, c_row, c_col, n, memory, tiles, who)
        if thread == uint32(0):
            info[item] = failed

    return potrf_cta
