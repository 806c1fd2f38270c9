"""Cholesky elimination by the lanes of a warp, A = L L^H: lane r of a block holds row r in registers.

Left-looking: a step takes the last column off its own, the pivot from its lane, and scales. What it makes
goes to a tile in shared memory, where all lanes read the rows of L that they multiply with, whole vectors at
a time; the columns before the last are taken off one step ahead. One warp barrier a step.

Registers right of the diagonal hold numbers that nobody reads. A pivot that is not positive makes NaN of all
that follows; which one was first is read off the pivots afterwards.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numba import cuda

from ...dtypes import is_complex
from .arithmetic import arithmetic
from .inverse_root import roots
from .jit import device, select, static_for
from .narrow_solve import conjugated

__all__ = ["broadcast", "elimination", "first_failure", "row_pitch", "solving"]

uint32, int32 = np.uint32, np.int32
FULL = uint32(0xFFFFFFFF)
WARP = 32
VECTOR_BYTES = 16


def row_pitch(dtype: str, columns: int) -> int:
    """Elements between rows of a tile: whole 16-byte vectors, and one more to spread rows over the banks."""
    width = max(1, VECTOR_BYTES // np.dtype(dtype).itemsize)
    return (-(-columns // width) + 1) * width


@functools.cache
def broadcast(dtype: str) -> Any:
    """``(z, lane) -> z`` of that lane of the warp."""
    element, full = np.dtype(dtype).type, FULL

    @device
    def real(z, lane):
        return cuda.shfl_sync(full, z, lane)

    @device
    def both(z, lane):
        return element(complex(cuda.shfl_sync(full, z.real, lane), cuda.shfl_sync(full, z.imag, lane)))

    return both if is_complex(dtype) else real


@functools.cache
def first_failure(dtype: str, lanes: int) -> Any:
    """``(pivot, live, first) -> info``: 1-based, of the rows from lane ``first`` on; 0 if all are positive.

    Of lanes that are not ``live``, pivots do not count.
    """
    full, mask, zero = FULL, uint32(0xFFFFFFFF >> (WARP - lanes)), arithmetic(dtype).real(0)

    @device
    def find(pivot, live, first):
        failed = uint32(cuda.ballot_sync(full, live and not pivot > zero))
        return int32(cuda.ffs(uint32(failed >> first) & mask))

    return find


def _sides(dtype: str, rhs: int) -> Any:
    arith, from_lane = arithmetic(dtype), broadcast(dtype)
    times_real, multiply_subtract = arith.times_real, arith.multiply_subtract

    @device
    def one(q, j, b, l, inverse, row, source):
        solved = from_lane(times_real(b[q], inverse), source)
        rest = select(int32(row) > j, multiply_subtract(b[q], l, solved), b[q])
        b[q] = select(row == uint32(j), solved, rest)

    return static_for(one, range(rhs), "j, b, l, inverse, row, source")


def _reducing(dtype: str, columns: int) -> Any:
    """``(count, x, j, tile, start)``: ``x[j] -= sum_k x[k] conj(tile[start + k])`` over k below ``count``."""
    multiply_subtract, conjugate = arithmetic(dtype).multiply_subtract, conjugated(dtype)

    @device
    def term(k, count, x, j, tile, start):
        if k < count:
            x[j] = multiply_subtract(x[j], x[k], conjugate(tile[start + uint32(k)], True))

    return static_for(term, range(columns), "count, x, j, tile, start")


def elimination(dtype: str, columns: int, pitch: int, rhs: int = 0) -> Any:
    """Elimination of blocks of ``columns`` columns; rows and columns past the matrix do others no harm.

    Parameters
    ----------
    dtype : str
    columns : int
        Register columns.
    pitch : int
        Elements from a row of the tile to the next.
    rhs : int
        Right-hand sides.

    Returns
    -------
    device function
        ``(a, b, pivot, tile, base, own, row, first)``: make rows of L of ``a`` in place and in the tile, but
        for the diagonal, whose square goes to ``pivot[0]``, and carry the right-hand sides ``b`` along. The
        rows of the block begin at lane ``first`` and at element ``base``, the lane's own row at ``own``.
        Lanes behind the block have their rows solved with L^H.
    """
    arith, inverse_root = arithmetic(dtype), roots(dtype).inverse
    times_real, multiply_subtract, conjugate = arith.times_real, arith.multiply_subtract, conjugated(dtype)
    update_sides, reduce = _sides(dtype, rhs), _reducing(dtype, columns)
    distance, one, full, last = uint32(pitch), arith.real(1), FULL, columns - 1

    @device
    def step(j, a, b, pivot, tile, base, own, row, first):
        start = uint32(base + uint32(j) * distance)
        if j > 0:
            before = conjugate(tile[start + uint32(j - 1)], True)
            a[j] = multiply_subtract(a[j], a[j - 1], before)
        diagonal = cuda.shfl_sync(full, a[j].real, int32(first + uint32(j)))
        pivot[0] = select(row == uint32(j), diagonal, pivot[0])
        inverse = inverse_root(diagonal)
        a[j] = times_real(a[j], inverse)
        tile[own + uint32(j)] = a[j]
        if j < last:
            reduce(j, a, j + 1, tile, uint32(start + distance))
        update_sides(j, b, a[j], inverse, row, int32(first + uint32(j)))
        cuda.syncwarp(full)

    steps = static_for(step, range(columns), "a, b, pivot, tile, base, own, row, first")

    @device
    def run(a, b, pivot, tile, base, own, row, first):
        pivot[0] = one
        steps(a, b, pivot, tile, base, own, row, first)

    return run


def solving(dtype: str, columns: int, pitch: int) -> Any:
    """``X L^H = A`` for a row of A in registers, L in a tile.

    Returns
    -------
    device function
        ``(x, tile, base, inverses, at)``: solve in place; ``inverses[at + k]`` is that of the diagonal of L.
    """
    times_real, reduce, distance = arithmetic(dtype).times_real, _reducing(dtype, columns), uint32(pitch)

    @device
    def step(j, x, tile, base, inverses, at):
        reduce(j, x, j, tile, uint32(base + uint32(j) * distance))
        x[j] = times_real(x[j], inverses[at + uint32(j)])

    return static_for(step, range(columns), "x, tile, base, inverses, at")
