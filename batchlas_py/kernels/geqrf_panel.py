"""QR, A = Q R, of a panel or of a whole matrix held in the registers of one thread block.

Mapping: one block a matrix; groups of lanes are stacked over the rows, and where the matrix is wider than a
group also side by side (`device.panel_qr`). Each lane holds a part of a column. The matrix is read once and
written once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda

from .device.arithmetic import arithmetic
from .device.column_io import column_io, tile_elements
from .device.panel_qr import panel_factorization
from .device.pointers import advance
from .device.reflectors import WEIGHT, reflected
from .device.signature import COUNT, INDEX, matrix, pointer
from .geqrf_tiny import steps_of
from .qr_specs import QrPanelSpec

__all__ = ["make_kernel", "signature"]

uint32, int32, int64 = np.uint32, np.int32, np.int64


def signature(spec: QrPanelSpec) -> tuple[Any, ...]:
    """``(a, qr, tau, tau_stride, m, n, groups, sums_at)``, each matrix with its strides."""
    two = (*matrix(spec.dtype), *matrix(spec.dtype))
    return (*two, pointer(spec.dtype), COUNT, INDEX, INDEX, INDEX, INDEX)


def make_kernel(spec: QrPanelSpec) -> Any:
    """The kernel of one `QrPanelSpec`; a block has ``groups`` over the rows, and sums from ``sums_at`` on."""
    arith, spared = arithmetic(spec.dtype), int32(steps_of(spec.dtype))
    element, real, rows = arith.element, arith.real, spec.rows
    load, store = column_io(spec.dtype, rows, spec.lanes, reflected(spec.dtype))
    run, most = panel_factorization(spec), spec.threads
    lanes, depth, tile = int32(spec.lanes), int32(rows), uint32(tile_elements(rows, spec.lanes))

    @cuda.jit
    def geqrf_panel(
        a, a_row, a_col, a_batch, qr, qr_row, qr_col, qr_batch, tau, tau_stride, m, n, groups, sums_at
    ):  # fmt: skip
        thread, item = int32(cuda.threadIdx.x), int64(cuda.blockIdx.x)
        lane, order = int32(thread % lanes), int32(thread // lanes)
        group, beside = int32(order % groups), int32(order // groups)
        first_row, first_col = int32(group * depth), int32(beside * lanes)
        column, width = int32(first_col + lane), int32(int32(cuda.blockDim.x) // groups)

        memory = cuda.shared.array(0, element, alignment=16)
        keys = cuda.shared.array(most, uint32)
        columns = cuda.local.array(rows, element)
        own, scales = cuda.local.array(2, element), cuda.local.array(2, real)
        mine, below, right = uint32(uint32(order) * tile), int32(m - first_row), int32(n - first_col)

        source = advance(
            a, item * a_batch + int64(first_row) * int64(a_row) + int64(first_col) * int64(a_col)
        )
        load(columns, source, a_row, a_col, below, right, memory, mine, lane)
        place = lane, group, column, groups, width
        run(columns, own, scales, memory, keys, place, uint32(sums_at), min(int32(m - spared), n))
        cuda.syncthreads()
        target = advance(
            qr, item * qr_batch + int64(first_row) * int64(qr_row) + int64(first_col) * int64(qr_col)
        )
        diagonal = int32(column - first_row)
        store(columns, own, scales, target, qr_row, qr_col, below, right, memory, mine, lane, diagonal)
        if group == int32(0) and column < min(m, n):
            tau[item * tau_stride + int64(column)] = own[WEIGHT]

    return geqrf_panel
