"""What a family of kernels is to the router: a name, a capability, a launcher."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from .problem import DeviceInfo, Problem
from .views import BatchView


class Verdict(NamedTuple):
    """Whether a family can run a problem, and if not, why."""

    ok: bool
    reason: str = ""


YES = Verdict(True)


def no(reason: str) -> Verdict:
    """A refusal with its reason."""
    return Verdict(False, reason)


Operands = Mapping[str, BatchView]
Enqueue = Callable[[int, Sequence[int]], None]


@dataclass(frozen=True, slots=True)
class Call:
    """One launch: the problem, its operands, where and in what order it runs.

    Attributes
    ----------
    operands : mapping of str to BatchView
        By LAPACK argument name: ``a``, ``lu``, ``ipiv``, ``info``, ``b``, ``x``, ``inv``.
    stream : int
        CUDA stream handle; 0 on the host.
    run : callable
        The router, for ops made of other ops: ``run(child_problem, operands)``.
    """

    problem: Problem
    device: DeviceInfo
    operands: Operands
    stream: int
    run: Callable[[Problem, Operands], None]


@dataclass(frozen=True, slots=True)
class Family:
    """One way to run an op.

    Attributes
    ----------
    op, name : str
        The route is ``name``; pins, tables, files and traces spell it the same.
    can_run : callable
        Pure: ``(problem, device) -> Verdict``. Reads no environment and touches no GPU.
    launch : callable
        Enqueues the work of a `Call`; never synchronises.
    prepare : callable, optional
        The same work, to be repeated: from a `Call` to ``(stream, addresses)``, which enqueues it for other
        operands of the same shapes and strides, in the order of the call's.
    """

    op: str
    name: str
    can_run: Callable[[Problem, DeviceInfo], Verdict]
    launch: Callable[[Call], None]
    prepare: Callable[[Call], Enqueue] | None = None
