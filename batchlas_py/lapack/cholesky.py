"""The Cholesky family: factorization and solution with positive definite matrices."""

from __future__ import annotations

from typing import Any, NamedTuple

from .. import config
from ..interop import replay
from ..interop.edge import Edge, open_edge
from ..interop.replay import Results
from ..problem import Problem
from ..views import BatchView
from .blas import UPLO
from .common import (
    check_letter,
    check_sides,
    check_square,
    dispatch,
    given,
    info_view,
    new_solution,
    remember,
    start_from,
)

__all__ = ["PosvResult", "PotrfResult", "posv", "potrf", "potrs"]


class PotrfResult(NamedTuple):
    """Factor and status of `potrf`."""

    c: Any
    info: Any


class PosvResult(NamedTuple):
    """Solution, factor and status of `posv`."""

    x: Any
    c: Any
    info: Any


def potrf(
    a: Any,
    *,
    uplo: str = "L",
    overwrite_a: bool = False,
    out: tuple[Any, Any] | None = None,
    route: str | None = None,
    stream: Any = None,
    backend: str | None = None,
) -> PotrfResult:
    """Cholesky factorization, ``A = L L^H`` or ``A = U^H U``.

    Parameters
    ----------
    a : array, shape (..., n, n)
        Hermitian positive definite matrices; only the named triangle is looked at, and imaginary parts of the
        diagonal count as zero.
    uplo : {"L", "U"}, optional
        Whether A is given, and factored, by its lower or its upper triangle.
    overwrite_a : bool, optional
        Write the factor over the triangle of ``a``.
    out : (c, info), optional
        Arrays of the results' shapes and dtypes to write to; with ``a`` itself as ``c`` nothing is copied.
    route, stream, backend : optional
        As in `getrf`.

    Returns
    -------
    c : array, shape (..., n, n)
        The factor in the named triangle, its diagonal real; the other triangle is that of ``a``. In ``a``'s
        memory order.
    info : int32 array, shape (...)
        0, or the 1-based index of the first pivot that is not positive, NaN included. The columns of L, or
        rows of U, before it are right; from it on the triangle holds no factor.

    Raises
    ------
    ArgumentError, ArgumentTypeError, PinError, UnsupportedProblem
        As in `getrf`.

    Notes
    -----
    The same as LAPACK's ``?potrf`` up to rounding, but for what follows a pivot that is not positive.

    Examples
    --------
    >>> import numpy as np
    >>> from batchlas_py import lapack
    >>> c, info = lapack.potrf(np.array([[[4.0, 7.0], [2.0, 5.0]]]))
    >>> c[0], int(info[0])
    (array([[2., 7.],
           [1., 2.]]), 0)
    """
    arrays = (a, *given(out, 2))
    in_place = overwrite_a if out is None else arrays[1] is a
    key = replay.key_of(("potrf", uplo, route, backend, overwrite_a, in_place, config.current()), arrays)
    known = replay.find(key)
    if known is not None:
        return PotrfResult(*known(arrays, stream))
    check_letter("uplo", uplo, UPLO)
    edge = open_edge({"a": a}, stream, backend)
    matrices = edge.view("a")
    check_square("a", matrices)
    results = Results((1, 2) if out is not None else _new_factor(edge, matrices, overwrite_a))
    c, info = results.of(arrays)
    operands = _factor(edge, matrices, c, info)
    problem = Problem("potrf", matrices.dtype, matrices.rows, matrices.rows, matrices.batch, uplo=uplo,
                      layout=operands["c"].layout)  # fmt: skip
    _start(edge, problem, route, matrices, operands["c"])
    choice = dispatch(edge, problem, operands, route)
    if in_place:
        remember(key, edge, problem, operands, choice, results, (len(arrays), len(arrays) + 1))
    return PotrfResult(c, info)


def potrs(
    c: Any,
    b: Any,
    *,
    uplo: str = "L",
    overwrite_b: bool = False,
    out: Any = None,
    route: str | None = None,
    stream: Any = None,
    backend: str | None = None,
) -> Any:
    """Solve ``A X = B`` with the factor of `potrf`.

    Parameters
    ----------
    c : array, shape (..., n, n)
        As `potrf` returns it for the same ``uplo``.
    b : array, shape (..., n, nrhs)
        Right-hand sides, with the same leading dimensions.
    uplo : {"L", "U"}, optional
        Which triangle holds the factor; the other one is not read.
    overwrite_b : bool, optional
        Write the solution over ``b``.
    out : array, optional
        Where to write the solution.
    route, stream, backend : optional
        As in `getrf`.

    Returns
    -------
    array, shape (..., n, nrhs)
        X.

    Raises
    ------
    ArgumentError, ArgumentTypeError, PinError, UnsupportedProblem
        As in `getrf`.
    """
    check_letter("uplo", uplo, UPLO)
    edge = open_edge({"c": c, "b": b}, stream, backend)
    factor, sides = edge.view("c"), edge.view("b")
    check_square("c", factor)
    check_sides("c", edge, factor, sides)
    x = out if out is not None else b if overwrite_b else new_solution(edge, sides)(b)
    solution = edge.result("x", x, edge.batch_shape("c"), (sides.rows, sides.cols), (sides.dtype,))
    problem = Problem("potrs", factor.dtype, factor.rows, factor.rows, factor.batch, sides.cols, uplo,
                      layout=factor.layout)  # fmt: skip
    dispatch(edge, problem, {"c": factor, "b": sides, "x": solution}, route)
    return x


def posv(
    a: Any,
    b: Any,
    *,
    uplo: str = "L",
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    out: tuple[Any, Any, Any] | None = None,
    route: str | None = None,
    stream: Any = None,
    backend: str | None = None,
) -> PosvResult:
    """Solve ``A X = B`` with positive definite A by Cholesky factorization.

    Parameters
    ----------
    a : array, shape (..., n, n)
        Hermitian positive definite matrices, as in `potrf`.
    b : array, shape (..., n, nrhs)
        Right-hand sides, with the same leading dimensions; without any, ``a`` is factored all the same.
    uplo : {"L", "U"}, optional
        Whether A is given, and factored, by its lower or its upper triangle.
    overwrite_a, overwrite_b : bool, optional
        Write the factor over the triangle of ``a``, the solution over ``b``.
    out : (x, c, info), optional
        Arrays of the results' shapes and dtypes to write to; with ``a`` itself as ``c`` nothing is copied.
    route, stream, backend : optional
        As in `getrf`.

    Returns
    -------
    x : array, shape (..., n, nrhs)
        Solution; NaN for an item that is not positive definite.
    c, info : array
        As in `potrf`.

    Raises
    ------
    ArgumentError, ArgumentTypeError, PinError, UnsupportedProblem
        As in `getrf`.

    Examples
    --------
    >>> import numpy as np
    >>> from batchlas_py import lapack
    >>> x, c, info = lapack.posv(np.array([[[4.0, 2.0], [2.0, 5.0]]]), np.array([[[8.0], [12.0]]]))
    >>> x[0, :, 0], int(info[0])
    (array([1., 2.]), 0)
    """
    arrays = (a, b, *given(out, 3))
    in_place = overwrite_a if out is None else arrays[3] is a
    options = (uplo, route, backend, overwrite_a, overwrite_b, in_place, config.current())
    key = replay.key_of(("posv", *options), arrays)
    known = replay.find(key)
    if known is not None:
        return PosvResult(*known(arrays, stream))
    check_letter("uplo", uplo, UPLO)
    edge = open_edge({"a": a, "b": b}, stream, backend)
    matrices, sides = edge.view("a"), edge.view("b")
    check_square("a", matrices)
    check_sides("a", edge, matrices, sides)
    made = (1 if overwrite_b else new_solution(edge, sides), *_new_factor(edge, matrices, overwrite_a))
    results = Results((2, 3, 4) if out is not None else made)
    x, c, info = results.of(arrays)
    solution = edge.result("x", x, edge.batch_shape("a"), (sides.rows, sides.cols), (sides.dtype,))
    factor = _factor(edge, matrices, c, info)
    problem = Problem("posv", matrices.dtype, matrices.rows, matrices.rows, matrices.batch, sides.cols, uplo,
                      layout=factor["c"].layout)  # fmt: skip
    if not problem.nrhs:
        problem, route = problem.child("potrf"), None
    _start(edge, problem, route, matrices, factor["c"])
    if not problem.nrhs:
        dispatch(edge, problem, factor, None)
        return PosvResult(x, c, info)
    operands = {"b": sides, "x": solution, **factor}
    choice = dispatch(edge, problem, operands, route)
    if in_place:
        after = len(arrays)
        remember(key, edge, problem, operands, choice, results, (1, after, after + 1, after + 2))
    return PosvResult(x, c, info)


def _new_factor(edge: Edge, a: BatchView, overwrite: bool) -> tuple[Any, ...]:
    """How to make ``c`` and ``info``; with ``overwrite``, ``c`` is the first array."""
    lead = edge.batch_shape("a")
    return (
        0 if overwrite else edge.maker((*lead, a.rows, a.cols), a.dtype, like=a),
        edge.maker(lead, "int32"),
    )


def _factor(edge: Edge, a: BatchView, c: Any, info: Any) -> dict[str, BatchView]:
    """Views of what a factorization writes."""
    lead = edge.batch_shape("a")
    return {"c": edge.result("c", c, lead, (a.rows, a.cols), (a.dtype,)), "info": info_view(edge, lead, info)}


def _start(edge: Edge, problem: Problem, route: str | None, a: BatchView, c: BatchView) -> None:
    """The factorization works in place: bring A to where its factor goes, unless it is there."""
    if a._replace(array=None) != c._replace(array=None):
        start_from(edge, problem, route, a, c)
