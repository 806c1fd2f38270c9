"""Q and R of matrices up to 32 x 32 in one launch: `geqrf_tiny`'s steps, then Q in the same registers.

Once R is stored, its registers are free: Q grows in them from the last reflector to the first, as in LAPACK's
org2r. Q has min(m, n) columns, R as many rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda

from .device.arithmetic import arithmetic
from .device.column_io import column_io
from .device.pointers import advance
from .device.reflectors import reflected
from .device.signature import COUNT, INDEX, matrix
from .device.tiny_qr import factorization, formation, only_upper, plain
from .geqrf_tiny import WARP, shared_elements, steps_of
from .qr_specs import QrTinySpec

__all__ = ["make_kernel", "signature"]

FULL = np.uint32(0xFFFFFFFF)
uint32, int32, int64 = np.uint32, np.int32, np.int64


def signature(spec: QrTinySpec) -> tuple[Any, ...]:
    """``(a, q, r, m, n, batch)``, each matrix with its strides."""
    return (*(3 * matrix(spec.dtype)), INDEX, INDEX, COUNT)


def make_kernel(spec: QrTinySpec) -> Any:
    """The kernel of one `QrTinySpec`."""
    arith, spared = arithmetic(spec.dtype), int32(steps_of(spec.dtype))
    element, real, full = arith.element, arith.real, FULL
    load, store_upper = column_io(spec.dtype, spec.rows, spec.lanes, only_upper(spec.dtype))
    _, store = column_io(spec.dtype, spec.rows, spec.lanes, plain(spec.dtype))
    run, form = factorization(spec), formation(spec, reflected(spec.dtype))
    lanes, warp, per_block = int32(spec.lanes), int32(WARP), int32(spec.per_block)
    rows, shared = spec.rows, shared_elements(spec)
    shared_total = shared * spec.per_block

    @cuda.jit
    def qr_tiny(
        a, a_row, a_col, a_batch, q, q_row, q_col, q_batch, r, r_row, r_col, r_batch, m, n, batch
    ):  # fmt: skip
        thread = int32(cuda.threadIdx.x)
        lane, member = int32(thread % lanes), int32(thread // lanes)
        item = int64(cuda.blockIdx.x) * int64(per_block) + int64(member)
        source = min(item, batch - int64(1))

        memory = cuda.shared.array(shared_total, element, alignment=16)
        base, first_lane = uint32(member * int32(shared)), int32(int32(thread % warp) - lane)
        columns = cuda.local.array(rows, element)
        own, scales = cuda.local.array(2, element), cuda.local.array(2, real)

        load(columns, advance(a, source * a_batch), a_row, a_col, m, n, memory, base, lane)
        steps, k = min(int32(m - spared), n), min(m, n)
        run(columns, own, scales, memory, base, lane, first_lane, m, steps)
        cuda.syncwarp(full)
        width, upper = n if item < batch else int32(0), advance(r, source * r_batch)
        store_upper(columns, own, scales, upper, r_row, r_col, k, width, memory, base, lane, lane)
        cuda.syncwarp(full)
        form(columns, own, scales, memory, base, lane, k)
        cuda.syncwarp(full)
        target = advance(q, source * q_batch)
        store(columns, own, scales, target, q_row, q_col, m, min(k, width), memory, base, lane, lane)

    return qr_tiny
