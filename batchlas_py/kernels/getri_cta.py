"""The inverse from the factors of getrf, P A = L U, in one launch and without workspace.

Mapping: a thread owns a right-hand side of F Y = I, `order` rows of it at a time in registers; tiles of the
factors F follow one another through shared memory. What a thread has solved waits in the result itself.

F is L U, and thread c finds column c; of a column-major result F is U^T L^T, which the factors are with their
strides interchanged, and thread c finds row c. Neighbouring threads write neighbouring elements either way.
P moves where the identity's ones start from, or for rows, where a solved element belongs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda, types

from ..dtypes import itemsize
from ..nan import not_a_number
from .device.arithmetic import arithmetic
from .device.column_solve import column_solve, tile_copy, together
from .device.interchanges import interchanged_row, meet, partner
from .device.jit import device, select, static_for
from .device.pointers import advance
from .device.signature import INDEX, INTS, matrix
from .device.tiles import pivot_inverses
from .inverse_specs import GetriSpec

__all__ = ["make_kernel", "signature"]

WARP = 32
FULL = np.uint32(0xFFFFFFFF)
NONE = 0x7FFFFFFF  # no row
uint32, uint64, int32, int64 = np.uint32, np.uint64, np.int32, np.int64


def signature(spec: GetriSpec) -> tuple[Any, ...]:
    """``(lu, ipiv, inv, info, n, turned, groups, batch)``, matrices with their strides."""
    return (*matrix(spec.dtype), INTS, *matrix(spec.dtype), INTS, INDEX, INDEX, INDEX, types.int64)


def _roles(spec: GetriSpec) -> Any:
    """``(groups) -> ((lane, line, lines), member, item, column)``: a thread's part, and its matrix."""
    size, packed = int32(spec.order), spec.packed

    @device
    def roles(groups):
        thread, threads, block = int32(cuda.threadIdx.x), int32(cuda.blockDim.x), int64(cuda.blockIdx.x)
        lane, line, lines = int32(thread % size), int32(thread // size), int32(threads // size)
        if packed:
            return (lane, int32(0), int32(1)), line, block * int64(lines) + int64(line), lane
        column = int32(int32(int32(block % int64(groups)) * threads) + thread)
        return (lane, line, lines), int32(0), block // int64(groups), column

    return roles


@device
def _meet(who, order):
    """Barrier of the threads of a matrix: of their warp, or of the block."""
    meet(int32(int32(who[2] * order) // int32(WARP)))


@device
def _destination(row, ipiv, at, n):
    """Where all interchanges bring a row."""
    k = int32(0)
    while k < n:
        row = interchanged_row(row, k, partner(ipiv, at + int64(k), k, n))
        k = int32(k + int32(1))
    return row


@device
def _place_rows(places, at, ipiv, ipiv_at, n, turned, thread, threads):
    """``places[at + i]``: where in the result the solved element i belongs."""
    q = thread
    while q < n:
        row = q
        if turned:
            row = _destination(q, ipiv, ipiv_at, n)
        places[uint32(at + uint32(row))] = q
        q = int32(q + threads)


def _rows_io(spec: GetriSpec) -> tuple[Any, Any, Any, Any]:
    """Begin with rows of the identity; load rows of the result, zero past the last; store them; spoil them.

    ``out`` is where a thread's part of the result lies: pointer, stride, and the places of its elements.
    """
    element, rows, nothing = arithmetic(spec.dtype).element, range(spec.order), not_a_number(spec.dtype)
    zero, one, load_one = element(0), element(1), _solved_element(spec)

    @device
    def unit(r, x, first, start):
        x[r] = select(int32(first + r) == start, one, zero)

    @device
    def store_one(r, x, out, first, n):
        i, (inv, stride, places, at) = int32(first + r), out
        if i < n:
            inv[int32(places[uint32(at + uint32(i))] * stride)] = x[r]

    @device
    def spoil_one(r, x):
        x[r] = nothing

    load = static_for(load_one, rows, "x, out, first, n")
    store = static_for(store_one, rows, "x, out, first, n")
    return static_for(unit, rows, "x, first, start"), load, store, static_for(spoil_one, rows, "x")


def _solved_element(spec: GetriSpec) -> Any:
    zero = arithmetic(spec.dtype).element(0)

    @device
    def load_one(r, x, out, first, n):
        i, (inv, stride, places, at) = int32(first + r), out
        place = places[uint32(at + uint32(min(i, int32(n - int32(1)))))]
        x[r] = select(i < n, inv[int32(place * stride)], zero)

    return load_one


def _tiles(spec: GetriSpec) -> tuple[Any, Any]:
    """Stage a tile of the factors, with the pivots of a diagonal one; subtract it times what is solved.

    ``factors`` are pointer, strides and order; ``tile`` is shared memory, its beginning, and slots of pivots.
    """
    arith, order, each, pitch = (
        arithmetic(spec.dtype),
        int32(spec.order),
        together(spec.dtype),
        uint64(spec.pitch),
    )
    copy, invert = tile_copy(spec.dtype, spec.order, spec.pitch), pivot_inverses(spec.dtype)
    subtract = column_solve(spec.dtype, spec.order, spec.pitch).subtract
    take = static_for(_solved_element(spec), range(each), "y, out, first, n")
    element, zero = arith.element, arith.element(0)

    @device
    def stage(tile, factors, i, j, first_zero, who):
        (memory, at, scales, inverses, slots), (f, row, col, n), (lane, line, lines) = tile, factors, who
        _meet(who, order)
        block = advance(f, int64(i) * int64(row) + int64(j) * int64(col))
        copy(memory, at, block, row, col, int32(n - i), int32(n - j), lane, line, lines)
        if i == j and line == int32(0):
            number, live = int32(i + lane), int32(i + lane) < n
            pivot = f[int64(min(number, int32(n - int32(1)))) * (int64(row) + int64(col))]
            invert(pivot, live, uint32(slots + uint32(lane)), scales, inverses)
            if pivot == zero:
                first_zero[0] = min(first_zero[0], int32(number + int32(1)))
        _meet(who, order)

    @device
    def subtract_tile(x, out, tile, j, n):
        y, k = cuda.local.array(each, element), int32(0)
        memory, at, _, _, _ = tile
        while k < min(order, int32(n - j)):
            take(y, out, int32(j + k), n)
            subtract(x, y, memory, uint64(at) + uint64(k) * pitch)
            k = int32(k + int32(each))

    return stage, subtract_tile


def _first_failure(order: int) -> Any:
    """``(number, failed, member, who)``: the first zero pivot of the matrix, or 0, on all its threads."""
    full, none, size = FULL, int32(NONE), int32(order)

    @device
    def lower(step, number):
        number[0] = min(number[0], int32(cuda.shfl_xor_sync(full, number[0], int32(int32(1) << step))))

    lowest = static_for(lower, range(order.bit_length() - 1), "number")

    @device
    def conclude(number, failed, member, who):
        lane, line, _ = who
        lowest(number)
        if lane == int32(0) and line == int32(0):
            failed[member] = select(number[0] == none, int32(0), number[0])
        _meet(who, size)
        return failed[member]

    return conclude


def _solves(spec: GetriSpec, store: Any) -> tuple[Any, Any]:
    """Both triangles over all rows of tiles; the last rows of the first solve stay in the registers ``x``."""
    (unit, load, _, spoil), (stage, subtract_tile) = _rows_io(spec), _tiles(spec)
    solve, order = column_solve(spec.dtype, spec.order, spec.pitch), int32(spec.order)
    lower, upper = solve.lower, solve.upper

    @device
    def forward(x, out, tile, factors, first_zero, start, skipped, divide, mine, who):
        i, n, (memory, at, scales, inverses, slots) = int32(0), factors[3], tile
        while i < n:
            unit(x, i, start)
            j = int32(0)
            while j < i:
                stage(tile, factors, i, j, first_zero, who)
                if j >= skipped:
                    subtract_tile(x, out, tile, j, n)
                j = int32(j + order)
            stage(tile, factors, i, i, first_zero, who)
            lower(x, memory, uint64(at), scales, inverses, slots, divide)
            if int32(i + order) < n:
                store(x, out, i, mine)
            i = int32(i + order)

    @device
    def backward(x, out, tile, factors, first_zero, failed, divide, mine, who):
        n, (memory, at, scales, inverses, slots) = factors[3], tile
        i = last = int32(int32(int32(n - int32(1)) // order) * order)
        while i >= int32(0):
            if i < last:
                load(x, out, i, n)
                j = int32(i + order)
                while j < n:
                    stage(tile, factors, i, j, first_zero, who)
                    subtract_tile(x, out, tile, j, n)
                    j = int32(j + order)
                stage(tile, factors, i, i, first_zero, who)
            upper(x, memory, uint64(at), scales, inverses, slots, divide)
            if failed:
                spoil(x)
            store(x, out, i, mine)
            i = int32(i - order)

    return forward, backward


def make_kernel(spec: GetriSpec) -> Any:
    """The kernel; ``turned`` interchanges the factors' strides, ``groups`` are the blocks of an item."""
    element, real = arithmetic(spec.dtype).element, arithmetic(spec.dtype).real
    store, roles, conclude = _rows_io(spec)[2], _roles(spec), _first_failure(spec.order)
    forward, backward = _solves(spec, store)
    order, elements, most, none = int32(spec.order), uint32(spec.tile), spec.threads, int32(NONE)
    words, registers, packed = uint32(itemsize(spec.dtype) // 4), spec.order, spec.packed

    @cuda.jit
    def getri_cta(
        lu, lu_row, lu_col, lu_batch, ipiv, inv, inv_row, inv_col, inv_batch, info, n, turned, groups, batch
    ):
        memory, places = cuda.shared.array(0, element, alignment=16), cuda.shared.array(0, int32)
        scales, inverses = cuda.shared.array(most, real), cuda.shared.array(most, element)
        failed, first_zero = cuda.shared.array(most, int32), cuda.local.array(1, int32)
        x, threads = cuda.local.array(registers, element), int32(cuda.blockDim.x)
        who, member, item, column = roles(groups)
        valid, source = item < batch, min(item, int64(batch - int64(1)))
        members, numbers = int32(1), n
        if packed:
            members, numbers = int32(threads // order), order
        at = uint32(uint32(uint32(members) * elements) * words + uint32(int32(member * numbers)))
        pivots, across = source * int64(n), turned != int32(0)

        _place_rows(
            places, at, ipiv, pivots, n, across, int32(int32(who[1] * order) + who[0]), int32(who[2] * order)
        )
        live, start = min(column, int32(n - int32(1))), column
        if not across:
            start = _destination(column, ipiv, pivots, n)
        near, far = select(across, inv_row, inv_col), select(across, inv_col, inv_row)
        out = advance(inv, source * inv_batch + int64(live) * int64(near)), far, places, at
        slots, begin = uint32(uint32(member) * uint32(order)), uint32(uint32(member) * elements)
        tile = memory, begin, scales, inverses, slots
        factors = (
            advance(lu, source * lu_batch), select(across, lu_col, lu_row), select(across, lu_row, lu_col), n
        )  # fmt: skip
        mine, skipped = (
            select(valid and column < n, n, int32(0)),
            select(across, int32(column - int32(int32(cuda.threadIdx.x) % int32(WARP))), int32(0)),
        )

        first_zero[0] = none
        forward(x, out, tile, factors, first_zero, start, skipped, across, mine, who)
        failure = conclude(first_zero, failed, member, who)
        if valid and column == int32(0):
            info[item] = failure
        backward(x, out, tile, factors, first_zero, failure != int32(0), not across, mine, who)

    return getri_cta
