"""``batchlas explain``: why a problem takes the route it takes."""

from __future__ import annotations

from typing import Literal

import batchlas_py

from ..problem import Layout

__all__ = ["explain"]

Dtype = Literal["float32", "float64", "complex64", "complex128"]


def explain(
    op: str,
    *,
    n: int,
    batch: int,
    dtype: Dtype,
    m: int | None = None,
    nrhs: int = 0,
    uplo: str = "",
    trans: str = "",
    layout: Layout = "F",
    route: str | None = None,
    arch: str | None = None,
) -> None:
    """Print every family's verdict, the rule that decided, and the route.

    Parameters
    ----------
    op
        LAPACK name without the type letter, such as getrf.
    n
        Columns of one matrix.
    batch
        Number of matrices.
    dtype
        Element type.
    m
        Rows of one matrix; n unless given.
    nrhs
        Columns of the right-hand side; 0 where the op has none.
    uplo
        L or U, where the op has it.
    trans
        N, T or C, where the op has it.
    layout
        F: unit stride down a column. C: unit stride along a row. strided: neither.
    route
        The pin to explain, as in a call.
    arch
        Architecture, such as sm_90, or host; the device of this machine unless given.
    """
    found = batchlas_py.explain(
        op,
        n=n,
        batch=batch,
        dtype=dtype,
        m=m,
        nrhs=nrhs,
        uplo=uplo,
        trans=trans,
        layout=layout,
        route=route,
        arch=arch,
    )
    print(found)
