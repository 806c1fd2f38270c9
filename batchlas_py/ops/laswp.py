"""laswp: a list of row interchanges applied to general matrices, forward or backward."""

from __future__ import annotations

from ..family import Call, Family, Verdict, no
from ..problem import DeviceInfo, Problem
from ..vendor import lapack
from .common import needs_gpu
from .interchange import Interchanges, gather_columns, swap_rows

__all__ = ["FAMILIES"]


def _gather_can_run(problem: Problem, device: DeviceInfo) -> Verdict:
    verdict = needs_gpu(device)
    if verdict.ok and not gather_columns(problem.dtype, problem.m, problem.m, device.shared_budget):
        return no(f"one column of {problem.m} rows does not fit in the {device.shared_budget} B of a block")
    return verdict


def _walk_can_run(problem: Problem, device: DeviceInfo) -> Verdict:
    return needs_gpu(device)


def _host_can_run(problem: Problem, device: DeviceInfo) -> Verdict:
    return no("the vendor has none for batches on the GPU") if device.is_gpu else Verdict(True)


def _family(kind: str, can_run: object) -> Family:
    def launch(call: Call) -> None:
        problem, (a, x, ipiv) = call.problem, (call.operands[name] for name in ("a", "x", "ipiv"))
        swaps = Interchanges(ipiv.ptr, ipiv.rows, 0, problem.k)
        source = x if a == x else a
        swap_rows(source, x, swaps, call, kind=kind, forward=problem.trans == "N")

    return Family("laswp", kind, can_run, launch)  # type: ignore[arg-type]


FAMILIES = (
    _family("gather", _gather_can_run),
    _family("walk", _walk_can_run),
    Family("laswp", "vendor", _host_can_run, lapack.laswp),
)
