"""A X = B for matrices up to 32 x 32 and a few right-hand sides, factored and solved in one launch.

`getrf_tiny`'s elimination carries the right-hand sides along, so forward substitution costs no pass
of its own; back substitution follows with the same registers. An item with a zero pivot gets NaN.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import cuda

from ..nan import not_a_number
from .device.arithmetic import arithmetic
from .device.jit import device, select, static_for
from .device.lu_rows import ROW, STATE, divider, elimination, mailbox_pitch
from .device.signature import COUNT, INDEX, INTS, matrix
from .getrf_tiny import WARP, row_io, shared_elements
from .specs import TinySpec

__all__ = ["make_kernel", "signature"]

uint32, int32, int64 = np.uint32, np.int32, np.int64
FULL = uint32(0xFFFFFFFF)


@device
def _keep_pivot(mine, s, inverse, own):
    own[0] = select(mine, inverse, own[0])
    own[1] = select(mine, s, own[1].real)


class _Sides(NamedTuple):
    load: Any
    store: Any


def _sides(rhs: int) -> _Sides:
    """Loading and storing a lane's row of the right-hand sides."""

    @device
    def load_one(q, b, source, at, col_stride, nrhs):
        b[q] = source[at + int64(col_stride) * int64(min(q, int32(nrhs - int32(1))))]

    @device
    def store_one(q, b, target, at, col_stride, nrhs):
        if q < nrhs:
            target[at + int64(col_stride) * int64(q)] = b[q]

    return _Sides(
        static_for(load_one, range(rhs), "b, source, at, col_stride, nrhs"),
        static_for(store_one, range(rhs), "b, target, at, col_stride, nrhs"),
    )


def _back_substitution(spec: TinySpec) -> Any:
    """``U X = Y`` by columns: the lane of row j finishes x_j, the lanes above subtract it."""
    multiply_subtract, divide = arithmetic(spec.dtype).multiply_subtract, divider(spec.dtype)
    pitch, full = uint32(mailbox_pitch(spec.dtype, spec.columns, spec.rhs)), FULL
    safe = spec.columns - spec.slack + 1

    @device
    def finish(q, b, own, mailbox, slot):
        b[q] = divide(b[q], own[1].real, own[0])
        mailbox[slot + uint32(q)] = b[q]

    @device
    def subtract(q, b, coefficient, above, mailbox, slot):
        b[q] = select(above, multiply_subtract(b[q], coefficient, mailbox[slot + uint32(q)]), b[q])

    finish_all = static_for(finish, range(spec.rhs), "b, own, mailbox, slot")
    subtract_all = static_for(subtract, range(spec.rhs), "b, coefficient, above, mailbox, slot")

    @device
    def step(j, a, b, own, row, mailbox, base, n):
        if j < safe or uint32(j) < n:
            slot = uint32(base + uint32(j & 1) * pitch)
            if row == j:
                finish_all(b, own, mailbox, slot)
            cuda.syncwarp(full)
            subtract_all(b, a[j], row < j, mailbox, slot)

    return static_for(step, reversed(range(spec.columns)), "a, b, own, row, mailbox, base, n")


def _invalidation(spec: TinySpec) -> Any:
    nothing = not_a_number(spec.dtype)

    @device
    def invalidate_one(q, b, singular):
        b[q] = select(singular, nothing, b[q])

    return static_for(invalidate_one, range(spec.rhs), "b, singular")


def signature(spec: TinySpec) -> tuple[Any, ...]:
    """``(a, b, x, lu, ipiv, info, n, nrhs, batch)``, each matrix with its strides."""
    return (*(4 * matrix(spec.dtype)), INTS, INTS, INDEX, INDEX, COUNT)


def make_kernel(spec: TinySpec) -> Any:
    """The kernel ``gesv_tiny(a, b, x, lu, ipiv, info, n, nrhs, batch)``, each matrix with its strides.

    Strides (row, column, matrix) count elements; rows' and columns' are int32, matrices' int64.
    ``ipiv`` is (batch, n) and 1-based, ``info`` (batch,).
    """
    element = arithmetic(spec.dtype).element
    load, store = row_io(spec)
    run, info_of, pivot_of = elimination(spec, _keep_pivot)
    sides, solve, invalidate = _sides(spec.rhs), _back_substitution(spec), _invalidation(spec)
    load_sides, store_sides = sides
    lanes, warp, per_block = uint32(spec.lanes), uint32(WARP), uint32(spec.per_block)
    columns, rhs, shared = spec.columns, spec.rhs, shared_elements(spec)
    shared_total, full = shared * spec.per_block, FULL

    @cuda.jit
    def gesv_tiny(
        a, a_row, a_col, a_batch, b, b_row, b_col, b_batch, x, x_row, x_col, x_batch,
        lu, lu_row, lu_col, lu_batch, ipiv, info, order, nrhs, batch,
    ):  # fmt: skip
        thread, n = uint32(cuda.threadIdx.x), uint32(order)
        lane, member = uint32(thread % lanes), uint32(thread // lanes)
        item = uint32(uint32(cuda.blockIdx.x) * per_block + member)
        valid = item < uint32(batch)
        source = int64(min(item, uint32(uint32(batch) - uint32(1))))

        memory = cuda.shared.array(shared_total, element, alignment=16)
        base = uint32(member * uint32(shared))
        rows = cuda.local.array(columns, element)
        right = cuda.local.array(rhs, element)
        own = cuda.local.array(2, element)
        state = cuda.local.array(STATE, np.uint32)
        warp_lane, live_row = uint32(thread % warp), int64(min(lane, uint32(n - uint32(1))))

        load(rows, a, source * a_batch, a_row, a_col, memory, base, lane, n)
        load_sides(right, b, source * b_batch + live_row * int64(b_row), b_col, nrhs)
        own[0], own[1] = element(0), element(0)
        run(rows, right, own, state, memory, base, lane, warp_lane, n)
        first_zero = info_of(state, warp_lane)

        row = int32(state[ROW])
        cuda.syncwarp(full)
        solve(rows, right, own, row, memory, base, n)
        invalidate(right, first_zero != uint32(0))
        store(rows, lu, source * lu_batch, lu_row, lu_col, memory, base, state[ROW], lane, n, valid)
        if valid and lane < n:
            store_sides(right, x, source * x_batch + int64(row) * int64(x_row), x_col, nrhs)
            ipiv[source * int64(n) + int64(row)] = int32(pivot_of(state))
        if valid and lane == uint32(0):
            info[item] = int32(first_zero)

    return gesv_tiny
