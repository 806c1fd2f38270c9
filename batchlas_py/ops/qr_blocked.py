"""The blocked families of geqrf, orgqr and ormqr: panels in registers, reflectors applied to tiles.

geqrf factors a panel, as wide as a kernel has it for so many rows, and applies its reflectors to what is
right of it, vector by vector, without a triangular factor. orgqr and ormqr apply all of theirs in one launch.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from ..dtypes import itemsize
from ..family import YES, Call, Family, Verdict, no
from ..kernels.qr_choice import apply_spec, panel_spec
from ..problem import DeviceInfo, Problem
from ..runtime.launch import kernel
from ..runtime.registry import KernelSource
from ..views import BatchView, block, transposed
from .common import column_major, column_major_result, copy, kernel_matrix, needs_gpu
from .qr_cta import launch_panel

__all__ = ["GEQRF", "ORGQR", "ORMQR"]

int32 = np.int32
# How reflectors are applied from the left, as (backward, conj_v, conj_tau).
Q: Final = (True, False, False)
Q_ADJOINT: Final = (False, False, True)
# The same from the right, to the transpose: C Q = (conj(Q^H) C^T)^T.
RIGHT_Q: Final = (False, True, False)
RIGHT_Q_ADJOINT: Final = (True, True, True)


def _rows(problem: Problem) -> int:
    """Rows of Q."""
    return problem.n if problem.side == "R" else problem.m


def _can_run(problem: Problem, device: DeviceInfo) -> Verdict:
    """Whether the registers of a block hold all rows of some columns."""
    verdict = needs_gpu(device)
    if not verdict.ok:
        return verdict
    m = _rows(problem)
    if apply_spec(problem.dtype, m, device.arch) is None or panel_spec(problem.dtype, m, device.arch) is None:
        return no(f"{m} rows are more than the registers of a block hold of {problem.dtype}")
    return YES


def apply_reflectors(
    v: BatchView,
    tau: BatchView,
    first: int,
    c: BatchView,
    k: int,
    way: tuple[bool, bool, bool],
    call: Call,
    *,
    unit: bool = False,
) -> None:
    """Apply the first k vectors of ``v`` to ``c`` in place.

    Parameters
    ----------
    v : BatchView
        Vectors as geqrf leaves them, with the rows of ``c``.
    tau : BatchView
        Their weights from number ``first`` on.
    way : (bool, bool, bool)
        Whether from the last one to the first, and with what conjugated: the vectors, the weights.
    unit : bool
        Start from the identity whatever ``c`` holds.
    """
    spec = apply_spec(c.dtype, c.rows, call.device.arch)
    assert spec is not None, "can_run has refused"
    tiles, groups = -(-c.cols // spec.lanes), spec.groups(c.rows)
    numbers = (c.rows, c.cols, k, *way, unit, groups, spec.sums_at(groups))
    kernel(KernelSource("qr_apply", spec), call.device.ordinal).launch(
        call.stream,
        c.batch * tiles,
        *kernel_matrix(v),
        tau.ptr + first * itemsize(tau.dtype),
        tau.rows,
        *kernel_matrix(c),
        *map(int32, numbers),
        tiles,
        threads=groups * spec.lanes,
        shared=spec.shared_bytes(c.rows),
    )


def _geqrf(call: Call) -> None:
    ops, tau = call.operands, call.operands["tau"]
    with column_major_result(ops["qr"], call, ops["a"]) as qr:
        first, steps = 0, min(qr.rows, qr.cols)
        while first < steps:
            first += _panel(qr, tau, first, call)


def _panel(qr: BatchView, tau: BatchView, first: int, call: Call) -> int:
    """Factor a panel and update what is right of it; returns its width."""
    spec = panel_spec(qr.dtype, qr.rows - first, call.device.arch)
    assert spec is not None, "can_run has refused"
    width, rows = min(spec.lanes, qr.cols - first), slice(first, qr.rows)
    panel = block(qr, rows, slice(first, first + width))
    launch_panel(spec, panel, panel, tau, first, call)
    if first + width < qr.cols:
        right = block(qr, rows, slice(first + width, qr.cols))
        apply_reflectors(panel, tau, first, right, min(panel.rows, width), Q_ADJOINT, call)
    return width


def _orgqr(call: Call) -> None:
    """Q is all reflectors applied to the identity; of none, nothing is read."""
    q, k = call.operands["q"], call.problem.k
    if not k:
        apply_reflectors(q, q, 0, q, 0, Q, call, unit=True)
        return
    with column_major(call.operands["qr"], call) as v:
        apply_reflectors(v, call.operands["tau"], 0, q, k, Q, call, unit=True)


def _ormqr(call: Call) -> None:
    """From the right, C^T is multiplied from the left."""
    ops, problem = call.operands, call.problem
    x, left, plain = ops["x"], problem.side == "L", problem.trans == "N"
    if ops["c"] != x:
        copy(ops["c"], x, call)
    with column_major(ops["qr"], call) as v:
        if left:
            apply_reflectors(v, ops["tau"], 0, x, problem.k, Q if plain else Q_ADJOINT, call)
        else:
            way = RIGHT_Q if plain else RIGHT_Q_ADJOINT
            apply_reflectors(v, ops["tau"], 0, transposed(x), problem.k, way, call)


GEQRF: Final = Family("geqrf", "blocked", _can_run, _geqrf)
ORGQR: Final = Family("orgqr", "blocked", _can_run, _orgqr)
ORMQR: Final = Family("ormqr", "blocked", _can_run, _ormqr)
