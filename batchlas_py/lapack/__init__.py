"""LAPACK-shaped calls over batches: named as in LAPACK, ``info`` returned and never raised.

Matrices are ``(..., m, n)``, right-hand sides ``(..., n, nrhs)``; the leading dimensions are the batch.
``ipiv`` is int32 and 1-based, ``info`` int32 per item. NumPy arrays run on the host (LAPACK through
SciPy), device arrays of CuPy, PyTorch, Numba or this package on the GPU; results come back in the same
library. On the GPU no call waits for the device: it is enqueued on ``stream``, by default the one that
the arrays' library is using.
"""

from __future__ import annotations

from .blas import gemm, laswp, trsm
from .cholesky import PosvResult, PotrfResult, posv, potrf, potrs
from .lu import GesvResult, GetrfResult, GetriResult, gesv, getrf, getri, getrs
from .qr import GeqrfResult, geqrf, orgqr, ormqr

__all__ = [
    "GeqrfResult",
    "GesvResult",
    "GetrfResult",
    "GetriResult",
    "PosvResult",
    "PotrfResult",
    "gemm",
    "geqrf",
    "gesv",
    "getrf",
    "getri",
    "getrs",
    "laswp",
    "orgqr",
    "ormqr",
    "posv",
    "potrf",
    "potrs",
    "trsm",
]
