"""LU of one matrix by the textbook loops, free of BLAS, and how sure each pivot is.

Two right implementations may pick different pivots where rounding decides. The oracle therefore runs the
same elimination three times, with the pivots of the first run: as written, with reciprocals and fused
multiply-adds, and in a wider precision. How far the runs lie apart in a pivot column is that column's
rounding noise, and a pivot is decided where it wins by more.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

__all__ = [
    "Getf2",
    "abs1",
    "assert_info_agrees",
    "assert_pivots_agree",
    "backward",
    "forward",
    "getf2",
    "getrs",
    "laswp",
]

WIDER: Final = {
    "float32": np.float64,
    "float64": np.longdouble,
    "complex64": np.complex128,
    "complex128": np.clongdouble,
}
NOISE_FACTOR: Final = 8.0
AMBIGUOUS_EPS: Final = 8.0


class Getf2(NamedTuple):
    """An LU factorisation with its pivot margins.

    Attributes
    ----------
    lu : ndarray, shape (m, n)
        Both factors, in the working precision.
    ipiv : ndarray of int32, shape (min(m, n),)
        Pivot rows, 1-based.
    info : int
        First zero pivot, 1-based; 0 if none.
    margin : ndarray of float64, shape (min(m, n),)
        Runner-up over winner of ``|re| + |im|``; 1 is a tie, 0 a column of zeros or a single candidate.
    noise : ndarray of float64, shape (min(m, n),)
        Rounding error of the candidates over the winner; 0 where the arithmetic was exact.
    """

    lu: np.ndarray
    ipiv: np.ndarray
    info: int
    margin: np.ndarray
    noise: np.ndarray

    @property
    def decided(self) -> int:
        """Number of leading steps whose pivot every right implementation shares."""
        eps = np.finfo(self.lu.dtype).eps
        clear = self.margin < 1 - AMBIGUOUS_EPS * eps - NOISE_FACTOR * self.noise
        ambiguous = np.flatnonzero(~(clear | (self.noise == 0)))
        return int(ambiguous[0]) if len(ambiguous) else len(self.ipiv)


def abs1(z: np.ndarray) -> np.ndarray:
    """LAPACK's magnitude of a number, ``|re| + |im|``."""
    return np.asarray(abs(z.real) + abs(z.imag))


@np.errstate(all="ignore")
def getf2(a: np.ndarray) -> Getf2:
    """Factor ``P A = L U`` with partial pivoting; ties take the lowest row, a zero pivot is passed over.

    Parameters
    ----------
    a : ndarray, shape (m, n)
        float32, float64, complex64 or complex128; left as it is.
    """
    runs = a.copy(), a.copy(), a.astype(WIDER[a.dtype.name])
    steps = min(a.shape)
    ipiv, margin, noise = np.zeros(steps, np.int32), np.zeros(steps), np.zeros(steps)
    info = 0
    for k in range(steps):
        size = abs1(runs[0][k:, k])
        p = k + int(size.argmax())
        ipiv[k], margin[k], noise[k] = p + 1, _margin(size), _noise([run[k:, k] for run in runs])
        if size[p - k] == 0:
            info = info or k + 1
            continue
        for run, fused in zip(runs, (False, True, False), strict=True):
            _eliminate(run, k, p, fused=fused)
    return Getf2(runs[0], ipiv, info, margin, noise)


def _margin(size: np.ndarray) -> float:
    runner_up, winner = np.sort(np.append(size, 0.0))[-2:]
    return float(runner_up / winner) if winner != 0 else 0.0


def _noise(columns: list[np.ndarray]) -> float:
    plain, fused, wide = columns
    error = np.max([abs1(plain - wide), abs1(fused - wide)])
    return float(error / abs1(plain).max()) if error != 0 else 0.0


def _eliminate(a: np.ndarray, k: int, p: int, *, fused: bool) -> None:
    """Step ``k`` with pivot row ``p``; the loop along a row is NumPy's element-wise one."""
    a[[k, p]] = a[[p, k]]
    unrounded = WIDER[a.dtype.name] if fused else a.dtype
    for i in range(k + 1, a.shape[0]):
        a[i, k] = a[i, k] * (1 / a[k, k]) if fused else a[i, k] / a[k, k]
        product = a[i, k].astype(unrounded) * a[k, k + 1 :]
        a[i, k + 1 :] = a[i, k + 1 :] - product


def laswp(b: np.ndarray, ipiv: np.ndarray, *, forward: bool = True) -> np.ndarray:
    """Rows of ``b`` interchanged by 1-based pivots; backward undoes forward."""
    x = b.copy()
    steps = list(enumerate(ipiv))
    for k, pivot in steps if forward else reversed(steps):
        x[[k, pivot - 1]] = x[[pivot - 1, k]]
    return x


@np.errstate(all="ignore")
def forward(t: np.ndarray, b: np.ndarray, *, unit: bool) -> np.ndarray:
    """Solve with the lower triangle of ``t``, shape (n, n), and right-hand sides of shape (n, nrhs)."""
    x = b.copy()
    for i in range(len(t)):
        for j in range(i):
            x[i] = x[i] - t[i, j] * x[j]
        x[i] = x[i] if unit else x[i] / t[i, i]
    return x


@np.errstate(all="ignore")
def backward(t: np.ndarray, b: np.ndarray, *, unit: bool) -> np.ndarray:
    """Solve with the upper triangle of ``t``, shape (n, n), and right-hand sides of shape (n, nrhs)."""
    x = b.copy()
    for i in reversed(range(len(t))):
        for j in range(i + 1, len(t)):
            x[i] = x[i] - t[i, j] * x[j]
        x[i] = x[i] if unit else x[i] / t[i, i]
    return x


def getrs(lu: np.ndarray, ipiv: np.ndarray, b: np.ndarray, trans: str = "N") -> np.ndarray:
    """Solve ``op(A) X = B`` from the factors of one matrix; ``trans`` is N, T or C."""
    if trans == "N":
        return backward(lu, forward(lu, laswp(b, ipiv), unit=True), unit=False)
    op = lu.T if trans == "T" else lu.conj().T
    return laswp(backward(op, forward(op, b, unit=False), unit=True), ipiv, forward=False)


def assert_pivots_agree(ipiv: np.ndarray, oracle: Getf2) -> int:
    """Compare pivots up to the first ambiguous step, and return how many were compared.

    Raises
    ------
    AssertionError
        At the first decided step that differs.
    """
    for k in range(oracle.decided):
        assert ipiv[k] == oracle.ipiv[k], (
            f"ipiv[{k}] is {ipiv[k]}, the oracle has {oracle.ipiv[k]}"
            f" at margin {oracle.margin[k]:.3g}, noise {oracle.noise[k]:.3g}"
        )
    return oracle.decided


def assert_info_agrees(info: int, oracle: Getf2) -> None:
    """Compare ``info`` as far as the pivots before it are decided.

    Raises
    ------
    AssertionError
        If ``info`` claims a zero pivot where none can be, or misses one that must be.
    """
    decided = oracle.decided
    if 0 < oracle.info <= decided or decided == len(oracle.ipiv):
        assert info == oracle.info, f"info is {info}, the oracle has {oracle.info}"
    else:
        assert info == 0 or info > decided, f"info is {info}, yet the first {decided} pivots are not zero"
