"""Cholesky factorization, A = L L^H, by left-looking panels in one launch: a block a matrix, a thread a row.

A thread holds its row of the panel in registers. The earlier columns are read from where they lie, the rows
that belong to the panel's own pivots through a slice of shared memory; then one warp factors the block on the
diagonal (`device.cholesky_rows`), and the warps below solve their rows with it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import cuda

from .cholesky_specs import SLICE, LpanelSpec
from .device.arithmetic import arithmetic
from .device.cholesky_rows import elimination, first_failure, row_pitch, solving
from .device.inverse_root import roots
from .device.jit import device, select, static_for
from .device.narrow_solve import conjugated
from .device.pointers import advance
from .device.signature import INDEX, INTS, matrix

__all__ = ["make_kernel", "signature"]

WARP = 32
DEPTH = 4  # elements of its row that a thread has under way
uint32, int32, int64 = np.uint32, np.int32, np.int64


def signature(spec: LpanelSpec) -> tuple[Any, ...]:
    """``(c, info, n)``, the matrix with its strides."""
    return (*matrix(spec.dtype), INTS, INDEX)


class _Rows(NamedTuple):
    load: Any
    store: Any


def _rows_io(spec: LpanelSpec) -> _Rows:
    """``(x, a, offset, col_stride, row, p, n)``: a thread's row of the panel that begins at column ``p``."""
    element = arithmetic(spec.dtype).element
    one = element(1)

    @device
    def load_one(c, x, a, offset, col_stride, row, p, n):
        column = int32(p + c)
        x[c] = one
        if row < n and column <= row:
            x[c] = a[int32(offset + int32(column * col_stride))]

    @device
    def store_one(c, x, a, offset, col_stride, row, p, n):
        column = int32(p + c)
        if row < n and column <= row:
            a[int32(offset + int32(column * col_stride))] = x[c]

    width, arguments = range(spec.columns), "x, a, offset, col_stride, row, p, n"
    return _Rows(static_for(load_one, width, arguments), static_for(store_one, width, arguments))


def _slices(spec: LpanelSpec) -> tuple[Any, Any]:
    """Stage the pivots' rows of some earlier columns, and take these columns off a thread's row."""
    arith, conjugate = arithmetic(spec.dtype), conjugated(spec.dtype)
    element, multiply_subtract = arith.element, arith.multiply_subtract
    width, depth, columns = int32(spec.columns), DEPTH, uint32(spec.columns)

    @device
    def stage(a, row_stride, col_stride, p, m, n, count, slice_, thread, threads):
        along_rows, position = abs(row_stride) <= abs(col_stride), thread
        while position < int32(count * width):
            c = select(along_rows, int32(position % width), int32(position // count))
            k = select(along_rows, int32(position // width), int32(position % count))
            row = min(int32(p + c), int32(n - int32(1)))
            value = a[int32(int32(row * row_stride) + int32(int32(m + k) * col_stride))]
            slice_[uint32(int32(k * width) + c)] = conjugate(value, True)
            position = int32(position + threads)

    @device
    def hold(d, l, a, offset, col_stride):
        l[d] = a[int32(offset + int32(d * col_stride))]

    @device
    def term(c, d, x, l, slice_, start):
        x[c] = multiply_subtract(x[c], l[d], slice_[start + uint32(c)])

    hold_all = static_for(hold, range(DEPTH), "l, a, offset, col_stride")
    terms = static_for(term, range(spec.columns), "d, x, l, slice_, start")

    @device
    def column(d, x, l, slice_, start):
        terms(d, x, l, slice_, uint32(start + uint32(d) * columns))

    take_off = static_for(column, range(DEPTH), "x, l, slice_, start")

    @device
    def subtract(x, a, offset, col_stride, m, count, slice_):
        k, l = int32(0), cuda.local.array(depth, element)
        while k < count:
            hold_all(l, a, int32(offset + int32(int32(m + k) * col_stride)), col_stride)
            take_off(x, l, slice_, uint32(uint32(k) * columns))
            k = int32(k + int32(depth))

    return stage, subtract


def _diagonal(spec: LpanelSpec) -> Any:
    """``(x, tile, inverses, status, p, lane, n)``: factor the block on the diagonal, in its warp."""
    arith, (root, inverse_root) = arithmetic(spec.dtype), roots(spec.dtype)
    element, real, pitch = arith.element, arith.real, row_pitch(spec.dtype, spec.columns)
    run, failure = elimination(spec.dtype, spec.columns, pitch), first_failure(spec.dtype, WARP)
    distance, width, bits = uint32(pitch), uint32(spec.columns), uint32(WARP - 1)

    @device
    def set_one(k, x, diagonal, row):
        x[k] = select(row == uint32(k), element(diagonal), x[k])

    set_diagonal = static_for(set_one, range(spec.columns), "x, diagonal, row")

    @device
    def factor(x, tile, inverses, status, p, lane, n):
        pivot, sides = cuda.local.array(1, real), cuda.local.array(1, element)
        first = uint32(uint32(p) & bits)
        row = uint32(lane - first)
        run(x, sides, pivot, tile, uint32(first * distance), uint32(lane * distance), row, first)
        set_diagonal(x, root(pivot[0]), row)
        if row < width:
            inverses[row] = inverse_root(pivot[0])
        failed = failure(pivot[0], row < uint32(n - p), first)
        if row == uint32(0) and failed != int32(0) and status[0] == int32(0):
            status[0] = int32(p + failed)

    return factor


def make_kernel(spec: LpanelSpec) -> Any:
    """The kernel ``potrf_lpanel(c, strides, info, n)``, in place; a block of warps, a thread a row.

    Strides (row, column, matrix) count elements.
    """
    arith, pitch = arithmetic(spec.dtype), row_pitch(spec.dtype, spec.columns)
    element, real = arith.element, arith.real
    (load, store), (stage, subtract) = _rows_io(spec), _slices(spec)
    factor, solve = _diagonal(spec), solving(spec.dtype, spec.columns, pitch)
    columns, width, most, bits = spec.columns, int32(spec.columns), int32(SLICE), int32(5)
    staged, tile_size, zero = SLICE * spec.columns, WARP * pitch, int32(0)
    distance, mask, none = uint32(pitch), uint32(WARP - 1), uint32(0)

    @cuda.jit
    def potrf_lpanel(c, c_row, c_col, c_batch, info, n):
        slice_ = cuda.shared.array(staged, element, alignment=16)
        tile = cuda.shared.array(tile_size, element, alignment=16)
        inverses, status = cuda.shared.array(columns, real), cuda.shared.array(1, np.int32)
        row, threads, item = int32(cuda.threadIdx.x), int32(cuda.blockDim.x), int64(cuda.blockIdx.x)
        lane, warp, a = uint32(uint32(row) & mask), int32(row >> bits), advance(c, item * c_batch)
        offset = int32(min(row, int32(n - int32(1))) * c_row)
        x = cuda.local.array(columns, element)

        if row == zero:
            status[0] = zero
        cuda.syncthreads()
        p = zero
        while p < n:
            owner, m = int32(p >> bits), zero
            load(x, a, offset, c_col, row, p, n)
            while m < p:
                count = min(most, int32(p - m))
                cuda.syncthreads()
                stage(a, c_row, c_col, p, m, n, count, slice_, row, threads)
                cuda.syncthreads()
                if warp >= owner:
                    subtract(x, a, offset, c_col, m, count, slice_)
                m = int32(m + most)
            if warp == owner:
                factor(x, tile, inverses, status, p, lane, n)
            cuda.syncthreads()
            if warp > owner:
                solve(x, tile, uint32(uint32(uint32(p) & mask) * distance), inverses, none)
            store(x, a, offset, c_col, row, p, n)
            p = int32(p + width)
        if row == zero:
            info[item] = status[0]

    return potrf_lpanel
