"""getrs: op(A) X = B with the factors of getrf; op is none, transpose or conjugate transpose."""

from __future__ import annotations

from ..vendor import lapack
from . import cublas_lu, getrs_blocked, getrs_cta
from .common import vendor_family

__all__ = ["FAMILIES"]

FAMILIES = (
    getrs_cta.FAMILY,
    getrs_blocked.FAMILY,
    vendor_family("getrs", cublas_lu.getrs, lapack.getrs),
)
