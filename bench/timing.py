"""Samples, timers, and the order in which arms take turns."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from math import nan
from statistics import fmean, median, stdev
from typing import TypeVar

from .arrays import ArrayLibrary

__all__ = ["Policy", "Samples", "Timer", "rotations", "time_enqueue", "time_work"]

HOST_SECONDS = 4e-4  # what the host may need for one call

Timer = Callable[[ArrayLibrary, Sequence[Callable[[], object]]], list[float]]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Policy:
    """When an arm has been timed enough.

    Attributes
    ----------
    rel_sd : float
        Relative standard deviation below which the samples agree.
    fewest, most : int
        Repetitions in any case, and at most.
    seconds : float
        Time after which a cell gets no further round.
    burst : int
        Calls between two restorations, each on a set of operands of its own.
    """

    rel_sd: float = 0.01
    fewest: int = 10
    most: int = 50
    seconds: float = 10.0
    burst: int = 5

    def enough(self, samples: Samples, *, late: bool = False) -> bool:
        """Whether the samples are as many as they may be, or enough that agree or whose time is up."""
        count = len(samples.values)
        return count >= self.most or (count >= self.fewest and (late or samples.rel_sd < self.rel_sd))

    def burst_length(self, samples: Samples) -> int:
        """Calls until the next restoration: one until the arm's speed is known, and of a slow arm."""
        known = bool(samples.values) and samples.median * self.burst < self.seconds * 1e6 / 10
        return self.burst if known else 1


@dataclass(slots=True)
class Samples:
    """Times of one arm, in microseconds."""

    values: list[float] = field(default_factory=list)

    @property
    def median(self) -> float:
        """Middle value."""
        return median(self.values)

    @property
    def rel_sd(self) -> float:
        """Standard deviation over mean; NaN of a single sample."""
        return stdev(self.values) / fmean(self.values) if len(self.values) > 1 else nan


def time_work(library: ArrayLibrary, calls: Sequence[Callable[[], object]]) -> list[float]:
    """Microseconds that the device spends on each call, between two marks on its stream.

    Notes
    -----
    Nothing waits before the first call: other work is queued ahead of it, which lets the host run ahead,
    so that the marks do not enclose the host's own time.
    """
    library.occupy(HOST_SECONDS * len(calls))
    marks = []
    for call in calls:
        start = library.mark()
        call()
        marks.append((start, library.mark()))
    library.synchronize()
    return [library.elapsed_us(*pair) for pair in marks]


def time_enqueue(library: ArrayLibrary, calls: Sequence[Callable[[], object]]) -> list[float]:
    """Microseconds of host time that each call takes to return."""
    library.synchronize()
    times = []
    for call in calls:
        start = time.perf_counter_ns()
        call()
        times.append((time.perf_counter_ns() - start) / 1e3)
    library.synchronize()
    return times


def rotations(items: Sequence[T]) -> Iterator[list[T]]:
    """Yield the items over and over, each time starting with the next one."""
    while items:
        for first in range(len(items)):
            yield [*items[first:], *items[:first]]
