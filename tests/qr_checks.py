"""Assertions on QR that every backend must meet; all take NumPy arrays with the batch in front."""

from __future__ import annotations

import numpy as np
from scipy.linalg import get_lapack_funcs

from batchlas_py.testing import matgen, qr_oracle, ratios

from .checks import judge

TOLERANCE = 30


def wide(a: np.ndarray) -> np.ndarray:
    """The batch in double precision."""
    return a.astype(np.result_type(a.dtype, np.float64))


def explicit_q(qr: np.ndarray, tau: np.ndarray) -> np.ndarray:
    """Q of m columns that the reflectors mean, in double precision, rounded once."""
    full = [qr_oracle.org2r(wide(v), wide(t), qr.shape[1]) for v, t in zip(qr, tau, strict=True)]
    return np.array(full).reshape(len(qr), qr.shape[1], qr.shape[1]).astype(qr.dtype)


def check_qr(a: np.ndarray, q: np.ndarray, r: np.ndarray) -> None:
    """Q has orthonormal columns, R is upper triangular, and their product is A."""
    assert not np.tril(r, -1).any(), "R has something below its diagonal"
    assert ratios.dqrt11(q).passes(), f"ratio of orthogonality {ratios.dqrt11(q).worst:.3g}"
    judge(ratios.dqrt01(a, q, r), lambda i: _reference(a[[i]]))


def check_geqrf(a: np.ndarray, qr: np.ndarray, tau: np.ndarray) -> None:
    """Judge factors and weights; the diagonal of R is real, as are the weights of real matrices."""
    assert np.isfinite(qr).all() and np.isfinite(tau).all()
    check_qr(a, explicit_q(qr, tau), np.triu(qr))
    assert not qr.diagonal(axis1=1, axis2=2).imag.any(), "the diagonal of R is not real"


def check_like_lapack(a: np.ndarray, qr: np.ndarray, tau: np.ndarray) -> None:
    """Factors and weights of well-conditioned matrices are the oracle's, signs included."""
    for i in range(len(a)):
        expected = qr_oracle.geqr2(a[i])
        limit = TOLERANCE * max(a.shape[1:]) * np.finfo(a.dtype).eps
        size = max(float(abs(a[i]).max()), 1.0)
        assert abs(tau[i] - expected.tau).max(initial=0) < limit
        assert abs(qr[i] - expected.qr).max() < limit * size


def conditioned(batch: int, m: int, n: int, dtype: str, seed: int = 0) -> np.ndarray:
    """Matrices of condition 2, shape (batch, m, n)."""
    rng = np.random.default_rng(seed + 100 * m + n)
    return np.array([matgen.with_condition(m, n, 2.0, dtype, rng) for _ in range(batch)])


def _reference(a: np.ndarray) -> ratios.Ratios:
    """LAPACK's own ratio."""
    qr, tau, *_ = get_lapack_funcs("geqrf", dtype=a.dtype)(a[0])
    return ratios.dqrt01(a, explicit_q(qr[None], tau[None]), np.triu(qr)[None])
