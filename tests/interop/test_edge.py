"""The edge of a call: device, stream, library, and the arrays it makes or takes for results."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from batchlas_py import lapack
from batchlas_py.errors import ArgumentError, ArgumentTypeError, BackendUnavailable
from batchlas_py.interop import edge, libraries
from batchlas_py.interop.edge import open_edge
from batchlas_py.problem import HOST
from batchlas_py.runtime import device
from batchlas_py.views import BatchView

from .. import emulated_gpu
from ..emulated_gpu import EmulatedArray, EmulatedGPU


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> EmulatedGPU:
    return emulated_gpu.install(monkeypatch, vendor=True)


class Streamed:
    """An object with the stream protocol, as a method or as a property."""

    def __init__(self, protocol: Any) -> None:
        self.__cuda_stream__ = protocol


def random(gpu: EmulatedGPU, *shape: int) -> EmulatedArray:
    return gpu.array(np.random.default_rng(0).standard_normal(shape).astype(np.float32))


def test_numpy_arrays_run_on_the_host() -> None:
    one = open_edge({"a": np.zeros((2, 3, 3))})
    assert (one.device, one.stream, one.library.name) == (HOST, 0, "numpy")
    assert open_edge({"a": np.zeros((2, 3, 3))}, stream=7).stream == 0
    assert open_edge({"a": np.zeros((2, 3, 3))}, backend="host").device is HOST


@pytest.mark.parametrize(
    "stream",
    [7, Streamed(lambda: (0, 7)), Streamed((0, 7))],
    ids=["int", "method", "property"],
)
def test_the_stream_of_the_caller(gpu: EmulatedGPU, stream: Any) -> None:
    """Every launch, fill and vendor call of an op goes to it."""
    a, b = random(gpu, 2, 3, 3), random(gpu, 2, 3, 1)
    lapack.gesv(a, b, stream=stream, route="blocked")
    lapack.gesv(a, b, stream=stream, route="vendor")
    lapack.getrf(random(gpu, 2, 0, 0), stream=stream)
    lu, ipiv, _ = lapack.getrf(a, stream=stream)
    lapack.getri(lu, ipiv, stream=stream)
    assert len(gpu.streams) > 10
    assert set(gpu.streams) == {7}


def test_the_stream_of_the_library(gpu: EmulatedGPU, monkeypatch: pytest.MonkeyPatch) -> None:
    a = random(gpu, 2, 3, 3)
    seen = []

    def current(like: Any) -> int:
        seen.append(like)
        return 11

    library = libraries.Library("tests", libraries.library_of(a, "a").empty, current)
    monkeypatch.setattr(edge, "library_of", lambda array, argument: library)
    lapack.getrf(a)
    assert set(gpu.streams) == {11}
    assert seen == [a]


@pytest.mark.parametrize("stream", ["0", 1.5, object()])
def test_what_is_no_stream(gpu: EmulatedGPU, stream: Any) -> None:
    for a in (random(gpu, 1, 2, 2), np.zeros((1, 2, 2))):
        with pytest.raises(
            ArgumentTypeError, match=f"stream: got {type(stream).__name__}, accepted are a handle"
        ):
            open_edge({"a": a}, stream)


def test_new_arrays_follow_the_memory_order(gpu: EmulatedGPU) -> None:
    rows, columns = random(gpu, 2, 3, 4), random(gpu, 2, 4, 3).swapaxes(1, 2)
    one = open_edge({"a": rows, "b": columns})

    def strides(shape: tuple[int, ...], like: BatchView | None = None) -> tuple[int, ...]:
        made: tuple[int, ...] = one.maker(shape, "float32", like=like)(rows).host.strides
        return made

    assert strides((2, 3, 4), one.view("a")) == (48, 16, 4)
    assert strides((2, 3, 4), one.view("b")) == (48, 4, 12)
    assert strides((2, 3)) == (12, 4)
    assert strides(()) == ()


def test_a_multiple_gpu_machine_must_not_mix_them(gpu: EmulatedGPU, monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = random(gpu, 2, 3, 3), random(gpu, 2, 3, 1)
    address = b.__cuda_array_interface__["data"][0]
    infos = [emulated_gpu.EMULATED, replace(emulated_gpu.EMULATED, ordinal=1)]
    monkeypatch.setattr(edge, "device_count", lambda: 2)
    monkeypatch.setattr(edge, "ordinal_of_pointer", lambda ptr: int(ptr == address))
    monkeypatch.setattr(edge, "device_info", lambda ordinal: infos[ordinal])
    assert open_edge({"b": b}).device.ordinal == 1
    with pytest.raises(ArgumentTypeError, match="b: lives on cuda:1, accepted are arrays on cuda:0, as the"):
        open_edge({"a": a, "b": b})


def test_device_arrays_without_cuda(gpu: EmulatedGPU, monkeypatch: pytest.MonkeyPatch) -> None:
    """A device array can reach a machine's process without a usable driver, and is told so."""
    a = random(gpu, 2, 3, 3)
    monkeypatch.setattr(edge, "require_cuda", device.require_cuda)
    monkeypatch.setattr(device, "cuda_unavailable", lambda: "the driver is asleep")
    with pytest.raises(BackendUnavailable, match="CUDA cannot be used: the driver is asleep"):
        lapack.getrf(a)


def test_a_result_elsewhere(gpu: EmulatedGPU) -> None:
    one = open_edge({"a": random(gpu, 2, 3, 3)})
    with pytest.raises(ArgumentTypeError, match="x: lives on the host, accepted are arrays on cuda:0"):
        one.result("x", np.zeros((2, 3, 1), np.float32), (2,), (3, 1), ("float32",))


@pytest.mark.parametrize("shape", [(2, 3, 0), (2, 0, 0), (0, 3, 3)])
def test_results_of_no_size_share_nothing(shape: tuple[int, ...]) -> None:
    one = open_edge({"a": np.zeros(shape)})
    lead, item = shape[:1], shape[1:]
    assert one.result("x", np.zeros(shape), lead, item, ("float64",)).batch == shape[0]


def test_a_result_with_one_item_may_have_any_stride() -> None:
    one = open_edge({"a": np.zeros((1, 2, 2))})
    x = np.lib.stride_tricks.as_strided(np.zeros((2, 2)), (1, 2, 2), (0, 16, 8))
    assert one.result("x", x, (1,), (2, 2), ("float64",)).batch == 1


def test_results_that_share_memory() -> None:
    one = open_edge({"a": np.zeros((3, 2, 2))})
    for strides in ((0, 16, 8), (32, 0, 8), (32, 16, 0)):
        x = np.lib.stride_tricks.as_strided(np.zeros((3, 2, 2)), (3, 2, 2), strides)
        with pytest.raises(ArgumentError, match=r"x: elements share memory \(a stride is 0\)"):
            one.result("x", x, (3,), (2, 2), ("float64",))
