"""Test matrices: the eleven types of LAPACK's DGE suite, and matrices whose factors are known exactly."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from ..errors import ArgumentError

__all__ = [
    "DGE_TYPES",
    "ExactLU",
    "dge",
    "dge_info",
    "exact_lu",
    "random_matrix",
    "scale_row",
    "unitary",
    "with_condition",
    "zero_columns",
]

DGE_TYPES: Final = range(1, 12)


class ExactLU(NamedTuple):
    """A matrix that every right implementation factors without rounding, and its factors.

    Attributes
    ----------
    a, lu : ndarray, shape (n, n)
    ipiv : ndarray of int32, shape (n,)
        1-based.
    info : int
        First zero pivot, 1-based; 0 if none.
    """

    a: np.ndarray
    lu: np.ndarray
    ipiv: np.ndarray
    info: int


def random_matrix(m: int, n: int, dtype: str, rng: np.random.Generator) -> np.ndarray:
    """Standard normal entries, shape (m, n); real and imaginary parts alike."""
    parts = rng.standard_normal((2, m, n))
    entries: np.ndarray = parts[0] + 1j * parts[1] if np.dtype(dtype).kind == "c" else parts[0]
    return entries.astype(dtype)


def unitary(n: int, dtype: str, rng: np.random.Generator) -> np.ndarray:
    """A random orthogonal or unitary matrix in double precision, shape (n, n)."""
    q: np.ndarray = np.linalg.qr(random_matrix(n, n, _double(dtype), rng))[0]
    return q


def with_condition(
    m: int, n: int, cond: float, dtype: str, rng: np.random.Generator, norm: float = 1.0
) -> np.ndarray:
    """A random matrix of shape (m, n) with geometric singular values from ``norm`` to ``norm / cond``."""
    steps = min(m, n)
    left, right = unitary(m, dtype, rng)[:, :steps], unitary(n, dtype, rng)[:steps]
    a: np.ndarray = (left * (norm * _singular_values(steps, cond))) @ right
    return a.astype(dtype)


def dge(imat: int, m: int, n: int, dtype: str, rng: np.random.Generator) -> np.ndarray:
    """A matrix of LAPACK's DGE type ``imat``, shape (m, n).

    Parameters
    ----------
    imat : int
        1 diagonal, 2 upper, 3 lower triangular, 4 random, 5 first column zero, 6 last column zero,
        7 last half zero, 8 condition ``sqrt(0.1 / eps)``, 9 condition ``0.1 / eps``, 10 scaled near
        underflow, 11 scaled near overflow. Where not said otherwise, norm 1 and condition 2.
    m, n : int
    dtype : str
    rng : numpy.random.Generator

    Raises
    ------
    ArgumentError
        If ``imat`` is not one of 1 to 11.
    """
    if imat not in DGE_TYPES:
        raise ArgumentError(f"imat: got {imat}, accepted are 1 to 11")
    cond, norm = _condition_and_norm(imat, n, dtype)
    if imat == 1:
        return _diagonal(m, n, norm * _singular_values(min(m, n), cond)).astype(dtype)
    a = with_condition(m, n, cond, dtype, rng, norm)
    if imat == 2:
        return np.triu(np.linalg.qr(a, mode="complete")[1])
    if imat == 3:
        return np.tril(np.linalg.qr(a.T, mode="complete")[1].T)
    return zero_columns(a, _zeroed(imat, m, n))


def dge_info(imat: int, m: int, n: int) -> int:
    """The ``info`` that getrf must return for a matrix of type ``imat``."""
    zeroed = _zeroed(imat, m, n)
    return zeroed.start + 1 if len(zeroed) and min(m, n) else 0


def zero_columns(a: np.ndarray, columns: range | list[int]) -> np.ndarray:
    """A copy of ``a``, shape (..., m, n), with columns of zeros."""
    out = a.copy()
    out[..., :, list(columns)] = 0
    return out


def scale_row(a: np.ndarray, row: int, factor: float) -> np.ndarray:
    """A copy of ``a``, shape (..., m, n), with one row scaled in double precision, then rounded."""
    out = a.copy()
    wide = np.result_type(a.dtype, np.float64)
    out[..., row, :] = (a[..., row, :].astype(wide) * factor).astype(a.dtype)
    return out


def exact_lu(n: int, dtype: str, rng: np.random.Generator, zero_pivots: tuple[int, ...] = ()) -> ExactLU:
    """A matrix of small multiples of 1/4 whose elimination is exact in any arithmetic.

    The multipliers are 0 or at most a half in magnitude, so no pivot is a tie; the pivots are powers of
    two, so that dividing and multiplying by the reciprocal agree; products and sums need few bits.

    Parameters
    ----------
    n : int
    dtype : str
    rng : numpy.random.Generator
    zero_pivots : tuple of int
        Steps, 0-based, whose pivot is exactly zero.
    """
    multipliers = np.tril(rng.choice([0.0, 0.25, 0.5], (n, n)) * _units((n, n), dtype, rng), -1)
    upper = np.triu(rng.integers(0, 5, (n, n)) * _units((n, n), dtype, rng), 1)
    pivots = rng.choice([1.0, 2.0, 4.0], n) * _units((n,), dtype, rng)
    swaps = rng.integers(np.arange(n), n) if n else np.zeros(0, np.int64)
    for k in zero_pivots:
        pivots[k], multipliers[:, k], swaps[k] = 0, 0, k
    upper = upper + np.diag(pivots)
    a = (multipliers + np.eye(n)) @ upper
    for k in reversed(range(n)):
        a[[k, swaps[k]]] = a[[swaps[k], k]]
    info = min(zero_pivots, default=-1) + 1
    return ExactLU(a.astype(dtype), (multipliers + upper).astype(dtype), (swaps + 1).astype(np.int32), info)


def _units(shape: tuple[int, ...], dtype: str, rng: np.random.Generator) -> np.ndarray:
    """Random signs; for a complex dtype also the imaginary unit."""
    return rng.choice([1, -1, 1j, -1j] if np.dtype(dtype).kind == "c" else [1.0, -1.0], shape)


def _double(dtype: str) -> str:
    return np.result_type(dtype, np.float64).name


def _condition_and_norm(imat: int, n: int, dtype: str) -> tuple[float, float]:
    limits = np.finfo(dtype)
    worst, small = 0.1 / float(limits.eps), 0.25 * float(limits.tiny) / float(limits.eps)
    cond = {8: worst**0.5, 9: worst}.get(imat, 2.0)
    return (cond if n > 1 else 1.0), {10: small, 11: 1 / small}.get(imat, 1.0)


def _singular_values(count: int, cond: float) -> np.ndarray:
    return float(cond) ** -np.linspace(0.0, 1.0, count)


def _diagonal(m: int, n: int, values: np.ndarray) -> np.ndarray:
    a = np.zeros((m, n))
    np.fill_diagonal(a, values)
    return a


def _zeroed(imat: int, m: int, n: int) -> range:
    """Columns that are zero in types 5 to 7."""
    steps = min(m, n)
    first = {5: 0, 6: max(steps - 1, 0), 7: steps // 2}.get(imat, n)
    return range(first, n if imat == 7 else min(first + 1, n))
