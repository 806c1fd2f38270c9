"""Q from the reflectors of matrices up to 32 x 32, in registers: LAPACK's org2r, a column a lane."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda

from .device.arithmetic import arithmetic
from .device.column_io import column_io
from .device.pointers import advance
from .device.reflectors import WEIGHT
from .device.signature import COUNT, INDEX, matrix, pointer
from .device.tiny_qr import formation, plain
from .geqrf_tiny import shared_elements
from .qr_specs import QrTinySpec

__all__ = ["make_kernel", "signature"]

FULL = np.uint32(0xFFFFFFFF)
uint32, int32, int64 = np.uint32, np.int32, np.int64


def signature(spec: QrTinySpec) -> tuple[Any, ...]:
    """``(qr, tau, tau_stride, q, m, n, k, batch)``, each matrix with its strides."""
    return (
        *matrix(spec.dtype),
        pointer(spec.dtype),
        COUNT,
        *matrix(spec.dtype),
        INDEX,
        INDEX,
        INDEX,
        COUNT,
    )


def make_kernel(spec: QrTinySpec) -> Any:
    """The kernel of one `QrTinySpec`; the first k of the n columns of Q have reflectors."""
    arith, full = arithmetic(spec.dtype), FULL
    element, real, nothing, one = arith.element, arith.real, arith.element(0), arith.real(1)
    value = plain(spec.dtype)
    load, store = column_io(spec.dtype, spec.rows, spec.lanes, value)
    form = formation(spec, value)
    lanes, per_block = int32(spec.lanes), int32(spec.per_block)
    rows, shared = spec.rows, shared_elements(spec)
    shared_total = shared * spec.per_block

    @cuda.jit
    def orgqr_tiny(
        qr, qr_row, qr_col, qr_batch, tau, tau_stride, q, q_row, q_col, q_batch, m, n, k, batch
    ):  # fmt: skip
        thread = int32(cuda.threadIdx.x)
        lane, member = int32(thread % lanes), int32(thread // lanes)
        item = int64(cuda.blockIdx.x) * int64(per_block) + int64(member)
        source = min(item, batch - int64(1))

        memory = cuda.shared.array(shared_total, element, alignment=16)
        base = uint32(member * int32(shared))
        columns = cuda.local.array(rows, element)
        own, scales = cuda.local.array(2, element), cuda.local.array(2, real)
        own[0], own[1], scales[0], scales[1] = nothing, nothing, one, one

        load(columns, advance(qr, source * qr_batch), qr_row, qr_col, m, k, memory, base, lane)
        if lane < k:
            own[WEIGHT] = tau[source * tau_stride + int64(lane)]
        form(columns, own, scales, memory, base, lane, k)
        cuda.syncwarp(full)
        width, target = n if item < batch else int32(0), advance(q, source * q_batch)
        store(columns, own, scales, target, q_row, q_col, m, width, memory, base, lane, lane)

    return orgqr_tiny
