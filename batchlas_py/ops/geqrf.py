"""geqrf: A = Q R by Householder reflectors.

R lies on and above the diagonal of ``qr``, below it the vectors without their leading ones; ``tau`` has the
weights. Reflectors are LAPACK's: the diagonal of R is real, of the sign that the column's leading element has
not.
"""

from __future__ import annotations

from ..vendor import lapack_qr
from . import cublas_qr, qr_blocked, qr_cta, qr_tiny
from .common import vendor_family

__all__ = ["FAMILIES"]

FAMILIES = (
    qr_tiny.family("geqrf"),
    qr_cta.FAMILY,
    qr_blocked.GEQRF,
    vendor_family("geqrf", cublas_qr.geqrf, lapack_qr.geqrf, square=False),
)
