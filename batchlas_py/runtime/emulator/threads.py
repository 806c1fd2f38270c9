"""Threads, blocks and their meetings: who runs, who waits, and when the waiting ends."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final, cast

import numpy as np
from greenlet import getcurrent, greenlet

from ...kernels.device.intrinsics import Collective
from .findings import DivergentBarrier, EmulatorError, Site, here, ranges, site
from .memory import Memory, Watch, dtype_of, poisoned

WARP: Final = 32
SYNCTHREADS: Final = Collective("syncthreads", lambda _values, _lane: None)
SYNCWARP: Final = Collective("syncwarp", lambda _values, _lane: None)
Extent = tuple[int, int, int]


def me() -> Thread:
    """Return the CUDA thread that is running."""
    return cast("Thread", getcurrent())


@dataclass(frozen=True, slots=True)
class Launch:
    """What all blocks of one launch share."""

    kernel: Callable[..., None]
    args: tuple[Any, ...]
    grid: Extent
    block: Extent
    random: random.Random
    dynamic_shared: int
    race_check: bool
    init_check: bool


@dataclass(frozen=True, slots=True)
class Meeting:
    """One call that several threads make together: those in ``mask`` of a warp, or the whole block."""

    collective: Collective
    warp: int | None
    mask: int
    site: Site

    def __str__(self) -> str:
        """Name the call, its mask and its line."""
        mask = "" if self.warp is None else f"(mask {self.mask:#010x})"
        return f"{self.collective.name}{mask}, {self.site}"


class Thread(greenlet):  # type: ignore[misc]
    """One CUDA thread."""

    def __init__(self, block: Block, number: int) -> None:
        super().__init__()
        self.block, self.number = block, number
        self.warp, self.lane = divmod(number, WARP)
        self.operands: tuple[Any, ...] = ()
        self.result: Any = None

    def run(self) -> None:
        """Call the kernel; NumPy's error state is per greenlet."""
        launch = self.block.launch
        try:
            with np.errstate(all="ignore"):
                launch.kernel(*launch.args)
        except EmulatorError:
            raise
        except Exception as error:
            error.add_note(f"in block {self.block.number}, thread {self.number} of the emulated kernel")
            raise

    def meet_block(self) -> None:
        """Wait for every thread of the block that has not exited."""
        self._meet(Meeting(SYNCTHREADS, None, 0, site()), ())

    def meet_warp(self, collective: Collective, mask: int, operands: tuple[Any, ...] = ()) -> Any:
        """Wait for the lanes of ``mask`` and return what the collective gives this one."""
        meeting = Meeting(collective, self.warp, mask, site())
        if not mask >> self.lane & 1:
            raise DivergentBarrier(
                f"{collective.name}: lane {self.lane} is not in its mask {mask:#010x}; {here()}"
            )
        return self._meet(meeting, operands)

    def _meet(self, meeting: Meeting, operands: tuple[Any, ...]) -> Any:
        self.operands = operands
        self.block.waiting.setdefault(meeting, []).append(self)
        self.block.scheduler.switch()
        return self.result


class Block:
    """One thread block: its threads, its shared memory, and who waits for whom."""

    def __init__(self, launch: Launch, number: int) -> None:
        size = math.prod(launch.block)
        self.launch, self.number, self.scheduler = launch, number, getcurrent()
        self.threads = [Thread(self, k) for k in range(size)]
        self.alive = [sum(1 << t.lane for t in warp) for _, warp in groupby(self.threads, lambda t: t.warp)]
        self.waiting: dict[Meeting, list[Thread]] = {}
        self.clocks = np.eye(size, dtype=np.int64) if launch.race_check else None
        self._static: dict[Any, Memory] = {}
        self._dynamic = np.full(launch.dynamic_shared, 0xFF, np.uint8)
        self._dynamic_watch = self.watch("dynamic shared memory", 4, self.clocks)

    def run(self) -> None:
        """Run threads, one at a time from collective to collective, in random order."""
        ready = list(self.threads)
        try:
            while ready:
                position = self.launch.random.randrange(len(ready))
                ready[position], ready[-1] = ready[-1], ready[position]
                thread = ready.pop()
                thread.switch()
                ready.extend(self._released_by(thread))
            if self.waiting:
                raise DivergentBarrier(self._who_waits())
        finally:
            self._end_threads()

    def _end_threads(self) -> None:
        for thread in self.threads:
            if not thread.dead:
                thread.throw()

    def shared_array(self, key: Any, name: str, shape: tuple[int, ...], kind: Any) -> Memory:
        """Return the array of one allocation in the source; for shape 0 all dynamic shared memory."""
        dtype, count = dtype_of(kind), math.prod(shape)
        if count == 0:
            data = self._dynamic[: self._dynamic.size // dtype.itemsize * dtype.itemsize].view(dtype)
            return Memory("dynamic shared memory", data, data.shape, self._dynamic_watch)
        if key not in self._static:
            watch = self.watch(name, dtype.itemsize, self.clocks)
            self._static[key] = Memory(name, poisoned(count, dtype), shape, watch)
        return self._static[key]

    def local_array(self, name: str, shape: tuple[int, ...], kind: Any) -> Memory:
        """Make a fresh array of one thread."""
        dtype = dtype_of(kind)
        return Memory(name, poisoned(math.prod(shape), dtype), shape, self.watch(name, dtype.itemsize, None))

    def watch(self, name: str, unit: int, clocks: np.ndarray | None) -> Watch | None:
        """Watch over one allocation, where a check is asked for."""
        init_check = self.launch.init_check
        return Watch(name, unit, init_check, clocks) if init_check or clocks is not None else None

    def _released_by(self, thread: Thread) -> list[Thread]:
        if thread.dead:
            self.alive[thread.warp] &= ~(1 << thread.lane)
        met = [meeting for meeting, group in self.waiting.items() if len(group) == self._expected(meeting)]
        return [released for meeting in met for released in self._conclude(meeting)]

    def _expected(self, meeting: Meeting) -> int:
        """Threads that must come; barriers do without exited ones, collectives with values do not."""
        if meeting.warp is None:
            return sum(lanes.bit_count() for lanes in self.alive)
        needed = self.alive[meeting.warp] if meeting.collective is SYNCWARP else meeting.mask
        return (meeting.mask & needed).bit_count()

    def _conclude(self, meeting: Meeting) -> list[Thread]:
        group = sorted(self.waiting.pop(meeting), key=lambda thread: thread.number)
        values = {thread.lane: thread.operands for thread in group}
        for thread in group:
            thread.result = meeting.collective.combine(values, thread.lane)
        if self.clocks is not None and meeting.collective in (SYNCTHREADS, SYNCWARP):
            numbers = [thread.number for thread in group]
            self.clocks[numbers] = self.clocks[numbers].max(axis=0)
            self.clocks[numbers, numbers] += 1
        return group

    def _who_waits(self) -> str:
        lines = [f"block {self.number}, {len(self.threads)} threads: not all reach the same call"]
        for meeting, group in self.waiting.items():
            came = {thread.number for thread in group}
            missing = ranges(set(self._named(meeting)) - came)
            lines.append(f"threads {ranges(came)} wait for threads {missing} at {meeting}")
        exited = [thread.number for thread in self.threads if thread.dead]
        lines += [f"threads {ranges(exited)} have exited"] if exited else []
        return "\n  ".join(lines)

    def _named(self, meeting: Meeting) -> list[int]:
        if meeting.warp is None:
            return [thread.number for thread in self.threads if not thread.dead]
        return [meeting.warp * WARP + lane for lane in range(WARP) if meeting.mask >> lane & 1]
