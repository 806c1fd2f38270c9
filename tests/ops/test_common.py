"""What stands between batches of any layout and a library that takes column-major ones."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

from batchlas_py.dtypes import DTYPES
from batchlas_py.family import Call
from batchlas_py.interop.arrays import batch_view, memory_of
from batchlas_py.ops import common
from batchlas_py.problem import Problem
from batchlas_py.vendor import cublas
from batchlas_py.views import BatchView

from .. import checks, emulated_gpu
from ..emulated_gpu import EmulatedArray, EmulatedCublas, EmulatedGPU

LAYOUTS = ("F", "C", "F-ld", "C-ld", "sliced")


class Batch:
    """Matrices on the device, in poison."""

    def __init__(self, gpu: EmulatedGPU, values: np.ndarray, layout: str) -> None:
        self.embedded = checks.embed(values, layout)
        self.buffer = gpu.array(self.embedded.buffer)

    @property
    def view(self) -> BatchView:
        array: EmulatedArray = self.embedded.pick(self.buffer)
        return batch_view(memory_of(array, "a"), "a")

    @property
    def values(self) -> np.ndarray:
        found: np.ndarray = self.embedded.pick(self.buffer.host)
        return found

    def assert_padding_untouched(self) -> None:
        self.embedded.buffer[...] = self.buffer.host
        self.embedded.assert_padding_untouched()


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> EmulatedGPU:
    return emulated_gpu.install(monkeypatch)


def numbers(*shape: int, dtype: str = "float32") -> np.ndarray:
    return np.arange(float(np.prod(shape))).reshape(shape).astype(dtype)


def no_children(*_: Any) -> None:
    raise AssertionError("asks for another op")


def call(batch: int, stream: int = 3) -> Call:
    return Call(Problem("getrf", "float32", 4, 4, batch), emulated_gpu.EMULATED, {}, stream, no_children)


def read(gpu: EmulatedGPU, view: BatchView) -> np.ndarray:
    """The matrices of a view of device memory."""
    memory, size = gpu.memory(view.ptr, view.dtype), np.dtype(view.dtype).itemsize
    strides = [size * stride for stride in (view.batch_stride, view.row_stride, view.col_stride)]
    return np.lib.stride_tricks.as_strided(memory, (view.batch, view.rows, view.cols), strides)


@pytest.mark.parametrize("source", LAYOUTS)
@pytest.mark.parametrize("target", LAYOUTS)
def test_copy_between_any_two_layouts(gpu: EmulatedGPU, source: str, target: str) -> None:
    values = numbers(2, 3, 5)
    one, other = Batch(gpu, values, source), Batch(gpu, np.zeros_like(values), target)
    common.copy(one.view, other.view, call(2))
    np.testing.assert_array_equal(other.values, values)
    np.testing.assert_array_equal(one.values, values)
    other.assert_padding_untouched()
    assert gpu.streams == [3]
    (launched,) = gpu.launches
    by_columns = launched.spec.read_columns, launched.spec.write_columns
    assert by_columns == (not source.startswith("C"), not target.startswith("C"))


@pytest.mark.parametrize("shape", [(1, 1, 1), (1, 33, 2), (2, 2, 65), (1, 32, 32)], ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_copy_of_any_size(gpu: EmulatedGPU, shape: tuple[int, ...], dtype: str) -> None:
    values = numbers(*shape, dtype=dtype)
    one, other = Batch(gpu, values, "C-ld"), Batch(gpu, np.zeros_like(values), "F-ld")
    common.copy(one.view, other.view, call(shape[0]))
    np.testing.assert_array_equal(other.values, values)
    other.assert_padding_untouched()


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_invalidate(gpu: EmulatedGPU, layout: str, dtype: str) -> None:
    """Items with a positive info become NaN, every element of them, and no others change."""
    batch, values = 260, np.ones((260, 2, 3), dtype)
    x, info = Batch(gpu, values, layout), Batch(gpu, np.zeros((batch, 1, 1), np.int32), "C")
    failed = [0, 7, 255, 256, 259]
    info.values[failed] = 2
    info.values[9] = -1
    view = batch_view(memory_of(info.embedded.pick(info.buffer), "info"), "info", dtypes=("int32",))
    common.invalidate(x.view, view, call(batch))
    assert checks.all_nan(x.values[failed])
    np.testing.assert_array_equal(np.delete(x.values, failed, axis=0), np.delete(values, failed, axis=0))
    x.assert_padding_untouched()


@pytest.mark.parametrize("batch", [1, 3, 257])
@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_pointers(gpu: EmulatedGPU, batch: int, dtype: str) -> None:
    a = Batch(gpu, numbers(batch, 2, 2, dtype=dtype), "F-ld")
    with common.pointers(a.view, call(batch)) as table:
        found = gpu.memory(table, "uint64")[:batch]
    expected = [a.values[i].__array_interface__["data"][0] for i in range(batch)]
    np.testing.assert_array_equal(found, expected)


def test_pointers_of_one_matrix_for_all(gpu: EmulatedGPU) -> None:
    a = Batch(gpu, numbers(1, 2, 2), "F")
    with common.pointers(a.view._replace(batch=4, batch_stride=0), call(4)) as table:
        assert (gpu.memory(table, "uint64")[:4] == a.view.ptr).all()


@pytest.mark.parametrize("layout", LAYOUTS)
def test_column_major(gpu: EmulatedGPU, layout: str) -> None:
    """What is column-major already is used where it lies, leading dimension and all."""
    values = numbers(2, 3, 4)
    a = Batch(gpu, values, layout)
    with common.column_major(a.view, call(2)) as view:
        assert view.layout == "F"
        assert (view == a.view) is (layout in {"F", "F-ld"})
        np.testing.assert_array_equal(read(gpu, view), values)
    assert len(gpu.launches) == (layout not in {"F", "F-ld"})


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("source", ["none", "itself", *LAYOUTS])
def test_column_major_result(gpu: EmulatedGPU, layout: str, source: str) -> None:
    values = numbers(2, 3, 4)
    target = Batch(gpu, values if source == "itself" else 0 * values, layout)
    given = target if source == "itself" else Batch(gpu, values, source if source in LAYOUTS else "F")
    view_of_source = None if source == "none" else given.view
    with common.column_major_result(target.view, call(2), view_of_source) as view:
        assert view.layout == "F"
        work = read(gpu, view)
        if source != "none":
            np.testing.assert_array_equal(work, values)
        work[...] = -values
    np.testing.assert_array_equal(target.values, -values)
    target.assert_padding_untouched()
    if source not in {"none", "itself"}:
        np.testing.assert_array_equal(given.values, values)


@pytest.mark.parametrize("name", ["getrf_batched", "getrs_batched", "getri_batched"])
def test_the_emulated_cublas_is_called_as_the_real_one(name: str) -> None:
    emulated = inspect.signature(getattr(EmulatedCublas, name))
    real = inspect.signature(getattr(cublas, name))
    assert list(emulated.parameters.values())[1:] == list(real.parameters.values())
