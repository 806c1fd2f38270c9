"""The four element types, by NumPy name."""

from __future__ import annotations

from typing import Final

import numpy as np

from .errors import ArgumentTypeError

__all__ = ["DTYPES", "REAL_OF", "canonical_dtype", "is_complex", "itemsize"]

DTYPES: Final = ("float32", "float64", "complex64", "complex128")
REAL_OF: Final = {
    "float32": "float32",
    "float64": "float64",
    "complex64": "float32",
    "complex128": "float64",
}


def itemsize(dtype: str) -> int:
    """Bytes of one element."""
    return int(np.dtype(dtype).itemsize)


def is_complex(dtype: str) -> bool:
    """Whether the dtype is one of the two complex ones."""
    return REAL_OF[dtype] != dtype


def canonical_dtype(dtype: object, argument: str = "dtype") -> str:
    """NumPy name of a supported dtype; anything else raises `ArgumentTypeError`."""
    try:
        name = str(np.dtype(dtype).name)  # type: ignore[call-overload]
    except TypeError:
        name = str(dtype)
    if name not in DTYPES:
        raise ArgumentTypeError(f"{argument}: got {name}, accepted are {', '.join(DTYPES)}")
    return name
