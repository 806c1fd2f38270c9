"""gesv: A X = B by getrf and getrs in one call; the solution is NaN where a pivot is zero."""

from __future__ import annotations

from ..family import Call, Family, Verdict, no
from ..problem import DeviceInfo, Problem
from ..vendor import lapack
from . import cublas_lu, getrf, getrs, tiny
from .common import invalidate, native, vendor_family

__all__ = ["FAMILIES"]


def _children(problem: Problem) -> tuple[Problem, Problem]:
    return problem.child("getrf", nrhs=0), problem.child("getrs", trans="N")


def _blocked_can_run(problem: Problem, device: DeviceInfo) -> Verdict:
    """Whether some family can run each of the two parts."""
    verdict = native(problem, device)
    for child, families in zip(_children(problem), (getrf.FAMILIES, getrs.FAMILIES), strict=True):
        refusals = [one for one in (family.can_run(child, device) for family in families) if not one.ok]
        if verdict.ok and len(refusals) == len(families):
            return no(f"no family can run its {child.op}: {refusals[-1].reason}")
    return verdict


def _launch_blocked(call: Call) -> None:
    """Getrf, then getrs: each selects its family for itself."""
    ops = call.operands
    factor, solve = _children(call.problem)
    call.run(factor, {name: ops[name] for name in ("a", "lu", "ipiv", "info")})
    call.run(solve, {name: ops[name] for name in ("lu", "ipiv", "b", "x")})
    invalidate(ops["x"], ops["info"], call)


FAMILIES = (
    tiny.family("gesv"),
    Family("gesv", "blocked", _blocked_can_run, _launch_blocked),
    vendor_family("gesv", cublas_lu.gesv, lapack.gesv),
)
