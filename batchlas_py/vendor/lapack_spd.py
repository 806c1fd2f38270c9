"""The host backend of Cholesky: SciPy's LAPACK over a batch of NumPy arrays.

An optimised LAPACK may go on past a pivot that is NaN; ``info`` is therefore read off the diagonal too.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ..family import Call
from ..nan import not_a_number
from .lapack import _parts, arrays_of

__all__ = ["posv", "potrf", "potrs"]


class _Routines(NamedTuple):
    potrf: Any
    potrs: Any


@cache
def _routines(dtype: str) -> _Routines:
    from scipy.linalg import get_lapack_funcs  # only here: SciPy would delay a GPU's first call

    return _Routines(*get_lapack_funcs(_Routines._fields, dtype=np.dtype(dtype)))


def potrf(call: Call) -> None:
    """Factor in place of the named triangle; `Call` operands ``c``, ``info``."""
    c, info = arrays_of(call, "c", "info")
    for part in _parts(c):
        _factor(c[part], info[part], call.problem.uplo)


def potrs(call: Call) -> None:
    """Solve from the factors; operands ``c``, ``b``, ``x``."""
    c, b, x = arrays_of(call, "c", "b", "x")
    _solve(c, b, x, call.problem.uplo)


def posv(call: Call) -> None:
    """Factor and solve; operands ``b``, ``x``, ``c``, ``info``.

    The solution of an item that is not positive definite is NaN.
    """
    b, x, c, info = arrays_of(call, "b", "x", "c", "info")
    for part in _parts(c):
        _factor(c[part], info[part], call.problem.uplo)
        _solve(c[part], b[part], x[part], call.problem.uplo)
        x[part][info[part][:, 0, 0] > 0] = not_a_number(x.dtype.name)


def _factor(c: np.ndarray, info: np.ndarray, uplo: str) -> None:
    lower, keep = uplo == "L", np.tril if uplo == "L" else np.triu
    mine = keep(np.ones(c.shape[1:], bool))
    routine = _routines(c.dtype.name).potrf
    for matrix, status in zip(c, info[:, 0, 0, None], strict=True):
        factor = np.array(matrix, order="F")
        np.fill_diagonal(factor, factor.diagonal().real)
        factor, reported = routine(factor, lower=lower, clean=False, overwrite_a=True)
        matrix[mine] = factor[mine]
        status[...] = reported or _first_nan(factor.diagonal().real)


def _first_nan(pivots: np.ndarray) -> int:
    """The first pivot that is NaN, 1-based, or 0."""
    failed = np.isnan(pivots)
    return int(failed.argmax()) + 1 if failed.any() else 0


def _solve(c: np.ndarray, b: np.ndarray, x: np.ndarray, uplo: str) -> None:
    if not b.size:
        return
    routine = _routines(c.dtype.name).potrs
    for factor, sides, solution in zip(c, b, x, strict=True):
        solution[...] = routine(factor, sides, lower=uplo == "L")[0]
