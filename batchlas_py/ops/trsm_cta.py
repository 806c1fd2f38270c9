"""The native family of trsm: one launch where the solution fits in shared memory, else halves."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..family import Call, Family, Verdict, no
from ..kernels.block_choice import trsm_order, trsm_spec
from ..kernels.block_specs import ORDER
from ..problem import DeviceInfo, Problem
from ..runtime.launch import kernel
from ..runtime.registry import KernelSource
from ..views import BatchView, block, transposed
from .common import clear, copy, needs_gpu

__all__ = ["FAMILY"]

int32 = np.int32


class _Lower(NamedTuple):
    """A solve with a lower triangle from the left, from the last row on if ``flip``."""

    a: BatchView
    b: BatchView
    x: BatchView
    conj: bool
    flip: bool


def _can_run(problem: Problem, device: DeviceInfo) -> Verdict:
    verdict = needs_gpu(device)
    if verdict.ok and not trsm_order(problem.dtype, device.shared_budget):
        return no(
            f"a block has {device.shared_budget} B of shared memory, too few for 32 rows of the solution"
        )
    return verdict


def _as_lower(call: Call) -> _Lower:
    """``X op(A) = B`` is ``op(A)^T X^T = B^T``; an upper triangle is a lower one from its last element on."""
    problem, (a, b, x) = call.problem, (call.operands[name] for name in "abx")
    if problem.side == "R":
        b, x = transposed(b), transposed(x)
    turned = (problem.trans != "N") != (problem.side == "R")
    flip = (problem.uplo == "U") != turned
    return _Lower(transposed(a) if turned else a, b, x, problem.trans == "C", flip)


def _launch(call: Call) -> None:
    if call.problem.alpha == 0:
        clear(call.operands["x"], call)
        return
    solve, limit = _as_lower(call), trsm_order(call.problem.dtype, call.device.shared_budget)
    if solve.a.rows > limit and solve.b.ptr != solve.x.ptr:
        copy(solve.b, solve.x, call)
        solve = solve._replace(b=solve.x)
    _solve(solve, call, call.problem.alpha, limit)


def _solve(s: _Lower, call: Call, alpha: complex, limit: int) -> None:
    """Solve at once up to order ``limit``, else the first half, its product, the second half."""
    n = s.a.rows
    if n <= limit:
        _launch_one(s, call, alpha)
        return
    half = -(-n // (2 * ORDER)) * ORDER
    first, second = (slice(n - half, n), slice(0, n - half)) if s.flip else (slice(0, half), slice(half, n))
    _solve(_part(s, first), call, alpha, limit)
    _subtract_product(s, first, second, call, alpha)
    _solve(_part(s, second), call, 1, limit)


def _part(s: _Lower, rows: slice) -> _Lower:
    every = slice(0, s.b.cols)
    return s._replace(a=block(s.a, rows, rows), b=block(s.b, rows, every), x=block(s.x, rows, every))


def _subtract_product(s: _Lower, first: slice, second: slice, call: Call, alpha: complex) -> None:
    """The rows ``second`` of X, which hold B, become alpha B less A times the solved rows."""
    every, a = slice(0, s.b.cols), block(s.a, second, first)
    operands = {
        "a": transposed(a) if s.conj else a,
        "b": block(s.x, first, every),
        "c": block(s.x, second, every),
    }
    c, inner = operands["c"], first.stop - first.start
    product = Problem(
        "gemm", c.dtype, c.rows, c.cols, c.batch, layout=c.layout, k=inner, trans="CN" if s.conj else "NN",
        alpha=-1, beta=alpha,
    )  # fmt: skip
    call.run(product, operands)


def _triangle(view: BatchView, flip: bool) -> tuple[Any, ...]:
    """Kernel arguments of the triangle, from its last element on if ``flip``."""
    sign, first = (-1, (view.rows - 1) * (view.row_stride + view.col_stride)) if flip else (1, 0)
    return view.ptr, int32(sign * view.row_stride), int32(sign * view.col_stride), view.batch_stride, first


def _sides(view: BatchView, flip: bool) -> tuple[Any, ...]:
    """Kernel arguments of right-hand sides, from their last row on if ``flip``."""
    sign, first = (-1, (view.rows - 1) * view.row_stride) if flip else (1, 0)
    return view.ptr, int32(sign * view.row_stride), int32(view.col_stride), view.batch_stride, first


def _launch_one(s: _Lower, call: Call, alpha: complex) -> None:
    spec, n = trsm_spec(s.a.dtype), s.a.rows
    tiles = -(-s.b.cols // spec.tile)
    a, b, x = _triangle(s.a, s.flip), _sides(s.b, s.flip), _sides(s.x, s.flip)
    value = complex(alpha)
    kernel(KernelSource("trsm_cta", spec), call.device.ordinal).launch(
        call.stream, s.b.batch * tiles, *a, int32(s.conj), int32(call.problem.diag == "N"), *b, *x,
        np.float64(value.real), np.float64(value.imag), int32(n), int32(s.b.cols), tiles,
        shared=spec.shared_bytes(n),
    )  # fmt: skip


FAMILY = Family("trsm", "cta", _can_run, _launch)
