"""Side streams: work that may overlap, between two points of the caller's stream."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

from .device import core_device
from .launch import core_stream

__all__ = ["MOST", "forked"]

MOST: Final = 4

_local = threading.local()


class _Lane(NamedTuple):
    """A side stream, and the event that says it is done."""

    stream: Any
    done: Any


class _Lanes(NamedTuple):
    start: Any
    lanes: tuple[_Lane, ...]


@contextmanager
def forked(stream: int, ordinal: int, count: int) -> Iterator[tuple[int, ...]]:
    """Up to `MOST` side streams, which start behind the work on a stream; it goes on behind theirs.

    Events alone order them, so a stream that is being captured captures its side streams too.
    """
    caller, (start, every) = core_stream(stream, ordinal), _lanes(ordinal)
    lanes = every[:count]
    caller.record(start)
    for lane in lanes:
        lane.stream.wait(start)
    try:
        yield tuple(int(lane.stream.handle) for lane in lanes)
    finally:
        for lane in lanes:
            lane.stream.record(lane.done)
            caller.wait(lane.done)


def _lanes(ordinal: int) -> _Lanes:
    """The calling thread's side streams on a device."""
    known: dict[int, _Lanes] = _local.__dict__.setdefault("lanes", {})
    if ordinal not in known:
        from cuda.core import StreamOptions

        device = core_device(ordinal)
        streams = [device.create_stream(options=StreamOptions(nonblocking=True)) for _ in range(MOST)]
        lanes = tuple(_Lane(one, device.create_event()) for one in streams)
        known[ordinal] = _Lanes(device.create_event(), lanes)
    return known[ordinal]
