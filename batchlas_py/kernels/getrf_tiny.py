"""LU with partial pivoting, P A = L U, of matrices up to 32 x 32 held in registers.

Mapping: a warp holds 32 / lanes matrices, lane r of a matrix holds its row r (`device.lu_rows`).
Shared memory is the mailbox of the pivot row, and for row-major data the tile that transposes.
No barrier is wider than a warp; each element is read once and written once.

The lane-per-row mapping with lazy swaps is that of Abdelfattah, Haidar, Tomov and Dongarra,
"Batched one-sided factorizations of tiny matrices using GPUs" (JoCS 26, 2018).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda

from .device.arithmetic import arithmetic
from .device.jit import device
from .device.lu_rows import ROW, STATE, elimination, mailbox_pitch
from .device.rows import direct_rows, staged_rows, tile_elements
from .device.signature import COUNT, INDEX, INTS, matrix
from .specs import TinySpec

__all__ = ["WARP", "make_kernel", "row_io", "shared_elements", "signature"]

WARP = 32
uint32, int32, int64 = np.uint32, np.int32, np.int64


def shared_elements(spec: TinySpec) -> int:
    """Elements of shared memory for one matrix: mailbox and tile are never live together."""
    mailbox = 2 * mailbox_pitch(spec.dtype, spec.columns, spec.rhs)
    if not spec.staged:
        return mailbox
    vector = max(1, 16 // np.dtype(spec.dtype).itemsize)
    return -(-max(mailbox, tile_elements(spec.lanes, spec.columns)) // vector) * vector


def row_io(spec: TinySpec) -> Any:
    """How this kernel moves rows."""
    if spec.staged:
        return staged_rows(spec.lanes, spec.columns, spec.slack)
    return direct_rows(spec.columns, spec.slack)


@device
def _keep_nothing(mine, s, inverse, own):
    pass


def signature(spec: TinySpec) -> tuple[Any, ...]:
    """``(a, lu, ipiv, info, n, batch)``, each matrix with its strides."""
    return (*matrix(spec.dtype), *matrix(spec.dtype), INTS, INTS, INDEX, COUNT)


def make_kernel(spec: TinySpec) -> Any:
    """The kernel ``getrf_tiny(a, strides, lu, strides, ipiv, info, n, batch)`` for one `TinySpec`.

    Strides (row, column, matrix) count elements; rows' and columns' are int32, matrices' int64.
    ``ipiv`` is (batch, n) and 1-based, ``info`` (batch,).
    """
    element = arithmetic(spec.dtype).element
    load, store = row_io(spec)
    run, info_of, pivot_of = elimination(spec, _keep_nothing)
    lanes, warp, per_block = uint32(spec.lanes), uint32(WARP), uint32(spec.per_block)
    columns, shared = spec.columns, shared_elements(spec)
    shared_total = shared * spec.per_block

    @cuda.jit
    def getrf_tiny(a, a_row, a_col, a_batch, lu, lu_row, lu_col, lu_batch, ipiv, info, order, batch):
        thread, n = uint32(cuda.threadIdx.x), uint32(order)
        lane, member = uint32(thread % lanes), uint32(thread // lanes)
        item = uint32(uint32(cuda.blockIdx.x) * per_block + member)
        valid = item < uint32(batch)
        source = int64(min(item, uint32(uint32(batch) - uint32(1))))

        memory = cuda.shared.array(shared_total, element, alignment=16)
        base = uint32(member * uint32(shared))
        rows = cuda.local.array(columns, element)
        none = cuda.local.array(1, element)
        state = cuda.local.array(STATE, np.uint32)

        load(rows, a, source * a_batch, a_row, a_col, memory, base, lane, n)
        run(rows, none, none, state, memory, base, lane, uint32(thread % warp), n)
        first_zero = info_of(state, uint32(thread % warp))
        store(rows, lu, source * lu_batch, lu_row, lu_col, memory, base, state[ROW], lane, n, valid)
        if valid and lane < n:
            ipiv[source * int64(n) + int64(state[ROW])] = int32(pivot_of(state))
        if valid and lane == uint32(0):
            info[item] = int32(first_zero)

    return getrf_tiny
