"""Cholesky factorization, A = L L^H, of matrices up to 32 x 32 held in registers.

Mapping: a warp holds 32 / lanes matrices, lane r of a matrix holds its row r (`device.cholesky_rows`).
Shared memory is the mailbox of columns, and for row-major data the tile that transposes. No barrier is wider
than a warp; each element of the triangle is read once and written once, and the other triangle left alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda

from .cholesky_specs import SpdTinySpec
from .device.arithmetic import arithmetic
from .device.cholesky_rows import elimination, first_failure, mailbox_pitch
from .device.inverse_root import roots
from .device.pointers import advance
from .device.signature import COUNT, INDEX, INTS, matrix
from .device.triangle_rows import tile_elements, triangle_rows

__all__ = ["WARP", "factoring", "make_kernel", "shared_elements", "signature"]

WARP = 32
FULL = np.uint32(0xFFFFFFFF)
SLOTS = 2
uint32, int32, int64 = np.uint32, np.int32, np.int64


def _pitch(spec: SpdTinySpec) -> int:
    return mailbox_pitch(spec.dtype, spec.columns + spec.rhs)


def shared_elements(spec: SpdTinySpec, *, tile: bool) -> int:
    """Elements of shared memory for one matrix: mailbox and tile, if there is one, are never live together."""
    mailbox = SLOTS * _pitch(spec)
    vector = max(1, 16 // np.dtype(spec.dtype).itemsize)
    most = max(mailbox, tile_elements(spec.lanes, spec.columns)) if tile else mailbox
    return -(-most // vector) * vector


def factoring(spec: SpdTinySpec) -> tuple[Any, Any]:
    """The elimination of a kernel, and how it moves triangles."""
    always = spec.columns - spec.slack + 1
    run = elimination(
        spec.dtype, spec.columns, always=always, slots=SLOTS, pitch=_pitch(spec), rhs=spec.rhs
    )
    return run, triangle_rows(spec.dtype, spec.lanes, spec.columns, spec.slack, staged=spec.staged)


def signature(spec: SpdTinySpec) -> tuple[Any, ...]:
    """``(c, info, n, batch)``, the matrix with its strides."""
    return (*matrix(spec.dtype), INTS, INDEX, COUNT)


def make_kernel(spec: SpdTinySpec) -> Any:
    """The kernel ``potrf_tiny(c, strides, info, n, batch)``, which works in place on the lower triangle.

    Strides (row, column, matrix) count elements; rows' and columns' are int32, matrices' int64.
    """
    arith, root = arithmetic(spec.dtype), roots(spec.dtype).root
    element, real = arith.element, arith.real
    run, (load, put, store) = factoring(spec)
    failure = first_failure(spec.dtype, spec.lanes)
    lanes, warp, per_block = uint32(spec.lanes), uint32(WARP), uint32(spec.per_block)
    columns, staged, shared = spec.columns, spec.staged, shared_elements(spec, tile=spec.staged)
    shared_total, full = shared * spec.per_block, FULL

    @cuda.jit
    def potrf_tiny(c, c_row, c_col, c_batch, info, order, batch):
        thread, n = uint32(cuda.threadIdx.x), uint32(order)
        lane, member = uint32(thread % lanes), uint32(thread // lanes)
        item = uint32(uint32(cuda.blockIdx.x) * per_block + member)
        valid = item < uint32(batch)
        source = advance(c, int64(min(item, uint32(uint32(batch) - uint32(1)))) * c_batch)

        memory = cuda.shared.array(shared_total, element, alignment=16)
        base, first = uint32(member * uint32(shared)), uint32(uint32(thread % warp) - lane)
        rows, none = cuda.local.array(columns, element), cuda.local.array(1, element)
        pivot = cuda.local.array(1, real)

        load(rows, source, c_row, c_col, memory, base, lane, n)
        run(rows, none, pivot, memory, base, lane, first, n)
        failed, diagonal = failure(pivot[0], first), root(pivot[0])
        if staged:
            cuda.syncwarp(full)
            put(rows, diagonal, memory, base, lane)
            cuda.syncwarp(full)
        store(rows, diagonal, source, c_row, c_col, memory, base, lane, n, valid)
        if valid and lane == uint32(0):
            info[item] = failed

    return potrf_tiny
