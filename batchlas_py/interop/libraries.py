"""Array libraries the package can take arrays from and give arrays to; none is a dependency."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, Final

import numpy as np

from ..errors import ArgumentTypeError

__all__ = ["Library", "known_library", "library_of"]


def _without(what: str) -> Callable[[Any, Any], Any]:
    """What stands for an operation that a library does not have."""

    def refuse(array: Any, target: Any) -> Any:
        raise ArgumentTypeError(f"{type(array).__module__} arrays have no {what}, accepted are matching ones")

    return refuse


NO_CAST: Final = _without("change of dtype")
NO_BROADCAST: Final = _without("broadcasting of leading dimensions")


def _astype(array: Any, dtype: str) -> Any:
    return array.astype(dtype, copy=False)


def _transpose(array: Any, axes: tuple[int, ...]) -> Any:
    return array.transpose(axes)


@dataclass(frozen=True, slots=True)
class Library:
    """What the package must know of an array library.

    Attributes
    ----------
    name : str
        Its import name.
    empty : callable
        ``(shape, dtype, like)``: an uninitialised C-order array beside ``like``.
    stream : callable
        ``(like)``: handle of the stream that the library would use for ``like``.
    transposed : callable
        ``(array)``: a view of the array with its last two dimensions swapped.
    fingerprint : callable, optional
        ``(array)``: shape, strides and dtype, hashable and quick; only for writable arrays on a GPU.
    address : callable
        ``(array)``: address of its first element.
    cast, broadcast, permuted : callable
        ``(array, dtype)``, ``(array, shape)`` and ``(array, axes)``: the array in another dtype, or as it is;
        views of it. A library without them raises `ArgumentTypeError`.
    """

    name: str
    empty: Callable[[tuple[int, ...], str, Any], Any]
    stream: Callable[[Any], int]
    transposed: Callable[[Any], Any] = lambda array: array.swapaxes(-1, -2)
    fingerprint: Callable[[Any], tuple[Any, ...]] | None = None
    address: Callable[[Any], int] = lambda array: int(array.__cuda_array_interface__["data"][0])
    cast: Callable[[Any, str], Any] = NO_CAST
    broadcast: Callable[[Any, tuple[int, ...]], Any] = NO_BROADCAST
    permuted: Callable[[Any, tuple[int, ...]], Any] = NO_BROADCAST


def library_of(array: Any, argument: str) -> Library:
    """The library of an array.

    Raises
    ------
    ArgumentTypeError
        The object belongs to none of the libraries.
    """
    name = type(array).__module__.partition(".")[0]
    if name not in _LIBRARIES:
        raise ArgumentTypeError(
            f"{argument}: got {type(array).__module__}.{type(array).__name__}, accepted are arrays of "
            f"{', '.join(_LIBRARIES)}"
        )
    return _library(name)


@cache
def known_library(kind: type) -> Library | None:
    """The library of arrays of a type, if its calls can be remembered."""
    name = kind.__module__.partition(".")[0]
    return _library(name) if name in _LIBRARIES else None


@cache
def _library(name: str) -> Library:
    return _LIBRARIES[name]()


def _numpy() -> Library:
    return Library(
        "numpy",
        lambda shape, dtype, like: np.empty(shape, dtype),
        lambda like: 0,
        cast=_astype,
        broadcast=np.broadcast_to,
        permuted=_transpose,
    )


def _cupy() -> Library:
    cupy = import_module("cupy")

    def empty(shape: tuple[int, ...], dtype: str, like: Any) -> Any:
        return cupy.empty(shape, dtype)

    return Library(
        "cupy",
        empty,
        lambda like: int(cupy.cuda.get_current_stream().ptr),
        fingerprint=lambda array: (array.shape, array.strides, array.dtype),
        address=lambda array: int(array.data.ptr),
        cast=_astype,
        broadcast=lambda array, shape: cupy.broadcast_to(array, shape),
        permuted=_transpose,
    )


def _torch() -> Library:
    torch = import_module("torch")

    def empty(shape: tuple[int, ...], dtype: str, like: Any) -> Any:
        return torch.empty(shape, dtype=getattr(torch, dtype), device=like.device)

    return Library(
        "torch",
        empty,
        lambda like: int(torch.cuda.current_stream(like.device).cuda_stream),
        cast=lambda array, dtype: array.to(getattr(torch, dtype)),
        broadcast=lambda array, shape: torch.broadcast_to(array, shape),
        permuted=lambda array, axes: array.permute(axes),
    )


def _numba() -> Library:
    cuda = import_module("numba.cuda")

    def empty(shape: tuple[int, ...], dtype: str, like: Any) -> Any:
        return cuda.device_array(shape, dtype)

    def transposed(array: Any) -> Any:
        shape, strides = ((*each[:-2], each[-1], each[-2]) for each in (array.shape, array.strides))
        return type(array)(shape, strides, array.dtype, gpu_data=array.gpu_data)

    return Library("numba", empty, lambda like: int(cuda.default_stream().handle), transposed)


def _own() -> Library:
    from . import device_array

    return Library("batchlas_py", lambda shape, dtype, like: device_array.empty(shape, dtype), lambda like: 0)


_LIBRARIES: dict[str, Callable[[], Library]] = {
    "numpy": _numpy,
    "cupy": _cupy,
    "torch": _torch,
    "numba": _numba,
    "batchlas_py": _own,
}
