"""cuSOLVER through nvmath-python: LU and QR of one matrix, Cholesky of batches by arrays of pointers."""

from __future__ import annotations

import functools
import threading
from typing import Any

from ..dtypes import is_complex, itemsize
from ..errors import BackendUnavailable
from ..runtime.device import core_device
from .cublas import FILL, LETTER, OPERATION, SIDE

__all__ = [
    "getrf",
    "getrf_bytes",
    "orgqr",
    "orgqr_bytes",
    "ormqr",
    "ormqr_bytes",
    "potrf_batched",
    "potrs_batched",
]

_local = threading.local()


@functools.cache
def _bindings() -> Any:
    try:
        from nvmath.bindings import cusolverDn
    except Exception as error:
        raise BackendUnavailable(f"cuSOLVER cannot be used: {error}") from error
    return cusolverDn


def _handle(ordinal: int, stream: int) -> int:
    """The calling thread's handle for a stream; work of one handle on two streams could not overlap."""
    handles: dict[tuple[int, int], int] = _local.__dict__.setdefault("handles", {})
    if (ordinal, stream) not in handles:
        core_device(ordinal)
        handle = _bindings().create()
        _bindings().set_stream(handle, stream)
        handles[ordinal, stream] = handle
    return handles[ordinal, stream]


def getrf_bytes(dtype: str, ordinal: int, shape: tuple[int, int], a: tuple[int, int]) -> int:
    """Bytes of workspace of one `getrf`."""
    elements = getattr(_bindings(), f"{LETTER[dtype]}getrf_buffer_size")(_handle(ordinal, 0), *shape, *a)
    return int(elements) * itemsize(dtype)


def getrf(
    dtype: str,
    ordinal: int,
    stream: int,
    shape: tuple[int, int],
    a: tuple[int, int],
    workspace: int,
    ipiv: int,
    info: int,
) -> None:
    """Factor one column-major matrix in place; ``a`` is (address, leading dimension)."""
    factor = getattr(_bindings(), f"{LETTER[dtype]}getrf")
    factor(_handle(ordinal, stream), *shape, *a, workspace, ipiv, info)


def potrf_batched(
    dtype: str,
    ordinal: int,
    stream: int,
    uplo: str,
    n: int,
    a: tuple[int, int],
    info: int,
    batch: int,
) -> None:
    """Factor in place; ``a`` is (pointers, leading dimension), as below."""
    factor = getattr(_bindings(), f"{LETTER[dtype]}potrf_batched")
    factor(_handle(ordinal, stream), FILL[uplo], n, *a, info, batch)


def potrs_batched(
    dtype: str,
    ordinal: int,
    stream: int,
    uplo: str,
    shape: tuple[int, int],
    a: tuple[int, int],
    b: tuple[int, int],
    argument_error: int,
    batch: int,
) -> None:
    """Solve in place; ``shape`` is (n, 1), ``argument_error`` an int32 on the device."""
    solve = getattr(_bindings(), f"{LETTER[dtype]}potrs_batched")
    solve(_handle(ordinal, stream), FILL[uplo], *shape, *a, *b, argument_error, batch)


def orgqr_bytes(dtype: str, ordinal: int, shape: tuple[int, int, int], a: tuple[int, int], tau: int) -> int:
    """Bytes of workspace of one `orgqr`."""
    elements = _function(dtype, "gqr_buffer_size")(_handle(ordinal, 0), *shape, *a, tau)
    return int(elements) * itemsize(dtype)


def orgqr(
    dtype: str,
    ordinal: int,
    stream: int,
    shape: tuple[int, int, int],
    a: tuple[int, int],
    tau: int,
    workspace: tuple[int, int],
    info: int,
) -> None:
    """Form Q in place; ``shape`` is (m, n, k), ``a`` (address, ld), ``workspace`` (address, bytes)."""
    address, size = workspace
    form = _function(dtype, "gqr")
    form(_handle(ordinal, stream), *shape, *a, tau, address, size // itemsize(dtype), info)


def ormqr_bytes(
    dtype: str,
    ordinal: int,
    letters: str,
    shape: tuple[int, int, int],
    a: tuple[int, int],
    tau: int,
    c: tuple[int, int],
) -> int:
    """Bytes of workspace of one `ormqr`."""
    elements = _function(dtype, "mqr_buffer_size")(_handle(ordinal, 0), *_codes(letters), *shape, *a, tau, *c)
    return int(elements) * itemsize(dtype)


def ormqr(
    dtype: str,
    ordinal: int,
    stream: int,
    letters: str,
    shape: tuple[int, int, int],
    a: tuple[int, int],
    tau: int,
    c: tuple[int, int],
    workspace: tuple[int, int],
    info: int,
) -> None:
    """Multiply ``c``, m x n, in place; ``letters`` are side and trans, ``shape`` is (m, n, k)."""
    address, size = workspace
    _function(dtype, "mqr")(
        _handle(ordinal, stream), *_codes(letters), *shape, *a, tau, *c, address,
        size // itemsize(dtype), info,
    )  # fmt: skip


def _function(dtype: str, name: str) -> Any:
    """``?orgqr`` or ``?ungqr`` and the like, by what follows the second letter of the routine."""
    kind = "un" if is_complex(dtype) else "or"
    return getattr(_bindings(), f"{LETTER[dtype]}{kind}{name}")


def _codes(letters: str) -> tuple[int, int]:
    side, trans = tuple(letters)
    return SIDE[side], OPERATION[trans]
