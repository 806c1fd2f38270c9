"""gesv: A X = B by getrf and getrs in one call; the solution is NaN where a pivot is zero."""

from __future__ import annotations

import numpy as np

from ..family import Call, Family, Verdict, no
from ..problem import DeviceInfo, Problem
from ..vendor import lapack
from . import cublas_lu, getrf, getrs, tiny
from .common import invalidate, kernel_matrix, native, vendor_family

__all__ = ["FAMILIES"]


def _launch_tiny(call: Call) -> None:
    ops = call.operands
    tiny.launch(
        "gesv_tiny",
        call,
        *kernel_matrix(ops["a"]),
        *kernel_matrix(ops["b"]),
        *kernel_matrix(ops["x"]),
        *kernel_matrix(ops["lu"]),
        ops["ipiv"].ptr,
        ops["info"].ptr,
        np.int32(call.problem.n),
        np.int32(call.problem.nrhs),
        call.problem.batch,
    )


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
    Family("gesv", "tiny", tiny.can_run, _launch_tiny),
    Family("gesv", "blocked", _blocked_can_run, _launch_blocked),
    vendor_family("gesv", cublas_lu.gesv, lapack.gesv),
)
