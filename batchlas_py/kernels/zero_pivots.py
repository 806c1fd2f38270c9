"""``info`` of given factors: the first zero on the diagonal of U, 1-based, or 0."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda

from .block_specs import ZeroPivotSpec
from .device.arithmetic import arithmetic
from .device.intrinsics import redux_min
from .device.jit import select
from .device.signature import COUNT, INDEX, INTS, matrix

__all__ = ["make_kernel", "signature"]

WARP = 32
FULL = np.uint32(0xFFFFFFFF)
uint32, int32, int64 = np.uint32, np.int32, np.int64


def signature(spec: ZeroPivotSpec) -> tuple[Any, ...]:
    """``(lu, info, n, batch)``."""
    return (*matrix(spec.dtype), INTS, INDEX, COUNT)


def make_kernel(spec: ZeroPivotSpec) -> Any:
    """The kernel; a warp a matrix."""
    zero, per_block, none, full = arithmetic(spec.dtype).element(0), spec.threads // WARP, FULL, FULL
    warp_size, one = int32(WARP), uint32(1)

    @cuda.jit
    def zero_pivots(lu, row_stride, col_stride, batch_stride, info, n, batch):
        thread = int32(cuda.threadIdx.x)
        lane, item = (
            int32(thread % warp_size),
            int64(cuda.blockIdx.x) * per_block + int64(thread // warp_size),
        )
        at = min(item, batch - int64(1)) * batch_stride
        first, i = none, lane
        while i < n:
            if first == none and lu[at + int64(i) * (int64(row_stride) + int64(col_stride))] == zero:
                first = uint32(i)
            i = int32(i + warp_size)
        first = redux_min(full, first)
        if lane == int32(0) and item < batch:
            info[item] = int32(select(first == none, uint32(0), uint32(first + one)))

    return zero_pivots
