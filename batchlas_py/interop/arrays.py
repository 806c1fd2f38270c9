"""From a caller's array to a strided batch view, and no further: nothing is copied or moved."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ..dtypes import DTYPES
from ..errors import ArgumentError, ArgumentTypeError
from ..views import BatchView

__all__ = ["Memory", "batch_view", "memory_of"]

INT32_MAX = 2**31 - 1


class Memory(NamedTuple):
    """Where an array's elements lie; strides count bytes."""

    ptr: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: str
    read_only: bool
    on_gpu: bool
    array: Any


def memory_of(array: Any, argument: str) -> Memory:
    """Read an array's protocol: NumPy's own, or ``__cuda_array_interface__``.

    Raises
    ------
    ArgumentTypeError
        The object speaks neither, for example a tensor on the host, or its values are not what its
        memory holds.
    """
    if isinstance(array, np.ndarray):
        data = array.__array_interface__["data"]
        return Memory(
            data[0],
            array.shape,
            array.strides,
            _name(array.dtype, argument),
            not array.flags.writeable,
            False,
            array,
        )
    _check_values_in_memory(array, argument)
    try:
        interface = array.__cuda_array_interface__
    except (AttributeError, TypeError, RuntimeError) as error:
        raise ArgumentTypeError(
            f"{argument}: this {type(array).__name__} has no device memory ({error}); pass a device array, "
            "or a NumPy array for the host backend"
        ) from error
    dtype = np.dtype(interface["typestr"])
    shape = tuple(interface["shape"])
    strides = interface.get("strides") or _contiguous_strides(shape, dtype.itemsize)
    ptr, read_only = interface["data"]
    name = _name(dtype, argument)
    return Memory(int(ptr or 0), shape, tuple(strides), name, bool(read_only), True, None)


def _name(dtype: np.dtype[Any], argument: str) -> str:
    if not dtype.isnative:
        raise ArgumentTypeError(f"{argument}: got {dtype.str}, accepted is the machine's byte order")
    return dtype.name


def _check_values_in_memory(array: Any, argument: str) -> None:
    """PyTorch's lazy ``conj`` leaves the memory as it was, and the array interface does not tell."""
    if any(getattr(array, flag, bool)() for flag in ("is_conj", "is_neg")):
        raise ArgumentTypeError(
            f"{argument}: is a lazily conjugated or negated view, accepted are tensors whose values are in "
            "memory; see resolve_conj and resolve_neg"
        )


def _contiguous_strides(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    strides, step = [], itemsize
    for extent in reversed(shape):
        strides.append(step)
        step *= max(extent, 1)
    return tuple(reversed(strides))


def batch_view(
    memory: Memory, argument: str, trailing: int = 2, dtypes: tuple[str, ...] = DTYPES
) -> BatchView:
    """View an array of shape ``(..., m, n)`` as one batch with a single stride.

    Parameters
    ----------
    memory : Memory
        The array.
    argument : str
        Its name in error messages.
    trailing : {0, 1, 2}
        Dimensions that belong to one item; a vector becomes one column, a scalar one element.
    dtypes : tuple of str
        Accepted element types.

    Raises
    ------
    ArgumentError
        Too few dimensions, leading dimensions that no single stride walks, or strides beyond 32 bits.
    """
    view = _template(memory.shape, memory.strides, memory.dtype, argument, trailing, dtypes)
    return view._replace(ptr=memory.ptr, array=_host_array(memory, view))


@lru_cache(maxsize=4096)
def _template(
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    dtype: str,
    argument: str,
    trailing: int,
    dtypes: tuple[str, ...],
) -> BatchView:
    """The view of memory that is so shaped, at address 0."""
    _check_dtype(dtype, argument, dtypes)
    lead = len(shape) - trailing
    if lead < 0:
        raise ArgumentError(f"{argument}: got shape {shape}, accepted are {trailing} or more dimensions")
    steps = _element_strides(strides, dtype, argument)
    batch, batch_stride = _flatten(shape[:lead], steps[:lead], argument)
    rows, cols = (*shape[lead:], 1, 1)[:2]
    row_stride, col_stride = (*steps[lead:], 1, 1)[:2]
    if trailing < 2:
        col_stride = max(rows, 1)
    view = BatchView(0, dtype, batch, rows, cols, batch_stride, row_stride, col_stride)
    _check_extents(argument, view)
    return view


def _check_dtype(dtype: str, argument: str, dtypes: tuple[str, ...]) -> None:
    if dtype not in dtypes:
        raise ArgumentTypeError(f"{argument}: got {dtype}, accepted are {', '.join(dtypes)}")


def _element_strides(strides: tuple[int, ...], dtype: str, argument: str) -> tuple[int, ...]:
    size = np.dtype(dtype).itemsize
    if any(stride % size for stride in strides):
        raise ArgumentError(f"{argument}: strides {strides} are no multiples of the {size}-byte element")
    return tuple(stride // size for stride in strides)


def _flatten(shape: tuple[int, ...], strides: tuple[int, ...], argument: str) -> tuple[int, int]:
    """Extent and stride of the leading dimensions as one."""
    batch, step = 1, 0
    for extent, stride in zip(reversed(shape), reversed(strides), strict=True):
        if extent == 1:
            continue
        if batch > 1 and extent and stride != batch * step:
            raise ArgumentError(
                f"{argument}: batch dimensions {shape} with strides {strides} (elements) are not evenly "
                "spaced; pass a contiguous copy"
            )
        step = step if batch > 1 else stride
        batch *= extent
    return batch, step


def _check_extents(argument: str, view: BatchView) -> None:
    """Kernels count matrices, and step along rows and columns, in 32 bits; offsets have 64."""
    counts = (view.batch, view.rows, view.cols, abs(view.row_stride), abs(view.col_stride))
    if max(counts) > INT32_MAX:
        raise ArgumentError(
            f"{argument}: got (batch, rows, cols, row stride, column stride) = {counts} elements, accepted "
            f"are up to {INT32_MAX} each"
        )


def _host_array(memory: Memory, view: BatchView) -> np.ndarray | None:
    """A NumPy array of the view's shape and strides, over the same memory."""
    if memory.array is None:
        return None
    steps = (view.batch_stride, view.row_stride, view.col_stride)
    return np.lib.stride_tricks.as_strided(
        memory.array,
        (view.batch, view.rows, view.cols),
        tuple(memory.array.itemsize * step for step in steps),
        writeable=not memory.read_only,
    )
