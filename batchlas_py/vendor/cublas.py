"""cuBLAS's batched calls through nvmath-python: column-major matrices, mostly by arrays of pointers.

Factors of products are numbers on the host, and the mode of computation is cuBLAS's default, without TF32.
"""

from __future__ import annotations

import functools
import threading
from typing import Any, Final

import numpy as np

from ..dtypes import is_complex
from ..errors import BackendUnavailable
from ..runtime.device import core_device

__all__ = [
    "LETTER",
    "OPERATION",
    "SIDE",
    "gemm_strided_batched",
    "geqrf_batched",
    "getrf_batched",
    "getri_batched",
    "getrs_batched",
    "trsm_batched",
    "version",
]

LETTER: Final = {"float32": "s", "float64": "d", "complex64": "c", "complex128": "z"}
OPERATION: Final = {"N": 0, "T": 1, "C": 2}
SIDE: Final = {"L": 0, "R": 1}
FILL: Final = {"L": 0, "U": 1}
DIAGONAL: Final = {"N": 0, "U": 1}

_local = threading.local()


@functools.cache
def _bindings() -> Any:
    try:
        from nvmath.bindings import cublas
    except Exception as error:
        raise BackendUnavailable(f"cuBLAS cannot be used: {error}") from error
    return cublas


def version(ordinal: int) -> str:
    """Version of the loaded cuBLAS, as ``major.minor.patch``."""
    number = _bindings().get_version(_handle(ordinal, 0))
    return f"{number // 10000}.{number % 10000 // 100}.{number % 100}"


def _handle(ordinal: int, stream: int) -> int:
    """The calling thread's handle on a device, set to ``stream``; handles are not thread-safe."""
    handles: dict[int, tuple[int, int]] = _local.__dict__.setdefault("handles", {})
    if ordinal not in handles:
        core_device(ordinal)
        handles[ordinal] = (_bindings().create(), -1)
    handle, current = handles[ordinal]
    if current != stream:
        _bindings().set_stream(handle, stream)
        handles[ordinal] = (handle, stream)
    return handle


def _function(dtype: str, name: str) -> Any:
    return getattr(_bindings(), f"{LETTER[dtype]}{name}_batched")


def getrf_batched(
    dtype: str, ordinal: int, stream: int, n: int, a: int, lda: int, ipiv: int, info: int, batch: int
) -> None:
    """Factor in place; ``a`` is an array of pointers on the device, as in the calls below."""
    _function(dtype, "getrf")(_handle(ordinal, stream), n, a, lda, ipiv, info, batch)


def getrs_batched(
    dtype: str,
    ordinal: int,
    stream: int,
    trans: str,
    shape: tuple[int, int],
    a: tuple[int, int],
    ipiv: int,
    b: tuple[int, int],
    batch: int,
) -> None:
    """Solve in place; ``shape`` is (n, nrhs), ``a`` and ``b`` are (pointers, leading dimension)."""
    argument_error = np.zeros(1, np.int32)
    _function(dtype, "getrs")(
        _handle(ordinal, stream), OPERATION[trans], *shape, *a, ipiv, *b, argument_error.ctypes.data, batch
    )


def getri_batched(
    dtype: str,
    ordinal: int,
    stream: int,
    n: int,
    a: tuple[int, int],
    ipiv: int,
    inverse: tuple[int, int],
    info: int,
    batch: int,
) -> None:
    """Invert out of place; ``a`` and ``inverse`` are (pointers, leading dimension)."""
    _function(dtype, "getri")(_handle(ordinal, stream), n, *a, ipiv, *inverse, info, batch)


def geqrf_batched(
    dtype: str,
    ordinal: int,
    stream: int,
    shape: tuple[int, int],
    a: tuple[int, int],
    tau: int,
    batch: int,
) -> None:
    """Factor in place; ``a`` is (pointers, leading dimension), ``tau`` an array of pointers."""
    argument_error = np.zeros(1, np.int32)
    _function(dtype, "geqrf")(_handle(ordinal, stream), *shape, *a, tau, argument_error.ctypes.data, batch)


def gemm_strided_batched(
    dtype: str,
    ordinal: int,
    stream: int,
    trans: str,
    shape: tuple[int, int, int],
    factors: tuple[complex, complex],
    a: tuple[int, int, int],
    b: tuple[int, int, int],
    c: tuple[int, int, int],
    batch: int,
) -> None:
    """Multiply; ``shape`` is (m, n, k), ``factors`` (alpha, beta), a matrix (address, ld, batch stride)."""
    alpha, beta = (_number(value, dtype) for value in factors)
    operations = (OPERATION[letter] for letter in trans)
    _function(dtype, "gemm_strided")(
        _handle(ordinal, stream), *operations, *shape, alpha.ctypes.data, *a, *b, beta.ctypes.data, *c, batch
    )


def trsm_batched(
    dtype: str,
    ordinal: int,
    stream: int,
    letters: str,
    shape: tuple[int, int],
    factor: complex,
    a: tuple[int, int],
    b: tuple[int, int],
    batch: int,
) -> None:
    """Solve in place; ``letters`` are side, uplo, trans, diag, ``shape`` is that of ``b``."""
    side, uplo, trans, diag = tuple(letters)
    codes = SIDE[side], FILL[uplo], OPERATION[trans], DIAGONAL[diag]
    alpha = _number(factor, dtype)
    _function(dtype, "trsm")(_handle(ordinal, stream), *codes, *shape, alpha.ctypes.data, *a, *b, batch)


def _number(value: complex, dtype: str) -> np.ndarray:
    """A number in memory of its own."""
    return np.array([value if is_complex(dtype) else complex(value).real], dtype)
