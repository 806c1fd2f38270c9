"""Small kernels around vendor calls: arrays of pointers, and NaN for failed items."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda

from ..nan import not_a_number
from .device.signature import COUNT, INDEX, INTS, matrix, pointer
from .specs import ToolSpec

__all__ = ["make_kernel", "signature"]

int32, int64, uint64 = np.int32, np.int64, np.uint64


def signature(spec: ToolSpec) -> tuple[Any, ...]:
    """``pointers(table, first, stride, batch)``; ``invalidate(x, info, rows, cols, batch)``."""
    if spec.tool == "pointers":
        return (pointer("uint64"), COUNT, COUNT, COUNT)
    return (*matrix(spec.dtype), INTS, INDEX, INDEX, COUNT)


def make_kernel(spec: ToolSpec) -> Any:
    """The kernel of one tool."""
    return _pointers(spec) if spec.tool == "pointers" else _invalidate(spec)


def _pointers(spec: ToolSpec) -> Any:
    threads = spec.threads

    @cuda.jit
    def pointers(table, first, stride, batch):
        item = int64(cuda.blockIdx.x) * threads + int64(cuda.threadIdx.x)
        if item < batch:
            table[item] = uint64(first + item * stride)

    return pointers


def _invalidate(spec: ToolSpec) -> Any:
    nothing, threads = not_a_number(spec.dtype), spec.threads

    @cuda.jit
    def invalidate(x, x_row, x_col, x_batch, info, rows, cols, batch):
        # One thread an item: failed items are rare.
        item = int64(cuda.blockIdx.x) * threads + int64(cuda.threadIdx.x)
        if item < batch and info[item] > int32(0):
            for j in range(cols):
                for i in range(rows):
                    x[item * x_batch + int64(i) * int64(x_row) + int64(j) * int64(x_col)] = nothing

    return invalidate
