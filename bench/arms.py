"""What competes in a benchmark: routes of this package, and anything else that runs a `Setup`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from batchlas_py import trace
from batchlas_py.config import spelling
from batchlas_py.errors import ArgumentError, PinError

from . import cusolver_arm
from .setups import Arrays, Setup
from .torch_arms import LIBRARIES, OPS, torch_call

__all__ = ["Arm", "parse_arms", "route_arm"]

Call = Callable[[Setup, Arrays], object]


@dataclass(frozen=True, slots=True)
class Arm:
    """One competitor.

    Attributes
    ----------
    name : str
        What was asked for.
    call : callable
        ``(setup, arrays)`` enqueues the op on one set of operands and leaves its results there.
    """

    name: str
    call: Call

    def answering_route(self, setup: Setup, arrays: Arrays) -> str:
        """Call once, and say which route answered; a competitor that is no route answers itself."""
        with trace() as routes:
            self.call(setup, arrays)
        return next((record.route for record in routes if record.problem.op == setup.op), self.name)


def route_arm(name: str) -> Arm:
    """The arm of a route of this package, or of the router's own choice (``"auto"``)."""
    return Arm(name, lambda setup, arrays: setup.call(arrays, name))


def parse_arms(text: str, op: str) -> tuple[Arm, ...]:
    """Arms of a comma-separated list of routes of ``op``, and of other libraries that have it.

    Parameters
    ----------
    text : str
        Routes as pins spell them, ``auto``, or ``torch``, ``torch-magma`` and ``cusolver``.
    op : str
        LAPACK name.

    Returns
    -------
    tuple of Arm
        In the order written; the first one is what speed-ups refer to.

    Raises
    ------
    ArgumentError
        An unknown route.
    BackendUnavailable
        A library that is not installed.
    """
    return tuple(_arm(name, op) for name in dict.fromkeys(name.strip() for name in text.split(",")))


def _arm(name: str, op: str) -> Arm:
    others = _others(op)
    if name in others:
        return Arm(name, others[name]())
    try:
        spelling(op, name, "arms")
    except PinError as error:
        more = f"; of other libraries {', '.join(others)}" if others else ""
        raise ArgumentError(f"{error}{more}") from error
    return route_arm(name)


def _others(op: str) -> dict[str, Callable[[], Call]]:
    """How the calls of other libraries that have an op are made."""
    torch = {name: partial(torch_call, name) for name in LIBRARIES if op in OPS}
    return torch | ({cusolver_arm.NAME: cusolver_arm.cusolver_call} if op in cusolver_arm.OPS else {})
