"""What the public calls share: checks of their arguments, and the way to the router."""

from __future__ import annotations

from typing import Final

from ..errors import ArgumentError
from ..interop.edge import Edge
from ..ops.common import relayout
from ..problem import Problem
from ..routing.run import run
from ..routing.select import Selection, select
from ..views import BatchView

__all__ = ["INT32", "TRANS", "check_letter", "check_square", "dispatch", "packed", "start_from"]

INT32: Final = ("int32",)
TRANS: Final = ("N", "T", "C")
WITH_SIDES: Final = ("getrs", "trsm")


def check_letter(argument: str, letter: str, accepted: tuple[str, ...]) -> None:
    """Refuse what is none of LAPACK's characters for the argument."""
    if letter not in accepted:
        raise ArgumentError(f"{argument}: got {letter!r}, accepted are {', '.join(accepted)}")


def check_square(argument: str, view: BatchView) -> None:
    """Refuse matrices that are not square."""
    if view.rows != view.cols:
        raise ArgumentError(f"{argument}: got {view.rows} x {view.cols} matrices, accepted are square ones")


def packed(argument: str, view: BatchView) -> BatchView:
    """Pivots and info are read and written without gaps."""
    gap = view.rows > 1 and view.row_stride != 1
    empty = not (view.batch and view.rows)
    if not empty and (gap or (view.batch > 1 and view.batch_stride != view.rows)):
        raise ArgumentError(f"{argument}: has gaps, accepted are C-contiguous arrays")
    return view


def dispatch(
    edge: Edge, problem: Problem, operands: dict[str, BatchView], route: str | None
) -> Selection | None:
    """Run the problem; an empty one only sets ``info`` to zero, and gives None."""
    if problem.batch and problem.m and problem.n and (problem.nrhs or problem.op not in WITH_SIDES):
        return edge.run(lambda: run(problem, operands, edge.device, edge.stream, route))
    if "info" in operands:
        edge.zero(operands["info"])
    return None


def start_from(edge: Edge, problem: Problem, route: str | None, source: BatchView, target: BatchView) -> None:
    """Copy what the problem starts from to where its result goes; not where no route would follow."""
    select(problem, edge.device, route)
    if target.array is not None:
        target.array[...] = source.array
    elif target.batch and target.rows and target.cols:
        edge.run(lambda: relayout(source, target, edge.stream, edge.device.ordinal))
