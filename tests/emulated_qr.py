"""What cuBLAS and cuSOLVER have for QR, by the oracle, on emulated device memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from batchlas_py.testing import qr_oracle

if TYPE_CHECKING:
    from .emulated_gpu import EmulatedGPU

INFO_BYTES = 4


class QrOfCublas:
    """The batched geqrf of `emulated_gpu.EmulatedCublas`."""

    gpu: EmulatedGPU

    def _matrices(
        self, dtype: str, shape: tuple[int, int], pointers: tuple[int, int], batch: int
    ) -> Iterator[np.ndarray]:
        raise NotImplementedError

    def geqrf_batched(
        self,
        dtype: str,
        ordinal: int,
        stream: int,
        shape: tuple[int, int],
        a: tuple[int, int],
        tau: int,
        batch: int,
    ) -> None:
        weights = self._matrices(dtype, (min(shape), 1), (tau, min(shape)), batch)
        for matrix, weight in zip(self._matrices(dtype, shape, a, batch), weights, strict=True):
            matrix[...], weight[:, 0] = qr_oracle.geqr2(matrix)
        self.gpu.streams.append(stream)


class QrOfCusolver:
    """orgqr and ormqr of one matrix, of `emulated_gpu.EmulatedCusolver`."""

    BYTES: int
    gpu: EmulatedGPU
    workspaces: dict[int, set[int]]

    def _matrix(self, dtype: str, shape: tuple[int, int], place: tuple[int, int]) -> np.ndarray:
        raise NotImplementedError

    def orgqr_bytes(
        self, dtype: str, ordinal: int, shape: tuple[int, int, int], a: tuple[int, int], tau: int
    ) -> int:
        return self.BYTES

    def orgqr(
        self,
        dtype: str,
        ordinal: int,
        stream: int,
        shape: tuple[int, int, int],
        a: tuple[int, int],
        tau: int,
        workspace: tuple[int, int],
        info: int,
    ) -> None:
        m, n, k = shape
        assert k <= n <= m
        q, weights = (
            self._matrix(dtype, (m, n), a),
            self.gpu.memory(tau, dtype)[:k] if k else np.zeros(0, dtype),
        )
        q[...] = qr_oracle.org2r(q[:, :k].copy(), weights, n)
        self._used(stream, workspace, info)

    def ormqr_bytes(
        self,
        dtype: str,
        ordinal: int,
        letters: str,
        shape: tuple[int, int, int],
        a: tuple[int, int],
        tau: int,
        c: tuple[int, int],
    ) -> int:
        return self.BYTES

    def ormqr(
        self,
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
        (m, n, k), (side, trans) = shape, tuple(letters)
        assert trans != ("T" if dtype.startswith("complex") else "C")
        vectors = self._matrix(dtype, (m if side == "L" else n, k), a)
        product = self._matrix(dtype, (m, n), c)
        product[...] = qr_oracle.orm2r(vectors, self.gpu.memory(tau, dtype)[:k], product, side, trans)
        self._used(stream, workspace, info)

    def _used(self, stream: int, workspace: tuple[int, int], info: int) -> None:
        address, size = workspace
        assert size >= self.BYTES and self.gpu.memory(address, "uint8").size >= size
        assert not address < info + INFO_BYTES <= address + size, "info lies in the workspace"
        self.gpu.memory(info, "int32")[:1] = 0
        self.gpu.streams.append(stream)
        self.workspaces.setdefault(stream, set()).add(address)
