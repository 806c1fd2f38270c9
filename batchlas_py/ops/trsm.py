"""trsm: op(A) X = alpha B or X op(A) = alpha B with a triangle A."""

from __future__ import annotations

from ..vendor import lapack
from . import cublas_blas, trsm_cta
from .common import vendor_family

__all__ = ["FAMILIES"]

FAMILIES = (
    trsm_cta.FAMILY,
    vendor_family("trsm", cublas_blas.trsm, lapack.trsm, square=False),
)
