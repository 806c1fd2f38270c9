"""QR, A = Q R, of matrices up to 32 x 32 held in registers: R, the reflectors, and tau as LAPACK has them.

Mapping: a warp holds 32 / lanes matrices, lane k of a matrix holds its column k (`device.tiny_qr`).
Shared memory is the mailbox of the column under elimination, and the tile through which columns are turned.

Householder reflectors as in LAPACK's geqr2 and larfg; the squares of a column near either end of the range of
numbers are formed of a scaled copy.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda

from .device.arithmetic import arithmetic
from .device.column_io import column_io, tile_elements
from .device.pointers import advance
from .device.reflectors import WEIGHT, reflected
from .device.signature import COUNT, INDEX, matrix, pointer
from .device.tiny_qr import factorization, mailbox_elements
from .qr_specs import QrTinySpec, mailbox_pitch

__all__ = ["WARP", "make_kernel", "shared_elements", "signature", "steps_of"]

WARP = 32
uint32, int32, int64 = np.uint32, np.int32, np.int64


def shared_elements(spec: QrTinySpec) -> int:
    """Elements of shared memory for one matrix: mailbox and tile are never live together."""
    most = max(mailbox_elements(spec), tile_elements(spec.rows, spec.lanes))
    return mailbox_pitch(spec.dtype, most)


def steps_of(dtype: str) -> int:
    """Rows that need no reflector: a real last row has none, a complex one gets a real diagonal."""
    return 0 if np.dtype(dtype).kind == "c" else 1


def signature(spec: QrTinySpec) -> tuple[Any, ...]:
    """``(a, qr, tau, m, n, batch)``, each matrix with its strides."""
    return (*matrix(spec.dtype), *matrix(spec.dtype), pointer(spec.dtype), INDEX, INDEX, COUNT)


def make_kernel(spec: QrTinySpec) -> Any:
    """The kernel of one `QrTinySpec`; ``tau`` is (batch, min(m, n))."""
    arith, spared = arithmetic(spec.dtype), int32(steps_of(spec.dtype))
    element, real = arith.element, arith.real
    load, store = column_io(spec.dtype, spec.rows, spec.lanes, reflected(spec.dtype))
    run = factorization(spec)
    lanes, warp, per_block = int32(spec.lanes), int32(WARP), int32(spec.per_block)
    rows, shared = spec.rows, shared_elements(spec)
    shared_total = shared * spec.per_block

    @cuda.jit
    def geqrf_tiny(a, a_row, a_col, a_batch, qr, qr_row, qr_col, qr_batch, tau, m, n, batch):
        thread = int32(cuda.threadIdx.x)
        lane, member = int32(thread % lanes), int32(thread // lanes)
        item = int64(cuda.blockIdx.x) * int64(per_block) + int64(member)
        source = min(item, batch - int64(1))

        memory = cuda.shared.array(shared_total, element, alignment=16)
        base, first_lane = uint32(member * int32(shared)), int32(int32(thread % warp) - lane)
        columns = cuda.local.array(rows, element)
        own, scales = cuda.local.array(2, element), cuda.local.array(2, real)

        load(columns, advance(a, source * a_batch), a_row, a_col, m, n, memory, base, lane)
        steps = min(int32(m - spared), n)
        run(columns, own, scales, memory, base, lane, first_lane, m, steps)
        cuda.syncwarp(uint32(0xFFFFFFFF))
        width = n if item < batch else int32(0)
        target = advance(qr, source * qr_batch)
        store(columns, own, scales, target, qr_row, qr_col, m, width, memory, base, lane, lane)
        if lane < min(m, width):
            tau[source * int64(min(m, n)) + int64(lane)] = own[WEIGHT]

    return geqrf_tiny
