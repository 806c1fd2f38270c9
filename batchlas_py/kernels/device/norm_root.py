"""Root and inverse root at once, of numbers away from the ends of the range, without a slow path."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numba import cuda

from ...dtypes import REAL_OF
from .inverse_root import rsqrt_f32, rsqrt_f64
from .jit import device

__all__ = ["rooted"]


def _third_order() -> Any:
    """The hardware's approximation, made right but for the last bit by a step of third order."""
    one, half, third = np.float64(1), np.float64(0.5), np.float64(0.375)

    @device
    def estimate(p):
        y = rsqrt_f64(p)
        error = cuda.fma(-(p * y), y, one)
        return cuda.fma(y * error, cuda.fma(error, third, half), y)

    return estimate


@functools.cache
def rooted(dtype: str) -> Any:
    """``p -> (sqrt(p), 1 / sqrt(p))``, right but for the last bit, for the real part of an element type."""
    single = REAL_OF[dtype] == "float32"
    half, estimate = np.dtype(REAL_OF[dtype]).type(0.5), rsqrt_f32 if single else _third_order()

    @device
    def both(p):
        y = estimate(p)
        root = p * y
        return cuda.fma(cuda.fma(-root, root, p), y * half, root), y

    return both
