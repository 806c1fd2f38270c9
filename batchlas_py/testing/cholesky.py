"""Cholesky by the textbook loops, free of BLAS, its test ratio, and positive definite test matrices."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from ..errors import ArgumentError
from .matgen import random_matrix, unitary
from .ratios import Ratios, _eps, _norm1, _nothing, _wide

__all__ = [
    "DPO_TYPES",
    "ExactCholesky",
    "Potf2",
    "dpo",
    "dpot01",
    "exact_cholesky",
    "hermitian",
    "indefinite",
    "potf2",
    "random_spd",
    "scaled",
    "spd_with_condition",
    "triangle",
]

DPO_TYPES: Final = range(1, 10)


class Potf2(NamedTuple):
    """Factor and status; the factor's other triangle is that of the matrix."""

    c: np.ndarray
    info: int


class ExactCholesky(NamedTuple):
    """Matrix, shape (n, n), whose factor L every right implementation finds without rounding."""

    a: np.ndarray
    lower: np.ndarray


def triangle(a: np.ndarray, uplo: str) -> np.ndarray:
    """The named triangle of matrices, shape (..., n, n), with zeros elsewhere."""
    return np.tril(a) if uplo == "L" else np.triu(a)


def hermitian(a: np.ndarray, uplo: str) -> np.ndarray:
    """The Hermitian matrices, shape (..., n, n), that the named triangles stand for; diagonals are real."""
    half = triangle(a, uplo)
    strict = half - half * np.eye(a.shape[-1], dtype=a.dtype)
    diagonal = np.real(half * np.eye(a.shape[-1], dtype=a.dtype))
    return np.asarray(strict + strict.conj().swapaxes(-1, -2) + diagonal, a.dtype)


@np.errstate(all="ignore")
def potf2(a: np.ndarray, uplo: str = "L") -> Potf2:
    """Factor ``A = L L^H`` or ``A = U^H U``, and stop at the first pivot that is not positive.

    Parameters
    ----------
    a : ndarray, shape (n, n)
        Of which the named triangle is looked at; left as it is.
    uplo : {"L", "U"}
    """
    c = a.copy()
    view = c if uplo == "L" else c.T
    for j in range(len(view)):
        pivot = view[j, j].real
        for k in range(j):
            pivot = pivot - (view[j, k] * view[j, k].conj()).real
        view[j, j] = pivot
        if not pivot > 0:
            return Potf2(c, j + 1)
        view[j, j] = np.sqrt(pivot)
        for i in range(j + 1, len(view)):
            for k in range(j):
                view[i, j] = view[i, j] - view[i, k] * view[j, k].conj()
            view[i, j] = view[i, j] / view[j, j].real
    return Potf2(c, 0)


@np.errstate(all="ignore")
def dpot01(a: np.ndarray, c: np.ndarray, uplo: str = "L") -> Ratios:
    """Ratio of a factorization, ``|A - L L^H| / (n |A| eps)``, both of shape (..., n, n).

    Parameters
    ----------
    a, c : ndarray
        Matrix and factor; of either the named triangle is looked at.
    uplo : {"L", "U"}
    """
    n = a.shape[-1]
    if not n:
        return _nothing(a)
    full, half = hermitian(_wide(a), uplo), triangle(_wide(c), uplo)
    product = half @ half.conj().swapaxes(-1, -2) if uplo == "L" else half.conj().swapaxes(-1, -2) @ half
    norm, residual = _norm1(full), _norm1(product - full)
    return Ratios(np.where((norm == 0) & (residual == 0), 0.0, residual / norm / _eps(a) / n))


def spd_with_condition(
    n: int, cond: float, dtype: str, rng: np.random.Generator, norm: float = 1.0
) -> np.ndarray:
    """A random Hermitian matrix, shape (n, n), with geometric eigenvalues, ``norm`` to ``norm / cond``."""
    q = unitary(n, dtype, rng)
    values = norm * float(cond) ** -np.linspace(0.0, 1.0, n)
    a = np.asarray((q * values) @ q.conj().T, dtype)
    return hermitian(a, "L")


def scaled(a: np.ndarray, exponents: np.ndarray) -> np.ndarray:
    """``D A D`` with ``D`` powers of two: the factor is ``D L``, bit by bit."""
    d = 2.0 ** np.asarray(exponents, np.float64)
    wide = d[:, None] * a.astype(np.result_type(a.dtype, np.float64)) * d
    return np.asarray(wide, a.dtype)


def indefinite(a: np.ndarray, step: int) -> np.ndarray:
    """A copy of a positive definite matrix, shape (n, n), whose pivot ``step``, 1-based, is negative."""
    out = a.copy()
    out[step - 1, step - 1] = -abs(out[step - 1, step - 1])
    return out


def exact_cholesky(n: int, dtype: str, rng: np.random.Generator) -> ExactCholesky:
    """A matrix of small integers over four, with powers of two as pivots of L."""
    parts = rng.integers(-2, 3, (2, n, n)) / 2
    entries = parts[0] + 1j * parts[1] if np.dtype(dtype).kind == "c" else parts[0]
    lower = np.tril(entries, -1) + np.diag(rng.choice([1.0, 2.0, 4.0], n))
    return ExactCholesky((lower @ lower.conj().T).astype(dtype), lower.astype(dtype))


def dpo(imat: int, n: int, dtype: str, rng: np.random.Generator) -> np.ndarray:
    """A matrix of LAPACK's DPO type ``imat``, shape (n, n).

    Parameters
    ----------
    imat : int
        1 diagonal, 2 random, 3 first, 4 last, 5 middle row and column zero, 6 condition ``sqrt(0.1 / eps)``,
        7 condition ``0.1 / eps``, 8 scaled near underflow, 9 scaled near overflow. Where not said otherwise,
        norm 1 and condition 2.
    n : int
    dtype : str
    rng : numpy.random.Generator
    """
    if imat not in DPO_TYPES:
        raise ArgumentError(f"imat: got {imat}, accepted are 1 to 9")
    limits = np.finfo(dtype)
    worst, small = 0.1 / float(limits.eps), 0.25 * float(limits.tiny) / float(limits.eps)
    cond = {6: worst**0.5, 7: worst}.get(imat, 2.0) if n > 1 else 1.0
    norm = {8: small, 9: 1 / small}.get(imat, 1.0)
    if imat == 1:
        return np.diag(norm * cond ** -np.linspace(0.0, 1.0, n)).astype(dtype)
    a = spd_with_condition(n, cond, dtype, rng, norm)
    zero = {3: 0, 4: n - 1, 5: n // 2}.get(imat)
    if zero is not None:
        a[zero, :] = a[:, zero] = 0
    return a


def random_spd(batch: int, n: int, dtype: str, seed: int = 0) -> np.ndarray:
    """Well-conditioned random matrices, shape (batch, n, n)."""
    flat = random_matrix(batch * n, 2 * n, dtype, np.random.default_rng(seed)).reshape(batch, n, 2 * n)
    wide = _wide(flat)
    return hermitian((wide @ wide.conj().swapaxes(1, 2)).astype(dtype), "L")
