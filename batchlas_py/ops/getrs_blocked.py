"""The blocked family of getrs: the permutation, then two public triangular solves."""

from __future__ import annotations

from typing import Final

from ..config import AUTO, current
from ..family import Call, Family
from ..problem import Problem
from .common import native
from .interchange import Interchanges, swap_rows

__all__ = ["FAMILY"]

GATHER_FROM: Final = 16


def _kind(nrhs: int) -> str:
    wanted = current().getrs_laswp
    if wanted != AUTO:
        return wanted
    return "gather" if nrhs >= GATHER_FROM else "walk"


def _solve(call: Call, source: str, uplo: str, diag: str) -> None:
    """One triangle of the factors, from ``source`` to ``x``."""
    problem, ops = call.problem, call.operands
    child = Problem(
        "trsm", problem.dtype, problem.n, problem.n, problem.batch, nrhs=problem.nrhs, layout=problem.layout,
        side="L", uplo=uplo, trans=problem.trans, diag=diag,
    )  # fmt: skip
    call.run(child, {"a": ops["lu"], "b": ops[source], "x": ops["x"]})


def _launch(call: Call) -> None:
    problem, ops = call.problem, call.operands
    swaps = Interchanges(ops["ipiv"].ptr, problem.n, 0, problem.n)
    kind, x = _kind(problem.nrhs), ops["x"]
    if problem.trans == "N":
        swap_rows(x if ops["b"] == x else ops["b"], x, swaps, call, kind=kind)
        _solve(call, "x", "L", "U")
        _solve(call, "x", "U", "N")
    else:
        _solve(call, "b", "U", "N")
        _solve(call, "x", "L", "U")
        swap_rows(x, x, swaps, call, kind=kind, forward=False)


FAMILY: Final = Family("getrs", "blocked", native, _launch)
