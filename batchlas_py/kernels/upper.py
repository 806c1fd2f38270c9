"""Copy a batch of matrices with zeros below the diagonal: R out of the factors of geqrf."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda

from .device.arithmetic import arithmetic
from .device.jit import select
from .device.signature import COUNT, INDEX, matrix
from .qr_specs import UpperSpec

__all__ = ["make_kernel", "signature"]

int32, int64 = np.int32, np.int64


def signature(spec: UpperSpec) -> tuple[Any, ...]:
    """``(source, target, rows, cols, batch)``, matrices strided."""
    return (*matrix(spec.dtype), *matrix(spec.dtype), INDEX, INDEX, COUNT)


def make_kernel(spec: UpperSpec) -> Any:
    """The kernel; a thread an element, along the smaller stride of the target."""
    zero, threads = arithmetic(spec.dtype).element(0), spec.threads

    @cuda.jit
    def upper(source, s_row, s_col, s_batch, target, t_row, t_col, t_batch, rows, cols, batch):
        number = int64(cuda.blockIdx.x) * threads + int64(cuda.threadIdx.x)
        area = int64(rows) * int64(cols)
        item, cell = number // area, int32(number % area)
        down = abs(t_row) <= abs(t_col)
        i = select(down, int32(cell % rows), int32(cell // cols))
        j = select(down, int32(cell // rows), int32(cell % cols))
        if item < batch:
            value = zero
            if i <= j:
                value = source[item * s_batch + int64(i) * int64(s_row) + int64(j) * int64(s_col)]
            target[item * t_batch + int64(i) * int64(t_row) + int64(j) * int64(t_col)] = value

    return upper
