"""cuSOLVER's LU of one matrix through nvmath-python."""

from __future__ import annotations

import functools
import threading
from typing import Any

from ..dtypes import itemsize
from ..errors import BackendUnavailable
from ..runtime.device import core_device
from .cublas import LETTER

__all__ = ["getrf", "getrf_bytes"]

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
