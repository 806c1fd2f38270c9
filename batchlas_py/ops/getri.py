"""getri: the inverse from the factors of getrf; NaN where a pivot is zero."""

from __future__ import annotations

from ..family import Call, Family
from ..problem import Problem
from ..vendor import lapack
from . import cublas_lu, getri_cta
from .common import invalidate, native, vendor_family
from .interchange import permutation_matrix, zero_pivots

__all__ = ["FAMILIES"]


def _launch_blocked(call: Call) -> None:
    """P is written where the inverse is to be, and both triangles solved in place: no workspace."""
    problem, ops = call.problem, call.operands
    inverse = ops["inv"]
    permutation_matrix(inverse, ops["ipiv"], call)
    for uplo, diag in (("L", "U"), ("U", "N")):
        child = Problem(
            "trsm", problem.dtype, problem.n, problem.n, problem.batch, nrhs=problem.n, layout=problem.layout,
            side="L", uplo=uplo, trans="N", diag=diag,
        )  # fmt: skip
        call.run(child, {"a": ops["lu"], "b": inverse, "x": inverse})
    zero_pivots(ops["lu"], ops["info"], call)
    invalidate(inverse, ops["info"], call)


FAMILIES = (
    getri_cta.FAMILY,
    Family("getri", "blocked", native, _launch_blocked),
    vendor_family("getri", cublas_lu.getri, lapack.getri),
)
