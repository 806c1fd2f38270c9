"""Families that run nothing."""

from __future__ import annotations

from collections.abc import Callable

from batchlas_py.capability import square_getrf_ceiling
from batchlas_py.family import YES, Call, Family, Verdict, no
from batchlas_py.problem import DeviceInfo, Problem

CanRun = Callable[[Problem, DeviceInfo], Verdict]
Launch = Callable[[Call], None]
Register = Callable[..., None]
Environment = Callable[..., None]


def launch_nothing(call: Call) -> None:
    """Do nothing."""


def always(problem: Problem, device: DeviceInfo) -> Verdict:
    return YES


def vendor(problem: Problem, device: DeviceInfo) -> Verdict:
    return YES if device.has_vendor else no(device.vendor_reason)


def tiny(problem: Problem, device: DeviceInfo) -> Verdict:
    largest = 16 if problem.dtype == "complex128" else 32
    if problem.n > largest:
        return no(f"n = {problem.n} is above {largest}")
    return no(f"nrhs = {problem.nrhs} is above 4") if problem.nrhs > 4 else YES


def cta(problem: Problem, device: DeviceInfo) -> Verdict:
    largest = square_getrf_ceiling(problem.dtype, device.shared_budget)
    return YES if problem.n <= largest else no(f"n = {problem.n} is above {largest}")


RECORDED_RULES: dict[str, CanRun] = {"tiny": tiny, "cta": cta, "vendor": vendor}


def family(op: str, name: str, can_run: CanRun = always, launch: Launch = launch_nothing) -> Family:
    return Family(op, name, can_run, launch)
