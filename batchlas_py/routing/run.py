"""Runs a problem on the family that `select` chooses, and keeps record of it."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import NamedTuple, TextIO

from .. import config
from ..family import Call, Enqueue, Operands
from ..problem import DeviceInfo, Problem
from .select import Selection, describe, select

__all__ = ["Record", "prepare", "run", "trace"]


class Record(NamedTuple):
    """One run: the problem, the route that it took, and who decided."""

    problem: Problem
    route: str
    source: str

    def __str__(self) -> str:
        """Return the record as one line."""
        return f"{describe(self.problem)} -> {self.route} ({self.source})"


_listeners: ContextVar[tuple[list[Record], ...]] = ContextVar("batchlas_py_listeners", default=())


def run(
    problem: Problem, operands: Operands, device: DeviceInfo, stream: int, route: str | None = None
) -> Selection:
    """Select a family and launch it.

    Ops that the family is made of come back here on the same device and stream, and select for
    themselves: ``route`` is for this problem alone, but the variants that it spells are in force for them.

    Parameters
    ----------
    problem : Problem
    operands : mapping of str to BatchView
    device : DeviceInfo
    stream : int
        CUDA stream handle; 0 on the host.
    route : str, optional
        Pins the choice, as in `select`.

    Returns
    -------
    Selection
        What ran, and why.
    """

    def child(child_problem: Problem, child_operands: Operands) -> None:
        run(child_problem, child_operands, device, stream)

    choice = select(problem, device, route)
    _note(problem, choice)
    with choice.in_force():
        choice.family.launch(Call(problem, choice.device, operands, stream, child))
    return choice


def prepare(problem: Problem, operands: Operands, choice: Selection) -> Enqueue | None:
    """How to repeat a run that was just made, for operands at other addresses; None if its family cannot."""
    family = choice.family
    if family.prepare is None:
        return None
    with choice.in_force():
        repeat = family.prepare(Call(problem, choice.device, operands, 0, _no_child))

    def enqueue(stream: int, addresses: Sequence[int]) -> None:
        _note(problem, choice)
        repeat(stream, addresses)

    return enqueue


def _no_child(problem: Problem, operands: Operands) -> None:
    raise AssertionError(f"a prepared launch is made of no other, but asks for {describe(problem)}")


@contextmanager
def trace() -> Iterator[list[Record]]:
    """Collect a `Record` of every run within a ``with`` block of this thread or task, in order of launch.

    A run comes before the runs that it is made of.
    """
    records: list[Record] = []
    token = _listeners.set((*_listeners.get(), records))
    try:
        yield records
    finally:
        _listeners.reset(token)


def _note(problem: Problem, choice: Selection) -> None:
    listeners, logged = _listeners.get(), config.current().kernel_trace
    if listeners or logged:
        record = Record(problem, choice.route, choice.source)
        for records in listeners:
            records.append(record)
        if logged:
            _logger().info("%s", record)


class _Stderr(logging.StreamHandler[TextIO]):
    """Writes to what ``sys.stderr`` is at the time."""

    def emit(self, record: logging.LogRecord) -> None:
        self.stream = sys.stderr
        super().emit(record)


@cache
def _logger() -> logging.Logger:
    logger = logging.getLogger("batchlas_py.trace")
    logger.setLevel(logging.INFO)
    logger.propagate = False
    logger.addHandler(_Stderr())
    return logger
