"""The host backend: SciPy's LAPACK and BLAS over a batch of NumPy arrays.

LAPACK does the work wherever its answer can be trusted. An optimised LAPACK may skip the row swap at a
subnormal pivot, get the reciprocal of a pivot wrong at either end of the range of numbers, or return a pivot
out of range for an item with a NaN; such items are worked out here again, column by column with true
divisions.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ..errors import ArgumentError
from ..family import Call
from ..nan import not_a_number

__all__ = ["arrays_of", "gemm", "gesv", "getrf", "getri", "getrs", "laswp", "trsm"]

PART_BYTES = 4 << 20


class _Routines(NamedTuple):
    getrf: Any
    getrs: Any
    getri: Any
    getri_lwork: Any


class _Factors(NamedTuple):
    lu: np.ndarray
    pivots: np.ndarray
    info: np.ndarray


def getrf(call: Call) -> None:
    """Factor ``P A = L U``; `Call` operands ``a``, ``lu``, ``ipiv``, ``info``."""
    a, lu, ipiv, info = arrays_of(call, "a", "lu", "ipiv", "info")
    for part in _parts(a):
        factors = _factor(a[part])
        _store(factors, lu[part], ipiv[part], info[part])


def gesv(call: Call) -> None:
    """Factor and solve; operands ``a``, ``b``, ``x``, ``lu``, ``ipiv``, ``info``.

    The solution of a singular item is NaN; its factors and ``info`` are LAPACK's.
    """
    a, b, x, lu, ipiv, info = arrays_of(call, "a", "b", "x", "lu", "ipiv", "info")
    for part in _parts(a):
        factors = _factor(a[part])
        _solve(factors.lu, factors.pivots, b[part], "N", x[part])
        x[part][factors.info > 0] = not_a_number(x.dtype.name)
        _store(factors, lu[part], ipiv[part], info[part])


def getrs(call: Call) -> None:
    """Solve ``op(A) X = B`` from the factors; operands ``lu``, ``ipiv``, ``b``, ``x``."""
    lu, ipiv, b, x = arrays_of(call, "lu", "ipiv", "b", "x")
    _solve(lu, _zero_based(ipiv, lu.shape[1]), b, call.problem.trans, x)


def getri(call: Call) -> None:
    """Invert from the factors; operands ``lu``, ``ipiv``, ``inv``, ``info``.

    The inverse of a singular item is NaN.
    """
    lu, ipiv, inv, info = arrays_of(call, "lu", "ipiv", "inv", "info")
    pivots = _zero_based(ipiv, lu.shape[1])
    info[:, 0, 0] = failed = _first_zero_pivot(lu)
    if not lu.size:
        return
    routines = _routines(lu.dtype.name)
    lwork = int(routines.getri_lwork(lu.shape[1])[0].real)
    identity, solvable = np.eye(lu.shape[1], dtype=lu.dtype), _solvable(lu)
    for i in range(len(lu)):
        if failed[i]:
            inv[i] = not_a_number(inv.dtype.name)
        elif solvable[i]:
            inv[i] = routines.getri(lu[i], pivots[i], lwork=lwork)[0]
        else:
            inv[i] = _careful_getrs(lu[i], pivots[i], identity, "N")


@np.errstate(all="ignore")
def gemm(call: Call) -> None:
    """``alpha op(A) op(B) + beta C``; operands ``a``, ``b`` and, read and written, ``c``."""
    a, b, c = arrays_of(call, "a", "b", "c")
    transa, transb = tuple(call.problem.trans)
    alpha, beta = (_number(value, c) for value in (call.problem.alpha, call.problem.beta))
    for part in _parts(c):
        addend = beta * c[part] if beta != 0 else c.dtype.type(0)
        c[part] = alpha * (_op(a[part], transa) @ _op(b[part], transb)) + addend if alpha != 0 else addend


def trsm(call: Call) -> None:
    """Solve with a triangle on the left or on the right; operands ``a``, ``b``, ``x``."""
    a, b, x = arrays_of(call, "a", "b", "x")
    problem = call.problem
    for i in range(len(b)):
        x[i] = _blas_trsm(b.dtype.name)(
            _number(problem.alpha, b),
            a[i],
            b[i],
            side=problem.side == "R",
            lower=problem.uplo == "L",
            trans_a="NTC".index(problem.trans),
            diag=problem.diag == "U",
        )


def laswp(call: Call) -> None:
    """Interchange rows, backwards if ``trans`` is ``"T"``; operands ``a``, ``ipiv``, ``x``."""
    a, ipiv, x = arrays_of(call, "a", "ipiv", "x")
    m = a.shape[1]
    pivots = _zero_based(ipiv, m)
    rows = np.broadcast_to(np.arange(m), a.shape[:2]).copy()
    steps, items = range(pivots.shape[1]), np.arange(len(a))
    for k in steps if call.problem.trans == "N" else reversed(steps):
        chosen = rows[items, pivots[:, k]]
        rows[items, pivots[:, k]] = rows[:, k]
        rows[:, k] = chosen
    x[...] = np.take_along_axis(a, rows[:, :, None], axis=1)


def _number(value: complex, like: np.ndarray) -> Any:
    return like.dtype.type(value if np.iscomplexobj(like) else value.real)


def _op(matrices: np.ndarray, trans: str) -> np.ndarray:
    if trans == "N":
        return matrices
    transposed: np.ndarray = matrices.swapaxes(1, 2)
    return transposed.conj() if trans == "C" else transposed


def arrays_of(call: Call, *names: str) -> list[np.ndarray]:
    """The operands of a host call, which are NumPy arrays."""
    arrays = [call.operands[name].array for name in names]
    for name, array in zip(names, arrays, strict=True):
        if array is None:
            raise ArgumentError(f"{name}: got device memory, the host backend accepts NumPy arrays")
    return arrays  # type: ignore[return-value]


@cache
def _routines(dtype: str) -> _Routines:
    from scipy.linalg import get_lapack_funcs  # only here: SciPy would delay a GPU's first call

    return _Routines(*get_lapack_funcs(_Routines._fields, dtype=np.dtype(dtype)))


@cache
def _blas_trsm(dtype: str) -> Any:
    from scipy.linalg import get_blas_funcs  # likewise

    return get_blas_funcs("trsm", dtype=np.dtype(dtype))


def _parts(a: np.ndarray) -> Iterator[slice]:
    """Cut the batch so that the working copy of a part stays small."""
    step = max(1, PART_BYTES // max(1, a[:1].nbytes))
    return (slice(start, start + step) for start in range(0, len(a), step))


def _zero_based(ipiv: np.ndarray, n: int) -> np.ndarray:
    """Pivots as SciPy wants them; LAPACK would write outside the matrix if one were out of range."""
    if ipiv.size and not (ipiv.min() >= 1 and ipiv.max() <= n):
        raise ArgumentError(f"ipiv: got values from {ipiv.min()} to {ipiv.max()}, accepted are 1 to {n}")
    pivots: np.ndarray = ipiv[:, :, 0] - 1
    return pivots


def _factor(a: np.ndarray) -> _Factors:
    batch, m, n = a.shape
    lu = np.array(a.swapaxes(1, 2), order="C").swapaxes(1, 2)
    pivots = np.empty((batch, min(m, n)), np.int32)
    if lu.size:
        routine = _routines(a.dtype.name).getrf
        for i in range(batch):
            lu[i], pivots[i], _ = routine(lu[i], overwrite_a=True)
        for doubtful in np.flatnonzero(~_trusted(lu)):
            lu[doubtful] = a[doubtful]
            _careful_getrf(lu[doubtful], pivots[doubtful])
    return _Factors(lu, pivots, _first_zero_pivot(lu))


def _store(factors: _Factors, lu: np.ndarray, ipiv: np.ndarray, info: np.ndarray) -> None:
    lu[...] = factors.lu
    ipiv[:, :, 0] = factors.pivots + 1
    info[:, 0, 0] = factors.info


def _solve(lu: np.ndarray, pivots: np.ndarray, b: np.ndarray, trans: str, x: np.ndarray) -> None:
    if not b.size:
        return
    routine, code = _routines(lu.dtype.name).getrs, "NTC".index(trans)
    solvable = _solvable(lu)
    for i in range(len(lu)):
        if solvable[i]:
            x[i] = routine(lu[i], pivots[i], b[i], trans=code)[0]
        else:
            x[i] = _careful_getrs(lu[i], pivots[i], b[i], trans)


def _abs1(z: np.ndarray) -> np.ndarray:
    """LAPACK's magnitude, ``|re| + |im|``."""
    size: np.ndarray = abs(z.real) + abs(z.imag) if np.iscomplexobj(z) else abs(z)
    return size


@np.errstate(over="ignore", invalid="ignore")
def _pivot_sizes(lu: np.ndarray) -> np.ndarray:
    return _abs1(lu.diagonal(axis1=1, axis2=2))


def _first_zero_pivot(lu: np.ndarray) -> np.ndarray:
    """First zero on the diagonal of U, 1-based; 0 where there is none."""
    zero = _pivot_sizes(lu) == 0
    if not zero.shape[1]:
        return np.zeros(len(lu), np.int32)
    return np.where(zero.any(axis=1), zero.argmax(axis=1) + 1, 0).astype(np.int32)


def _regular(size: np.ndarray) -> np.ndarray:
    """Pivots whose reciprocal is a normal number, in each part if complex; false for NaN."""
    tiny = np.finfo(size.dtype).tiny
    return np.asarray((size >= 2 * tiny) & (size <= 0.5 / tiny))


def _solvable(lu: np.ndarray) -> np.ndarray:
    """Items that LAPACK solves as well as can be: all pivots regular, or one zero and so no solution."""
    size = _pivot_sizes(lu)
    return np.asarray(_regular(size).all(axis=1) | (size == 0).any(axis=1))


def _trusted(lu: np.ndarray) -> np.ndarray:
    """Items that LAPACK factored rightly: finite, and each pivot regular or atop a column of zeros."""
    size = _pivot_sizes(lu)
    below = np.asarray(np.tril(lu, -1).any(axis=1))[:, : size.shape[1]]
    sound = np.where(size == 0, ~below, _regular(size)).all(axis=1)
    return np.asarray(sound & np.isfinite(lu).all(axis=(1, 2)))


def _scaled(z: np.ndarray, exponent: np.ndarray) -> np.ndarray:
    """``z * 2**exponent``, whatever the exponent."""
    parts = np.ascontiguousarray(z).view(z.real.dtype)
    scaled: np.ndarray = np.ldexp(parts, exponent).view(z.dtype)
    return scaled


def _divide(z: np.ndarray, pivot: np.ndarray) -> np.ndarray:
    """``z / pivot`` with neither overflow nor underflow on the way, complex included."""
    exponent = -np.frexp(np.maximum(abs(pivot.real), abs(pivot.imag)))[1]
    quotient: np.ndarray = _scaled(z, exponent) / _scaled(pivot, exponent)
    return quotient


@np.errstate(all="ignore")
def _careful_getrf(a: np.ndarray, pivots: np.ndarray) -> None:
    """Factor one matrix in place; a NaN wins the pivot search, so pivots stay in range."""
    for k in range(len(pivots)):
        p = pivots[k] = k + int(_abs1(a[k:, k]).argmax())
        a[[k, p]] = a[[p, k]]
        if a[k, k] != 0:
            a[k + 1 :, k] = _divide(a[k + 1 :, k], a[k, k])
            a[k + 1 :, k + 1 :] -= np.multiply.outer(a[k + 1 :, k], a[k, k + 1 :])


@np.errstate(all="ignore")
def _careful_getrs(lu: np.ndarray, pivots: np.ndarray, b: np.ndarray, trans: str) -> np.ndarray:
    """Solve one system by substitution."""
    rows = _permutation(pivots)
    if trans == "N":
        return _substitute_up(lu, _substitute_down(lu, b[rows], unit=True), unit=False)
    op = lu.T if trans == "T" else lu.T.conj()
    x = np.empty_like(b)
    x[rows] = _substitute_up(op, _substitute_down(op, b.copy(), unit=False), unit=True)
    return x


def _permutation(pivots: np.ndarray) -> np.ndarray:
    rows = np.arange(len(pivots))
    for k, p in enumerate(pivots):
        rows[[k, p]] = rows[[p, k]]
    return rows


def _substitute_down(t: np.ndarray, x: np.ndarray, *, unit: bool) -> np.ndarray:
    """Solve with the lower triangle of ``t``, in place."""
    for k in range(len(t)):
        x[k] = x[k] if unit else _divide(x[k], t[k, k])
        x[k + 1 :] -= np.multiply.outer(t[k + 1 :, k], x[k])
    return x


def _substitute_up(t: np.ndarray, x: np.ndarray, *, unit: bool) -> np.ndarray:
    """Solve with the upper triangle of ``t``, in place."""
    return _substitute_down(t[::-1, ::-1], x[::-1], unit=unit)[::-1]
