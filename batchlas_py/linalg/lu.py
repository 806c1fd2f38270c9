"""General matrices: solution, inverse, and factors with pivots that count from 0."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from .. import lapack
from ..errors import ArgumentError
from ..interop.arrays import memory_of
from ..interop.edge import open_edge
from ..interop.libraries import library_of
from .common import common_dtype, fold, raise_if_failed

__all__ = ["LUFactors", "inv", "lu_factor", "lu_solve", "solve"]

SINGULAR: Final = "singular"
TRANS: Final = {0: "N", 1: "T", 2: "C"}


class LUFactors(NamedTuple):
    """Factors and pivots of `lu_factor`."""

    lu: Any
    piv: Any


def solve(
    a: Any,
    b: Any,
    *,
    check: bool | None = None,
    route: str | None = None,
    stream: Any = None,
    backend: str | None = None,
) -> Any:
    """Solve ``A X = B``, by the shape rules of `numpy.linalg.solve`.

    Parameters
    ----------
    a : array, shape (..., n, n)
        Matrices.
    b : array, shape (n,) or (..., n, nrhs)
        Right-hand sides; one dimension is one vector. Leading dimensions are broadcast: one factorization
        serves all the sides of a matrix.
    check : bool, optional
        Whether to raise where a matrix is singular; on the GPU that waits for the device. By default the host
        raises and the GPU does not.
    route, stream, backend : optional
        As in `batchlas_py.lapack.getrf`; a route is one of ``gesv``.

    Returns
    -------
    array, shape (..., n) or (..., n, nrhs)
        The solution; NaN for an item whose matrix is exactly singular.

    Raises
    ------
    LinAlgError
        A pivot is exactly zero, and ``check`` says so.
    ArgumentError, ArgumentTypeError, PinError, UnsupportedProblem
        As in `batchlas_py.lapack.getrf`.

    Examples
    --------
    >>> import numpy as np
    >>> from batchlas_py import linalg
    >>> linalg.solve(np.array([[3.0, 1.0], [1.0, 2.0]]), np.array([9.0, 8.0])).round(4)
    array([2., 3.])
    """
    system = fold(a, b)
    x, _, _, info = lapack.gesv(system.a, system.b, route=route, stream=stream, backend=backend)
    raise_if_failed(open_edge({"info": info}, stream, backend), info, check, SINGULAR)
    return system.unfold(x)


def inv(a: Any, *, check: bool | None = None, stream: Any = None, backend: str | None = None) -> Any:
    """Inverse, as `numpy.linalg.inv` has it.

    Parameters
    ----------
    a : array, shape (..., n, n)
        Matrices.
    check, stream, backend : optional
        As in `solve`.

    Returns
    -------
    array, shape (..., n, n)
        The inverse; NaN for an item that is exactly singular.

    Raises
    ------
    LinAlgError, ArgumentError, ArgumentTypeError, UnsupportedProblem
        As in `solve`.

    Examples
    --------
    >>> import numpy as np
    >>> from batchlas_py import linalg
    >>> linalg.inv(np.array([[2.0, 1.0], [1.0, 1.0]]))
    array([[ 1., -1.],
           [-1.,  2.]])
    """
    lu, ipiv, _ = lapack.getrf(_cast(a), stream=stream, backend=backend)
    inverse, info = lapack.getri(lu, ipiv, stream=stream, backend=backend)
    raise_if_failed(open_edge({"info": info}, stream, backend), info, check, SINGULAR)
    return inverse


def lu_factor(a: Any, *, stream: Any = None, backend: str | None = None) -> LUFactors:
    """LU factors with partial pivoting, as `scipy.linalg.lu_factor` has them.

    Parameters
    ----------
    a : array, shape (..., m, n)
        Matrices.
    stream, backend : optional
        As in `solve`.

    Returns
    -------
    lu : array, shape (..., m, n)
        U on and above the diagonal, the unit lower L below.
    piv : int32 array, shape (..., min(m, n))
        Row interchanged with row i, counted from 0, where `batchlas_py.lapack.getrf` and PyTorch count
        from 1.

    Raises
    ------
    ArgumentError, ArgumentTypeError, UnsupportedProblem
        As in `solve`.

    Notes
    -----
    A singular matrix has factors, with a zero on U's diagonal.

    Examples
    --------
    >>> import numpy as np
    >>> from batchlas_py import linalg
    >>> lu, piv = linalg.lu_factor(np.array([[0.0, 2.0], [4.0, 1.0]]))
    >>> piv
    array([1, 1], dtype=int32)
    """
    lu, ipiv, _ = lapack.getrf(_cast(a), stream=stream, backend=backend)
    return LUFactors(lu, ipiv - 1)


def lu_solve(
    factors: tuple[Any, Any],
    b: Any,
    trans: int = 0,
    *,
    stream: Any = None,
    backend: str | None = None,
) -> Any:
    """Solve ``op(A) X = B`` with the factors of `lu_factor`.

    Parameters
    ----------
    factors : (lu, piv)
        As `lu_factor` returns them.
    b : array, shape (n,) or (..., n, nrhs)
        Right-hand sides, broadcast as in `solve`.
    trans : {0, 1, 2}, optional
        ``op(A)`` is A, its transpose, or its conjugate transpose.
    stream, backend : optional
        As in `solve`.

    Returns
    -------
    array, shape (..., n) or (..., n, nrhs)
        The solution; a zero on U's diagonal makes it infinite or NaN, as in LAPACK's ``?getrs``.

    Raises
    ------
    ArgumentError, ArgumentTypeError, UnsupportedProblem
        As in `solve`.

    Examples
    --------
    >>> import numpy as np
    >>> from batchlas_py import linalg
    >>> linalg.lu_solve(linalg.lu_factor(np.array([[0.0, 2.0], [4.0, 1.0]])), np.array([2.0, 5.0]))
    array([1., 1.])
    """
    lu, piv = factors
    if trans not in TRANS:
        raise ArgumentError(f"trans: got {trans!r}, accepted are 0, 1, 2")
    system = fold(lu, b)
    ipiv = (piv + 1).reshape((*system.a.shape[:-2], piv.shape[-1]))
    x = lapack.getrs(system.a, ipiv, system.b, TRANS[trans], stream=stream, backend=backend)
    return system.unfold(x)


def _cast(a: Any) -> Any:
    """The matrices in a dtype that is computed in."""
    dtype = common_dtype(a=a)
    return a if memory_of(a, "a").dtype == dtype else library_of(a, "a").cast(a, dtype)
