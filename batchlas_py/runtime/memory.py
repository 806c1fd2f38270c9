"""Workspace on the device: the one way in which a driver gets memory of its own.

A driver describes its parts as a `Workspace`, which says the size without allocating anything, and takes them
as one block. The block comes from the device's stream-ordered pool and goes back to it behind the work that
was enqueued meanwhile: the pool keeps what it got, so that a call like an earlier one costs no new memory.

A stream that is being captured gets blocks from outside of the graph, so that a graph allocates nothing.
Replays use the same addresses; such a block therefore serves no other capture and no call outside of one,
until `free_workspace`. Within its capture, requests of one stream share it, as they run one after another.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, Final, NamedTuple

from ..errors import BackendUnavailable
from .device import core_device
from .launch import active, core_stream

__all__ = ["ALIGNMENT", "Workspace", "fill_zero", "free_workspace", "kept_bytes", "scratch", "workspace"]

ALIGNMENT: Final = 256


@dataclass(frozen=True, slots=True)
class Workspace:
    """Named parts of one block of memory.

    Attributes
    ----------
    offsets : mapping of str to int
        Where each part starts, a multiple of `ALIGNMENT`.
    size : int
        Bytes of the block.
    """

    offsets: Mapping[str, int]
    size: int

    @classmethod
    def of(cls, **parts: int) -> Workspace:
        """Parts of these numbers of bytes, in the order in which they lie."""
        *starts, size = accumulate(map(_aligned, parts.values()), initial=0)
        return cls(dict(zip(parts, starts, strict=True)), size)

    def addresses(self, base: int) -> dict[str, int]:
        """Address of each part of the block at ``base``."""
        return {name: base + offset for name, offset in self.offsets.items()}


@contextmanager
def workspace(space: Workspace, stream: int, ordinal: int) -> Iterator[dict[str, int]]:
    """Addresses of the parts for the work that is enqueued meanwhile; no size, no block."""
    if not space.size:
        yield space.addresses(0)
        return
    with scratch(space.size, stream, ordinal) as base:
        yield space.addresses(base)


@contextmanager
def scratch(size: int, stream: int, ordinal: int) -> Iterator[int]:
    """Address of ``size`` bytes for the work that is enqueued on the stream meanwhile."""
    blocks = _of_a_graph if _capturing(stream) else _of_the_pool
    with blocks(_aligned(max(size, 1)), stream, ordinal) as ptr:
        yield ptr


def fill_zero(ptr: int, size: int, stream: int) -> None:
    """Enqueue setting ``size`` bytes to zero."""
    _driver("cuMemsetD8Async", ptr, 0, size, stream)


def kept_bytes() -> int:
    """Bytes that graphs hold as their workspace."""
    return _captures.nbytes


def free_workspace() -> None:
    """Free the workspace of every graph captured so far; wait for their replays first.

    Calls made while a stream was captured got workspace that the graph uses at each replay, and that is
    therefore kept. No such graph may be launched after this; calls outside of graphs are not affected.

    Raises
    ------
    BackendUnavailable
        The driver refuses, for example because a stream is being captured.
    """
    _captures.free()


@contextmanager
def _of_the_pool(size: int, stream: int, ordinal: int) -> Iterator[int]:
    queue = core_stream(stream, ordinal)
    buffer = core_device(ordinal).allocate(size, stream=queue)
    try:
        yield int(buffer.handle)
    finally:
        buffer.close(queue)


@contextmanager
def _of_a_graph(size: int, stream: int, ordinal: int) -> Iterator[int]:
    shelf = _captures.shelf(ordinal, stream, _capture_number(stream))
    block = shelf.take(size, ordinal)
    try:
        yield block.ptr
    finally:
        shelf.put(block)


class _Block(NamedTuple):
    """Memory that was allocated outside of any stream."""

    ptr: int
    size: int


class _Shelf:
    """Blocks of one stream within one capture that no request uses at present."""

    def __init__(self, owner: _Captures) -> None:
        self._owner = owner
        self._idle: list[_Block] = []

    def take(self, size: int, ordinal: int) -> _Block:
        """The smallest idle block that is large enough, or a new one."""
        fitting = [block for block in self._idle if block.size >= size]
        if not fitting:
            return self._owner.allocate(size, ordinal)
        block = min(fitting, key=lambda one: one.size)
        self._idle.remove(block)
        return block

    def put(self, block: _Block) -> None:
        """Have a block back."""
        self._idle.append(block)


@dataclass
class _Captures:
    """Every block that a graph uses, and the idle ones by device, stream and capture."""

    shelves: dict[tuple[int, int, int], _Shelf] = field(default_factory=dict)
    blocks: dict[int, list[_Block]] = field(default_factory=dict)
    lock: Any = field(default_factory=threading.Lock)

    @property
    def nbytes(self) -> int:
        with self.lock:
            return sum(block.size for blocks in self.blocks.values() for block in blocks)

    def shelf(self, ordinal: int, stream: int, capture: int) -> _Shelf:
        """Idle blocks of a stream within a capture, whose number no other capture of the process has."""
        with self.lock:
            return self.shelves.setdefault((ordinal, stream, capture), _Shelf(self))

    def allocate(self, size: int, ordinal: int) -> _Block:
        core_device(ordinal).set_current()
        with _uncaptured():
            (ptr,) = _driver("cuMemAlloc", size)
        block = _Block(int(ptr), size)
        with self.lock:
            self.blocks.setdefault(ordinal, []).append(block)
        return block

    def free(self) -> None:
        with self.lock:
            for ordinal, blocks in self.blocks.items():
                with active(ordinal):
                    _driver("cuCtxSynchronize")
                    while blocks:
                        _driver("cuMemFree", blocks[-1].ptr)
                        blocks.pop()
            self.shelves.clear()


_captures = _Captures()


@contextmanager
def _uncaptured() -> Iterator[None]:
    """Let this thread allocate while a stream is captured, whatever the mode of the capture."""
    from cuda.bindings import driver

    (mode,) = _driver(
        "cuThreadExchangeStreamCaptureMode", driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
    )
    try:
        yield
    finally:
        _driver("cuThreadExchangeStreamCaptureMode", mode)


def _capturing(stream: int) -> bool:
    (status,) = _driver("cuStreamIsCapturing", stream)
    return int(status) != 0


def _capture_number(stream: int) -> int:
    _, number, *_ = _driver("cuStreamGetCaptureInfo", stream)
    return int(number)


def _aligned(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT


def _driver(name: str, *arguments: Any) -> list[Any]:
    """What a function of the driver returns after its status."""
    from cuda.bindings import driver

    values: list[Any]
    status, *values = getattr(driver, name)(*arguments)
    if int(status) != 0:
        raise BackendUnavailable(f"{name}{arguments} failed: {status.name}")
    return values
