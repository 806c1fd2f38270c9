"""NumPy-shaped calls over batches: `numpy.linalg`'s names and shape rules, on top of `batchlas_py.lapack`."""

from __future__ import annotations

from .lu import LUFactors, inv, lu_factor, lu_solve, solve
from .qr import QRResult, qr
from .spd import cholesky, solve_spd

__all__ = [
    "LUFactors",
    "QRResult",
    "cholesky",
    "inv",
    "lu_factor",
    "lu_solve",
    "qr",
    "solve",
    "solve_spd",
]
