"""What the public calls share: checks of their arguments, and the way to the router."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ..errors import ArgumentError, ArgumentTypeError
from ..interop import replay
from ..interop.edge import Edge
from ..interop.replay import Replay, Results
from ..ops.common import relayout
from ..problem import Problem
from ..routing.run import prepare, run
from ..routing.select import Selection, select
from ..views import BatchView

__all__ = [
    "INT32",
    "TRANS",
    "check_letter",
    "check_sides",
    "check_square",
    "dispatch",
    "given",
    "info_view",
    "new_solution",
    "packed",
    "remember",
    "start_from",
]

INT32: Final = ("int32",)
TRANS: Final = ("N", "T", "C")
WITH_SIDES: Final = ("getrs", "potrs", "trsm")


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


def given(out: Any, count: int) -> tuple[Any, ...]:
    """The arrays of ``out``; none if it is None."""
    if out is None:
        return ()
    if not isinstance(out, tuple | list):
        raise ArgumentTypeError(f"out: got {type(out).__name__}, accepted are tuples of {count} arrays")
    if len(out) != count:
        raise ArgumentError(f"out: got {len(out)} arrays, accepted are {count}")
    return tuple(out)


def new_solution(edge: Edge, sides: BatchView) -> Callable[[Any], Any]:
    """How to make a solution, in the memory order of the right-hand sides ``b``."""
    return edge.maker(edge.memories["b"].shape, sides.dtype, like=sides)


def check_sides(argument: str, edge: Edge, matrices: BatchView, sides: BatchView) -> None:
    """Right-hand sides fit the matrices in dtype, leading dimensions and rows."""
    if sides.dtype != matrices.dtype:
        raise ArgumentTypeError(f"b: got {sides.dtype}, accepted is {argument}'s {matrices.dtype}")
    expected = (*edge.batch_shape(argument), matrices.rows)
    got = edge.memories["b"].shape
    if got[:-1] != expected:
        raise ArgumentError(f"b: got shape {got}, accepted is {(*expected, 'nrhs')} for this {argument}")


def info_view(edge: Edge, lead: tuple[int, ...], info: Any) -> BatchView:
    """View of the status that a call writes."""
    return packed("info", edge.result("info", info, lead, (), INT32))


def remember(
    key: tuple[Any, ...] | None,
    edge: Edge,
    problem: Problem,
    operands: dict[str, BatchView],
    choice: Selection | None,
    results: Results,
    positions: tuple[int, ...],
) -> None:
    """Keep the call for the next one that differs in addresses alone, if its family can repeat it."""
    if key is None or choice is None:
        return
    enqueue = prepare(problem, operands, choice)
    if enqueue is not None:
        replay.remember(key, Replay(edge.library, edge.device.ordinal, results, positions, enqueue))
