"""orgqr: the first columns of Q, from the reflectors of geqrf."""

from __future__ import annotations

from ..vendor import lapack_qr
from . import cublas_qr, qr_blocked, qr_tiny
from .common import vendor_family

__all__ = ["FAMILIES"]

FAMILIES = (
    qr_tiny.family("orgqr"),
    qr_blocked.ORGQR,
    vendor_family("orgqr", cublas_qr.orgqr, lapack_qr.orgqr, square=False),
)
