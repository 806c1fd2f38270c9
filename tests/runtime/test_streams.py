"""Side streams start behind the caller's work, and its later work is behind theirs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest

from batchlas_py.runtime import streams

CALLER = 5


@dataclass
class Stream:
    """Notes what is enqueued, in the log that all streams share."""

    handle: int
    log: list[tuple[int, str, Any]]

    def record(self, event: Any) -> None:
        self.log.append((self.handle, "record", event))

    def wait(self, event: Any) -> None:
        self.log.append((self.handle, "wait", event))


class Device:
    """Makes streams 1, 2, ... and events A, B, ..."""

    def __init__(self, log: list[tuple[int, str, Any]]) -> None:
        self.log, self.made = log, 0
        self.events: Iterator[str] = iter("ABCDEFGHIJ")

    def create_stream(self, options: Any) -> Stream:
        assert options.nonblocking, "a blocking stream would wait for the default stream"
        self.made += 1
        return Stream(self.made, self.log)

    def create_event(self) -> str:
        return next(self.events)


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> Device:
    pytest.importorskip("cuda.core")
    one = Device([])
    monkeypatch.setattr(streams, "_local", SimpleNamespace())
    monkeypatch.setattr(streams, "core_device", lambda ordinal: one)
    monkeypatch.setattr(streams, "core_stream", lambda handle, ordinal: Stream(handle, one.log))
    return one


def work(device: Device, count: int) -> None:
    with streams.forked(CALLER, 0, count) as handles:
        device.log.extend((handle, "work", None) for handle in handles)


def test_fork_and_join(device: Device) -> None:
    work(device, 2)
    start = device.log[0][2]
    done = [event for _, what, event in device.log if what == "record"][1:]
    assert device.log == [
        (CALLER, "record", start),
        (1, "wait", start),
        (2, "wait", start),
        (1, "work", None),
        (2, "work", None),
        (1, "record", done[0]),
        (CALLER, "wait", done[0]),
        (2, "record", done[1]),
        (CALLER, "wait", done[1]),
    ]
    assert len({start, *done}) == 3


def test_streams_are_made_once_for_a_thread(device: Device) -> None:
    for _ in range(3):
        work(device, streams.MOST)
    assert device.made == streams.MOST


def test_streams_join_after_an_error(device: Device) -> None:
    """A stream that is being captured could not end its capture otherwise."""
    with pytest.raises(KeyError), streams.forked(CALLER, 0, 3):
        raise KeyError
    assert [entry[:2] for entry in device.log].count((CALLER, "wait")) == 3
