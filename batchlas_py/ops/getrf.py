"""getrf: P A = L U with partial pivoting.

L has a unit diagonal and lies below U's in ``lu``. ``ipiv`` holds 1-based interchanges; the pivot is
the largest |re| + |im|, the lowest row among ties. ``info`` is the first zero pivot, 1-based, or 0;
elimination goes on past it.
"""

from __future__ import annotations

import numpy as np

from ..family import Call, Family
from ..vendor import lapack
from . import cublas_lu, tiny
from .common import kernel_matrix, vendor_family

__all__ = ["FAMILIES"]


def _launch_tiny(call: Call) -> None:
    ops = call.operands
    tiny.launch(
        "getrf_tiny",
        call,
        *kernel_matrix(ops["a"]),
        *kernel_matrix(ops["lu"]),
        ops["ipiv"].ptr,
        ops["info"].ptr,
        np.int32(call.problem.n),
        call.problem.batch,
    )


FAMILIES = (
    Family("getrf", "tiny", tiny.can_run, _launch_tiny),
    vendor_family("getrf", cublas_lu.getrf, lapack.getrf),
)
