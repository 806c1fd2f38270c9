"""potrf: A = L L^H or A = U^H U, in place of the named triangle.

The other triangle is neither read nor written, imaginary parts of the diagonal count as zero. ``info`` is the
first pivot that is not positive, 1-based, or 0.
"""

from __future__ import annotations

from ..vendor import lapack_spd
from . import cusolver_spd, potrf_blocked, potrf_cta, spd_tiny
from .common import vendor_family

__all__ = ["FAMILIES"]

FAMILIES = (
    spd_tiny.family("potrf"),
    potrf_cta.CTA,
    potrf_blocked.FAMILY,
    *potrf_cta.LPANELS,
    vendor_family("potrf", cusolver_spd.potrf, lapack_spd.potrf),
)
