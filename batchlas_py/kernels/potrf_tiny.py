"""Cholesky factorization, A = L L^H, of matrices up to 32 x 32 held in registers.

Mapping: a warp holds 32 / lanes matrices, lane r of a matrix holds its row r (`device.cholesky_rows`).
Shared memory shows the rows of L to all lanes, and transposes row-major data. No barrier is wider than a
warp; each element of the triangle is read once and written once, and the other triangle left alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda

from .cholesky_specs import SpdTinySpec
from .device.arithmetic import arithmetic
from .device.cholesky_rows import elimination, first_failure, row_pitch
from .device.inverse_root import roots
from .device.pointers import advance
from .device.signature import COUNT, INDEX, INTS, matrix
from .device.triangle_rows import triangle_rows

__all__ = ["WARP", "factoring", "make_kernel", "signature", "tile_pitch"]

WARP = 32
FULL = np.uint32(0xFFFFFFFF)
uint32, int32, int64 = np.uint32, np.int32, np.int64


def tile_pitch(spec: SpdTinySpec) -> int:
    """Elements between rows of the tile of a matrix."""
    return row_pitch(spec.dtype, spec.lanes)


def factoring(spec: SpdTinySpec) -> tuple[Any, Any]:
    """The elimination of a kernel, and how it moves triangles."""
    run = elimination(spec.dtype, spec.columns, tile_pitch(spec), spec.rhs)
    return run, triangle_rows(spec.dtype, spec.columns, tile_pitch(spec), staged=spec.staged)


def signature(spec: SpdTinySpec) -> tuple[Any, ...]:
    """``(c, info, n, batch)``, the matrix with its strides."""
    return (*matrix(spec.dtype), INTS, INDEX, COUNT)


def make_kernel(spec: SpdTinySpec) -> Any:
    """The kernel ``potrf_tiny(c, strides, info, n, batch)``, which works in place on the lower triangle.

    Strides (row, column, matrix) count elements; rows' and columns' are int32, matrices' int64.
    """
    arith, root = arithmetic(spec.dtype), roots(spec.dtype).root
    element, real = arith.element, arith.real
    run, (load, store) = factoring(spec)
    failure = first_failure(spec.dtype, spec.lanes)
    lanes, warp, per_block = uint32(spec.lanes), uint32(WARP), uint32(spec.per_block)
    columns, pitch, full = spec.columns, uint32(tile_pitch(spec)), FULL
    shared_total = spec.threads * tile_pitch(spec)

    @cuda.jit
    def potrf_tiny(c, c_row, c_col, c_batch, info, order, batch):
        thread, n = uint32(cuda.threadIdx.x), uint32(order)
        lane, member = uint32(thread % lanes), uint32(thread // lanes)
        item = uint32(uint32(cuda.blockIdx.x) * per_block + member)
        valid = item < uint32(batch)
        source = advance(c, int64(min(item, uint32(uint32(batch) - uint32(1)))) * c_batch)

        memory = cuda.shared.array(shared_total, element, alignment=16)
        base, first = uint32(uint32(thread - lane) * pitch), uint32(uint32(thread % warp) - lane)
        own = uint32(thread * pitch)
        rows, none = cuda.local.array(columns, element), cuda.local.array(1, element)
        pivot = cuda.local.array(1, real)

        load(rows, source, c_row, c_col, memory, base, lane, n)
        run(rows, none, pivot, memory, base, own, lane, first)
        failed, diagonal = failure(pivot[0], lane < n, first), root(pivot[0])
        memory[own + lane] = element(diagonal)
        cuda.syncwarp(full)
        if valid and lane < n:
            store(rows, diagonal, source, c_row, c_col, memory, base, lane, n)
        if valid and lane == uint32(0):
            info[item] = failed

    return potrf_tiny
