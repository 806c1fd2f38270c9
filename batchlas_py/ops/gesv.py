"""gesv: A X = B by getrf and getrs in one call; the solution is NaN where a pivot is zero."""

from __future__ import annotations

from ..family import Call, Family
from ..problem import Problem
from ..vendor import lapack
from . import cublas_lu, tiny
from .common import invalidate, native, vendor_family

__all__ = ["FAMILIES"]


def _children(problem: Problem) -> tuple[Problem, Problem]:
    return problem.child("getrf", nrhs=0), problem.child("getrs", trans="N")


def _launch_blocked(call: Call) -> None:
    """Getrf, then getrs: each selects its family for itself."""
    ops = call.operands
    factor, solve = _children(call.problem)
    call.run(factor, {name: ops[name] for name in ("a", "lu", "ipiv", "info")})
    call.run(solve, {name: ops[name] for name in ("lu", "ipiv", "b", "x")})
    invalidate(ops["x"], ops["info"], call)


FAMILIES = (
    tiny.family("gesv"),
    Family("gesv", "blocked", native, _launch_blocked),
    vendor_family("gesv", cublas_lu.gesv, lapack.gesv),
)
