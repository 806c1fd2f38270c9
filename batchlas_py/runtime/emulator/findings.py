"""What the emulator finds wrong in a kernel, and where."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Iterable
from functools import cache
from itertools import groupby
from pathlib import Path
from types import CodeType
from typing import Any, NamedTuple

from greenlet import getcurrent

from ...errors import BatchlasError

HOME = str(Path(__file__).parent)
Line = tuple[CodeType, int]


class EmulatorError(BatchlasError, RuntimeError):
    """Base of what the emulator finds wrong in a kernel."""


class OutOfBounds(EmulatorError):
    """An index is negative or past the end; in CUDA no index wraps around."""


class DivergentBarrier(EmulatorError):
    """Threads wait for others that never arrive; the message lists who waits where."""


class RaceDetected(EmulatorError):
    """Two threads touch one shared element, one of them writes it, and no barrier orders them."""


class UninitialisedRead(EmulatorError):
    """A shared or local element is read that nothing has written."""


class Site(NamedTuple):
    """A line of a kernel."""

    file: str
    line: int
    function: str

    def __str__(self) -> str:
        """Format as file, line, function and source text."""
        text = linecache.getline(self.file, self.line).strip()
        return f"{self.file}:{self.line} in {self.function}" + (f" [{text}]" if text else "")


def line() -> Line:
    """Find the innermost line that is not the emulator's own; `site_of` tells more of it, at leisure."""
    frame = sys._getframe(1)
    while _is_own(frame.f_code) and frame.f_back is not None:
        frame = frame.f_back
    return frame.f_code, frame.f_lineno


@cache
def _is_own(code: CodeType) -> bool:
    return code.co_filename.startswith(HOME)


def site_of(where: Line) -> Site:
    """What a line is called."""
    code, number = where
    return Site(code.co_filename, number, code.co_name)


def site() -> Site:
    """The innermost line that is not the emulator's own."""
    return site_of(line())


def here() -> str:
    """Describe the block, thread and line that are running."""
    thread: Any = getcurrent()
    return f"block {thread.block.number}, thread {thread.number}, {site()}"


def ranges(numbers: Iterable[int]) -> str:
    """Write sorted numbers as text: ``"0-15, 20"``."""
    runs = groupby(enumerate(sorted(numbers)), lambda pair: pair[1] - pair[0])
    ends = [(run[0][1], run[-1][1]) for run in (list(members) for _, members in runs)]
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in ends)
