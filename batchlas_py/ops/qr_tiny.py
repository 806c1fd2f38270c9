"""Capability and launch of the register-resident kernels of geqrf, orgqr and qr."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ..family import YES, Call, Family, Verdict, no
from ..kernels.qr_choice import tiny_limit, tiny_spec
from ..problem import DeviceInfo, Problem
from ..runtime.launch import kernel
from ..runtime.registry import KernelSource
from .common import kernel_matrix, needs_gpu

__all__ = ["family"]

int32 = np.int32


def can_run(problem: Problem, device: DeviceInfo) -> Verdict:
    """Whether rows and columns fit in the registers and lanes of a warp."""
    verdict = needs_gpu(device)
    if not verdict.ok:
        return verdict
    limit = tiny_limit(problem.op, problem.dtype, device.arch)
    for name, extent in (("m", problem.m), ("n", problem.n)):
        if extent > limit:
            return no(f"{name} = {extent} is above {limit}, the most for {problem.dtype} on {device.arch}")
    if problem.op == "orgqr" and not problem.k:
        return no("k = 0: there are no reflectors")
    if problem.op == "qr" and problem.k != min(problem.m, problem.n):
        return no(f"forms {min(problem.m, problem.n)} columns of Q, not {problem.k}")
    return YES


def _geqrf(call: Call) -> tuple[Any, ...]:
    a, qr, tau = (call.operands[name] for name in ("a", "qr", "tau"))
    return *kernel_matrix(a), *kernel_matrix(qr), tau.ptr


def _orgqr(call: Call) -> tuple[Any, ...]:
    qr, tau, q = (call.operands[name] for name in ("qr", "tau", "q"))
    return *kernel_matrix(qr), tau.ptr, tau.rows, *kernel_matrix(q)


def _qr(call: Call) -> tuple[Any, ...]:
    return tuple(value for name in ("a", "q", "r") for value in kernel_matrix(call.operands[name]))


ARGUMENTS: Final = {"geqrf": _geqrf, "orgqr": _orgqr, "qr": _qr}


def family(op: str) -> Family:
    """The tiny family of ``geqrf``, ``orgqr`` or ``qr``."""

    def launch(call: Call) -> None:
        problem = call.problem
        spec = tiny_spec(op, problem.dtype, problem.m, problem.n, call.device.arch)
        sizes = [problem.m, problem.n, *([problem.k] if op == "orgqr" else [])]
        kernel(KernelSource(f"{op}_tiny", spec), call.device.ordinal).launch(
            call.stream,
            -(-problem.batch // spec.per_block),
            *ARGUMENTS[op](call),
            *map(int32, sizes),
            problem.batch,
        )

    return Family(op, "tiny", can_run, launch)
