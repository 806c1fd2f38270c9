"""Capability and launch of the register-resident kernels, for every op that has them."""

from __future__ import annotations

from functools import cache
from typing import Any

from ..family import YES, Call, Verdict, no
from ..kernels.specs import RHS_BUCKETS, tiny_max_n, tiny_spec
from ..problem import DeviceInfo, Problem
from ..runtime.launch import kernel
from ..runtime.registry import KernelSource
from .common import native

__all__ = ["can_run", "launch"]


def can_run(problem: Problem, device: DeviceInfo) -> Verdict:
    """Whether the order, and the right-hand sides, fit in the registers of a warp."""
    verdict = native(problem, device)
    if not verdict.ok:
        return verdict
    limit = tiny_max_n(problem.op, problem.dtype, device.arch)
    if problem.n > limit:
        return no(f"n = {problem.n} is above {limit}, the most for {problem.dtype} on {device.arch}")
    if problem.nrhs > RHS_BUCKETS[-1]:
        return no(f"nrhs = {problem.nrhs} is above {RHS_BUCKETS[-1]}")
    return YES


def launch(name: str, call: Call, *arguments: Any) -> None:
    """Launch kernel module ``name`` on the call's problem with these arguments."""
    a, lu = call.operands["a"], call.operands["lu"]
    staged = a.layout == "C" and lu.layout == "C"
    problem = call.problem
    source = _source(name, problem.dtype, problem.n, staged, problem.nrhs, call.device.arch)
    blocks = -(-problem.batch // source.spec.per_block)
    kernel(source, call.device.ordinal).launch(call.stream, blocks, *arguments)


@cache
def _source(name: str, dtype: str, n: int, staged: bool, nrhs: int, arch: str) -> KernelSource:
    return KernelSource(name, tiny_spec(dtype, n, staged, nrhs, arch))
