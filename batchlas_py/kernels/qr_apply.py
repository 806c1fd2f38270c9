"""Reflectors applied from the left to a tile of columns in registers, without a triangular factor.

Mapping: a block has a tile of one matrix; groups of lanes are stacked over its rows, each lane holds a part
of a column. A step brings a vector to the groups' mailboxes, the next one being on its way already, and needs
one barrier: behind it every lane adds up what the groups have left for its column. Mailboxes and sums have
two sets in turn.

It is LAPACK's larf for one vector after another, and serves the update behind a panel, ormqr, and orgqr.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda

from .device.arithmetic import arithmetic
from .device.column_io import column_io, tile_elements
from .device.jit import device, select, static_for
from .device.opaque import opaque
from .device.pointers import advance
from .device.reflectors import field, products, subtracting
from .device.signature import COUNT, INDEX, matrix, pointer
from .device.tiny_qr import plain
from .qr_specs import ApplySpec, mailbox_pitch

__all__ = ["make_kernel", "signature"]

FULL = np.uint32(0xFFFFFFFF)
uint32, int32, int64 = np.uint32, np.int32, np.int64


def signature(spec: ApplySpec) -> tuple[Any, ...]:
    """``(v, tau, tau_stride, c, m, n, k, way, unit, groups, sums_at, tiles)``, matrices strided.

    ``way`` is (backward, conj_v, conj_tau), each 0 or 1, as is ``unit``.
    """
    one = matrix(spec.dtype)
    return (*one, pointer(spec.dtype), COUNT, *one, *(9 * (INDEX,)), COUNT)


def _vectors(spec: ApplySpec) -> tuple[Any, Any, int]:
    """How a group fetches its part of a vector to registers, and puts it into the mailbox."""
    each, lanes, rows = -(-spec.rows // spec.lanes), int32(spec.lanes), int32(spec.rows)
    conjugate, element = field(spec.dtype).conjugate, arithmetic(spec.dtype).element
    one, zero, last_step = element(1), element(0), int32(1)

    @device
    def fetch_one(e, held, v, row_stride, first, lane, j, m, conj):
        row = int32(int32(first + e * lanes) + lane)
        value = v[int32(min(row, int32(m - last_step)) * row_stride)]
        value = select(conj != int32(0), conjugate(value), value)
        held[e] = select(row > j and row < m, value, select(row == j, one, zero))

    @device
    def put_one(e, held, memory, at, lane):
        i = int32(e * lanes + lane)
        if i < rows:
            memory[at + uint32(i)] = held[e]

    arguments = "held, v, row_stride, first, lane, j, m, conj"
    fetch = static_for(fetch_one, range(each), arguments)
    return fetch, static_for(put_one, range(each), "held, memory, at, lane"), each


def _unit_columns(spec: ApplySpec) -> Any:
    """``(a, first, column)``: columns of the identity."""
    one, zero = arithmetic(spec.dtype).element(1), arithmetic(spec.dtype).element(0)

    @device
    def put_unit(i, a, first, column):
        a[i] = select(int32(first + i) == column, one, zero)

    return static_for(put_unit, range(spec.rows), "a, first, column")


def _accumulation(spec: ApplySpec) -> Any:
    """``(a, memory, mail, sums, place, owner) -> sum``: the vector times the lane's column."""
    sum_up, lanes, zero = (
        products(spec.dtype, spec.rows),
        int32(spec.lanes),
        arithmetic(spec.dtype).element(0),
    )
    everything, one = int32(-1), int32(1)

    @device
    def accumulate(a, memory, mail, sums, place, owner):
        _, group, groups, _ = place
        if group >= owner:
            memory[uint32(sums + uint32(group * lanes))] = sum_up(everything, a, memory, mail)
        cuda.syncthreads()
        total, g, at = zero, owner, uint32(sums + uint32(owner * lanes))
        while g < groups:
            total = total + memory[at]
            g, at = int32(opaque(g) + one), uint32(at + uint32(lanes))
        return total

    return accumulate


def _application(spec: ApplySpec) -> Any:
    """``(a, held, memory, v, v_row, v_col, tau, m, k, way, place, sums_at)``: all vectors, one by one.

    ``mail`` and ``sums`` are those of this step, ``next_mail`` and ``next_sums`` those of the next.
    """
    dtype, rows = spec.dtype, spec.rows
    arith, conjugate = arithmetic(dtype), field(dtype).conjugate
    (fetch, put, _), accumulate = _vectors(spec), _accumulation(spec)
    subtract, multiply = subtracting(dtype, rows), arith.multiply
    pitch, lanes, full = int32(mailbox_pitch(dtype, rows)), int32(spec.lanes), FULL
    everything, one, none, depth = int32(-1), int32(1), int32(0), uint32(rows)

    @device
    def apply(a, held, memory, v, v_row, v_col, tau, m, k, way, place, sums_at):
        backward, conj_v, conj_tau = way
        lane, group, groups, first = place
        step = select(backward != none, int32(-1), one)
        j, s = select(backward != none, int32(k - one), none), none
        mail, sums = uint32(group * pitch), uint32(sums_at + uint32(lane))
        next_mail, next_sums = uint32(mail + uint32(groups * pitch)), uint32(sums + uint32(groups * lanes))
        source, weight_at = advance(v, int64(j) * int64(v_col)), advance(tau, int64(j))
        fetch(held, source, v_row, first, lane, j, m, conj_v)
        weight = weight_at[0]
        while s < k:
            owner = int32(uint32(j) // depth)
            put(held, memory, mail, lane)
            cuda.syncwarp(full)
            now = select(conj_tau != none, conjugate(weight), weight)
            s = int32(opaque(s) + one)
            hop = select(s < k, step, none)
            j = int32(j + hop)
            source, weight_at = advance(source, int64(hop) * int64(v_col)), advance(weight_at, int64(hop))
            fetch(held, source, v_row, first, lane, j, m, conj_v)
            weight = weight_at[0]
            total = accumulate(a, memory, mail, sums, place, owner)
            if group >= owner:
                subtract(everything, a, multiply(now, total), memory, mail)
            mail, next_mail = next_mail, mail
            sums, next_sums = next_sums, sums

    return apply


def make_kernel(spec: ApplySpec) -> Any:
    """The kernel; ``v`` holds k vectors as geqrf leaves them, whose rows are those of ``c``.

    With ``unit`` the identity takes the place of what ``c`` holds, and a tile passes over the vectors that
    leave its columns alone.
    """
    arith, rows = arithmetic(spec.dtype), spec.rows
    element, real, nothing, one = arith.element, arith.real, arith.element(0), arith.real(1)
    load, store = column_io(spec.dtype, rows, spec.lanes, plain(spec.dtype))
    apply, put_unit, (_, _, each) = _application(spec), _unit_columns(spec), _vectors(spec)
    lanes, depth, tile = int32(spec.lanes), int32(rows), uint32(tile_elements(rows, spec.lanes))
    none = int32(0)

    @cuda.jit
    def qr_apply(
        v, v_row, v_col, v_batch, tau, tau_stride, c, c_row, c_col, c_batch, m, n, k,
        backward, conj_v, conj_tau, unit, groups, sums_at, tiles,
    ):  # fmt: skip
        thread, block = int32(cuda.threadIdx.x), int64(cuda.blockIdx.x)
        lane, group = int32(thread % lanes), int32(thread // lanes)
        item, first_col = block // tiles, int32(int32(block % tiles) * lanes)
        first, mine = int32(group * depth), uint32(uint32(group) * tile)

        memory = cuda.shared.array(0, element, alignment=16)
        columns, held = cuda.local.array(rows, element), cuda.local.array(each, element)
        own, scales = cuda.local.array(2, element), cuda.local.array(2, real)
        own[0], own[1], scales[0], scales[1] = nothing, nothing, one, one
        target = advance(c, item * c_batch + int64(first) * int64(c_row) + int64(first_col) * int64(c_col))
        below, right = int32(m - first), int32(n - first_col)

        vectors = k
        if unit != none:
            put_unit(columns, first, int32(first_col + lane))
            vectors = min(k, int32(first_col + lanes))
        else:
            load(columns, target, c_row, c_col, below, right, memory, mine, lane)
            cuda.syncthreads()
        if vectors > none:
            place, way = (lane, group, groups, first), (backward, conj_v, conj_tau)
            v_at, tau_at = advance(v, item * v_batch), advance(tau, item * tau_stride)
            apply(columns, held, memory, v_at, v_row, v_col, tau_at, m, vectors, way, place, uint32(sums_at))
            cuda.syncthreads()
        store(columns, own, scales, target, c_row, c_col, below, right, memory, mine, lane, lane)

    return qr_apply
