"""The family cta of geqrf, a whole matrix in the registers of a block, and the same kernels for panels."""

from __future__ import annotations

from typing import Final

import numpy as np

from ..dtypes import itemsize
from ..family import YES, Call, Family, Verdict, no
from ..kernels.qr_choice import whole_spec
from ..kernels.qr_specs import QrPanelSpec
from ..problem import DeviceInfo, Problem
from ..runtime.launch import kernel
from ..runtime.registry import KernelSource
from ..views import BatchView
from .common import kernel_matrix, needs_gpu

__all__ = ["FAMILY", "launch_panel"]

int32 = np.int32


def _can_run(problem: Problem, device: DeviceInfo) -> Verdict:
    """Whether the registers of a block hold the matrix."""
    verdict = needs_gpu(device)
    if not verdict.ok:
        return verdict
    spec = whole_spec(problem.dtype, problem.m, problem.n, device.arch)
    if spec is None:
        size = f"n = {problem.n}" if problem.m == problem.n else f"{problem.m} x {problem.n}"
        return no(f"{size} is more than the registers of a block hold of {problem.dtype}")
    return _shared_verdict(spec, problem, device)


def _shared_verdict(spec: QrPanelSpec, problem: Problem, device: DeviceInfo) -> Verdict:
    need = spec.shared_bytes(problem.m, problem.n) + spec.static_bytes
    if need <= device.shared_budget:
        return YES
    return no(f"needs {need:,} B of shared memory, a block has {device.shared_budget:,} B")


def launch_panel(
    spec: QrPanelSpec, a: BatchView, qr: BatchView, tau: BatchView, first: int, call: Call
) -> None:
    """Factor a panel, in place or not; its weights begin at number ``first`` of each item's."""
    over, beside = spec.groups(a.rows, a.cols)
    kernel(KernelSource("geqrf_panel", spec), call.device.ordinal).launch(
        call.stream,
        a.batch,
        *kernel_matrix(a),
        *kernel_matrix(qr),
        tau.ptr + first * itemsize(tau.dtype),
        tau.rows,
        *map(int32, (a.rows, a.cols, over, spec.sums_at(over, beside))),
        threads=over * beside * spec.lanes,
        shared=spec.shared_bytes(a.rows, a.cols),
    )


def _launch(call: Call) -> None:
    problem = call.problem
    spec = whole_spec(problem.dtype, problem.m, problem.n, call.device.arch)
    assert spec is not None, "can_run has refused"
    ops = call.operands
    launch_panel(spec, ops["a"], ops["qr"], ops["tau"], 0, call)


FAMILY: Final = Family("geqrf", "cta", _can_run, _launch)
