"""What the Cholesky ops share: upper triangles as lower ones, and kernels on triangles."""

from __future__ import annotations

import numpy as np

from ..family import Call
from ..kernels.cholesky_specs import TriangleSpec
from ..problem import Problem
from ..runtime.launch import kernel
from ..runtime.registry import KernelSource
from ..views import BatchView, transposed
from .common import kernel_matrix

__all__ = ["as_lower", "clean", "merge", "solves"]

int32 = np.int32


def as_lower(view: BatchView, uplo: str) -> BatchView:
    """View whose lower triangle is the named one.

    Where A = U^H U, its transpose has the lower triangle where A has its upper one, is conj(A) = L L^H, and L
    lies where U = L^T belongs.
    """
    return transposed(view) if uplo == "U" else view


def solves(problem: Problem) -> tuple[Problem, Problem]:
    """The two triangular solves: with L and L^H, or with U^H and U."""
    letters = ("C", "N") if problem.uplo == "U" else ("N", "C")
    first, second = (
        Problem(
            "trsm", problem.dtype, problem.n, problem.n, problem.batch, problem.nrhs, problem.uplo, trans,
            problem.layout, side="L", diag="N",
        )
        for trans in letters
    )  # fmt: skip
    return first, second


def merge(block: BatchView, part: BatchView, target: BatchView, base: int, call: Call) -> None:
    """Lower triangle of a factored block to its place; its info counts from row ``base``, if the first."""
    spec, info = TriangleSpec("merge", target.dtype), call.operands["info"]
    kernel(KernelSource("triangles", spec), call.device.ordinal).launch(
        call.stream, target.batch, *kernel_matrix(block), *kernel_matrix(target), part.ptr, info.ptr,
        int32(base), int32(target.rows),
    )  # fmt: skip


def clean(lower: BatchView, info: BatchView, stream: int, ordinal: int) -> None:
    """Zeros above the diagonal, and NaN in items whose info is positive."""
    kernel(KernelSource("triangles", TriangleSpec("clean", lower.dtype)), ordinal).launch(
        stream, lower.batch, *kernel_matrix(lower), info.ptr, int32(lower.rows)
    )
