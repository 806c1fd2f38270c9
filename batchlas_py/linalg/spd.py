"""Positive definite matrices: factor and solution."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from .. import lapack
from ..interop.edge import open_edge
from ..nan import not_a_number
from ..ops.triangles import as_lower, clean
from .common import fold, raise_if_failed

__all__ = ["cholesky", "solve_spd"]

FAILED: Final = "not positive definite"


def cholesky(
    a: Any, *, upper: bool = False, check: bool | None = None, stream: Any = None, backend: str | None = None
) -> Any:
    """Cholesky factor, as `numpy.linalg.cholesky` has it.

    Parameters
    ----------
    a : array, shape (..., n, n)
        Hermitian positive definite matrices, of which one triangle is looked at.
    upper : bool, optional
        Return U of ``A = U^H U`` from the upper triangle, instead of L of ``A = L L^H`` from the lower one.
    check : bool, optional
        Whether to raise where an item is not positive definite; on the GPU that waits for the device. By
        default the host raises and the GPU does not.
    stream, backend : optional
        As in `batchlas_py.lapack.getrf`.

    Returns
    -------
    array, shape (..., n, n)
        The factor, with zeros in the other triangle; NaN for an item that is not positive definite.

    Raises
    ------
    LinAlgError
        An item is not positive definite, and ``check`` says so.
    ArgumentError, ArgumentTypeError, UnsupportedProblem
        As in `batchlas_py.lapack.getrf`.

    Examples
    --------
    >>> import numpy as np
    >>> from batchlas_py import linalg
    >>> linalg.cholesky(np.array([[4.0, 2.0], [2.0, 5.0]]))
    array([[2., 0.],
           [1., 2.]])
    """
    uplo = "U" if upper else "L"
    c, info = lapack.potrf(a, uplo=uplo, stream=stream, backend=backend)
    edge = open_edge({"c": c, "info": info}, stream, backend)
    factor, status = edge.view("c"), edge.view("info", 0, ("int32",))
    if factor.array is not None and status.array is not None:
        _clean_on_host(factor.array, status.array[:, 0, 0], uplo)
    elif factor.batch and factor.rows:
        edge.run(lambda: clean(as_lower(factor, uplo), status, edge.stream, edge.device.ordinal))
    raise_if_failed(edge, info, check, FAILED)
    return c


def _clean_on_host(c: np.ndarray, info: np.ndarray, uplo: str) -> None:
    c[...] = np.tril(c) if uplo == "L" else np.triu(c)
    c[info > 0] = not_a_number(c.dtype.name)


def solve_spd(
    a: Any,
    b: Any,
    *,
    check: bool | None = None,
    stream: Any = None,
    backend: str | None = None,
) -> Any:
    """Solve ``A X = B`` with Hermitian positive definite A, by the shape rules of `numpy.linalg.solve`.

    Parameters
    ----------
    a : array, shape (..., n, n)
        Matrices, of which the lower triangle is looked at.
    b : array, shape (n,) or (..., n, nrhs)
        Right-hand sides; one dimension is one vector. Leading dimensions are broadcast: one factorization
        serves all the sides of a matrix.
    check : bool, optional
        As in `cholesky`.
    stream, backend : optional
        As in `batchlas_py.lapack.getrf`.

    Returns
    -------
    array, shape (..., n) or (..., n, nrhs)
        The solution; NaN for an item that is not positive definite.

    Raises
    ------
    LinAlgError
        An item is not positive definite, and ``check`` says so.
    ArgumentError, ArgumentTypeError, UnsupportedProblem
        As in `batchlas_py.lapack.getrf`.

    Examples
    --------
    >>> import numpy as np
    >>> from batchlas_py import linalg
    >>> linalg.solve_spd(np.array([[4.0, 2.0], [2.0, 5.0]]), np.array([8.0, 12.0]))
    array([1., 2.])
    """
    system = fold(a, b)
    x, _, info = lapack.posv(system.a, system.b, stream=stream, backend=backend)
    raise_if_failed(open_edge({"info": info}, stream, backend), info, check, FAILED)
    return system.unfold(x)
