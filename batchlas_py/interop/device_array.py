"""A minimal device array, for callers without an array library."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..runtime.device import core_device, current_ordinal
from ..runtime.launch import core_stream
from .arrays import Memory

__all__ = ["DeviceArray", "empty", "fetch", "to_device"]


class DeviceArray:
    """Memory on the current device with a shape, a dtype and ``__cuda_array_interface__``.

    It does no arithmetic: pass it to this package or to any library that reads the interface, and
    fetch it with `to_host`. Work on it runs on the legacy default stream unless a call says otherwise.

    Attributes
    ----------
    shape : tuple of int
    dtype : numpy.dtype
    """

    def __init__(self, shape: tuple[int, ...], dtype: str) -> None:
        self.shape, self.dtype = tuple(shape), np.dtype(dtype)
        self._ordinal = current_ordinal()
        self._queue = core_stream(0, self._ordinal)
        self._buffer = core_device(self._ordinal).allocate(max(self.nbytes, 1), stream=self._queue)

    @property
    def nbytes(self) -> int:
        """Size in bytes."""
        return int(np.prod(self.shape, dtype=np.int64)) * self.dtype.itemsize

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """The CUDA array interface, version 3."""
        return {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "data": (int(self._buffer.handle), False),
            "strides": None,
            "version": 3,
        }

    def to_host(self) -> np.ndarray:
        """Copy to a new NumPy array; waits for the device."""
        host = np.empty(self.shape, self.dtype)
        if host.nbytes:
            _copy("cuMemcpyDtoH", host.ctypes.data, int(self._buffer.handle), host.nbytes)
        return host


def empty(shape: tuple[int, ...], dtype: str) -> DeviceArray:
    """An uninitialised array on the current device."""
    core_device(0)
    return DeviceArray(shape, dtype)


def to_device(array: np.ndarray) -> DeviceArray:
    """Copy a NumPy array to the current device, in C order."""
    host = np.ascontiguousarray(array).reshape(array.shape)
    target = empty(host.shape, host.dtype.name)
    if host.nbytes:
        _copy("cuMemcpyHtoD", int(target._buffer.handle), host.ctypes.data, host.nbytes)
    return target


def fetch(memory: Memory, stream: int, ordinal: int) -> np.ndarray:
    """Copy a contiguous array to the host, behind the work on a stream; waits for that."""
    core_stream(stream, ordinal).sync()
    host = np.empty(memory.shape, memory.dtype)
    if host.nbytes:
        _copy("cuMemcpyDtoH", host.ctypes.data, memory.ptr, host.nbytes)
    return host


def _copy(name: str, target: int, source: int, size: int) -> None:
    from cuda.bindings import driver

    core_stream(0, current_ordinal()).sync()
    (status,) = getattr(driver, name)(target, source, size)
    if int(status) != 0:
        raise RuntimeError(f"{name} of {size} bytes failed: {status.name}")
