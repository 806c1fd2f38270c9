"""What goes to cuBLAS and cuSOLVER: functions, codes, numbers in host memory; the bindings note it."""

from __future__ import annotations

import ctypes
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from batchlas_py.dtypes import DTYPES
from batchlas_py.vendor import cublas, cusolver

LETTERS = dict(zip(DTYPES, "sdcz", strict=True))
each_dtype = pytest.mark.parametrize("dtype", DTYPES)


class Bindings:
    """Notes calls on handles, with the handle's stream; of the addresses at ``numbers`` what lies there."""

    def __init__(self, dtype: str = "float32", numbers: tuple[int, ...] = ()) -> None:
        self.dtype, self.numbers = dtype, numbers
        self.calls: list[tuple[Any, ...]] = []
        self.handles: dict[int, int] = {}

    def create(self) -> int:
        handle = 100 + len(self.handles)
        self.handles[handle] = 0
        return handle

    def set_stream(self, handle: int, stream: int) -> None:
        self.handles[handle] = stream

    def __getattr__(self, name: str) -> Any:
        def note(handle: int, *arguments: Any) -> int:
            values = (self.read(one) if i in self.numbers else one for i, one in enumerate(arguments))
            self.calls.append((name, self.handles[handle], *values))
            return 24

        return note

    def read(self, address: int) -> Any:
        memory = ctypes.string_at(address, np.dtype(self.dtype).itemsize)
        return np.frombuffer(memory, self.dtype)[0].item()


@pytest.fixture(autouse=True)
def no_handles(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (cublas, cusolver):
        monkeypatch.setattr(module, "_local", SimpleNamespace())
        monkeypatch.setattr(module, "core_device", lambda ordinal: None)


@each_dtype
def test_gemm(monkeypatch: pytest.MonkeyPatch, dtype: str) -> None:
    bindings = Bindings(dtype, numbers=(5, 12))
    monkeypatch.setattr(cublas, "_bindings", lambda: bindings)
    alpha = 2 - 1j if dtype.startswith("complex") else 2 + 0j
    places = (16, 5, 50), (32, 6, 60), (48, 7, 0)
    cublas.gemm_strided_batched(dtype, 0, 9, "NC", (2, 3, 4), (alpha, 1), *places, 8)
    first, second, third = places
    name = f"{LETTERS[dtype]}gemm_strided_batched"
    assert bindings.calls == [(name, 9, 0, 2, 2, 3, 4, alpha, *first, *second, 1, *third, 8)]


@each_dtype
@pytest.mark.parametrize(
    ("letters", "codes"), [("LLNN", (0, 0, 0, 0)), ("RUTU", (1, 1, 1, 1)), ("LUCN", (0, 1, 2, 0))]
)
def test_trsm(monkeypatch: pytest.MonkeyPatch, dtype: str, letters: str, codes: tuple[int, ...]) -> None:
    bindings = Bindings(dtype, numbers=(6,))
    monkeypatch.setattr(cublas, "_bindings", lambda: bindings)
    cublas.trsm_batched(dtype, 0, 9, letters, (2, 3), -1, (16, 5), (32, 6), 8)
    assert bindings.calls == [(f"{LETTERS[dtype]}trsm_batched", 9, *codes, 2, 3, -1, 16, 5, 32, 6, 8)]


@each_dtype
def test_cusolvers_getrf(monkeypatch: pytest.MonkeyPatch, dtype: str) -> None:
    bindings = Bindings()
    monkeypatch.setattr(cusolver, "_bindings", lambda: bindings)
    assert cusolver.getrf_bytes(dtype, 0, (5, 3), (16, 7)) == 24 * np.dtype(dtype).itemsize
    cusolver.getrf(dtype, 0, 9, (5, 3), (16, 7), 1, 2, 3)
    assert bindings.calls == [
        (f"{LETTERS[dtype]}getrf_buffer_size", 0, 5, 3, 16, 7),
        (f"{LETTERS[dtype]}getrf", 9, 5, 3, 16, 7, 1, 2, 3),
    ]


def test_every_stream_has_a_handle_of_cusolver(monkeypatch: pytest.MonkeyPatch) -> None:
    bindings = Bindings()
    monkeypatch.setattr(cusolver, "_bindings", lambda: bindings)
    for stream in (7, 8, 7, 8):
        cusolver.getrf("float32", 0, stream, (2, 2), (16, 2), 1, 2, 3)
    assert sorted(bindings.handles.values()) == [7, 8]
    assert [call[1] for call in bindings.calls] == [7, 8, 7, 8]
