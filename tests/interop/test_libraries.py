"""Array libraries, by what they do and without having them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from batchlas_py.errors import ArgumentTypeError
from batchlas_py.interop import libraries
from batchlas_py.interop.libraries import library_of


@pytest.fixture(autouse=True)
def no_library_is_remembered() -> Iterator[None]:
    libraries._library.cache_clear()
    yield
    libraries._library.cache_clear()


def pretend(monkeypatch: pytest.MonkeyPatch, name: str, **contents: Any) -> None:
    """Put a module in the place of a library."""
    module = ModuleType(name)
    module.__dict__.update(contents)
    monkeypatch.setitem(sys.modules, name, module)


def array_of(module: str) -> Any:
    """An object whose class claims to come from ``module``."""
    return type("ndarray", (), {"__module__": module, "device": "cuda:1"})()


def test_numpy() -> None:
    library = library_of(np.zeros(3), "a")
    made = library.empty((2, 3), "float32", None)
    assert (library.name, made.shape, made.dtype, library.stream(made)) == ("numpy", (2, 3), np.float32, 0)
    swapped = library.transposed(np.zeros((2, 3, 4)))
    assert (swapped.shape, swapped.base is not None) == ((2, 4, 3), True)


def test_cupy(monkeypatch: pytest.MonkeyPatch) -> None:
    streams = SimpleNamespace(get_current_stream=lambda: SimpleNamespace(ptr=21))
    pretend(monkeypatch, "cupy", empty=lambda shape, dtype: (shape, dtype), cuda=streams)
    library = library_of(array_of("cupy._core.core"), "a")
    assert (library.empty((2,), "int32", None), library.stream(None)) == (((2,), "int32"), 21)


def test_torch_follows_the_device_of_the_tensor(monkeypatch: pytest.MonkeyPatch) -> None:
    cuda = SimpleNamespace(current_stream=lambda device: SimpleNamespace(cuda_stream=int(device[-1]) + 30))
    pretend(monkeypatch, "torch", empty=lambda *shape, **options: (shape, options), float32="f4", cuda=cuda)
    tensor = array_of("torch")
    library = library_of(tensor, "a")
    assert library.empty((2, 3), "float32", tensor) == (((2, 3),), {"dtype": "f4", "device": "cuda:1"})
    assert library.stream(tensor) == 31


def test_numba_streams_as_numba_makes_them(monkeypatch: pytest.MonkeyPatch) -> None:
    cuda = pytest.importorskip("numba.cuda")
    driver = pytest.importorskip("numba.cuda.cudadrv.driver")
    default = driver.Stream(driver.binding.CUstream(0))
    monkeypatch.setattr(cuda, "default_stream", lambda: default)
    assert library_of(array_of("numba.cuda.cudadrv.devicearray"), "a").stream(None) == 0


def test_numba_arrays_are_transposed_as_views() -> None:
    """Numba itself transposes two dimensions alone, and by a copy."""
    pytest.importorskip("numba.cuda")

    class DeviceNDArray:
        def __init__(self, shape: Any, strides: Any, dtype: Any, gpu_data: Any) -> None:
            self.shape, self.strides, self.dtype, self.gpu_data = shape, strides, dtype, gpu_data

    DeviceNDArray.__module__ = "numba.cuda.cudadrv.devicearray"
    array = DeviceNDArray((5, 2, 3), (48, 24, 8), "float64", memory := object())
    swapped = library_of(array, "a").transposed(array)
    assert (swapped.shape, swapped.strides, swapped.dtype) == ((5, 3, 2), (48, 8, 24), "float64")
    assert swapped.gpu_data is memory


def test_other_libraries_are_refused_by_name() -> None:
    with pytest.raises(
        ArgumentTypeError, match=r"b: got dask.array.ndarray, accepted are arrays of numpy, cupy"
    ):
        library_of(array_of("dask.array"), "b")


def test_a_name_that_only_begins_alike_is_another_library() -> None:
    with pytest.raises(ArgumentTypeError, match="numpyro"):
        library_of(array_of("numpyro"), "a")
