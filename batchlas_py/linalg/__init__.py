"""NumPy-shaped calls over batches: `numpy.linalg`'s names and shape rules, on top of `batchlas_py.lapack`."""

from __future__ import annotations

from .spd import cholesky, solve_spd

__all__ = ["cholesky", "solve_spd"]
