"""A GPU made of the emulator: the whole CUDA path, from the public call to the kernel, without one.

Device arrays are NumPy memory behind ``__cuda_array_interface__``; a launch finds the buffers behind its
pointers and runs the kernel's own Python. Everything between is the code that serves a real device.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

from batchlas_py.interop import edge, libraries, replay
from batchlas_py.ops import (
    common,
    cublas_blas,
    cublas_lu,
    cublas_qr,
    cusolver_spd,
    gemm_cta,
    getrf_blocked,
    getrf_cta,
    getri_cta,
    getrs_cta,
    interchange,
    potrf_cta,
    potrs_cta,
    qr,
    qr_blocked,
    qr_cta,
    qr_tiny,
    spd_tiny,
    tiny,
    triangles,
    trsm_cta,
    vendor_loop,
)
from batchlas_py.problem import RECORDED
from batchlas_py.runtime import emulator, memory
from batchlas_py.runtime.registry import KernelSource
from batchlas_py.testing import cholesky, oracle

from .emulated_qr import QrOfCublas, QrOfCusolver

EMULATED = replace(
    RECORDED["sm_90"], name="emulated", has_vendor=False, vendor_reason="the emulator has no vendor library"
)
WITH_VENDOR = replace(EMULATED, has_vendor=True, vendor_reason="")


class EmulatedArray:
    """A view of emulated device memory; what is computed of it is new memory of the emulated device."""

    gpu: ClassVar[EmulatedGPU]

    def __init__(self, host: np.ndarray) -> None:
        self.host = host

    def _beside(self, host: np.ndarray) -> EmulatedArray:
        """An array of such values: the view that it is, or a copy on the device."""
        return EmulatedArray(host) if np.shares_memory(host, self.host) else self.gpu.array(host)

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

    def reshape(self, *shape: Any) -> EmulatedArray:
        return self._beside(self.host.reshape(*shape))

    def __add__(self, other: int) -> EmulatedArray:
        return self._beside(self.host + other)

    def __sub__(self, other: int) -> EmulatedArray:
        return self._beside(self.host - other)

    def astype(self, dtype: str) -> EmulatedArray:
        return self._beside(self.host.astype(dtype))

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


class EmulatedCublas(QrOfCublas):
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

    def gemm_strided_batched(
        self,
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
        m, n, k = shape
        alpha, beta = (_number(value, dtype) for value in factors)
        left = self._strided(dtype, (m, k) if trans[0] == "N" else (k, m), a, batch)
        right = self._strided(dtype, (k, n) if trans[1] == "N" else (n, k), b, batch)
        for one, other, result in zip(left, right, self._strided(dtype, (m, n), c, batch), strict=True):
            wide = oracle.WIDER[dtype]
            addend = beta * result.astype(wide) if beta != 0 else np.zeros((), wide)
            product = _op(one.astype(wide), trans[0]) @ _op(other.astype(wide), trans[1])
            result[...] = alpha * product + addend if alpha != 0 else addend
        self.gpu.streams.append(stream)

    def trsm_batched(
        self,
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
        side, uplo, trans, diag = tuple(letters)
        order = shape[0] if side == "L" else shape[1]
        triangles = self._matrices(dtype, (order, order), a, batch)
        lower = (uplo == "L") ^ (trans != "N") ^ (side == "R")
        solve = oracle.forward if lower else oracle.backward
        for triangle, x in zip(triangles, self._matrices(dtype, shape, b, batch), strict=True):
            if factor == 0:
                x[...] = 0
                continue
            op, sides = _op(triangle, trans), _number(factor, dtype) * x
            if side == "L":
                x[...] = solve(op, sides, unit=diag == "U")
            else:
                x[...] = solve(op.T, sides.T, unit=diag == "U").T
        self.gpu.streams.append(stream)

    def _strided(
        self, dtype: str, shape: tuple[int, int], place: tuple[int, int, int], batch: int
    ) -> Iterator[np.ndarray]:
        """Views of column-major matrices at equal distances; nothing is there if they are empty."""
        ptr, ld, stride = place
        assert ld >= max(shape[0], 1), f"leading dimension {ld} of matrices with {shape[0]} rows"
        for i in range(batch):
            if 0 in shape:
                yield np.zeros(shape, dtype)
                continue
            yield self._matrix(dtype, shape, ptr + i * stride * np.dtype(dtype).itemsize, ld)

    def _pivots(self, ipiv: int, n: int, batch: int) -> np.ndarray:
        return self.gpu.memory(ipiv, "int32")[: batch * n].reshape(batch, n)

    def _matrices(
        self, dtype: str, shape: tuple[int, int], pointers: tuple[int, int], batch: int
    ) -> Iterator[np.ndarray]:
        """Views of column-major matrices, by the address of their pointers and the leading dimension."""
        table, ld = pointers
        assert ld >= shape[0], f"leading dimension {ld} of matrices with {shape[0]} rows"
        for pointer in self.gpu.memory(table, "uint64")[:batch]:
            yield self._matrix(dtype, shape, int(pointer), ld)

    def _matrix(self, dtype: str, shape: tuple[int, int], ptr: int, ld: int) -> np.ndarray:
        return _column_major(self.gpu, dtype, shape, ptr, ld)


class EmulatedCusolver(QrOfCusolver):
    """cuSOLVER's getrf of one matrix by the oracle; a stream and its workspace serve one item at a time."""

    BYTES = 40

    def __init__(self, gpu: EmulatedGPU) -> None:
        self.gpu = gpu
        self.workspaces: dict[int, set[int]] = {}

    def _matrix(self, dtype: str, shape: tuple[int, int], place: tuple[int, int]) -> np.ndarray:
        matrix: np.ndarray = _column_major(self.gpu, dtype, shape, *place)
        return matrix

    def getrf_bytes(self, dtype: str, ordinal: int, shape: tuple[int, int], a: tuple[int, int]) -> int:
        return self.BYTES

    def getrf(
        self,
        dtype: str,
        ordinal: int,
        stream: int,
        shape: tuple[int, int],
        a: tuple[int, int],
        workspace: int,
        ipiv: int,
        info: int,
    ) -> None:
        steps = min(shape)
        assert self.gpu.memory(workspace, "uint8").size >= self.BYTES
        matrix = _column_major(self.gpu, dtype, shape, *a)
        factors = oracle.getf2(matrix)
        matrix[...] = factors.lu
        self.gpu.memory(ipiv, "int32")[:steps] = factors.ipiv
        self.gpu.memory(info, "int32")[:1] = factors.info
        self.gpu.streams.append(stream)
        self.workspaces.setdefault(stream, set()).add(workspace)


class EmulatedCusolverSpd(EmulatedCublas):
    """cuSOLVER's batched Cholesky by the oracle; like cuSOLVER's, it spoils what it need not write to."""

    def potrf_batched(
        self,
        dtype: str,
        ordinal: int,
        stream: int,
        uplo: str,
        n: int,
        a: tuple[int, int],
        info: int,
        batch: int,
    ) -> None:
        status = self.gpu.memory(info, "int32")
        for i, matrix in enumerate(self._matrices(dtype, (n, n), a, batch)):
            factor, status[i] = cholesky.potf2(matrix, uplo)
            factor[np.triu_indices(n, 1) if uplo == "L" else np.tril_indices(n, -1)] = np.nan
            matrix[...] = factor
        self.gpu.streams.append(stream)

    def potrs_batched(
        self,
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
        assert shape[1] == 1, "cuSOLVER takes one right-hand side"
        self.gpu.memory(argument_error, "int32")[:1] = 0
        factors = self._matrices(dtype, (shape[0], shape[0]), a, batch)
        for c, x in zip(factors, self._matrices(dtype, shape, b, batch), strict=True):
            lower = np.tril(c) if uplo == "L" else np.triu(c).conj().T
            x[...] = oracle.backward(lower.conj().T, oracle.forward(lower, x, unit=False), unit=False)
            c[...] = np.nan
        self.gpu.streams.append(stream)


def _column_major(gpu: EmulatedGPU, dtype: str, shape: tuple[int, int], ptr: int, ld: int) -> np.ndarray:
    """A matrix where it lies."""
    rows, cols = shape
    memory = gpu.memory(ptr, dtype)
    assert memory.size >= ld * (cols - 1) + rows, "a matrix reaches past the end of its buffer"
    return as_strided(memory, shape, (memory.itemsize, ld * memory.itemsize))


def _op(matrix: np.ndarray, trans: str) -> np.ndarray:
    return {"N": matrix, "T": matrix.T, "C": matrix.conj().T}[trans]


def _number(value: complex, dtype: str) -> Any:
    kind = np.dtype(dtype).type
    return kind(value) if dtype.startswith("complex") else kind(complex(value).real)


SIDE_STREAMS = (9001, 9002, 9003, 9004)


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
        cast=lambda array, dtype: array.astype(dtype),
        broadcast=lambda array, shape: EmulatedArray(np.broadcast_to(array.host, shape)),
        permuted=lambda array, axes: EmulatedArray(array.host.transpose(axes)),
    )
    monkeypatch.setattr(EmulatedArray, "gpu", gpu, raising=False)
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
    for module in (cublas_blas, cublas_lu, cublas_qr):
        monkeypatch.setattr(module, "cublas", EmulatedCublas(gpu))
    monkeypatch.setattr(cusolver_spd, "cusolver", EmulatedCusolverSpd(gpu))
    for module in (vendor_loop, cublas_qr):
        monkeypatch.setattr(module, "cusolver", EmulatedCusolver(gpu))
    monkeypatch.setattr(
        vendor_loop, "forked", lambda stream, ordinal, count: nullcontext(SIDE_STREAMS[:count])
    )
    spd = potrf_cta, potrs_cta, spd_tiny, triangles
    lu = getrf_blocked, getrf_cta, getri_cta, getrs_cta, interchange, tiny
    for module in (common, gemm_cta, trsm_cta, *lu, *spd, qr, qr_blocked, qr_cta, qr_tiny):
        monkeypatch.setattr(module, "kernel", lambda source, ordinal: EmulatedKernel(gpu, source))
    for module in (common, cusolver_spd, memory, vendor_loop):
        monkeypatch.setattr(module, "scratch", lambda size, stream, ordinal: _scratch(gpu, size))
    return gpu
