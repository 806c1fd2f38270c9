"""A GPU made of the emulator: the whole CUDA path, from the public call to the kernel, without one.

Device arrays are NumPy memory behind ``__cuda_array_interface__``; a launch finds the buffers behind its
pointers and runs the kernel's own Python. Everything between is the code that serves a real device.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

from batchlas_py.interop import edge, libraries, replay
from batchlas_py.ops import common, cublas_lu, tiny
from batchlas_py.problem import RECORDED
from batchlas_py.runtime import emulator
from batchlas_py.runtime.registry import KernelSource
from batchlas_py.testing import oracle

EMULATED = replace(
    RECORDED["sm_90"], name="emulated", has_vendor=False, vendor_reason="the emulator has no vendor library"
)
WITH_VENDOR = replace(EMULATED, has_vendor=True, vendor_reason="")


class EmulatedArray:
    """A view of emulated device memory."""

    def __init__(self, host: np.ndarray) -> None:
        self.host = host

    @property
    def ndim(self) -> int:
        return self.host.ndim

    @property
    def shape(self) -> tuple[int, ...]:
        return self.host.shape

    def __getitem__(self, index: Any) -> EmulatedArray:
        return EmulatedArray(self.host[index])

    def swapaxes(self, one: int, other: int) -> EmulatedArray:
        return EmulatedArray(self.host.swapaxes(one, other))

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return self.host.__array_interface__ | {"version": 3, "strides": self.host.strides}


class EmulatedKernel:
    """Launches through the emulator."""

    def __init__(self, gpu: EmulatedGPU, source: KernelSource) -> None:
        self.gpu, self.source = gpu, source

    def launch(
        self, stream: int, blocks: int, *arguments: Any, threads: int | None = None, shared: int = 0
    ) -> None:
        kinds = self.source.signature()
        values = [
            self.gpu.memory(argument, kind.dtype) if hasattr(kind, "dtype") else _scalar(argument, kind)
            for argument, kind in zip(arguments, kinds, strict=True)
        ]
        self.gpu.launches.append(self.source)
        self.gpu.streams.append(stream)
        emulator.run(
            self.source.module().make_kernel(self.source.spec),
            blocks,
            threads or self.source.spec.threads,
            values,
            self.gpu.seed,
            shared,
            **self.gpu.options,
        )


def _scalar(value: Any, kind: Any) -> Any:
    dtype = np.dtype(str(kind))
    if isinstance(value, np.generic):
        assert value.dtype == dtype, f"argument of type {value.dtype} where the kernel takes {dtype}"
    return dtype.type(value)


class EmulatedGPU:
    """Memory and launches of one emulated device.

    Attributes
    ----------
    seed : int
        Order in which the emulator runs threads.
    options : dict
        Passed to `emulator.run`.
    launches : list of KernelSource
        What ran.
    streams : list of int
        Streams of the launches, vendor calls and fills, in order.
    """

    def __init__(self) -> None:
        self.buffers: list[np.ndarray] = []
        self.launches: list[KernelSource] = []
        self.streams: list[int] = []
        self.seed = 0
        self.options: dict[str, Any] = {"race_check": True, "init_check": True}

    def allocate(self, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
        """New memory, filled with a poison that no result looks like."""
        array = np.empty(shape, dtype)
        array.reshape(-1).view(np.uint8)[:] = 0xAB
        self.buffers.append(array.reshape(-1))
        return array

    def array(self, host: np.ndarray) -> EmulatedArray:
        """Copy to the device, in the host array's memory order."""
        order = "F" if host.ndim > 1 and host.strides[-2] < host.strides[-1] else "C"
        if order == "F":
            memory = self.allocate((*host.shape[:-2], host.shape[-1], host.shape[-2]), host.dtype)
            memory = memory.swapaxes(-1, -2)
        else:
            memory = self.allocate(host.shape, host.dtype)
        memory[...] = host
        return EmulatedArray(memory)

    def memory(self, ptr: int, kind: Any) -> np.ndarray:
        """The elements from an address to the end of its buffer."""
        dtype = np.dtype(str(kind))
        for buffer in self.buffers:
            start = buffer.__array_interface__["data"][0]
            if start <= ptr < start + max(buffer.nbytes, 1):
                return buffer.view(np.uint8)[ptr - start :].view(dtype)
        raise AssertionError(f"launch with address {ptr:#x}, which nobody allocated")

    def fill_zero(self, ptr: int, size: int, stream: int) -> None:
        """What `runtime.memory.fill_zero` does."""
        self.streams.append(stream)
        self.memory(ptr, "uint8")[:size].fill(0)


class EmulatedCublas:
    """cuBLAS's batched LU by the oracle, on column-major matrices behind arrays of pointers.

    The methods take what those of `batchlas_py.vendor.cublas` take.
    """

    def __init__(self, gpu: EmulatedGPU) -> None:
        self.gpu = gpu

    def getrf_batched(
        self,
        dtype: str,
        ordinal: int,
        stream: int,
        n: int,
        a: int,
        lda: int,
        ipiv: int,
        info: int,
        batch: int,
    ) -> None:
        pivots, status = self._pivots(ipiv, n, batch), self.gpu.memory(info, "int32")
        for i, matrix in enumerate(self._matrices(dtype, (n, n), (a, lda), batch)):
            factors = oracle.getf2(matrix)
            matrix[...], pivots[i], status[i] = factors.lu, factors.ipiv, factors.info
        self.gpu.streams.append(stream)

    def getrs_batched(
        self,
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
        n, _ = shape
        factors = self._matrices(dtype, (n, n), a, batch)
        sides = self._matrices(dtype, shape, b, batch)
        for lu, pivots, x in zip(factors, self._pivots(ipiv, n, batch), sides, strict=True):
            x[...] = oracle.getrs(lu, pivots, x, trans)
        self.gpu.streams.append(stream)

    def getri_batched(
        self,
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
        factors = list(self._matrices(dtype, (n, n), a, batch))
        inverses = self._matrices(dtype, (n, n), inverse, batch)
        for lu, pivots, target in zip(factors, self._pivots(ipiv, n, batch), inverses, strict=True):
            target[...] = oracle.getrs(lu, pivots, np.eye(n, dtype=dtype))
        zero = np.array([lu.diagonal() == 0 for lu in factors])
        self.gpu.memory(info, "int32")[:batch] = np.where(zero.any(axis=1), zero.argmax(axis=1) + 1, 0)
        self.gpu.streams.append(stream)

    def _pivots(self, ipiv: int, n: int, batch: int) -> np.ndarray:
        return self.gpu.memory(ipiv, "int32")[: batch * n].reshape(batch, n)

    def _matrices(
        self, dtype: str, shape: tuple[int, int], pointers: tuple[int, int], batch: int
    ) -> Iterator[np.ndarray]:
        """Views of column-major matrices, by the address of their pointers and the leading dimension."""
        (rows, cols), (table, ld) = shape, pointers
        assert ld >= rows, f"leading dimension {ld} of matrices with {rows} rows"
        for pointer in self.gpu.memory(table, "uint64")[:batch]:
            memory = self.gpu.memory(int(pointer), dtype)
            assert memory.size >= ld * (cols - 1) + rows, "a matrix reaches past the end of its buffer"
            yield as_strided(memory, shape, (memory.itemsize, ld * memory.itemsize))


@contextmanager
def _scratch(gpu: EmulatedGPU, size: int) -> Iterator[int]:
    yield gpu.allocate((max(size, 1),), np.uint8).__array_interface__["data"][0]


def install(monkeypatch: pytest.MonkeyPatch, *, vendor: bool = False) -> EmulatedGPU:
    """Put an emulated device in the place of CUDA for one test, with an emulated cuBLAS if asked for."""
    gpu = EmulatedGPU()
    library = libraries.Library(
        "tests",
        lambda shape, dtype, like: EmulatedArray(gpu.allocate(shape, dtype)),
        lambda like: 0,
        fingerprint=lambda array: (array.shape, array.host.strides, array.host.dtype),
    )
    monkeypatch.setitem(libraries._LIBRARIES, "tests", lambda: library)
    libraries._library.cache_clear()
    libraries.known_library.cache_clear()
    replay.forget()
    monkeypatch.setattr(replay, "device_count", lambda: 1)
    monkeypatch.setattr(replay, "active", lambda ordinal: nullcontext())
    monkeypatch.setattr(edge, "require_cuda", lambda: None)
    monkeypatch.setattr(edge, "device_count", lambda: 1)
    monkeypatch.setattr(edge, "device_info", lambda ordinal: WITH_VENDOR if vendor else EMULATED)
    monkeypatch.setattr(edge, "active", lambda ordinal: nullcontext())
    monkeypatch.setattr(edge, "fill_zero", gpu.fill_zero)
    monkeypatch.setattr(cublas_lu, "cublas", EmulatedCublas(gpu))
    for module in (common, tiny):
        monkeypatch.setattr(module, "kernel", lambda source, ordinal: EmulatedKernel(gpu, source))
    monkeypatch.setattr(common, "scratch", lambda size, stream, ordinal: _scratch(gpu, size))
    return gpu
