"""LU with partial pivoting of a tall panel held in the registers of one thread block.

Mapping: one block a matrix, thread t holds rows t, t + threads, ... of the panel (`device.panel_rows`).
The panel is read once and written once, in place. Besides factors and pivots the kernel gives the
permutation that the interchanges amount to, which the lazy swap has at no cost.

The row-per-thread panel is that of MAGMA's batched getf2 (Abdelfattah, Haidar, Tomov, Dongarra,
"Fast Cholesky and LU factorizations of batches of small matrices", 2017 to 2019).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda

from .block_specs import PanelSpec
from .device.arithmetic import arithmetic
from .device.jit import device, select, static_for
from .device.panel_rows import FIRST_ZERO, STATE, mailbox_pitch, panel_steps
from .device.pointers import advance
from .device.signature import COUNT, INDEX, INTS, matrix

__all__ = ["make_kernel", "signature"]

WARP = 32
uint32, int32, int64 = np.uint32, np.int32, np.int64
NOBODY = uint32(0xFFFFFFFF)  # the row of a thread past the panel: negative as int32, so never a candidate


def signature(spec: PanelSpec) -> tuple[Any, ...]:
    """``(panel, ipiv, ipiv_stride, info, moved, moved_stride, base, rows, cols)``."""
    return (*matrix(spec.dtype), INTS, COUNT, INTS, INTS, COUNT, INDEX, INDEX, INDEX)


def _row_io(dtype: str, columns: int, rows_each: int) -> tuple[Any, Any]:
    nobody, zero = NOBODY, arithmetic(dtype).element(0)

    @device
    def load_column(k, r, a, panel, offset, col_stride, cols):
        value = panel[int32(offset + min(k, int32(cols - int32(1))) * col_stride)]
        a[r * int32(columns) + k] = select(k < cols, value, zero)

    load_columns = static_for(load_column, range(columns), "r, a, panel, offset, col_stride, cols")

    @device
    def load_row(r, a, row, panel, row_stride, col_stride, thread, threads, rows, cols):
        mine = int32(r * threads + thread)
        row[r] = select(mine < rows, uint32(mine), nobody)
        offset = int32(min(mine, int32(rows - int32(1))) * row_stride)
        load_columns(r, a, panel, offset, col_stride, cols)

    @device
    def store_column(k, r, a, panel, offset, col_stride, cols):
        if k < cols:
            panel[int32(offset + k * col_stride)] = a[r * int32(columns) + k]

    store_columns = static_for(store_column, range(columns), "r, a, panel, offset, col_stride, cols")

    @device
    def store_row(r, a, row, panel, row_stride, col_stride, moved, thread, threads, cols):
        if row[r] != nobody:
            store_columns(r, a, panel, int32(int32(row[r]) * row_stride), col_stride, cols)
            moved[int32(row[r])] = int32(r * threads + thread)

    each, where = range(rows_each), "a, row, panel, row_stride, col_stride"
    return (
        static_for(load_row, each, f"{where}, thread, threads, rows, cols"),
        static_for(store_row, each, f"{where}, moved, thread, threads, cols"),
    )


def make_kernel(spec: PanelSpec) -> Any:
    """The kernel of one `PanelSpec`; `signature` lists its arguments.

    ``ipiv`` counts from 1 at row ``base`` above the panel; ``info`` is the first zero pivot likewise, and a
    panel with ``base`` > 0 sets it only where it is 0. ``moved[i]`` is the row, from 0, that row i was.
    """
    element, columns, rows_each = arithmetic(spec.dtype).element, spec.columns, spec.rows_each
    warps_most = spec.threads // WARP
    steps = panel_steps(spec.dtype, columns, rows_each, warps_most)
    start, run = steps.start, steps.run
    load, store = _row_io(spec.dtype, columns, rows_each)
    warp_size, none = uint32(WARP), uint32(0)
    mail, keys_most, registers = (
        2 * warps_most * mailbox_pitch(spec.dtype, columns),
        6 * warps_most,
        rows_each * columns,
    )

    @cuda.jit
    def getrf_panel(
        panel, p_row, p_col, p_batch, ipiv, ipiv_stride, info, moved, moved_stride, base, rows, cols
    ):  # fmt: skip
        thread, threads = int32(cuda.threadIdx.x), int32(cuda.blockDim.x)
        lane, warp = uint32(uint32(thread) % warp_size), uint32(uint32(thread) // warp_size)
        warps, item = uint32(uint32(threads) // warp_size), int64(cuda.blockIdx.x)
        mailbox = cuda.shared.array(mail, element, alignment=16)
        keys = cuda.shared.array(keys_most, np.uint32)
        a = cuda.local.array(registers, element)
        l = cuda.local.array(rows_each, element)
        row = cuda.local.array(rows_each, np.uint32)
        state = cuda.local.array(STATE, np.uint32)

        matrix_at, origin = advance(panel, item * p_batch), advance(moved, item * moved_stride)
        load(a, row, matrix_at, p_row, p_col, thread, threads, rows, cols)
        start(a, row, state, lane, warp)
        at, limit = item * ipiv_stride, min(rows, cols)
        run(a, row, l, state, mailbox, keys, lane, warp, warps, ipiv, at, base, limit)
        store(a, row, matrix_at, p_row, p_col, origin, thread, threads, cols)
        if thread == int32(0):
            first = state[FIRST_ZERO]
            if base == int32(0):
                info[item] = int32(first)
            elif first != none and info[item] == int32(0):
                info[item] = int32(base + int32(first))

    return getrf_panel
