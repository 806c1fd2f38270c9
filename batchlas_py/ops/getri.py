"""getri: the inverse from the factors of getrf; NaN where a pivot is zero."""

from __future__ import annotations

from ..vendor import lapack
from . import cublas_lu
from .common import vendor_family

__all__ = ["FAMILIES"]

FAMILIES = (vendor_family("getri", cublas_lu.getri, lapack.getri),)
