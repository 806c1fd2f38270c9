"""gemm: C = alpha op(A) op(B) + beta C; op is none, transpose or conjugate transpose."""

from __future__ import annotations

from ..vendor import lapack
from . import cublas_blas, gemm_cta
from .common import vendor_family

__all__ = ["FAMILIES"]

FAMILIES = (
    vendor_family("gemm", cublas_blas.gemm, lapack.gemm, square=False),
    gemm_cta.FAMILY,
)
