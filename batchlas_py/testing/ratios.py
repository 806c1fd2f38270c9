"""LAPACK's test ratios over a batch: how many roundings a result is away from exact.

A ratio is the residual in units of ``eps = numpy.finfo(dtype).eps / 2``; LAPACK's own suite passes below 30.
Residuals are formed in float64 or complex128, norms are 1-norms.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

__all__ = [
    "THRESHOLD",
    "Ratios",
    "dget01",
    "dget02",
    "dget03",
    "dmmch",
    "dqrt01",
    "dqrt03",
    "dqrt11",
    "tripwire",
]

THRESHOLD: Final = 30.0


@dataclass(frozen=True)
class Ratios:
    """One ratio per item.

    Attributes
    ----------
    values : ndarray of float64, shape (...,)
        NaN where the result has one.
    """

    values: np.ndarray

    @property
    def worst(self) -> float:
        """Largest ratio of the batch, 0 if it is empty; NaN counts as the largest."""
        return float(self.values.max(initial=0.0))

    @property
    def index(self) -> tuple[int, ...]:
        """Where the worst ratio is; empty for an empty batch or a single matrix."""
        if not self.values.size:
            return ()
        return tuple(int(i) for i in np.unravel_index(self.values.argmax(), self.values.shape))

    def passes(self, threshold: float = THRESHOLD) -> bool:
        """Whether every ratio is below the threshold; NaN is not."""
        return bool((self.values < threshold).all())


def tripwire(ratio: Ratios, reference: Ratios) -> bool:
    """Whether no item is worse than ``max(1, 4 * reference)``; NaN is worse."""
    return bool((ratio.values <= np.fmax(1.0, 4.0 * reference.values)).all())


@np.errstate(all="ignore")
def dget01(a: np.ndarray, lu: np.ndarray, ipiv: np.ndarray) -> Ratios:
    """Ratio of a factorisation, ``|L U - P A| / (n |A| eps)``.

    Parameters
    ----------
    a, lu : ndarray, shape (..., m, n)
        The matrices and their factors.
    ipiv : ndarray of int, shape (..., min(m, n))
        1-based.
    """
    m, n = a.shape[-2:]
    if not m or not n:
        return _nothing(a)
    steps = min(m, n)
    lower = np.tril(_wide(lu)[..., :, :steps], -1) + np.eye(m, steps)
    upper = np.triu(_wide(lu)[..., :steps, :])
    residual = _norm1(lower @ upper - _interchanged(_wide(a), ipiv))
    norm = _norm1(_wide(a))
    values = residual / n / norm / _eps(a)
    return Ratios(np.where(norm == 0, np.where(residual == 0, 0.0, 1 / _eps(a)), values))


@np.errstate(all="ignore")
def dget02(a: np.ndarray, x: np.ndarray, b: np.ndarray, trans: str = "N") -> Ratios:
    """Ratio of a solution, the largest over its columns of ``|b - op(A) x| / (|op(A)| |x| eps)``.

    Parameters
    ----------
    a : ndarray, shape (..., n, n)
    x, b : ndarray, shape (..., n, nrhs)
        Solutions and right-hand sides.
    trans : {"N", "T", "C"}
    """
    if not a.shape[-1] or not b.shape[-1]:
        return _nothing(b)
    op = _wide(a) if trans == "N" else _wide(a).swapaxes(-1, -2)
    op = op.conj() if trans == "C" else op
    residual = _column_norms(_wide(b) - op @ _wide(x))
    norm, size = _norm1(op)[..., None], _column_norms(_wide(x))
    values = residual / norm / size / _eps(a)
    return Ratios(np.where((norm == 0) | (size == 0), 1 / _eps(a), values).max(axis=-1))


@np.errstate(all="ignore")
def dget03(a: np.ndarray, inv: np.ndarray) -> Ratios:
    """Ratio of an inverse, ``|I - A^-1 A| / (n |A| |A^-1| eps)``, both of shape (..., n, n)."""
    n = a.shape[-1]
    if not n:
        return _nothing(a)
    residual = _norm1(np.eye(n) - _wide(inv) @ _wide(a))
    norm, size = _norm1(_wide(a)), _norm1(_wide(inv))
    values = residual * (1 / norm / size) / _eps(a) / n
    return Ratios(np.where((norm == 0) | (size == 0), 1 / _eps(a), values))


@np.errstate(all="ignore")
def dmmch(product: np.ndarray, a: np.ndarray, b: np.ndarray, addend: np.ndarray | None = None) -> Ratios:
    """Ratio of ``A B + C``, the largest element of ``|product - (A B + C)| / ((|A| |B| + |C|) eps)``.

    Parameters
    ----------
    product : ndarray, shape (..., m, n)
        The product in the working precision.
    a, b : ndarray, shape (..., m, k) and (..., k, n)
        The factors, whatever they are transposed or scaled with included.
    addend : ndarray, shape (..., m, n), optional
        C, scaled.
    """
    if not product.shape[-1] or not product.shape[-2]:
        return _nothing(product)
    start = np.zeros(product.shape) if addend is None else _wide(addend)
    error = abs(_wide(product) - (_wide(a) @ _wide(b) + start))
    gauge = abs(_wide(a)) @ abs(_wide(b)) + abs(start)
    values = np.where((gauge == 0) & (error == 0), 0.0, error / gauge / _eps(product))
    return Ratios(values.max(axis=(-2, -1)))


@np.errstate(all="ignore")
def dqrt01(a: np.ndarray, q: np.ndarray, r: np.ndarray) -> Ratios:
    """Ratio of a factorisation with explicit Q, ``|R - Q^H A| / (m |A| eps)``.

    Parameters
    ----------
    a : ndarray, shape (..., m, n)
    q, r : ndarray, shape (..., m, k) and (..., k, n)
        As many columns of Q as R has rows.
    """
    m, n = a.shape[-2:]
    if not m or not n:
        return _nothing(a)
    scale = _scale(a)
    wide, upper = _wide(a) * scale, _wide(r) * scale
    residual = np.maximum(_norm1(upper - _adjoint(_wide(q)) @ wide), _norm1(wide - _wide(q) @ upper))
    norm = _norm1(wide)
    values = residual / m / norm / _eps(a)
    return Ratios(np.where(norm == 0, np.where(residual == 0, 0.0, 1 / _eps(a)), values))


@np.errstate(all="ignore")
def dqrt11(q: np.ndarray) -> Ratios:
    """Ratio of orthonormal columns, ``|I - Q^H Q| / (m eps)``, ``q`` of shape (..., m, k)."""
    m, k = q.shape[-2:]
    if not k:
        return _nothing(q)
    return Ratios(_norm1(np.eye(k) - _adjoint(_wide(q)) @ _wide(q)) / m / _eps(q))


@np.errstate(all="ignore")
def dqrt03(product: np.ndarray, q: np.ndarray, c: np.ndarray, side: str = "L", trans: str = "N") -> Ratios:
    """Ratio of a product with Q, ``|product - op(Q) C| / (m |C| eps)``.

    Parameters
    ----------
    product, c : ndarray, shape (..., r, p) or (..., p, r)
    q : ndarray, shape (..., r, r)
        Explicit Q.
    """
    if not c.shape[-1] or not c.shape[-2]:
        return _nothing(c)
    op = _wide(q) if trans == "N" else _adjoint(_wide(q))
    exact = op @ _wide(c) if side == "L" else _wide(c) @ op
    norm = _norm1(_wide(c))
    values = _norm1(_wide(product) - exact) / max(q.shape[-1], 1) / norm / _eps(c)
    return Ratios(np.where(norm == 0, np.where(product.any(axis=(-2, -1)), 1 / _eps(c), 0.0), values))


def _adjoint(a: np.ndarray) -> np.ndarray:
    turned: np.ndarray = a.swapaxes(-1, -2).conj()
    return turned


def _scale(a: np.ndarray) -> float:
    """A power of two that keeps norms of double precision in range."""
    largest = float(max(abs(a.real).max(initial=0.0), abs(a.imag).max(initial=0.0)))
    return float(2.0 ** -np.frexp(largest)[1]) if 1e-280 < largest < np.inf else 1.0


def _nothing(a: np.ndarray) -> Ratios:
    return Ratios(np.zeros(a.shape[:-2]))


def _eps(a: np.ndarray) -> float:
    return float(np.finfo(a.dtype).eps) / 2


def _wide(a: np.ndarray) -> np.ndarray:
    return a.astype(np.result_type(a.dtype, np.float64))


def _column_norms(a: np.ndarray) -> np.ndarray:
    norms: np.ndarray = abs(a).sum(axis=-2)
    return norms


def _norm1(a: np.ndarray) -> np.ndarray:
    norm: np.ndarray = _column_norms(a).max(axis=-1)
    return norm


def _interchanged(a: np.ndarray, ipiv: np.ndarray) -> np.ndarray:
    """``P A``, the swaps done step by step over the whole batch."""
    rows = np.broadcast_to(np.arange(a.shape[-2]), a.shape[:-1]).copy()
    for k in range(ipiv.shape[-1]):
        pivot = ipiv[..., k : k + 1] - 1
        chosen = np.take_along_axis(rows, pivot, axis=-1)
        np.put_along_axis(rows, pivot, rows[..., k : k + 1].copy(), axis=-1)
        rows[..., k : k + 1] = chosen
    return np.take_along_axis(a, rows[..., None], axis=-2)
