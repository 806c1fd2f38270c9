"""The array libraries that hold a benchmark's operands: NumPy on the host, CuPy or torch on the device."""

from __future__ import annotations

import importlib.util
import os
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from batchlas_py.dtypes import REAL_OF, is_complex
from batchlas_py.errors import BackendUnavailable
from batchlas_py.problem import Backend

__all__ = ["LIBRARIES", "Array", "ArrayLibrary", "open_library"]

Array = Any
GIB: Final = 1 << 30
DEVICE_LIMIT: Final = 32 * GIB
BALLAST_BYTES: Final = GIB // 2
BALLAST_RATE: Final = 2e12  # bytes a second that the fastest devices copy, each byte read and written
HOST_CACHE_BYTES: Final = 32 << 20


class ArrayLibrary(ABC):
    """What the harness asks of an array library; all work goes to its current stream.

    Attributes
    ----------
    name : str
        The library's distribution name, without a suffix for the CUDA version.
    cache_bytes : int
        Last-level cache of the device that holds the arrays.
    """

    name: str
    cache_bytes: int

    @abstractmethod
    def empty(self, shape: Sequence[int], dtype: str) -> Array:
        """An array in C order, its contents undefined."""

    @abstractmethod
    def random(self, shape: Sequence[int], dtype: str, seed: int) -> Array:
        """Uniform on (-0.5, 0.5), real and imaginary part alike."""

    @abstractmethod
    def copy(self, target: Array, source: Array) -> None:
        """``target[...] = source``, broadcast over leading axes."""

    @abstractmethod
    def fill(self, target: Array, value: float) -> None:
        """``target[...] = value``."""

    @abstractmethod
    def host(self, array: Array, items: list[int]) -> np.ndarray:
        """The given items of the first axis as a NumPy array of their own."""

    @abstractmethod
    def finite(self, array: Array) -> bool:
        """Whether no element is infinite or NaN."""

    @abstractmethod
    def extent(self, array: Array) -> tuple[int, int]:
        """Smallest and largest element of an integer array."""

    @abstractmethod
    def mark(self) -> Any:
        """A point in time, as the stream sees it."""

    @abstractmethod
    def elapsed_us(self, start: Any, stop: Any) -> float:
        """Microseconds between two marks; the stream must have passed both."""

    def occupy(self, seconds: float) -> None:  # noqa: B027 - hosts queue nothing
        """Enqueue work that keeps the device busy for about ``seconds``; nothing where no call is queued."""

    @abstractmethod
    def synchronize(self) -> None:
        """Wait for all work."""

    @abstractmethod
    def release(self) -> None:
        """Give cached memory back to the system."""

    @abstractmethod
    def available_bytes(self) -> int:
        """Memory that a benchmark may take."""


class _NumpyLike(ArrayLibrary):
    """What NumPy and CuPy spell alike; ``xp`` is the module."""

    xp: Any

    def empty(self, shape: Sequence[int], dtype: str) -> Array:
        return self.xp.empty(tuple(shape), dtype)

    def random(self, shape: Sequence[int], dtype: str, seed: int) -> Array:
        parts = 2 if is_complex(dtype) else 1
        values = self.xp.random.default_rng(seed).random((*shape, parts), dtype=REAL_OF[dtype])
        values -= 0.5
        return values.view(dtype)[..., 0]

    def copy(self, target: Array, source: Array) -> None:
        self.xp.copyto(target, source)

    def fill(self, target: Array, value: float) -> None:
        target.fill(value)

    def finite(self, array: Array) -> bool:
        return bool(self.xp.isfinite(array).all())

    def extent(self, array: Array) -> tuple[int, int]:
        return int(array.min()), int(array.max())


class _Numpy(_NumpyLike):
    """Arrays on the host; a mark is a reading of the host's clock."""

    name = "numpy"
    xp = np
    cache_bytes = HOST_CACHE_BYTES

    def host(self, array: Array, items: list[int]) -> np.ndarray:
        return np.array(array[items])

    def mark(self) -> int:
        return time.perf_counter_ns()

    def elapsed_us(self, start: int, stop: int) -> float:
        return (stop - start) / 1e3

    def synchronize(self) -> None:
        pass

    def release(self) -> None:
        pass

    def available_bytes(self) -> int:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2


class _Cupy(_NumpyLike):
    """Arrays on the current CUDA device through CuPy; a mark is an event."""

    name = "cupy"

    def __init__(self) -> None:
        import cupy

        self.xp = cupy
        self.cache_bytes = int(cupy.cuda.Device().attributes["L2CacheSize"])
        self.ballast = cupy.zeros((2, BALLAST_BYTES), np.uint8)

    def occupy(self, seconds: float) -> None:
        _copy_about(seconds, self.ballast, self.copy)

    def host(self, array: Array, items: list[int]) -> np.ndarray:
        return np.asarray(self.xp.asnumpy(array[items]))

    def mark(self) -> Any:
        event = self.xp.cuda.Event()
        event.record()
        return event

    def elapsed_us(self, start: Any, stop: Any) -> float:
        return float(self.xp.cuda.get_elapsed_time(start, stop)) * 1e3

    def synchronize(self) -> None:
        self.xp.cuda.Device().synchronize()

    def release(self) -> None:
        self.xp.get_default_memory_pool().free_all_blocks()

    def available_bytes(self) -> int:
        self.release()
        return min(DEVICE_LIMIT, int(self.xp.cuda.Device().mem_info[0]) // 2)


class _Torch(ArrayLibrary):
    """Arrays on the current CUDA device through torch; a mark is an event."""

    name = "torch"

    def __init__(self) -> None:
        import torch

        self.torch = torch
        self.cache_bytes = int(torch.cuda.get_device_properties("cuda").L2_cache_size)
        self.ballast = torch.zeros((2, BALLAST_BYTES), dtype=torch.uint8, device="cuda")

    def occupy(self, seconds: float) -> None:
        _copy_about(seconds, self.ballast, self.copy)

    def empty(self, shape: Sequence[int], dtype: str) -> Array:
        return self.torch.empty(tuple(shape), dtype=getattr(self.torch, dtype), device="cuda")

    def random(self, shape: Sequence[int], dtype: str, seed: int) -> Array:
        generator = self.torch.Generator("cuda").manual_seed(seed)
        real = self.empty((*shape, 2) if is_complex(dtype) else shape, REAL_OF[dtype])
        real.uniform_(-0.5, 0.5, generator=generator)
        return self.torch.view_as_complex(real) if is_complex(dtype) else real

    def copy(self, target: Array, source: Array) -> None:
        target.copy_(source)

    def fill(self, target: Array, value: float) -> None:
        target.fill_(value)

    def host(self, array: Array, items: list[int]) -> np.ndarray:
        return np.asarray(array[items].cpu().numpy())

    def finite(self, array: Array) -> bool:
        return bool(self.torch.isfinite(array).all())

    def extent(self, array: Array) -> tuple[int, int]:
        return int(array.min()), int(array.max())

    def mark(self) -> Any:
        event = self.torch.cuda.Event(enable_timing=True)
        event.record()
        return event

    def elapsed_us(self, start: Any, stop: Any) -> float:
        return float(start.elapsed_time(stop)) * 1e3

    def synchronize(self) -> None:
        self.torch.cuda.synchronize()

    def release(self) -> None:
        self.torch.cuda.empty_cache()

    def available_bytes(self) -> int:
        self.release()
        return min(DEVICE_LIMIT, int(self.torch.cuda.mem_get_info()[0]) // 2)


def _copy_about(seconds: float, ballast: Array, copy: Callable[[Array, Array], None]) -> None:
    for _ in range(1 + int(seconds * BALLAST_RATE / BALLAST_BYTES)):
        copy(ballast[0], ballast[1])


LIBRARIES: Final[Mapping[str, type[ArrayLibrary]]] = {
    library.name: library for library in (_Numpy, _Cupy, _Torch)
}


def open_library(backend: Backend) -> ArrayLibrary:
    """NumPy for the host; for CUDA the first of CuPy and torch that is installed."""
    for name in ("numpy",) if backend == "host" else ("cupy", "torch"):
        if importlib.util.find_spec(name):
            return LIBRARIES[name]()
    raise BackendUnavailable(
        "backend: got cuda, which needs CuPy or torch for its arrays; neither is installed"
    )
