"""Scratch memory on the device, ordered by the stream that uses it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..errors import BackendUnavailable
from .device import core_device
from .launch import core_stream

__all__ = ["fill_zero", "scratch"]


@contextmanager
def scratch(size: int, stream: int, ordinal: int) -> Iterator[int]:
    """Address of ``size`` bytes, given back to the device's pool behind the work enqueued meanwhile."""
    queue = core_stream(stream, ordinal)
    buffer = core_device(ordinal).allocate(max(size, 1), stream=queue)
    try:
        yield int(buffer.handle)
    finally:
        buffer.close(queue)


def fill_zero(ptr: int, size: int, stream: int) -> None:
    """Enqueue setting ``size`` bytes to zero."""
    from cuda.bindings import driver

    (status,) = driver.cuMemsetD8Async(ptr, 0, size, stream)
    if int(status) != 0:
        raise BackendUnavailable(f"cuMemsetD8Async of {size} bytes failed: {status.name}")
