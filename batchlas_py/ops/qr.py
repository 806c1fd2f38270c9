"""qr: R and k columns of Q, none or min(m, n) to m, by geqrf and orgqr in one call."""

from __future__ import annotations

import numpy as np

from ..dtypes import itemsize
from ..family import Call, Family, Verdict, no
from ..kernels.qr_specs import UpperSpec
from ..problem import DeviceInfo, Problem
from ..runtime.launch import kernel
from ..runtime.memory import Workspace, workspace
from ..runtime.registry import KernelSource
from ..vendor import lapack_qr
from ..views import BatchView
from . import qr_tiny
from .common import kernel_matrix, needs_gpu, vendor_present

__all__ = ["FAMILIES", "copy_upper"]

int32 = np.int32


def copy_upper(source: BatchView, target: BatchView, call: Call) -> None:
    """The rows of ``target`` from ``source``, with zeros below the diagonal."""
    spec = UpperSpec(target.dtype)
    blocks = -(-target.batch * target.rows * target.cols // spec.threads)
    kernel(KernelSource("upper", spec), call.device.ordinal).launch(
        call.stream,
        blocks,
        *kernel_matrix(source),
        *kernel_matrix(target),
        int32(target.rows),
        int32(target.cols),
        target.batch,
    )


def _launch_blocked(call: Call) -> None:
    """Geqrf to workspace, then orgqr: each selects its family for itself."""
    problem, ops = call.problem, call.operands
    m, n, batch, k, size = (
        problem.m,
        problem.n,
        problem.batch,
        min(problem.m, problem.n),
        itemsize(problem.dtype),
    )
    space = Workspace.of(factors=batch * m * n * size, weights=batch * k * size)
    with workspace(space, call.stream, call.device.ordinal) as at:
        factors = BatchView(at["factors"], problem.dtype, batch, m, n, m * n, 1, m)
        tau = BatchView(at["weights"], problem.dtype, batch, k, 1, k, 1, max(k, 1))
        call.run(problem.child("geqrf", k=0), {"a": ops["a"], "qr": factors, "tau": tau})
        copy_upper(factors, ops["r"], call)
        if problem.k:
            form = problem.child("orgqr", n=problem.k, k=k, layout="F")
            call.run(form, {"qr": factors, "tau": tau, "q": ops["q"]})


def _host_can_run(problem: Problem, device: DeviceInfo) -> Verdict:
    return no("the vendor has none for batches on the GPU") if device.is_gpu else vendor_present(device)


def _native_can_run(problem: Problem, device: DeviceInfo) -> Verdict:
    return needs_gpu(device)


FAMILIES = (
    qr_tiny.family("qr"),
    Family("qr", "blocked", _native_can_run, _launch_blocked),
    Family("qr", "vendor", _host_can_run, lapack_qr.qr),
)
