"""The QR family: factorization, Q itself, products with Q."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from ..dtypes import is_complex
from ..errors import ArgumentError, ArgumentTypeError
from ..interop.edge import Edge, open_edge
from ..problem import Problem
from ..views import BatchView
from .common import check_letter, dispatch, packed, start_from

__all__ = ["GeqrfResult", "geqrf", "orgqr", "ormqr"]

SIDE: Final = ("L", "R")
TRANS_REAL: Final = ("N", "T", "C")
TRANS_COMPLEX: Final = ("N", "C")


class GeqrfResult(NamedTuple):
    """Factors and weights of `geqrf`."""

    qr: Any
    tau: Any


def geqrf(
    a: Any,
    *,
    overwrite_a: bool = False,
    out: tuple[Any, Any] | None = None,
    route: str | None = None,
    stream: Any = None,
    backend: str | None = None,
) -> GeqrfResult:
    """QR factorization by Householder reflectors, ``A = Q R``.

    Parameters
    ----------
    a : array, shape (..., m, n)
        Matrices, tall or wide.
    overwrite_a : bool, optional
        Write the factors over ``a``.
    out : (qr, tau), optional
        Arrays of the results' shapes and dtype to write to.
    route, stream, backend : optional
        As in `getrf`.

    Returns
    -------
    qr : array, shape (..., m, n)
        R on and above the diagonal; below it the vectors of the reflectors, without their leading ones. In
        ``a``'s memory order.
    tau : array, shape (..., min(m, n))
        Weights of the reflectors: Q is the product of all ``I - tau v v^H``, the first one leftmost.

    Raises
    ------
    ArgumentError, ArgumentTypeError, PinError, UnsupportedProblem
        As in `getrf`.

    Notes
    -----
    The same as LAPACK's ``?geqrf`` up to rounding: the diagonal of R is real and has the sign that the
    leading element of its column had not. Columns near either end of the range of numbers are scaled
    meanwhile.

    Examples
    --------
    >>> import numpy as np
    >>> from batchlas_py import lapack
    >>> qr, tau = lapack.geqrf(np.array([[[3.0, 1.0], [4.0, 2.0]]]))
    >>> qr[0].round(4), tau[0].round(4)
    (array([[-5. , -2.2],
           [ 0.5,  0.4]]), array([1.6, 0. ]))
    """
    edge = open_edge({"a": a}, stream, backend)
    matrices, lead = edge.view("a"), edge.batch_shape("a")
    m, n, dtype = matrices.rows, matrices.cols, matrices.dtype
    qr, tau = _pair(out) or (
        a if overwrite_a else edge.maker((*lead, m, n), dtype, like=matrices)(a),
        edge.maker((*lead, min(m, n)), dtype)(a),
    )
    operands = {
        "a": matrices,
        "qr": edge.result("qr", qr, lead, (m, n), (dtype,)),
        "tau": packed("tau", edge.result("tau", tau, lead, (min(m, n),), (dtype,))),
    }
    dispatch(edge, Problem("geqrf", dtype, m, n, matrices.batch, layout=matrices.layout), operands, route)
    return GeqrfResult(qr, tau)


def orgqr(
    qr: Any,
    tau: Any,
    *,
    columns: int | None = None,
    out: Any = None,
    route: str | None = None,
    stream: Any = None,
    backend: str | None = None,
) -> Any:
    """The first columns of Q from the reflectors of `geqrf`; LAPACK's ``?orgqr`` and ``?ungqr``.

    Parameters
    ----------
    qr, tau : array, shape (..., m, n) and (..., k)
        As `geqrf` returns them; the first k columns of ``qr`` are looked at.
    columns : int, optional
        How many columns of Q, from k to m; by default min(m, n).
    out : array, optional
        Where to write Q; not ``qr``.
    route, stream, backend : optional
        As in `getrf`.

    Returns
    -------
    array, shape (..., m, columns)
        Columns of Q, in the memory order of ``qr``.

    Raises
    ------
    ArgumentError, ArgumentTypeError, PinError, UnsupportedProblem
        As in `getrf`.
    """
    edge = open_edge({"qr": qr, "tau": tau}, stream, backend)
    factors, weights = _reflectors(edge)
    m, k, lead = factors.rows, weights.rows, edge.batch_shape("qr")
    n = min(m, factors.cols) if columns is None else columns
    if not k <= n <= m:
        raise ArgumentError(f"columns: got {n}, accepted are {k} to {m} for these reflectors")
    q = out if out is not None else edge.maker((*lead, m, n), factors.dtype, like=factors)(qr)
    result = edge.result("q", q, lead, (m, n), (factors.dtype,))
    _check_apart("q", result, factors)
    problem = Problem("orgqr", factors.dtype, m, n, factors.batch, layout=factors.layout, k=k)
    dispatch(edge, problem, {"qr": factors, "tau": weights, "q": result}, route)
    return q


def ormqr(
    qr: Any,
    tau: Any,
    c: Any,
    *,
    side: str = "L",
    trans: str = "N",
    overwrite_c: bool = False,
    out: Any = None,
    route: str | None = None,
    stream: Any = None,
    backend: str | None = None,
) -> Any:
    """Product ``op(Q) C`` or ``C op(Q)`` with the Q of `geqrf`; LAPACK's ``?ormqr`` and ``?unmqr``.

    Parameters
    ----------
    qr, tau : array, shape (..., r, n) and (..., k)
        As `geqrf` returns them; Q is r x r, and the first k columns of ``qr`` are looked at.
    c : array, shape (..., m, p)
        Matrices; r is m where Q stands on the left, p where it stands on the right.
    side : {"L", "R"}, optional
        Where Q stands.
    trans : {"N", "T", "C"}, optional
        ``op(Q)`` is Q, or its conjugate transpose, which of real matrices ``"T"`` names too.
    overwrite_c : bool, optional
        Write the product over ``c``.
    out : array, optional
        Where to write the product; ``c`` or other memory.
    route, stream, backend : optional
        As in `getrf`.

    Returns
    -------
    array, shape (..., m, p)
        In the memory order of ``c``.

    Raises
    ------
    ArgumentError, ArgumentTypeError, PinError, UnsupportedProblem
        As in `getrf`.
    """
    edge = open_edge({"qr": qr, "tau": tau, "c": c}, stream, backend)
    (factors, weights), sides = _reflectors(edge), edge.view("c")
    check_letter("side", side, SIDE)
    check_letter("trans", trans, TRANS_COMPLEX if is_complex(factors.dtype) else TRANS_REAL)
    _check_sides(edge, factors, sides, side)
    shape, lead = (sides.rows, sides.cols), edge.batch_shape("c")
    target = out if out is not None else c
    if out is None and not overwrite_c:
        target = edge.maker((*lead, *shape), sides.dtype, like=sides)(c)
    result = edge.result("x", target, lead, shape, (sides.dtype,))
    _check_apart("x", result, factors)
    problem = Problem(
        "ormqr", sides.dtype, *shape, sides.batch, trans="C" if trans == "T" else trans, side=side,
        layout=sides.layout, k=weights.rows,
    )  # fmt: skip
    if problem.k:
        dispatch(edge, problem, {"qr": factors, "tau": weights, "c": sides, "x": result}, route)
    elif target is not c:
        start_from(edge, problem, route, sides, result)
    return target


def _pair(out: Any) -> tuple[Any, Any] | None:
    if out is None:
        return None
    if not isinstance(out, tuple | list):
        raise ArgumentTypeError(f"out: got {type(out).__name__}, accepted are tuples of 2 arrays")
    if len(out) != 2:
        raise ArgumentError(f"out: got {len(out)} arrays, accepted are 2")
    return out[0], out[1]


def _reflectors(edge: Edge) -> tuple[BatchView, BatchView]:
    """Vectors and weights, which belong together."""
    factors = edge.view("qr")
    weights, lead = packed("tau", edge.view("tau", 1)), edge.batch_shape("qr")
    if weights.dtype != factors.dtype:
        raise ArgumentTypeError(f"tau: got {weights.dtype}, accepted is qr's {factors.dtype}")
    most, got = min(factors.rows, factors.cols), edge.memories["tau"].shape
    if got[:-1] != lead or weights.rows > most:
        raise ArgumentError(f"tau: got shape {got}, accepted is {(*lead, 'k')}, k <= {most}")
    return factors, weights


def _check_sides(edge: Edge, factors: BatchView, sides: BatchView, side: str) -> None:
    """The other factor fits Q in dtype, leading dimensions and order."""
    if sides.dtype != factors.dtype:
        raise ArgumentTypeError(f"c: got {sides.dtype}, accepted is qr's {factors.dtype}")
    got, lead = edge.memories["c"].shape, edge.batch_shape("qr")
    if got[:-2] != lead:
        raise ArgumentError(f"c: got shape {got}, accepted are leading dimensions {lead}, as qr's")
    order, extent = (sides.rows, "rows") if side == "L" else (sides.cols, "columns")
    if order != factors.rows:
        raise ArgumentError(f"c: got {order} {extent}, accepted are {factors.rows} for this qr")


def _check_apart(argument: str, result: BatchView, factors: BatchView) -> None:
    if result.ptr == factors.ptr and factors.batch and factors.rows and factors.cols:
        raise ArgumentError(f"{argument}: the result is qr itself, accepted is other memory")
