"""Argument types that kernels share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.np.numpy_support import from_dtype

__all__ = ["COUNT", "INDEX", "INTS", "matrix", "pointer"]

INDEX, COUNT, INTS = types.int32, types.int64, types.CPointer(types.int32)


def pointer(dtype: str) -> Any:
    """Pointer to elements of a NumPy dtype."""
    return types.CPointer(from_dtype(np.dtype(dtype)))


def matrix(dtype: str) -> tuple[Any, ...]:
    """A batch of matrices: pointer, row stride, column stride, matrix stride."""
    return pointer(dtype), INDEX, INDEX, COUNT
