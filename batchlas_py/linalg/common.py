"""What the calls of this package share: failed items, and shapes of right-hand sides."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ..dtypes import DTYPES
from ..errors import ArgumentError, ArgumentTypeError, LinAlgError
from ..interop.arrays import memory_of
from ..interop.device_array import fetch
from ..interop.edge import Edge
from ..interop.libraries import Library, library_of

__all__ = ["Folded", "common_dtype", "fold", "raise_if_failed"]


def raise_if_failed(edge: Edge, info: Any, check: bool | None, message: str) -> None:
    """Raise `LinAlgError` where an item failed: by default on the host alone, where nothing has to wait.

    ``info`` is one of the arrays that the edge was opened with.
    """
    if check is False or (check is None and edge.device.is_gpu):
        return
    status = fetch(edge.memories["info"], edge.stream, edge.device.ordinal) if edge.device.is_gpu else info
    failed = np.flatnonzero(status)
    if len(failed):
        raise LinAlgError(f"{message}: {len(failed)} items, the first is number {failed[0]}")


class Folded(NamedTuple):
    """A system in which matrices and right-hand sides have the same leading dimensions.

    Attributes
    ----------
    a, b : array, shape (..., n, n) and (..., n, nrhs)
        Dimensions along which one matrix serves many right-hand sides are among the columns of ``b``.
    unfold : callable
        ``x -> array``: the solution in the shape that the caller expects.
    """

    a: Any
    b: Any
    unfold: Callable[[Any], Any]


def fold(a: Any, b: Any) -> Folded:
    """Bring a system to one dtype and one batch by NumPy's rules, without repeating a matrix.

    As in NumPy 2, ``b`` is a vector only if it has one dimension. Integers become float64.
    """
    vector = len(b.shape) == 1
    library = library_of(a, "a")
    dtype = common_dtype(a=a, b=b)
    matrices, sides = library.cast(a, dtype) if _name(a) != dtype else a, b
    sides = library.cast(sides, dtype) if _name(b) != dtype else sides
    sides = sides.reshape((*sides.shape, 1)) if vector else sides
    _check_rows(matrices, sides, b)
    folded = _fold_batch(library, matrices, sides)
    return folded._replace(unfold=lambda x: _without_column(folded.unfold(x))) if vector else folded


def _without_column(x: Any) -> Any:
    return x.reshape(x.shape[:-1])


def _check_rows(a: Any, sides: Any, b: Any) -> None:
    if len(a.shape) < 2:
        raise ArgumentError(f"a: got shape {a.shape}, accepted are (..., n, n)")
    if sides.shape[-2] != a.shape[-2]:
        raise ArgumentError(f"b: got shape {b.shape}, accepted are {a.shape[-2]} rows, as a has")


def common_dtype(**arrays: Any) -> str:
    """The dtype that NumPy would compute in; integers and booleans count as float64."""
    kinds = [_kind(array, argument) for argument, array in arrays.items()]
    found = np.result_type(*(np.dtype("float64") if kind.kind in "iub" else kind for kind in kinds)).name
    if found not in DTYPES:
        names = ", ".join(f"{argument} {kind}" for argument, kind in zip(arrays, kinds, strict=True))
        raise ArgumentTypeError(f"dtype: got {names}, accepted are {', '.join(DTYPES)} and integers")
    return found


def _kind(array: Any, argument: str) -> np.dtype[Any]:
    name = _name(array, argument)
    try:
        return np.dtype(name)
    except TypeError as error:
        raise ArgumentTypeError(f"{argument}: got {name}, accepted are numbers") from error


def _name(array: Any, argument: str = "a") -> str:
    return memory_of(array, argument).dtype


def _fold_batch(library: Library, a: Any, b: Any) -> Folded:
    mine, theirs = tuple(a.shape[:-2]), tuple(b.shape[:-2])
    if mine == theirs:
        return Folded(a, b, lambda x: x)
    lead = _lead(mine, theirs)
    own = (1,) * (len(lead) - len(mine)) + mine
    shared = [i for i, (one, many) in enumerate(zip(own, lead, strict=True)) if one == 1 != many]
    kept = [i for i in range(len(lead)) if i not in shared]
    (n, columns), depth = b.shape[-2:], len(lead)
    order = (*kept, depth, *shared, depth + 1)
    turned = library.permuted(library.broadcast(b, (*lead, n, columns)), order)
    outer, inner = [lead[i] for i in kept], [lead[i] for i in shared]
    sides = turned.reshape((*outer, n, prod(inner) * columns))

    def unfold(x: Any) -> Any:
        back = tuple(order.index(axis) for axis in range(depth + 2))
        return library.permuted(x.reshape((*outer, n, *inner, columns)), back)

    return Folded(a.reshape((*outer, *a.shape[-2:])), sides, unfold)


def _lead(mine: tuple[int, ...], theirs: tuple[int, ...]) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(mine, theirs)
    except ValueError as error:
        raise ArgumentError(
            f"b: got leading dimensions {theirs}, accepted are such as broadcast with a's {mine}"
        ) from error
