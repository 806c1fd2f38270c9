"""The LU family: factorization, solution, inverse."""

from __future__ import annotations

from typing import Any, NamedTuple

from .. import config
from ..errors import ArgumentError
from ..interop import replay
from ..interop.edge import Edge, open_edge
from ..interop.replay import Results
from ..problem import Problem
from ..views import BatchView
from .common import (
    INT32,
    TRANS,
    check_letter,
    check_sides,
    check_square,
    dispatch,
    given,
    info_view,
    new_solution,
    packed,
    remember,
)

__all__ = ["GesvResult", "GetrfResult", "GetriResult", "gesv", "getrf", "getri", "getrs"]


class GetrfResult(NamedTuple):
    """Factors, interchanges and status of `getrf`."""

    lu: Any
    ipiv: Any
    info: Any


class GetriResult(NamedTuple):
    """Inverse and status of `getri`."""

    inv: Any
    info: Any


class GesvResult(NamedTuple):
    """Solution, factors, interchanges and status of `gesv`."""

    x: Any
    lu: Any
    ipiv: Any
    info: Any


def getrf(
    a: Any,
    *,
    overwrite_a: bool = False,
    out: tuple[Any, Any, Any] | None = None,
    route: str | None = None,
    stream: Any = None,
    backend: str | None = None,
) -> GetrfResult:
    """LU factorization with partial pivoting, ``P A = L U``.

    Parameters
    ----------
    a : array, shape (..., m, n)
        Matrices; on CUDA some routes take square ones alone.
    overwrite_a : bool, optional
        Write the factors over ``a``.
    out : (lu, ipiv, info), optional
        Arrays of the results' shapes and dtypes to write to.
    route : str, optional
        Pin a family, or variants of one: ``"tiny"``, ``"blocked/leaf=slm"``; see `batchlas_py.explain`.
    stream : optional
        CUDA stream: a handle or an object with ``__cuda_stream__``.
    backend : {"cuda", "host"}, optional
        Where the call must run; arrays are never moved to make it so.

    Returns
    -------
    lu : array, shape (..., m, n)
        U on and above the diagonal, the unit lower L below; in ``a``'s memory order.
    ipiv : int32 array, shape (..., min(m, n))
        Row interchanged with row i, 1-based. The pivot has the largest ``|re| + |im|``, the lowest row
        among equals.
    info : int32 array, shape (...)
        0, or the 1-based index of the first pivot that is exactly zero; the factorization goes on.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        An argument has a shape, layout, dtype or place that is not accepted.
    PinError
        The pinned route is unknown or cannot run the problem.
    UnsupportedProblem
        No family can.

    Notes
    -----
    The same as LAPACK's ``?getrf`` up to rounding. A NaN or infinite item keeps pivots in range and
    leaves its neighbours alone.

    Examples
    --------
    >>> import numpy as np
    >>> from batchlas_py import lapack
    >>> lu, ipiv, info = lapack.getrf(np.array([[[0.0, 2.0], [4.0, 1.0]]]))
    >>> lu[0], ipiv[0], int(info[0])
    (array([[4., 1.],
           [0., 2.]]), array([2, 2], dtype=int32), 0)
    """
    arrays = (a, *given(out, 3))
    key = replay.key_of(("getrf", route, backend, overwrite_a, config.current()), arrays)
    known = replay.find(key)
    if known is not None:
        return GetrfResult(*known(arrays, stream))
    edge = open_edge({"a": a}, stream, backend)
    va = edge.view("a")
    lead = edge.batch_shape("a")
    results = Results((1, 2, 3) if out is not None else _new_factors(edge, lead, va, overwrite_a))
    lu, ipiv, info = results.of(arrays)
    operands = {"a": va, **_factors(edge, lead, va, lu, ipiv, info)}
    problem = Problem("getrf", va.dtype, va.rows, va.cols, va.batch, layout=va.layout)
    choice = dispatch(edge, problem, operands, route)
    remember(key, edge, problem, operands, choice, results, (0, *range(len(arrays), len(arrays) + 3)))
    return GetrfResult(lu, ipiv, info)


def getrs(
    lu: Any,
    ipiv: Any,
    b: Any,
    trans: str = "N",
    *,
    overwrite_b: bool = False,
    out: Any = None,
    route: str | None = None,
    stream: Any = None,
    backend: str | None = None,
) -> Any:
    """Solve ``op(A) X = B`` with the factors of `getrf`.

    Parameters
    ----------
    lu, ipiv : array, shape (..., n, n) and (..., n)
        As `getrf` returns them. Entries of ``ipiv`` outside 1..n are refused on the host and not followed
        on the GPU.
    b : array, shape (..., n, nrhs)
        Right-hand sides, with the same leading dimensions.
    trans : {"N", "T", "C"}, optional
        ``op(A)`` is A, its transpose, or its conjugate transpose.
    overwrite_b : bool, optional
        Write the solution over ``b``.
    out : array, optional
        Where to write the solution.
    route, stream, backend : optional
        As in `getrf`.

    Returns
    -------
    array, shape (..., n, nrhs)
        X. Where a pivot is zero it holds infinities and NaN, as in LAPACK.

    Raises
    ------
    ArgumentError, ArgumentTypeError, PinError, UnsupportedProblem
        As in `getrf`.
    """
    edge = open_edge({"lu": lu, "ipiv": ipiv, "b": b}, stream, backend)
    factors, sides = edge.view("lu"), edge.view("b")
    check_square("lu", factors)
    check_sides("lu", edge, factors, sides)
    lead, pivots = edge.batch_shape("lu"), _pivots(edge, factors)
    check_letter("trans", trans, TRANS)
    x = out if out is not None else b if overwrite_b else new_solution(edge, sides)(b)
    solution = edge.result("x", x, lead, (sides.rows, sides.cols), (sides.dtype,))
    operands = {"lu": factors, "ipiv": pivots, "b": sides, "x": solution}
    problem = Problem(
        "getrs", factors.dtype, factors.rows, factors.cols, factors.batch, sides.cols, trans=trans,
        layout=factors.layout,
    )  # fmt: skip
    dispatch(edge, problem, operands, route)
    return x


def getri(
    lu: Any,
    ipiv: Any,
    *,
    out: tuple[Any, Any] | None = None,
    route: str | None = None,
    stream: Any = None,
    backend: str | None = None,
) -> GetriResult:
    """Inverse from the factors of `getrf`.

    Parameters
    ----------
    lu, ipiv : array, shape (..., n, n) and (..., n)
        As `getrf` returns them. Entries of ``ipiv`` outside 1..n are refused on the host and not followed
        on the GPU.
    out : (inv, info), optional
        Arrays of the results' shapes and dtypes to write to; ``inv`` is not ``lu``.
    route, stream, backend : optional
        As in `getrf`.

    Returns
    -------
    inv : array, shape (..., n, n)
        The inverse; NaN for an item with a zero pivot.
    info : int32 array, shape (...)
        As in `getrf`.

    Raises
    ------
    ArgumentError, ArgumentTypeError, PinError, UnsupportedProblem
        As in `getrf`.
    """
    edge = open_edge({"lu": lu, "ipiv": ipiv}, stream, backend)
    factors = edge.view("lu")
    check_square("lu", factors)
    lead, n, pivots = edge.batch_shape("lu"), factors.rows, _pivots(edge, factors)
    inv, info = given(out, 2) or (
        edge.maker((*lead, n, n), factors.dtype, like=factors)(lu),
        edge.maker(lead, "int32")(lu),
    )
    inverse = edge.result("inv", inv, lead, (n, n), (factors.dtype,))
    if inverse.ptr == factors.ptr and factors.batch and n:
        raise ArgumentError("out: inv is lu itself, accepted is other memory")
    operands = {"lu": factors, "ipiv": pivots, "inv": inverse, "info": info_view(edge, lead, info)}
    problem = Problem("getri", factors.dtype, n, n, factors.batch, layout=factors.layout)
    dispatch(edge, problem, operands, route)
    return GetriResult(inv, info)


def gesv(
    a: Any,
    b: Any,
    *,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    out: tuple[Any, Any, Any, Any] | None = None,
    route: str | None = None,
    stream: Any = None,
    backend: str | None = None,
) -> GesvResult:
    """Solve ``A X = B`` by LU factorization with partial pivoting.

    Parameters
    ----------
    a : array, shape (..., n, n)
        Matrices.
    b : array, shape (..., n, nrhs)
        Right-hand sides, with the same leading dimensions; without any, ``a`` is factored all the same.
    overwrite_a, overwrite_b : bool, optional
        Write the factors over ``a``, the solution over ``b``.
    out : (x, lu, ipiv, info), optional
        Arrays of the results' shapes and dtypes to write to.
    route, stream, backend : optional
        As in `getrf`.

    Returns
    -------
    x : array, shape (..., n, nrhs)
        Solution; NaN for an item with a zero pivot.
    lu, ipiv, info : array
        As in `getrf`.

    Raises
    ------
    ArgumentError, ArgumentTypeError, PinError, UnsupportedProblem
        As in `getrf`.

    Examples
    --------
    >>> import numpy as np
    >>> from batchlas_py import lapack
    >>> x, lu, ipiv, info = lapack.gesv(np.array([[[0.0, 2.0], [-3.0, 0.0]]]), np.array([[[1.0], [-4.0]]]))
    >>> x[0, :, 0].round(4), int(info[0])
    (array([1.3333, 0.5   ]), 0)
    """
    arrays = (a, b, *given(out, 4))
    key = replay.key_of(("gesv", route, backend, overwrite_a, overwrite_b, config.current()), arrays)
    known = replay.find(key)
    if known is not None:
        return GesvResult(*known(arrays, stream))
    edge = open_edge({"a": a, "b": b}, stream, backend)
    va, sides = edge.view("a"), edge.view("b")
    check_square("a", va)
    check_sides("a", edge, va, sides)
    lead, n = edge.batch_shape("a"), va.rows
    made = (1 if overwrite_b else new_solution(edge, sides), *_new_factors(edge, lead, va, overwrite_a))
    results = Results((2, 3, 4, 5) if out is not None else made)
    x, lu, ipiv, info = results.of(arrays)
    solution = edge.result("x", x, lead, (n, sides.cols), (va.dtype,))
    factors = _factors(edge, lead, va, lu, ipiv, info)
    problem = Problem("gesv", va.dtype, n, n, va.batch, sides.cols, layout=va.layout)
    if not problem.nrhs:
        dispatch(edge, problem.child("getrf"), {"a": va, **factors}, None)
        return GesvResult(x, lu, ipiv, info)
    operands = {"a": va, "b": sides, "x": solution, **factors}
    choice = dispatch(edge, problem, operands, route)
    remember(key, edge, problem, operands, choice, results, (0, 1, *range(len(arrays), len(arrays) + 4)))
    return GesvResult(x, lu, ipiv, info)


def _new_factors(edge: Edge, lead: tuple[int, ...], a: BatchView, overwrite: bool) -> tuple[Any, ...]:
    """How to make ``lu``, ``ipiv`` and ``info``; with ``overwrite``, ``lu`` is the first array."""
    return (
        0 if overwrite else edge.maker((*lead, a.rows, a.cols), a.dtype, like=a),
        edge.maker((*lead, min(a.rows, a.cols)), "int32"),
        edge.maker(lead, "int32"),
    )


def _pivots(edge: Edge, factors: BatchView) -> BatchView:
    """Interchanges that come with factors."""
    view, expected = edge.view("ipiv", 1, INT32), (*edge.batch_shape("lu"), factors.rows)
    got = edge.memories["ipiv"].shape
    if got != expected:
        raise ArgumentError(f"ipiv: got shape {got}, accepted is {expected} for this lu")
    return packed("ipiv", view)


def _factors(
    edge: Edge, lead: tuple[int, ...], matrices: BatchView, lu: Any, ipiv: Any, info: Any
) -> dict[str, BatchView]:
    """Views of what a factorization writes."""
    m, n = matrices.rows, matrices.cols
    return {
        "lu": edge.result("lu", lu, lead, (m, n), (matrices.dtype,)),
        "ipiv": packed("ipiv", edge.result("ipiv", ipiv, lead, (min(m, n),), INT32)),
        "info": info_view(edge, lead, info),
    }
