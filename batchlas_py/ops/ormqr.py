"""ormqr: products with Q or its adjoint from either side, from the reflectors of geqrf."""

from __future__ import annotations

from ..vendor import lapack_qr
from . import cublas_qr, qr_blocked
from .common import vendor_family

__all__ = ["FAMILIES"]

FAMILIES = (
    qr_blocked.ORMQR,
    vendor_family("ormqr", cublas_qr.ormqr, lapack_qr.ormqr, square=False),
)
