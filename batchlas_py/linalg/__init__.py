"""NumPy-shaped calls over batches: `numpy.linalg`'s names and shape rules, on top of `batchlas_py.lapack`."""

from __future__ import annotations

from .qr import QRResult, qr
from .spd import cholesky, solve_spd

__all__ = ["QRResult", "cholesky", "qr", "solve_spd"]
