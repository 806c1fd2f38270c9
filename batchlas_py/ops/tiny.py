"""Capability and launch of the register-resident kernels, for every op that has them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..family import YES, Call, Enqueue, Family, Verdict, no
from ..kernels.choice import RHS_BUCKETS, tiny_max_n, tiny_spec
from ..problem import DeviceInfo, Problem
from ..runtime.launch import kernel
from ..runtime.registry import KernelSource
from .common import kernel_matrix, native

__all__ = ["can_run", "family", "prepare"]


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


def family(op: str) -> Family:
    """The tiny family of ``getrf`` or ``gesv``."""

    def launch(call: Call) -> None:
        prepare(call)(call.stream, [view.ptr for view in call.operands.values()])

    return Family(op, "tiny", can_run, launch, prepare)


def prepare(call: Call) -> Enqueue:
    """Everything of a launch but the stream and the addresses."""
    problem, device = call.problem, call.device
    staged = call.operands["a"].layout == "C" and call.operands["lu"].layout == "C"
    spec = tiny_spec(problem.dtype, problem.n, staged, problem.nrhs, device.arch)
    code = kernel(KernelSource(f"{problem.op}_tiny", spec), device.ordinal)
    blocks = -(-problem.batch // spec.per_block)
    slots, arguments = _arguments(call)

    def enqueue(stream: int, addresses: Sequence[int]) -> None:
        values = arguments.copy()
        for slot, address in zip(slots, addresses, strict=True):
            values[slot] = address
        code.launch(stream, blocks, *values)

    return enqueue


def _arguments(call: Call) -> tuple[list[int], list[Any]]:
    """The kernel's arguments, and where among them the operands' addresses stand."""
    problem = call.problem
    slots: list[int] = []
    values: list[Any] = []
    for name, view in call.operands.items():
        slots.append(len(values))
        values += [view.ptr] if name in ("ipiv", "info") else kernel_matrix(view)
    sizes = [problem.n, problem.nrhs] if problem.nrhs else [problem.n]
    return slots, [*values, *map(np.int32, sizes), problem.batch]
