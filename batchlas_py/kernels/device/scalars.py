"""Scalar arguments of kernels, which come as two doubles whatever the element type."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...dtypes import is_complex
from .jit import device

__all__ = ["element_of"]


def element_of(dtype: str) -> Any:
    """``(re, im) -> element``; the imaginary part of a real type is not looked at."""
    element = np.dtype(dtype).type
    if not is_complex(dtype):

        @device
        def real_only(re, im):
            return element(re)

        return real_only

    @device
    def both(re, im):
        return element(complex(re, im))

    return both
