"""From arrays to batch views."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from batchlas_py.errors import ArgumentError, ArgumentTypeError
from batchlas_py.interop.arrays import INT32_MAX, Memory, batch_view, memory_of
from batchlas_py.views import BatchView


class Foreign:
    """An object with a CUDA array interface."""

    def __init__(self, **interface: Any) -> None:
        self.__cuda_array_interface__ = {"data": (4096, False), "typestr": "<f4", "version": 3, **interface}


def view(array: np.ndarray, trailing: int = 2) -> BatchView:
    return batch_view(memory_of(array, "a"), "a", trailing)


def memory(shape: tuple[int, ...], strides: tuple[int, ...], dtype: str = "float32") -> Memory:
    """Device memory, with strides in elements."""
    return Memory(4096, shape, tuple(4 * stride for stride in strides), dtype, False, True, None)


def test_numpy_memory() -> None:
    array = np.zeros((2, 3, 4))[:, ::2, ::-1]
    found = memory_of(array, "a")
    assert (found.shape, found.strides, found.dtype) == (array.shape, array.strides, "float64")
    assert found.ptr == array.ctypes.data
    assert (found.read_only, found.on_gpu, found.array is array) == (False, False, True)
    assert memory_of(np.broadcast_to(array, (5, 2, 2, 4)), "a").read_only


@pytest.mark.parametrize("strides", [None, (48, 16, 4)])
def test_device_memory(strides: tuple[int, ...] | None) -> None:
    found = memory_of(Foreign(shape=(2, 3, 4), strides=strides), "a")
    assert found == (4096, (2, 3, 4), (48, 16, 4), "float32", False, True, None)


def test_device_memory_of_no_size_or_to_be_read_only() -> None:
    found = memory_of(Foreign(shape=(2, 0, 4), data=(None, True)), "a")
    assert (found.ptr, found.strides, found.read_only) == (0, (16, 16, 4), True)


def test_a_property_that_raises_is_an_unsuitable_array() -> None:
    class Host:
        @property
        def __cuda_array_interface__(self) -> Any:
            raise RuntimeError("use detach() first")

    with pytest.raises(
        ArgumentTypeError, match=r"b: this Host has no device memory \(use detach\(\) first\)"
    ):
        memory_of(Host(), "b")


@pytest.mark.parametrize("flag", ["is_conj", "is_neg"])
def test_lazy_views_are_refused(flag: str) -> None:
    tensor = Foreign(shape=(2, 2))
    setattr(tensor, flag, lambda: False)
    memory_of(tensor, "a")
    setattr(tensor, flag, lambda: True)
    with pytest.raises(ArgumentTypeError, match="a: is a lazily conjugated or negated view"):
        memory_of(tensor, "a")


@pytest.mark.parametrize("array", [np.zeros((2, 2), ">f8"), Foreign(shape=(2, 2), typestr=">f8")])
def test_the_other_byte_order_is_refused(array: Any) -> None:
    with pytest.raises(ArgumentTypeError, match="a: got >f8, accepted is the machine's byte order"):
        memory_of(array, "a")


@pytest.mark.parametrize("trailing", [0, 1, 2])
@pytest.mark.parametrize("lead", [(), (5,), (2, 3), (1, 2, 1, 3, 1), (0,), (2, 0)], ids=str)
def test_contiguous_arrays_of_any_rank(lead: tuple[int, ...], trailing: int) -> None:
    item = (4, 3)[:trailing]
    array = np.arange(float(np.prod((*lead, *item)))).reshape((*lead, *item))
    found = view(array, trailing)
    rows, cols = (*item, 1, 1)[:2]
    assert (found.batch, found.rows, found.cols) == (int(np.prod(lead)), rows, cols)
    assert found.array is not None
    np.testing.assert_array_equal(
        found.array, array.reshape(-1, rows, cols) if array.size else np.zeros((0, rows, cols))
    )


@pytest.mark.parametrize(
    "pick", [np.s_[1:], np.s_[::2], np.s_[::-1], np.s_[:, ::-1], np.s_[:, 1:, ::2], np.s_[..., ::-1]], ids=str
)
@pytest.mark.parametrize("swap", [False, True])
def test_the_view_of_a_slice_is_the_slice(pick: Any, swap: bool) -> None:
    array = np.arange(4 * 5 * 6.0).reshape(4, 5, 6)[pick]
    array = array.swapaxes(1, 2) if swap else array
    found = view(array)
    assert found.array is not None
    np.testing.assert_array_equal(found.array, array)
    found.array[...] = -1
    assert (array == -1).all()


def test_strides_of_zero() -> None:
    many = view(np.broadcast_to(np.eye(3), (2, 4, 3, 3)))
    assert (many.batch, many.batch_stride, many.row_stride, many.col_stride) == (8, 0, 3, 1)
    assert many.array is not None
    assert not many.array.flags.writeable


@pytest.mark.parametrize(
    "array",
    [
        np.zeros((2, 3, 4, 4)).swapaxes(0, 1),
        np.zeros((2, 3, 4, 4))[:, :2],
        np.broadcast_to(np.zeros((1, 3, 4, 4)), (2, 3, 4, 4)),
        np.broadcast_to(np.zeros((2, 1, 4, 4)), (2, 3, 4, 4)),
        np.zeros((2, 3, 4, 4))[:, ::-1],
    ],
    ids=["swapped", "sliced", "outer", "inner", "reversed"],
)
def test_leading_dimensions_that_no_stride_walks(array: np.ndarray) -> None:
    with pytest.raises(ArgumentError, match=r"a: batch dimensions .* are not evenly spaced; pass a contig"):
        view(array)


@pytest.mark.parametrize("array", [np.zeros((2, 3, 4, 4))[::-1, ::-1], np.zeros((4, 3, 2, 2))[::2, 1:2]])
def test_leading_dimensions_that_one_stride_walks(array: np.ndarray) -> None:
    found = view(array)
    assert found.array is not None
    assert found.array.ctypes.data == array.ctypes.data
    assert found.batch == array.shape[0] * array.shape[1]


def test_limits_of_32_bits() -> None:
    """The offset of an item has 64 bits; extents and the strides inside a matrix have 32."""
    found = batch_view(memory((2, 4, 4), (1 << 40, 1, 4)), "a")
    assert found.batch_stride == 1 << 40
    batch_view(memory((INT32_MAX, 4, 4), (16, 1, 4)), "a")
    for shape, strides in (
        ((INT32_MAX + 1, 4, 4), (16, 1, 4)),
        ((2, 4, INT32_MAX + 1), (16, 1, 4)),
        ((2, 4, 4), (16, 1, INT32_MAX + 1)),
        ((2, 4, 4), (16, -INT32_MAX - 1, 1)),
    ):
        with pytest.raises(ArgumentError, match=rf"a: got .* accepted are up to {INT32_MAX} each"):
            batch_view(memory(shape, strides), "a")
    with pytest.raises(ArgumentError, match=f"up to {INT32_MAX}"):
        batch_view(memory((1 << 16, 1 << 16, 4, 4), (1 << 20, 16, 1, 4)), "a")


def test_dtypes_that_an_argument_takes() -> None:
    pivots = memory((2, 3), (3, 1), "int32")
    assert batch_view(pivots, "ipiv", 1, ("int32",)).dtype == "int32"
    with pytest.raises(
        ArgumentTypeError, match="a: got int32, accepted are float32, float64, complex64, com"
    ):
        batch_view(pivots, "a", 1)
    with pytest.raises(ArgumentTypeError, match="ipiv: got float32, accepted are int32"):
        batch_view(memory((2, 3), (3, 1)), "ipiv", 1, ("int32",))
