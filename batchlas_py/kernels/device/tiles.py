"""Products and triangular solves of small tiles, shared by the kernels behind a factored panel.

Every sum runs over its inner index from low to high in fused operations, so a blocked elimination rounds as
the unblocked one does. Indices of inner loops are uint64: their constant parts then go into the instructions.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...dtypes import is_complex
from .arithmetic import arithmetic
from .jit import device, select, static_for
from .lu_rows import divider

__all__ = [
    "ORDER",
    "TILE_PITCH",
    "TRIANGLE",
    "lower_solve",
    "pivot_inverses",
    "staging",
    "subtract_products",
    "subtract_tiles",
]

uint32, uint64, int32 = np.uint32, np.uint64, np.int32
ORDER = 32
TRIANGLE = ORDER * ORDER  # elements of a staged triangle: column k from element k * ORDER on
TILE_PITCH = ORDER + 1


def subtract_products(dtype: str, depth: int, width: int) -> Any:
    """Row of ``depth`` registers times a tile in shared memory, subtracted from ``width`` registers.

    Returns
    -------
    device function
        ``(sums, l, tile, at, pitch)``: ``sums[c] -= sum_k l[k] tile[at + k pitch + c]``.
    """
    multiply_subtract = arithmetic(dtype).multiply_subtract

    @device
    def one(c, k, sums, l, tile, start):
        sums[c] = multiply_subtract(sums[c], l[k], tile[start + uint64(c)])

    row = static_for(one, range(width), "k, sums, l, tile, start")

    @device
    def step(k, sums, l, tile, at, pitch):
        row(k, sums, l, tile, at + uint64(k) * pitch)

    return static_for(step, range(depth), "sums, l, tile, at, pitch")


def subtract_tiles(dtype: str, width: int) -> Any:
    """Product of two staged tiles, subtracted from ``width`` registers of each lane.

    Returns
    -------
    device function
        ``(sums, memory, left, right, pitch)``: off ``sums[c]`` come the `ORDER` terms
        ``memory[left + k TILE_PITCH] memory[right + k pitch + c]``; ``left`` counts the lane in,
        ``right`` the lane's first column.
    """
    multiply_subtract, unroll = arithmetic(dtype).multiply_subtract, 4
    left_pitch, order = uint64(TILE_PITCH), uint64(ORDER)

    @device
    def one(c, sums, l, memory, start):
        sums[c] = multiply_subtract(sums[c], l, memory[start + uint64(c)])

    row = static_for(one, range(width), "sums, l, memory, start")

    @device
    def term(offset, k, sums, memory, left, right, pitch):
        now = k + uint64(offset)
        row(sums, memory[left + now * left_pitch], memory, right + now * pitch)

    terms = static_for(term, range(unroll), "k, sums, memory, left, right, pitch")

    @device
    def subtract(sums, memory, left, right, pitch):
        k = uint64(0)
        while k < order:
            terms(k, sums, memory, left, right, pitch)
            k = k + uint64(unroll)

    return subtract


def lower_solve(dtype: str, *, unit: bool) -> Any:
    """Forward substitution with a lower triangle of order `ORDER`, one right-hand side a thread.

    Returns
    -------
    device function
        ``(x, memory, triangle, scales, inverses, at, pitch)``: solve in place what lies at
        ``memory[at + i pitch]``; ``x`` are `ORDER` registers, ``triangle`` is where a staged triangle begins,
        whose diagonal is not read. Unless ``unit``, row i is divided by what `pivot_inverses` left at i.
    """
    multiply_subtract, divide = arithmetic(dtype).multiply_subtract, divider(dtype)
    order = uint64(ORDER)

    @device
    def take(i, x, memory, at, pitch):
        x[i] = memory[at + uint64(i) * pitch]

    @device
    def put(i, x, memory, at, pitch):
        memory[at + uint64(i) * pitch] = x[i]

    @device
    def eliminate(i, k, x, memory, triangle):
        if i > k:
            factor = memory[triangle + uint64(k) * order + uint64(i)]
            x[i] = multiply_subtract(x[i], factor, x[k])

    below = static_for(eliminate, range(ORDER), "k, x, memory, triangle")

    @device
    def step(k, x, memory, triangle, scales, inverses):
        if not unit:
            x[k] = divide(x[k], scales[uint32(k)], inverses[uint32(k)])
        below(k, x, memory, triangle)

    take_all = static_for(take, range(ORDER), "x, memory, at, pitch")
    put_all = static_for(put, range(ORDER), "x, memory, at, pitch")
    steps = static_for(step, range(ORDER), "x, memory, triangle, scales, inverses")

    @device
    def solve(x, memory, triangle, scales, inverses, at, pitch):
        take_all(x, memory, at, pitch)
        steps(x, memory, triangle, scales, inverses)
        put_all(x, memory, at, pitch)

    return solve


def pivot_inverses(dtype: str) -> Any:
    """``(pivot, divide, k, scales, inverses)``: what `lower_solve` divides row k by; 1 unless ``divide``."""
    arith = arithmetic(dtype)
    key, scale, times_real, reciprocal = arith.key, arith.scale, arith.times_real, arith.reciprocal
    one, unit = arith.real(1), arith.element(1)

    @device
    def invert(pivot, divide, k, scales, inverses):
        high, _ = key(pivot, True)
        s = scale(high)
        scales[k] = select(divide, s, one)
        inverses[k] = select(divide, reciprocal(times_real(pivot, s)), unit)

    return invert


class Staging(NamedTuple):
    """Device functions that copy a tile of up to `ORDER` rows to shared memory, zero outside of the matrix.

    Threads go along the smaller stride. All loads are under way before the first store.

    Attributes
    ----------
    load : device function
        ``(held, a, row_stride, col_stride, rows, cols, factor, conj, thread)``: ``factor a[i, j]``,
        conjugated if ``conj``, to the registers ``held``.
    store : device function
        ``(held, tile, start, row_pitch, col_pitch, row_stride, col_stride, thread)``: from there to
        ``tile[start + i row_pitch + j col_pitch]``.
    registers : int
        Elements that a thread holds.
    """

    load: Any
    store: Any
    registers: int


def staging(dtype: str, threads: int, columns: int = ORDER) -> Staging:
    """Staging of tiles of `ORDER` rows and ``columns`` columns by a block of ``threads``."""
    arith, conjugate = arithmetic(dtype), _conjugate(dtype)
    multiply, zero = arith.multiply, arith.element(0)
    across, down, step, held_each = int32(columns), int32(ORDER), int32(threads), ORDER * columns // threads

    @device
    def place(e, along_rows, thread):
        position = int32(e * step + thread)
        i = select(along_rows, int32(position % down), int32(position // across))
        return i, select(along_rows, int32(position // down), int32(position % across))

    @device
    def load_one(e, held, a, row_stride, col_stride, rows, cols, factor, conj, along_rows, thread):
        i, j = place(e, along_rows, thread)
        row = min(i, max(int32(rows - int32(1)), int32(0)))
        column = min(j, max(int32(cols - int32(1)), int32(0)))
        value = a[int32(int32(row * row_stride) + column * col_stride)]
        held[e] = select(i < rows and j < cols, multiply(factor, conjugate(value, conj)), zero)

    @device
    def store_one(e, held, tile, start, row_pitch, col_pitch, along_rows, thread):
        i, j = place(e, along_rows, thread)
        tile[uint32(uint32(start + uint32(i) * row_pitch) + uint32(j) * col_pitch)] = held[e]

    elements = range(held_each)
    load_all = static_for(
        load_one, elements, "held, a, row_stride, col_stride, rows, cols, factor, conj, along_rows, thread"
    )
    store_all = static_for(store_one, elements, "held, tile, start, row_pitch, col_pitch, along_rows, thread")

    @device
    def load(held, a, row_stride, col_stride, rows, cols, factor, conj, thread):
        along_rows = abs(row_stride) <= abs(col_stride)
        load_all(held, a, row_stride, col_stride, rows, cols, factor, conj, along_rows, thread)

    @device
    def store(held, tile, start, row_pitch, col_pitch, row_stride, col_stride, thread):
        along_rows = abs(row_stride) <= abs(col_stride)
        store_all(held, tile, start, row_pitch, col_pitch, along_rows, thread)

    return Staging(load, store, held_each)


def _conjugate(dtype: str) -> Any:
    if not is_complex(dtype):

        @device
        def same(z, conj):
            return z

        return same
    element = np.dtype(dtype).type

    @device
    def conjugate(z, conj):
        return element(complex(z.real, select(conj != int32(0), -z.imag, z.imag)))

    return conjugate
