"""A X = B with the factor of potrf and a few right-hand sides, in one launch.

Mapping: as of `getrs_cta`, without a permutation. L Y = B is solved as it stands. L^H X = Y is L^T conj(X) =
conj(Y): the sides are conjugated as they are turned upside down, and the same triangle is read from its last
element on with its strides interchanged.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda

from .block_specs import ORDER, GetrsCtaSpec
from .device.arithmetic import arithmetic
from .device.interchanges import meet
from .device.jit import device, select
from .device.narrow_sides import roles, sides_io
from .device.narrow_solve import lower_solve
from .device.pointers import advance
from .device.signature import COUNT, INDEX, matrix
from .device.tiles import TILE_PITCH

__all__ = ["make_kernel", "signature"]

uint32, int32, int64 = np.uint32, np.int32, np.int64


def signature(spec: GetrsCtaSpec) -> tuple[Any, ...]:
    """Arguments of the kernel, which `make_kernel` names."""
    one = matrix(spec.dtype)
    return (*one, *one, *one, *[INDEX] * 7, COUNT)


def _both_solves(spec: GetrsCtaSpec, overturn: Any) -> Any:
    """``(memory, places, c, at, row_stride, col_stride, turned, n, who)``: with L, then with L^H.

    Up to order `ORDER` the triangle stays in shared memory for the second. Ends with a barrier.
    """
    solve, pitch, order = lower_solve(spec), int32(TILE_PITCH), int32(ORDER)
    zero, one, two, nowhere = int32(0), int32(1), int32(2), int64(0)

    @device
    def solve_both(memory, places, c, at, row_stride, col_stride, turned, n, who):
        last, turn = int32(n - one), zero
        end = int64(last) * (int64(row_stride) + int64(col_stride))
        while turn < two:
            back = turn > zero
            staged, by_rows = back and n <= order, turned != back
            down, across = select(by_rows, pitch, one), select(by_rows, one, pitch)
            step = select(staged, int32(-one), one)
            first = int32(places[0] + select(staged, int32(last * int32(one + pitch)), zero))
            triangle = first, int32(step * down), int32(step * across)
            rows = select(back, int32(-col_stride), row_stride)
            cols = select(back, int32(-row_stride), col_stride)
            factor = advance(c, at + select(back, end, nowhere))
            solve(memory, triangle, staged, places, factor, rows, cols, by_rows, n, True, who)
            overturn(memory, places[2], n, True, who)
            meet(who[2])
            turn = int32(turn + one)

    return solve_both


def make_kernel(spec: GetrsCtaSpec) -> Any:
    """The kernel.

    Arguments are ``(c, b, x, turned, conj, n, nrhs, slices, sides, area, batch)``, matrices with their
    strides: ``c`` has L in its lower triangle, ``turned`` tells that its rows are contiguous, and ``conj``
    that the matrix is the conjugate of L L^H. The rest is as of `getrs_cta`.
    """
    element = arithmetic(spec.dtype).element
    bring, overturn, write = sides_io(spec, permuted=False)
    solve_both, none = _both_solves(spec, overturn), int32(0)

    @cuda.jit
    def potrs_cta(
        c, c_row, c_col, c_batch, b, b_row, b_col, b_batch, x, x_row, x_col, x_batch, turned, conj, n, nrhs,
        slices, sides, area, batch,
    ):  # fmt: skip
        memory = cuda.shared.array(0, element, alignment=16)
        who, member, members = roles(int32(cuda.threadIdx.x), int32(cuda.blockDim.x), n)
        item = int64(cuda.blockIdx.x) * int64(members) + int64(member)
        if item < batch:
            begin, other = int32(member * area), conj != none
            places = begin, int32(begin + slices), int32(begin + sides)
            bring(
                memory, places[2], memory, none, b, item * b_batch, b_row, b_col, n, nrhs, False, other, who
            )
            solve_both(memory, places, c, item * c_batch, c_row, c_col, turned != none, n, who)
            write(
                memory, places[2], memory, none, x, item * x_batch, x_row, x_col, n, nrhs, False, other, who
            )

    return potrs_cta
