"""Repeated calls: where only addresses are new, checks, routing and argument lists are those of before.

A call is remembered under everything that its outcome depends on: the routine and its options, the
settings in force, and each array's type, shape, strides and dtype. Found again, it is one launch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..family import Enqueue
from ..runtime.device import device_count
from ..runtime.launch import active
from .edge import stream_handle
from .libraries import Library, known_library

__all__ = ["Replay", "Results", "find", "forget", "key_of", "remember"]

LIMIT = 4096

_known: dict[tuple[Any, ...], Replay] = {}


@dataclass(frozen=True, slots=True)
class Results:
    """Results of a call: each is given, as a position among the arrays, or made anew.

    Attributes
    ----------
    sources : tuple of int or callable
        A position, or ``(like) -> array``.
    """

    sources: tuple[int | Callable[[Any], Any], ...]

    def of(self, arrays: tuple[Any, ...]) -> list[Any]:
        """The results of a call with these arrays."""
        return [arrays[one] if isinstance(one, int) else one(arrays[0]) for one in self.sources]


@dataclass(frozen=True, slots=True)
class Replay:
    """A remembered call.

    Attributes
    ----------
    operands : tuple of int
        Position of each operand among the arrays and, after them, the results.
    enqueue : callable
        ``(stream, addresses of the operands)``.
    """

    library: Library
    ordinal: int
    results: Results
    operands: tuple[int, ...]
    enqueue: Enqueue

    def __call__(self, arrays: tuple[Any, ...], stream: Any) -> list[Any]:
        """Make the call again, and return its results."""
        results = self.results.of(arrays)
        every = (*arrays, *results)
        address = self.library.address
        handle = stream_handle(stream, self.library, arrays[0])
        with active(self.ordinal):
            self.enqueue(handle, [address(every[position]) for position in self.operands])
        return results


def key_of(call: tuple[Any, ...], arrays: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """What a call is remembered under; None if it cannot be: other libraries, several devices."""
    kind: type = type(arrays[0])
    library = known_library(kind)
    if library is None or library.fingerprint is None or device_count() != 1:
        return None
    if any(type(array) is not kind for array in arrays):
        return None
    return (*call, kind, *map(library.fingerprint, arrays))


def find(key: tuple[Any, ...] | None) -> Replay | None:
    """The remembered call, if any."""
    return _known.get(key) if key is not None else None


def remember(key: tuple[Any, ...] | None, call: Replay) -> None:
    """Keep a call that has just been made."""
    if key is None:
        return
    if len(_known) >= LIMIT:
        _known.clear()
    _known[key] = call


def forget() -> None:
    """Forget every call."""
    _known.clear()
