"""op(A) X = B with the factors of getrf and a few right-hand sides, in one launch.

Mapping: a warp a matrix up to order 32, a block a matrix beyond. The sides lie in shared memory from
beginning to end; they are permuted on the way in, or on the way out for a transpose. The factors are read
once, a triangle of order 32 and what is below it after another.

Both triangles are solved as lower ones: a transpose is one with its strides interchanged, which the caller
does, and an upper one is read from its last element on, as are the sides, which are turned upside down after
each solve. A conjugate transpose is a transpose between conjugate sides.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda

from ..dtypes import itemsize
from .block_specs import ORDER, GetrsCtaSpec
from .device.arithmetic import arithmetic
from .device.interchanges import meet, replay
from .device.jit import device, select
from .device.narrow_sides import roles, sides_io
from .device.narrow_solve import lower_solve
from .device.pointers import advance
from .device.signature import COUNT, INDEX, INTS, matrix
from .device.tiles import TILE_PITCH

__all__ = ["make_kernel", "signature"]

uint32, int32, int64 = np.uint32, np.int32, np.int64


def signature(spec: GetrsCtaSpec) -> tuple[Any, ...]:
    """Arguments of the kernel, which `make_kernel` names."""
    one = matrix(spec.dtype)
    return (*one, INTS, *one, *one, *[INDEX] * 8, COUNT)


def _both_solves(spec: GetrsCtaSpec, overturn: Any) -> Any:
    """``(memory, places, lu, at, row_stride, col_stride, turned, n, transposed, who)``: both triangles.

    The first is the lower one, with a unit diagonal unless ``transposed``. Up to order `ORDER` the factors
    stay in shared memory for the second. Ends with a barrier.
    """
    solve, pitch, order = lower_solve(spec), int32(TILE_PITCH), int32(ORDER)
    zero, one, two, nowhere = int32(0), int32(1), int32(2), int64(0)

    @device
    def solve_both(memory, places, lu, at, row_stride, col_stride, turned, n, transposed, who):
        down, across, last = select(turned, pitch, one), select(turned, one, pitch), int32(n - one)
        end, turn = int64(last) * (int64(row_stride) + int64(col_stride)), zero
        while turn < two:
            back = turn > zero
            staged, sign = back and n <= order, select(back, int32(-one), one)
            step = select(staged, int32(-one), one)
            first = int32(places[0] + select(staged, int32(last * int32(one + pitch)), zero))
            triangle = first, int32(step * down), int32(step * across)
            factors = advance(lu, at + select(back, end, nowhere))
            rows, cols = int32(sign * row_stride), int32(sign * col_stride)
            solve(memory, triangle, staged, places, factors, rows, cols, turned, n, back != transposed, who)
            overturn(memory, places[2], n, False, who)
            meet(who[2])
            turn = int32(turn + one)

    return solve_both


def make_kernel(spec: GetrsCtaSpec) -> Any:
    """The kernel.

    Arguments are ``(lu, ipiv, b, x, turned, transposed, conj, n, nrhs, slices, sides, area, batch)``,
    matrices with their strides, those of ``lu`` interchanged if ``transposed``. ``turned`` tells that its
    rows are contiguous then. ``slices``, ``sides`` and ``area`` are those of the spec, in elements of
    dynamic shared memory.
    """
    element, rhs = arithmetic(spec.dtype).element, int32(spec.rhs)
    words_each = int32(itemsize(spec.dtype) // 4)
    bring, overturn, write = sides_io(spec, permuted=True)
    solve_both, zero = _both_solves(spec, overturn), int32(0)

    @cuda.jit
    def getrs_cta(
        lu, lu_row, lu_col, lu_batch, ipiv, b, b_row, b_col, b_batch, x, x_row, x_col, x_batch, turned,
        transposed, conj, n, nrhs, slices, sides, area, batch,
    ):  # fmt: skip
        memory, rows = cuda.shared.array(0, element, alignment=16), cuda.shared.array(0, int32)
        who, member, members = roles(int32(cuda.threadIdx.x), int32(cuda.blockDim.x), n)
        item = int64(cuda.blockIdx.x) * int64(members) + int64(member)
        if item < batch:
            begin = int32(member * area)
            places = begin, int32(begin + slices), int32(begin + sides)
            rows_at = int32(int32(places[2] + int32(n * rhs)) * words_each)
            across, other = transposed != zero, conj != zero
            replay(rows, uint32(rows_at), ipiv, item * int64(n), zero, n, n, across, who)
            bring(
                memory, places[2], rows, rows_at, b, item * b_batch, b_row, b_col, n, nrhs, across, other, who
            )
            solve_both(memory, places, lu, item * lu_batch, lu_row, lu_col, turned != zero, n, across, who)
            write(
                memory, places[2], rows, rows_at, x, item * x_batch, x_row, x_col, n, nrhs, across, other, who
            )

    return getrs_cta
