"""posv: A X = B by potrf and potrs in one call; the solution is NaN where A is not positive definite."""

from __future__ import annotations

from ..family import Call, Family
from ..vendor import lapack_spd
from . import cusolver_spd, spd_tiny
from .common import invalidate, native, vendor_family

__all__ = ["FAMILIES"]


def _launch_blocked(call: Call) -> None:
    """Potrf, then potrs: each selects its family for itself."""
    problem, ops = call.problem, call.operands
    call.run(problem.child("potrf", nrhs=0), {name: ops[name] for name in ("c", "info")})
    call.run(problem.child("potrs"), {name: ops[name] for name in ("c", "b", "x")})
    invalidate(ops["x"], ops["info"], call)


FAMILIES = (
    spd_tiny.family("posv"),
    Family("posv", "blocked", native, _launch_blocked),
    vendor_family("posv", cusolver_spd.posv, lapack_spd.posv),
)
