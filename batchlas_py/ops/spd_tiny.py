"""Capability and launch of the register-resident kernels of potrf and posv."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..family import YES, Call, Enqueue, Family, Verdict, no
from ..kernels.cholesky_choice import SPD_RHS, spd_tiny_max_n, spd_tiny_spec
from ..problem import DeviceInfo, Problem
from ..runtime.launch import kernel
from ..runtime.registry import KernelSource
from .common import kernel_matrix, native
from .triangles import as_lower

__all__ = ["can_run", "family"]

int32 = np.int32


def can_run(problem: Problem, device: DeviceInfo) -> Verdict:
    """Whether the order, and the right-hand sides, fit in the registers of a warp."""
    verdict = native(problem, device)
    if not verdict.ok:
        return verdict
    if problem.nrhs > SPD_RHS[-1]:
        return no(f"nrhs = {problem.nrhs} is above {SPD_RHS[-1]}")
    limit = spd_tiny_max_n(problem.dtype, device.arch, problem.nrhs)
    if problem.n > limit:
        return no(f"n = {problem.n} is above {limit}, the most for {problem.dtype} on {device.arch}")
    return YES


def family(op: str) -> Family:
    """The tiny family of ``potrf`` or ``posv``."""

    def launch(call: Call) -> None:
        _prepare(call)(call.stream, [view.ptr for view in call.operands.values()])

    return Family(op, "tiny", can_run, launch, _prepare)


def _prepare(call: Call) -> Enqueue:
    """Everything of a launch but the stream and the addresses."""
    problem, device = call.problem, call.device
    staged = as_lower(call.operands["c"], problem.uplo).layout == "C"
    spec = spd_tiny_spec(problem.dtype, problem.n, staged, problem.nrhs, device.arch)
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
    problem, slots = call.problem, []
    values: list[Any] = []
    for name, view in call.operands.items():
        slots.append(len(values))
        matrix = as_lower(view, problem.uplo) if name == "c" else view
        values += [view.ptr] if name == "info" else kernel_matrix(matrix)
    if not problem.nrhs:
        return slots, [*values, int32(problem.n), problem.batch]
    sizes = int32(problem.uplo == "U"), int32(problem.n), int32(problem.nrhs), problem.batch
    return slots, [*values, *sizes]
