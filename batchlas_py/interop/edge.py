"""The edge of one public call: where its arrays live, which stream they use, how results are made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from ..dtypes import DTYPES, itemsize
from ..errors import ArgumentError, ArgumentTypeError
from ..problem import HOST, DeviceInfo
from ..runtime.device import device_count, device_info, ordinal_of_pointer, require_cuda
from ..runtime.launch import active
from ..runtime.memory import fill_zero
from ..views import BatchView
from .arrays import Memory, batch_view, memory_of
from .libraries import Library, library_of

__all__ = ["Edge", "open_edge", "stream_handle"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Edge:
    """What the arrays of one call have in common.

    Attributes
    ----------
    device : DeviceInfo
        `HOST` for NumPy arrays.
    stream : int
        CUDA stream handle; 0 on the host.
    library : Library
        Makes the results.
    """

    device: DeviceInfo
    stream: int
    library: Library
    like: Any
    memories: Mapping[str, Memory]

    def view(self, argument: str, trailing: int = 2, dtypes: tuple[str, ...] = DTYPES) -> BatchView:
        """The view of an argument; see `batch_view`."""
        return batch_view(self.memories[argument], argument, trailing, dtypes)

    def batch_shape(self, argument: str, trailing: int = 2) -> tuple[int, ...]:
        """Leading dimensions of an argument."""
        shape = self.memories[argument].shape
        return shape[: len(shape) - trailing]

    def run(self, enqueue: Callable[[], T]) -> T:
        """Call ``enqueue`` with the arrays' device current."""
        if not self.device.is_gpu:
            return enqueue()
        with active(self.device.ordinal):
            return enqueue()

    def zero(self, view: BatchView) -> None:
        """Set a packed result to zero."""
        if view.array is not None:
            view.array[...] = 0
        elif view.batch:
            fill_zero(view.ptr, view.batch * view.rows * itemsize(view.dtype), self.stream)

    def maker(
        self, shape: tuple[int, ...], dtype: str, *, like: BatchView | None = None
    ) -> Callable[[Any], Any]:
        """``(beside) -> new array``; column-major in its last two dimensions where ``like`` is."""
        empty, transposed = self.library.empty, self.library.transposed
        if like is None or like.layout != "F" or 1 in (like.rows, like.cols):
            return lambda beside: empty(shape, dtype, beside)
        *lead, rows, cols = shape
        return lambda beside: transposed(empty((*lead, cols, rows), dtype, beside))

    def result(
        self, argument: str, array: Any, lead: tuple[int, ...], item: tuple[int, ...], dtypes: tuple[str, ...]
    ) -> BatchView:
        """View of an array that the call writes: leading dimensions ``lead``, then those of one item.

        Raises
        ------
        ArgumentError
            The array has another shape, is read-only, or some of its elements share memory.
        """
        memory = memory_of(array, argument)
        _check_same_place(argument, memory, self.device)
        view = batch_view(memory, argument, len(item), dtypes)
        if memory.shape != (*lead, *item):
            raise ArgumentError(f"{argument}: got shape {memory.shape}, accepted is {(*lead, *item)}")
        if memory.read_only:
            raise ArgumentError(f"{argument}: the array to write to is read-only, accepted are writable ones")
        if _overlaps(memory):
            raise ArgumentError(
                f"{argument}: elements share memory (a stride is 0), accepted are distinct ones"
            )
        return view


def _overlaps(memory: Memory) -> bool:
    extents = zip(memory.strides, memory.shape, strict=True)
    return 0 not in memory.shape and any(stride == 0 and extent > 1 for stride, extent in extents)


def open_edge(arrays: Mapping[str, Any], stream: Any = None, backend: str | None = None) -> Edge:
    """Look at the arrays of a call.

    Parameters
    ----------
    arrays : mapping of str to array
        By argument name; the first one's library makes the results.
    stream : object, optional
        A handle, or anything with ``__cuda_stream__``; by default the stream of the first one's library.
    backend : {"cuda", "host"}, optional
        Asserts where the call runs.
    """
    memories = {name: memory_of(array, name) for name, array in arrays.items()}
    first = next(iter(arrays))
    library = library_of(arrays[first], first)
    device = _device_of(memories[first])
    for name, memory in memories.items():
        _check_same_place(name, memory, device)
    if backend not in (None, device.backend):
        raise ArgumentError(f"backend: got {backend!r}, accepted is {device.backend!r}, where {first} lives")
    handle = stream_handle(stream, library, arrays[first])
    return Edge(device, handle if device.is_gpu else 0, library, arrays[first], memories)


def _device_of(memory: Memory) -> DeviceInfo:
    if not memory.on_gpu:
        return HOST
    require_cuda()
    return device_info(ordinal_of_pointer(memory.ptr) if device_count() > 1 and memory.ptr else 0)


def _check_same_place(argument: str, memory: Memory, device: DeviceInfo) -> None:
    place = _device_of(memory)
    if (place.backend, place.ordinal) != (device.backend, device.ordinal):
        raise ArgumentTypeError(
            f"{argument}: lives on {_place(place)}, accepted are arrays on {_place(device)}, as the first "
            "argument"
        )


def _place(device: DeviceInfo) -> str:
    return f"cuda:{device.ordinal}" if device.is_gpu else "the host"


def stream_handle(stream: Any, library: Library, like: Any) -> int:
    """Handle of the stream that a caller names, or that the library of ``like`` is using."""
    if stream is None:
        return library.stream(like)
    if isinstance(stream, int):
        return stream
    protocol = getattr(stream, "__cuda_stream__", None)
    if protocol is None:
        raise ArgumentTypeError(
            f"stream: got {type(stream).__name__}, accepted are a handle (int) or an object with "
            "__cuda_stream__"
        )
    _, handle = protocol() if callable(protocol) else protocol
    return int(handle)
