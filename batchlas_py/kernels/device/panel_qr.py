"""QR of one matrix by a thread block: groups of lanes hold columns, stacked over the rows and side by side.

A step is one of geqr2. The groups of the column under elimination publish their parts of it, each group forms
scalar products over its own rows, and behind one barrier every lane adds up what the groups have left for its
column. Mailboxes and sums have two sets in turn: a set is written again only behind the barrier that follows
its last readers. Groups side by side need a second barrier a step, for the mailbox.

A few steps are written out; then the registers of the group that they belong to move up by as many rows, so
that the row of the next step is again among the first. What moves out at one end comes in at the other, done
with: it is masked from then on, and turned back into place at the end.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda

from ...dtypes import REAL_OF
from ..qr_specs import QrPanelSpec, mailbox_pitch
from .arithmetic import arithmetic
from .jit import device, select, static_for
from .opaque import opaque
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

__all__ = ["panel_factorization"]

uint32, int32 = np.uint32, np.int32
FULL = uint32(0xFFFFFFFF)
WRITTEN_OUT = 4
NOTHING = -1  # the row that all rows are below
NEXT, PHASE = range(2)  # of a block's state: the step that is next, and how its column stands
FRESH, TINY, RESCUED, VANISHED = range(4)
UP, DOWN = range(2)  # the power of two that the column in the mailbox was scaled by, and its inverse


def _meeting(wide: bool) -> Any:
    """Barrier between a publisher and the readers of its mailbox."""
    full = FULL

    @device
    def meet_warp():
        cuda.syncwarp(full)

    @device
    def meet_block():
        cuda.syncthreads()

    return meet_block if wide else meet_warp


def _begin(spec: QrPanelSpec) -> Any:
    """``(a, own, scales, keys, place)``: bring the columns near one, each with all its groups."""
    arith = arithmetic(spec.dtype)
    find, multiply = largest_key(spec.dtype, spec.rows), scaling(spec.dtype, spec.rows)
    invert, scale, nothing, one = power_inverse(spec.dtype), arith.scale, arith.element(0), arith.real(1)
    none = uint32(0)

    @device
    def begin(a, own, scales, keys, place):
        _, group, column, groups, width = place
        best = cuda.local.array(1, uint32)
        best[0] = none
        find(a, best)
        keys[uint32(uint32(group * width) + uint32(column))] = best[0]
        cuda.syncthreads()
        largest, g = none, int32(0)
        while g < groups:
            largest = max(largest, keys[uint32(uint32(g * width) + uint32(column))])
            g = int32(opaque(g) + int32(1))
        power = scale(largest)
        multiply(a, power)
        own[VECTOR], own[WEIGHT] = nothing, nothing
        scales[BACK], scales[PULL] = invert(power), one
        cuda.syncthreads()

    return begin


def _sums_of(dtype: str) -> Any:
    """``(memory, at, mine, other, first, groups, width) -> (sum, squares)``: of two columns, over groups."""
    element, real, real_part = arithmetic(dtype).element, arithmetic(dtype).real, field(dtype).real_part

    @device
    def sums_of(memory, at, mine, other, first, groups, width):
        total, squares, g = element(0), real(0), first
        while g < groups:
            row = uint32(at + uint32(g * width))
            total = total + memory[uint32(row + uint32(mine))]
            squares = squares + real_part(memory[uint32(row + uint32(other))])
            g = int32(opaque(g) + int32(1))
        return total, squares

    return sums_of


def _rescue(spec: QrPanelSpec) -> Any:
    """``(memory, mail, alpha, keys, place, owner, state, powers)``: bring a tiny column near one.

    It makes no reflector if it is zero below its first element, ``alpha``, and that one is real.
    """
    arith, has_imaginary = arithmetic(spec.dtype), field(spec.dtype).has_imaginary
    key, scale, times_real, invert = arith.key, arith.scale, arith.times_real, power_inverse(spec.dtype)
    rows, lanes, zero, one, first = int32(spec.rows), int32(spec.lanes), uint32(0), uint32(1), int32(0)
    rescued, vanished = int32(RESCUED), int32(VANISHED)

    @device
    def rescue(memory, mail, alpha, keys, place, owner, state, powers):
        lane, group, column, groups, _ = place
        largest, i = zero, int32(0)
        while i < rows and group >= owner:
            high, low = key(memory[mail + uint32(i)], True)
            largest, i = max(largest, uint32(high | min(low, one))), int32(opaque(i) + int32(1))
        if column == first:
            keys[group] = largest
        cuda.syncthreads()
        largest, g = zero, owner
        while g < groups:
            largest, g = max(largest, keys[g]), int32(opaque(g) + int32(1))
        power = scale(max(largest, key(alpha, True)[0]))
        i = lane
        while i < rows and group >= owner and column < lanes:
            memory[mail + uint32(i)] = times_real(memory[mail + uint32(i)], power)
            i = int32(opaque(i) + lanes)
        cuda.syncthreads()
        state[PHASE] = select(largest != zero or has_imaginary(alpha), rescued, vanished)
        powers[UP], powers[DOWN] = power, invert(power)

    return rescue


def _rotation(spec: QrPanelSpec) -> Any:
    """``(a)``: move the registers up by the steps that are written out."""
    element, shift, last = arithmetic(spec.dtype).element, int32(WRITTEN_OUT), int32(spec.rows - WRITTEN_OUT)

    @device
    def save(i, a, top):
        top[i] = a[i]

    @device
    def move(i, a):
        a[i] = a[i + shift]

    @device
    def put_back(i, a, top):
        a[last + i] = top[i]

    few = range(WRITTEN_OUT)
    save_all, put_all = static_for(save, few, "a, top"), static_for(put_back, few, "a, top")
    move_all = static_for(move, range(spec.rows - WRITTEN_OUT), "a")

    @device
    def rotate(a):
        top = cuda.local.array(WRITTEN_OUT, element)
        save_all(a, top)
        move_all(a)
        put_all(a, top)

    return rotate


def _publication(spec: QrPanelSpec) -> Any:
    """``(u, j, a, memory, mail, live, owner, place)``: column j below the diagonal, zeros elsewhere."""
    publish, meet, full = publishing(spec.rows), _meeting(spec.wide), FULL
    lanes, rows, zero, whole = (
        int32(spec.lanes),
        int32(spec.rows),
        arithmetic(spec.dtype).element(0),
        int32(0),
    )

    @device
    def blank(first, u, memory, mail, live, lane):
        i = int32(first + lane)
        if i < rows and (i <= u or i >= live):
            memory[mail + uint32(i)] = zero

    blank_all = static_for(blank, range(0, spec.rows, spec.lanes), "u, memory, mail, live, lane")

    @device
    def send(u, j, a, memory, mail, live, owner, place):
        lane, group, column, _, _ = place
        if column == j and group >= owner:
            publish(whole, a, memory, mail)
        cuda.syncwarp(full)
        if group == owner and uint32(int32(j - column) + lane) < uint32(lanes):
            blank_all(u, memory, mail, live, lane)
        meet()

    return send


def _places(spec: QrPanelSpec) -> Any:
    """``(turn, place, sums_at) -> (mail, row, sums)`` of the even steps, turn 0, or the odd ones, turn 1.

    Where the group's mailbox begins, the row of the diagonal, and the sums.
    """
    pitch, one = int32(mailbox_pitch(spec.dtype, spec.rows)), int32(1)

    @device
    def place_of(turn, place, sums_at):
        _, group, _, groups, width = place
        mail = uint32(int32(int32(turn * groups) + group) * pitch)
        sums = uint32(sums_at + uint32(int32(turn * int32(groups + one)) * width))
        return mail, uint32(sums + uint32(groups * width)), sums

    return place_of


def _finish(spec: QrPanelSpec) -> Any:
    """``(u, j, owner, a, own, scales, state, powers, memory, places, place, total, below)``."""
    dtype, rows = spec.dtype, spec.rows
    arith, tools, larfg, subtract = (
        arithmetic(dtype),
        field(dtype),
        reflector(dtype),
        subtracting(dtype, rows),
    )
    multiply, conjugate, multiply_add = arith.multiply, tools.conjugate, tools.multiply_add
    times_real, element, one = arith.times_real, arith.element, arith.real(1)
    everything, fresh, vanished, next_step = int32(NOTHING), int32(FRESH), int32(VANISHED), int32(1)

    @device
    def finish(u, j, owner, a, own, scales, state, powers, memory, places, place, total, below):
        mail, row, _ = places
        _, group, column, _, _ = place
        alpha = times_real(memory[uint32(row + uint32(j))], powers[UP])
        beta, tau, s = larfg(alpha, below, state[PHASE] != vanished)
        top = memory[uint32(row + uint32(column))]
        w = multiply(conjugate(tau), multiply_add(top, s, total))
        if column > j and group >= owner:
            subtract(everything, a, multiply(w, s), memory, mail)
            if group == owner:
                a[u] = top - w
        if column == j:
            own[VECTOR], own[WEIGHT], scales[PULL] = s, tau, powers[UP]
            if group == owner:
                a[u] = element(beta * powers[DOWN])
        state[NEXT], state[PHASE], powers[UP], powers[DOWN] = int32(j + next_step), fresh, one, one

    return finish


def _step(spec: QrPanelSpec) -> Any:
    """``(u, start, owner, live, a, own, scales, state, powers, memory, place, sums_at, steps)``.

    Step start + u; ``start`` is even, ``owner`` the group of its row, ``live`` that group's rows left.
    """
    dtype, place_of = spec.dtype, _places(spec)
    send, finish, sums_of = _publication(spec), _finish(spec), _sums_of(dtype)
    sum_up, least = products(dtype, spec.rows), arithmetic(dtype).real(LEAST[REAL_OF[dtype]])
    everything, fresh, tiny, one = int32(NOTHING), int32(FRESH), int32(TINY), int32(1)

    @device
    def step(u, start, owner, live, a, own, scales, state, powers, memory, place, sums_at, steps):
        j = int32(start + u)
        if j == state[NEXT] and j < steps:
            _, group, column, groups, width = place
            places = place_of(int32(u & one), place, sums_at)
            mail, row, sums = places
            if state[PHASE] == fresh:
                send(u, j, a, memory, mail, live, owner, place)
            if group >= owner:
                total = sum_up(everything, a, memory, mail)
                memory[uint32(uint32(sums + uint32(group * width)) + uint32(column))] = total
            if group == owner and state[PHASE] == fresh:
                memory[uint32(row + uint32(column))] = a[u]
            cuda.syncthreads()
            total, squares = sums_of(memory, sums, column, j, owner, groups, width)
            below = squares * powers[UP]
            if state[PHASE] == fresh and below < least:
                state[PHASE] = tiny
            else:
                finish(u, j, owner, a, own, scales, state, powers, memory, places, place, total, below)

    return step


def panel_factorization(spec: QrPanelSpec) -> Any:
    """The steps of geqr2.

    Returns
    -------
    device function
        ``(a, own, scales, memory, keys, place, sums_at, steps)``: ``place`` is (lane, group over the rows,
        column, groups over the rows, columns of all groups). `reflected` tells what the registers mean then.
    """
    dtype, rows = spec.dtype, spec.rows
    arith, place_of, rotate = arithmetic(dtype), _places(spec), _rotation(spec)
    begin, step, rescue = _begin(spec), _step(spec), _rescue(spec)
    real, one, depth, out = arith.real, arith.real(1), uint32(rows), int32(WRITTEN_OUT)
    fresh, none = int32(FRESH), uint32(0)
    arguments = "start, owner, live, a, own, scales, state, powers, memory, place, sums_at, steps"
    few_steps = static_for(step, range(WRITTEN_OUT), arguments)

    @device
    def run(a, own, scales, memory, keys, place, sums_at, steps):
        begin(a, own, scales, keys, place)
        state, powers = cuda.local.array(2, int32), cuda.local.array(2, real)
        state[NEXT], state[PHASE], powers[UP], powers[DOWN] = int32(0), fresh, one, one
        start, turned = int32(0), none
        while start < steps:
            owner, live = int32(uint32(start) // depth), int32(depth - uint32(start) % depth)
            few_steps(
                opaque(start), owner, live, a, own, scales, state, powers, memory, place, sums_at, steps
            )
            j = state[NEXT]
            if j < min(steps, int32(start + out)):
                mail, row, _ = place_of(int32(j & int32(1)), place, sums_at)
                alpha = memory[uint32(row + uint32(j))]
                rescue(memory, mail, alpha, keys, place, owner, state, powers)
            else:
                if place[1] == owner:
                    rotate(a)
                    turned = uint32(turned + uint32(out))
                start = int32(start + out)
        while uint32(turned % depth) != none:
            rotate(a)
            turned = uint32(turned + uint32(out))

    return run
