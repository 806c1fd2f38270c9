"""QR factorization with an explicit Q, in NumPy's modes."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from .. import lapack
from ..errors import ArgumentError
from ..interop.edge import Edge, open_edge
from ..lapack.common import dispatch
from ..problem import Problem
from ..views import BatchView

__all__ = ["QRResult", "qr"]

MODES: Final = ("reduced", "complete", "r", "raw")


class QRResult(NamedTuple):
    """Orthonormal and triangular factor of `qr`."""

    Q: Any
    R: Any


def qr(
    a: Any,
    mode: str = "reduced",
    *,
    out: Any = None,
    route: str | None = None,
    stream: Any = None,
    backend: str | None = None,
) -> Any:
    """QR factorization, ``A = Q R``, with the modes and shapes of `numpy.linalg.qr`.

    Parameters
    ----------
    a : array, shape (..., m, n)
        Matrices, tall or wide.
    mode : {"reduced", "complete", "r", "raw"}, optional
        With k = min(m, n): Q of k columns and R of k rows; Q of m columns and R of m rows; R alone, of k
        rows; or the reflectors, transposed, and their weights.
    out : (Q, R) or array, optional
        Arrays of the results' shapes and dtype to write to; R alone where the mode is ``"r"``. None where it
        is ``"raw"``.
    route, stream, backend : optional
        As in `lapack.getrf`; a route is one of ``qr``, or of ``geqrf`` where the mode is ``"raw"``.

    Returns
    -------
    QRResult, array, or tuple of array
        ``(Q, R)``, ``R``, or ``(h, tau)`` with h of shape (..., n, m), in the memory order of ``a`` (h in
        the other).

    Raises
    ------
    ArgumentError, ArgumentTypeError, PinError, UnsupportedProblem
        As in `lapack.getrf`.

    Notes
    -----
    Householder reflectors as in LAPACK's ``?geqrf`` and ``?orgqr``. The diagonal of R is real and may be
    negative.

    Examples
    --------
    >>> import numpy as np
    >>> from batchlas_py import linalg
    >>> q, r = linalg.qr(np.array([[[3.0, 1.0], [4.0, 2.0]]]))
    >>> q[0].round(4), r[0].round(4)
    (array([[-0.6, -0.8],
           [-0.8,  0.6]]), array([[-5. , -2.2],
           [ 0. ,  0.4]]))
    """
    if mode not in MODES:
        raise ArgumentError(f"mode: got {mode!r}, accepted are {', '.join(MODES)}")
    edge = open_edge({"a": a}, stream, backend)
    if mode == "raw":
        if out is not None:
            raise ArgumentError('out: got arrays, accepted is None where the mode is "raw"')
        factors, tau = lapack.geqrf(a, route=route, stream=stream, backend=backend)
        return edge.library.transposed(factors), tau
    matrices = edge.view("a")
    rows = matrices.rows if mode == "complete" else min(matrices.rows, matrices.cols)
    given = (None, out) if mode == "r" else _pair(out)
    q, r = _factor(edge, matrices, rows, 0 if mode == "r" else rows, given, route)
    return r if mode == "r" else QRResult(q, r)


def _pair(out: Any) -> tuple[Any, Any]:
    if out is None:
        return None, None
    if not isinstance(out, tuple | list) or len(out) != 2:
        raise ArgumentError(f"out: got {type(out).__name__}, accepted are two arrays, Q and R")
    return out[0], out[1]


def _factor(
    edge: Edge, a: BatchView, rows: int, columns: int, given: tuple[Any, Any], route: str | None
) -> tuple[Any, Any]:
    """Q with so many columns, and R with so many rows, in given memory or new one."""
    lead, m, n, dtype = edge.batch_shape("a"), a.rows, a.cols, a.dtype
    q, r = given
    q = edge.maker((*lead, m, columns), dtype, like=a)(edge.like) if q is None else q
    r = edge.maker((*lead, rows, n), dtype, like=a)(edge.like) if r is None else r
    operands = {
        "a": a,
        "q": edge.result("q", q, lead, (m, columns), (dtype,)),
        "r": edge.result("r", r, lead, (rows, n), (dtype,)),
    }
    if columns and not n:
        _identity(edge, a, operands["q"])
    problem = Problem("qr", dtype, m, n, a.batch, layout=a.layout, k=columns)
    dispatch(edge, problem, operands, route)
    return q, r


def _identity(edge: Edge, a: BatchView, q: BatchView) -> None:
    """Q of matrices without columns: no reflectors applied to the identity."""
    problem = Problem("orgqr", a.dtype, q.rows, q.cols, a.batch, layout=q.layout)
    dispatch(edge, problem, {"qr": a, "tau": a._replace(rows=0, cols=1), "q": q}, None)
