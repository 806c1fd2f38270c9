"""Arrays and pointers as a kernel sees them, with every access checked."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import numpy as np
from greenlet import getcurrent

from .findings import Line, OutOfBounds, RaceDetected, UninitialisedRead, here, line, site_of

Kind = Literal["read", "write", "atomic"]
Past = dict[Kind, dict[int, tuple[int, Line]]]  # by thread: when, and where
CONFLICTS: Final[dict[Kind, tuple[Kind, ...]]] = {
    "read": ("write", "atomic"),
    "write": ("read", "write", "atomic"),
    "atomic": ("read", "write"),
}


def dtype_of(kind: Any) -> np.dtype[Any]:
    """Return the NumPy dtype of a NumPy or Numba type."""
    dtype: np.dtype[Any] = np.dtype(getattr(kind, "name", kind))
    return dtype


def poisoned(count: int, dtype: np.dtype[Any]) -> np.ndarray:
    """Make elements that nothing has written: NaN, or 0xAB bytes."""
    if dtype.kind in "fc":
        return np.full(count, complex(math.nan, math.nan) if dtype.kind == "c" else math.nan, dtype)
    return np.full(count * dtype.itemsize, 0xAB, np.uint8).view(dtype)


@dataclass(eq=False, slots=True)
class Watch:
    """Who touched what in one shared or local allocation.

    Attributes
    ----------
    name : str
        What error messages call the allocation.
    unit : int
        Bytes that are watched as one.
    init_check : bool
        Whether a read of an unwritten unit is an error.
    clocks : numpy.ndarray or None
        Vector clocks of the block's threads: row t holds how far thread t knows each other one to be.
    """

    name: str
    unit: int
    init_check: bool
    clocks: np.ndarray | None
    written: set[int] = field(default_factory=set)
    past: dict[int, Past] = field(default_factory=dict)

    def touch(self, start: int, size: int, kind: Kind) -> None:
        """Record an access to ``size`` bytes at ``start``; raise if it is wrong."""
        for unit in range(start // self.unit, (start + size - 1) // self.unit + 1):
            if self.init_check and unit not in self.written:
                self._write_first(unit, kind)
            if self.clocks is not None:
                self._check_order(self.clocks, unit, kind)

    def _unit(self, unit: int) -> str:
        return f"{self.name}: element {unit} of {self.unit} bytes"

    def _write_first(self, unit: int, kind: Kind) -> None:
        if kind != "write":
            raise UninitialisedRead(f"{self._unit(unit)}: read and never written; {here()}")
        self.written.add(unit)

    def _check_order(self, clocks: np.ndarray, unit: int, kind: Kind) -> None:
        thread: Any = getcurrent()
        number = thread.number
        known, past = clocks[number], self.past.get(unit)
        if past is None or kind == "write":
            self._check_known(known, past or {}, unit, kind)
            past = self.past[unit] = {"read": {}, "write": {}, "atomic": {}}
        else:
            self._check_known(known, past, unit, kind)
        past[kind][number] = known.item(number), line()

    def _check_known(self, known: np.ndarray, past: Past, unit: int, kind: Kind) -> None:
        """Raise if the thread cannot know of an access that conflicts with its own."""
        for earlier in CONFLICTS[kind] if past else ():
            for other, (when, where) in past[earlier].items():
                if when > known.item(other):
                    raise RaceDetected(
                        f"{self._unit(unit)}: no barrier between {earlier} by thread {other}, "
                        f"{site_of(where)}, and {kind} by {here()}"
                    )


class Memory:
    """An array or pointer of a kernel.

    Parameters
    ----------
    name : str
        What error messages call it.
    data : numpy.ndarray
        The elements, flat.
    shape : tuple of int
        Extents by which the kernel indexes it.
    watch : Watch, optional
        Checks beyond the bounds.
    start : int
        Byte of the watched allocation at which ``data`` begins.
    """

    __slots__ = ("_data", "_itemsize", "_linear", "_start", "_watch", "name", "shape", "size")

    def __init__(
        self, name: str, data: np.ndarray, shape: tuple[int, ...], watch: Watch | None = None, start: int = 0
    ) -> None:
        self.name, self.shape, self.size = name, shape, data.size
        self._data, self._watch, self._start = data, watch, start
        self._itemsize, self._linear = data.itemsize, len(shape) == 1

    def __getitem__(self, index: Any) -> Any:
        """Read an element, or take a window of a slice."""
        if isinstance(index, slice):
            return self._window(index)
        return self._data[self._place(index, "read")]

    def __setitem__(self, index: Any, value: Any) -> None:
        """Write an element."""
        self._data[self._place(index, "write")] = value

    def modify(self, index: Any, fold: Callable[..., Any], operands: tuple[Any, ...]) -> Any:
        """Replace an element by ``fold(element, *operands)`` atomically; return the old one."""
        place = self._place(index, "atomic")
        old = self._data[place]
        self._data[place] = fold(old, *operands)
        return old

    def _place(self, index: Any, kind: Kind) -> int:
        linear = self._linear and not isinstance(index, tuple)
        place = self._bounded(index, self.size, index) if linear else self._flat(index)
        if self._watch is not None:
            self._watch.touch(self._start + place * self._itemsize, self._itemsize, kind)
        return place

    def _flat(self, index: Any) -> int:
        positions = index if isinstance(index, tuple) else (index,)
        if len(positions) != len(self.shape):
            raise OutOfBounds(f"{self.name}: index {index}, accepted are {len(self.shape)} indices; {here()}")
        place = 0
        for position, extent in zip(positions, self.shape, strict=True):
            place = place * extent + self._bounded(position, extent, index)
        return place

    def _bounded(self, position: Any, extent: int, index: Any) -> int:
        place = operator.index(position)
        if 0 <= place < extent:
            return place
        extents = ", ".join(map(str, self.shape))
        raise OutOfBounds(
            f"{self.name}: index {index}, accepted are 0 up to size {extents} ({self._data.dtype}); {here()}"
        )

    def _window(self, index: slice) -> Memory:
        start, stop, step = index.indices(self.size)
        if step != 1 or len(self.shape) != 1:
            raise OutOfBounds(
                f"{self.name}: {index}, accepted are slices of step 1 of one dimension; {here()}"
            )
        data, first = self._data[start:stop], self._start + start * self._data.itemsize
        return Memory(f"{self.name}[{start}:{stop}]", data, data.shape, self._watch, first)
