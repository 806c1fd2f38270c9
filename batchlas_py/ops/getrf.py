"""getrf: P A = L U with partial pivoting.

L has a unit diagonal and lies below U's in ``lu``. ``ipiv`` holds 1-based interchanges; the pivot is
the largest |re| + |im|, the lowest row among ties. ``info`` is the first zero pivot, 1-based, or 0;
elimination goes on past it.
"""

from __future__ import annotations

from ..vendor import lapack
from . import cublas_lu, getrf_blocked, getrf_cta, tiny, vendor_loop
from .common import vendor_family

__all__ = ["FAMILIES"]


FAMILIES = (
    tiny.family("getrf"),
    getrf_cta.FAMILY,
    getrf_blocked.FAMILY,
    vendor_family("getrf", cublas_lu.getrf, lapack.getrf),
    vendor_loop.FAMILY,
)
