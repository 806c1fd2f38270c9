"""Small kernels on lower triangles: a factored block to its place, and factors without the other triangle."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda

from ..nan import not_a_number
from .cholesky_specs import TriangleSpec
from .device.arithmetic import arithmetic
from .device.jit import select
from .device.pointers import advance
from .device.signature import INDEX, INTS, matrix

__all__ = ["make_kernel", "signature"]

int32, int64 = np.int32, np.int64


def signature(spec: TriangleSpec) -> tuple[Any, ...]:
    """``merge(block, c, part, info, base, n)``; ``clean(c, info, n)``."""
    if spec.tool == "merge":
        return (*(2 * matrix(spec.dtype)), INTS, INTS, INDEX, INDEX)
    return (*matrix(spec.dtype), INTS, INDEX)


def make_kernel(spec: TriangleSpec) -> Any:
    """The kernel of one tool; a block a matrix."""
    return _merge(spec) if spec.tool == "merge" else _clean(spec)


def _merge(spec: TriangleSpec) -> Any:
    threads, none = int32(spec.threads), int32(0)

    @cuda.jit
    def merge(block, b_row, b_col, b_batch, c, c_row, c_col, c_batch, part, info, base, n):
        item, position = int64(cuda.blockIdx.x), int32(cuda.threadIdx.x)
        source, target = advance(block, item * b_batch), advance(c, item * c_batch)
        along_rows = abs(c_row) <= abs(c_col)
        if position == none and info[item] == none and part[item] > none:
            info[item] = int32(base + part[item])
        while position < int32(n * n):
            fast, slow = int32(position % n), int32(position // n)
            i, j = select(along_rows, fast, slow), select(along_rows, slow, fast)
            if i >= j:
                value = source[int32(int32(i * b_row) + int32(j * b_col))]
                target[int32(int32(i * c_row) + int32(j * c_col))] = value
            position = int32(position + threads)

    return merge


def _clean(spec: TriangleSpec) -> Any:
    threads, none = int32(spec.threads), int32(0)
    zero, nothing = arithmetic(spec.dtype).element(0), not_a_number(spec.dtype)

    @cuda.jit
    def clean(c, c_row, c_col, c_batch, info, n):
        item, position = int64(cuda.blockIdx.x), int32(cuda.threadIdx.x)
        target, failed = advance(c, item * c_batch), info[item] > none
        along_rows = abs(c_row) <= abs(c_col)
        while position < int32(n * n):
            fast, slow = int32(position % n), int32(position // n)
            i, j = select(along_rows, fast, slow), select(along_rows, slow, fast)
            if failed or i < j:
                target[int32(int32(i * c_row) + int32(j * c_col))] = select(failed, nothing, zero)
            position = int32(position + threads)

    return clean
