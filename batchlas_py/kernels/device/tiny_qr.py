"""QR of one matrix in the registers of a few lanes: the steps of geqr2, written out, and of org2r.

A group of lanes holds a matrix, a column a lane (`reflectors`); nothing is wider than a warp. The mailbox has
two slots in turn, so that one barrier a step is enough: a slot is written again only behind the barrier that
follows its last readers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda

from ...dtypes import REAL_OF
from ..qr_specs import QrTinySpec, mailbox_pitch
from .arithmetic import arithmetic
from .jit import device, select, static_for
from .reflectors import (
    BACK,
    LEAST,
    PULL,
    VECTOR,
    WEIGHT,
    field,
    largest_key,
    power_inverse,
    products,
    publishing,
    reflector,
    scaling,
    subtracting,
)

__all__ = ["factorization", "formation", "mailbox_elements", "only_upper", "plain"]

uint32, int32 = np.uint32, np.int32
FULL = uint32(0xFFFFFFFF)
NEXT, PHASE = range(2)  # of a group's state: the step that is next, and how its column stands
FRESH, PATIENT, TINY, RESCUED, VANISHED = range(5)
ROLLED = 8  # steps of org2r that share their code
UP, DOWN = range(2)  # the power of two that the column in the mailbox was scaled by, and its inverse


def mailbox_elements(spec: QrTinySpec) -> int:
    """Elements of the mailbox of one matrix: two columns, each with a weight behind it."""
    return 2 * mailbox_pitch(spec.dtype, spec.rows + 1)


def _rescue(dtype: str, lanes: int) -> Any:
    """``(mailbox, at, first, m, lane, state, powers)``: bring a tiny column in the mailbox near one.

    It makes no reflector if it is zero below its first element, and that one is real. All groups of a warp
    come here together; those whose column is not tiny leave it as it is.
    """
    arith, has_imaginary = arithmetic(dtype), field(dtype).has_imaginary
    key, scale, times_real, invert = arith.key, arith.scale, arith.times_real, power_inverse(dtype)
    zero, full, stride, one = uint32(0), FULL, int32(lanes), arith.real(1)
    tiny, rescued, vanished = int32(TINY), int32(RESCUED), int32(VANISHED)

    @device
    def rescue(mailbox, at, first, m, lane, state, powers):
        alpha = mailbox[at + uint32(first)]
        mine = state[PHASE] == tiny
        largest, i = key(alpha, True)[0], int32(first + int32(1))
        some = has_imaginary(alpha) or not mine
        while i < m:
            high, low = key(mailbox[at + uint32(i)], True)
            largest, some = max(largest, high), some or (high | low) != zero
            i = int32(i + int32(1))
        power = select(mine, scale(largest), one)
        cuda.syncwarp(full)
        i = int32(first + lane)
        while i < m:
            mailbox[at + uint32(i)] = times_real(mailbox[at + uint32(i)], power)
            i = int32(i + stride)
        cuda.syncwarp(full)
        state[PHASE] = select(some, rescued, vanished)
        powers[UP], powers[DOWN] = power, invert(power)

    return rescue


def _scaled_columns(spec: QrTinySpec) -> Any:
    """``(a, own, scales)``: bring the lane's column near one, and note how to undo it."""
    arith = arithmetic(spec.dtype)
    find, multiply, invert = (
        largest_key(spec.dtype, spec.rows),
        scaling(spec.dtype, spec.rows),
        power_inverse(spec.dtype),
    )
    scale, nothing, none, one = arith.scale, arith.element(0), uint32(0), arith.real(1)

    @device
    def begin(a, own, scales):
        keys = cuda.local.array(1, uint32)
        keys[0] = none
        find(a, keys)
        power = scale(keys[0])
        multiply(a, power)
        own[VECTOR], own[WEIGHT] = nothing, nothing
        scales[BACK], scales[PULL] = invert(power), one

    return begin


def factorization(spec: QrTinySpec) -> Any:
    """The steps of geqr2.

    Returns
    -------
    device function
        ``(a, own, scales, mailbox, base, lane, first_lane, m, steps)``: ``own`` and ``scales`` tell
        `reflected` and `plain` what the registers mean afterwards; ``first_lane`` is the group's in its warp.
    """
    dtype, rows = spec.dtype, spec.rows
    arith, tools = arithmetic(dtype), field(dtype)
    multiply, real_part = arith.multiply, tools.real_part
    conjugate, multiply_add = tools.conjugate, tools.multiply_add
    begin, rescue, larfg = _scaled_columns(spec), _rescue(dtype, spec.lanes), reflector(dtype)
    publish, sum_up, subtract = publishing(rows), products(dtype, rows), subtracting(dtype, rows)
    element, real, one = arith.element, arith.real, arith.real(1)
    least, pitch, full = real(LEAST[REAL_OF[dtype]]), uint32(mailbox_pitch(dtype, rows)), FULL

    fresh, patient, tiny = int32(FRESH), int32(PATIENT), int32(TINY)
    vanished, one_step = int32(VANISHED), int32(1)

    @device
    def finish(j, a, own, scales, state, powers, mailbox, slot, lane, total, below):
        beta, tau, s = larfg(mailbox[slot + uint32(j)], below, state[PHASE] != vanished)
        w = multiply(conjugate(tau), multiply_add(a[j], s, total))
        if lane > j:
            subtract(j, a, multiply(w, s), mailbox, slot)
            a[j] = a[j] - w
        if lane == j:
            own[VECTOR], own[WEIGHT], scales[PULL] = s, tau, powers[UP]
            a[j] = element(beta * powers[DOWN])
        state[NEXT], state[PHASE], powers[UP], powers[DOWN] = int32(j + one_step), fresh, one, one

    @device
    def step(j, a, own, scales, state, powers, mailbox, base, lane, first_lane, steps):
        if j == state[NEXT] and j < steps:
            slot = uint32(base + uint32(j & one_step) * pitch)
            if lane == j and state[PHASE] == fresh:
                publish(j, a, mailbox, slot)
            cuda.syncwarp(full)
            total = sum_up(j, a, mailbox, slot)
            below = cuda.shfl_sync(full, real_part(total), int32(first_lane + j)) * powers[UP]
            small = below < least
            if state[PHASE] == fresh and cuda.any_sync(full, small):
                state[PHASE] = select(small, tiny, patient)
            else:
                finish(j, a, own, scales, state, powers, mailbox, slot, lane, total, below)

    steps_of = static_for(
        step,
        range(min(rows, spec.lanes)),
        "a, own, scales, state, powers, mailbox, base, lane, first_lane, steps",
    )

    @device
    def run(a, own, scales, mailbox, base, lane, first_lane, m, steps):
        begin(a, own, scales)
        state, powers = cuda.local.array(2, int32), cuda.local.array(2, real)
        state[NEXT], state[PHASE], powers[UP], powers[DOWN] = int32(0), fresh, one, one
        while state[NEXT] < steps:
            steps_of(a, own, scales, state, powers, mailbox, base, lane, first_lane, steps)
            if state[NEXT] < steps:
                slot = uint32(base + uint32(state[NEXT] & one_step) * pitch)
                rescue(mailbox, slot, state[NEXT], m, lane, state, powers)

    return run


def formation(spec: QrTinySpec, value: Any) -> Any:
    """The steps of org2r, in place; ``value`` tells a vector's rows, as `column_io`'s does.

    Returns
    -------
    device function
        ``(a, own, scales, mailbox, base, lane, k)``: the lanes of the first k columns hold vectors below the
        diagonal, and tau in ``own``; all end with their column of Q.
    """
    dtype, rows = spec.dtype, spec.rows
    arith, publish, sum_up = arithmetic(dtype), publishing(rows), products(dtype, rows)
    subtract, turn_into_column = subtracting(dtype, rows), _own_column(dtype, rows)
    one, zero, multiply, full = arith.element(1), arith.element(0), arith.multiply, FULL
    pitch, weight, together = uint32(mailbox_pitch(dtype, rows + 1)), uint32(rows), int32(ROLLED)

    @device
    def begin(i, a, own, scales, lane, k):
        unit = select(i == lane, one, zero)
        vector = select(i > lane, value(i, a, own, scales, lane), unit)
        a[i] = select(lane < k, vector, unit)

    @device
    def few_steps(first, a, own, mailbox, base, lane, k):
        j, above = int32(min(int32(first + together), k) - int32(1)), int32(first - int32(1))
        while j >= first:
            slot = uint32(base + uint32(j & int32(1)) * pitch)
            if lane == j:
                mailbox[slot + weight] = own[WEIGHT]
                publish(first, a, mailbox, slot)
            cuda.syncwarp(full)
            if lane > j:
                w = multiply(mailbox[slot + weight], sum_up(above, a, mailbox, slot))
                subtract(above, a, w, mailbox, slot)
            if lane == j:
                turn_into_column(above, a, own[WEIGHT], lane)
            j = int32(j - int32(1))

    begin_all = static_for(begin, range(rows), "a, own, scales, lane, k")
    firsts = reversed(range(0, min(rows, spec.lanes), ROLLED))
    steps_of = static_for(few_steps, firsts, "a, own, mailbox, base, lane, k")

    @device
    def run(a, own, scales, mailbox, base, lane, k):
        begin_all(a, own, scales, lane, k)
        steps_of(a, own, mailbox, base, lane, k)

    return run


def _own_column(dtype: str, rows: int) -> Any:
    """``(above, a, tau, lane)``: below row ``above`` the vector v becomes its column of I - tau v v^H."""
    multiply_subtract = arithmetic(dtype).multiply_subtract
    one, zero = arithmetic(dtype).element(1), arithmetic(dtype).element(0)

    @device
    def one_row(i, above, a, tau, lane):
        if i > above:
            a[i] = multiply_subtract(select(i == lane, one, zero), tau, a[i])

    return static_for(one_row, range(rows), "above, a, tau, lane")


def plain(dtype: str) -> Any:
    """What a lane stores of registers that need no scaling."""

    @device
    def value(i, a, own, scales, diagonal):
        return a[i]

    return value


def only_upper(dtype: str) -> Any:
    """What a lane stores of R alone: zero below the diagonal."""
    times_real, zero = arithmetic(dtype).times_real, arithmetic(dtype).element(0)

    @device
    def value(i, a, own, scales, diagonal):
        return select(i > diagonal, zero, times_real(a[i], scales[BACK]))

    return value
