"""What factorizations are made of: products, triangular solves, row interchanges."""

from __future__ import annotations

from numbers import Number
from typing import Any, Final

from ..dtypes import is_complex
from ..errors import ArgumentError, ArgumentTypeError
from ..interop.edge import Edge, open_edge
from ..problem import Problem
from ..views import BatchView
from .common import INT32, TRANS, check_letter, check_square, dispatch, packed, start_from

__all__ = ["gemm", "laswp", "trsm"]

SIDE: Final = ("L", "R")
UPLO: Final = ("L", "U")
DIAG: Final = ("N", "U")


def gemm(
    a: Any,
    b: Any,
    c: Any = None,
    *,
    alpha: complex = 1,
    beta: complex = 0,
    transa: str = "N",
    transb: str = "N",
    overwrite_c: bool = False,
    out: Any = None,
    route: str | None = None,
    stream: Any = None,
    backend: str | None = None,
) -> Any:
    """Matrix product, ``alpha op(A) op(B) + beta C``.

    Parameters
    ----------
    a, b : array, shape (..., m, k) and (..., k, n)
        Factors, before ``op``: a transposed one has the other shape.
    c : array, shape (..., m, n), optional
        What the product is added to; needed where ``beta`` is not zero, and not read where it is.
    alpha, beta : number, optional
        Real ones for real matrices.
    transa, transb : {"N", "T", "C"}, optional
        ``op`` of a factor is itself, its transpose, or its conjugate transpose.
    overwrite_c : bool, optional
        Write the result over ``c``.
    out : array, optional
        Where to write the result; not ``a`` or ``b``.
    route, stream, backend : optional
        As in `getrf`.

    Returns
    -------
    array, shape (..., m, n)
        In the memory order of ``c``, or else of ``a``.

    Raises
    ------
    ArgumentError, ArgumentTypeError, PinError, UnsupportedProblem
        As in `getrf`.

    Examples
    --------
    >>> import numpy as np
    >>> from batchlas_py import lapack
    >>> lapack.gemm(np.array([[[1.0, 2.0]]]), np.array([[[3.0, 4.0]]]), transb="T")
    array([[[11.]]])
    """
    check_letter("transa", transa, TRANS)
    check_letter("transb", transb, TRANS)
    edge = open_edge({"a": a, "b": b} | ({} if c is None else {"c": c}), stream, backend)
    left, right = edge.view("a"), edge.view("b")
    _check_alike(edge, "b", right, left)
    m, k = _extents(left, transa)
    n = _columns(right, transb, k)
    addend = _addend(edge, left, (m, n), beta) if c is not None or beta != 0 else None
    target = _target(edge, out, c if overwrite_c else None, (m, n), addend or left)
    result = _result(edge, "c", target, (m, n), left, right)
    problem = Problem(
        "gemm", left.dtype, m, n, left.batch, trans=transa + transb, layout=result.layout, k=k,
        alpha=_scalar("alpha", alpha, left.dtype), beta=_scalar("beta", beta, left.dtype),
    )  # fmt: skip
    if addend is not None and beta != 0 and target is not c:
        start_from(edge, problem, route, addend, result)
    dispatch(edge, problem, {"a": left, "b": right, "c": result}, route)
    return target


def trsm(
    a: Any,
    b: Any,
    *,
    side: str = "L",
    uplo: str = "L",
    trans: str = "N",
    diag: str = "N",
    alpha: complex = 1,
    overwrite_b: bool = False,
    out: Any = None,
    route: str | None = None,
    stream: Any = None,
    backend: str | None = None,
) -> Any:
    """Solve ``op(A) X = alpha B`` or ``X op(A) = alpha B`` with triangular A.

    Parameters
    ----------
    a : array, shape (..., k, k)
        Triangles; what lies on the other side of the diagonal is not read.
    b : array, shape (..., m, n)
        Right-hand sides; k is m where A stands on the left, n where it stands on the right.
    side : {"L", "R"}, optional
        Where A stands.
    uplo : {"L", "U"}, optional
        Whether the triangle is the lower or the upper one.
    trans : {"N", "T", "C"}, optional
        ``op(A)`` is A, its transpose, or its conjugate transpose.
    diag : {"N", "U"}, optional
        ``"U"``: the diagonal is one, and not read.
    alpha : number, optional
        A real one for real matrices.
    overwrite_b : bool, optional
        Write the solution over ``b``.
    out : array, optional
        Where to write the solution; ``b`` or other memory.
    route, stream, backend : optional
        As in `getrf`.

    Returns
    -------
    array, shape (..., m, n)
        X, in the memory order of ``b``. A zero on the diagonal gives infinities and NaN, as in BLAS.

    Raises
    ------
    ArgumentError, ArgumentTypeError, PinError, UnsupportedProblem
        As in `getrf`.

    Examples
    --------
    >>> import numpy as np
    >>> from batchlas_py import lapack
    >>> lapack.trsm(np.array([[[2.0, 7.0], [1.0, 4.0]]]), np.array([[[2.0], [9.0]]]))
    array([[[1.],
            [2.]]])
    """
    for argument, letter, accepted in (
        ("side", side, SIDE),
        ("uplo", uplo, UPLO),
        ("trans", trans, TRANS),
        ("diag", diag, DIAG),
    ):
        check_letter(argument, letter, accepted)
    edge = open_edge({"a": a, "b": b}, stream, backend)
    triangle, sides = edge.view("a"), edge.view("b")
    check_square("a", triangle)
    _check_alike(edge, "b", sides, triangle)
    order, nrhs = (sides.rows, sides.cols) if side == "L" else (sides.cols, sides.rows)
    if order != triangle.rows:
        extent = "rows" if side == "L" else "columns"
        raise ArgumentError(f"b: got {order} {extent}, accepted are {triangle.rows} for this a")
    target = _target(edge, out, b if overwrite_b else None, (sides.rows, sides.cols), sides)
    solution = _result(edge, "x", target, (sides.rows, sides.cols), triangle)
    problem = Problem(
        "trsm", sides.dtype, order, order, sides.batch, nrhs, uplo, trans, triangle.layout, side=side,
        diag=diag, alpha=_scalar("alpha", alpha, sides.dtype),
    )  # fmt: skip
    dispatch(edge, problem, {"a": triangle, "b": sides, "x": solution}, route)
    return target


def laswp(
    a: Any,
    ipiv: Any,
    *,
    forward: bool = True,
    overwrite_a: bool = False,
    out: Any = None,
    route: str | None = None,
    stream: Any = None,
    backend: str | None = None,
) -> Any:
    """Interchange row i with row ``ipiv[i]``, one i after another.

    Parameters
    ----------
    a : array, shape (..., m, n)
        Matrices.
    ipiv : int32 array, shape (..., k)
        1-based rows, as `getrf` returns them; k is at most m. Entries outside 1..m are refused on the
        host and not followed on the GPU.
    forward : bool, optional
        From the first entry to the last; otherwise from the last to the first, which undoes the former.
    overwrite_a : bool, optional
        Write the result over ``a``.
    out : array, optional
        Where to write the result; ``a`` or other memory.
    route, stream, backend : optional
        As in `getrf`.

    Returns
    -------
    array, shape (..., m, n)
        In the memory order of ``a``.

    Raises
    ------
    ArgumentError, ArgumentTypeError, PinError, UnsupportedProblem
        As in `getrf`.
    """
    edge = open_edge({"a": a, "ipiv": ipiv}, stream, backend)
    matrices, pivots = edge.view("a"), packed("ipiv", edge.view("ipiv", 1, INT32))
    lead, got = edge.batch_shape("a"), edge.memories["ipiv"].shape
    if got[:-1] != lead or pivots.rows > matrices.rows:
        raise ArgumentError(f"ipiv: got shape {got}, accepted is {(*lead, 'k')}, k <= {matrices.rows}")
    shape = matrices.rows, matrices.cols
    target = _target(edge, out, a if overwrite_a else None, shape, matrices)
    result = _result(edge, "x", target, shape)
    problem = Problem(
        "laswp", matrices.dtype, *shape, matrices.batch, trans="N" if forward else "T",
        layout=matrices.layout, k=pivots.rows,
    )  # fmt: skip
    if problem.k:
        dispatch(edge, problem, {"a": matrices, "ipiv": pivots, "x": result}, route)
    elif target is not a:
        start_from(edge, problem, route, matrices, result)
    return target


def _scalar(argument: str, value: complex, dtype: str) -> complex:
    if not isinstance(value, Number):
        raise ArgumentTypeError(f"{argument}: got {type(value).__name__}, accepted are numbers")
    if complex(value).imag != 0 and not is_complex(dtype):
        raise ArgumentError(f"{argument}: got {value}, accepted are real numbers for {dtype}")
    return complex(value)


def _check_alike(edge: Edge, argument: str, view: BatchView, a: BatchView) -> None:
    """An argument has the dtype and the leading dimensions of ``a``."""
    if view.dtype != a.dtype:
        raise ArgumentTypeError(f"{argument}: got {view.dtype}, accepted is a's {a.dtype}")
    got, lead = edge.memories[argument].shape, edge.batch_shape("a")
    if got[:-2] != lead:
        raise ArgumentError(f"{argument}: got shape {got}, accepted are leading dimensions {lead}, as a's")


def _extents(view: BatchView, trans: str) -> tuple[int, int]:
    return (view.rows, view.cols) if trans == "N" else (view.cols, view.rows)


def _columns(right: BatchView, trans: str, k: int) -> int:
    """Columns of ``op(B)``, which must have k rows."""
    rows, columns = _extents(right, trans)
    if rows != k:
        raise ArgumentError(f"b: op(b) is {rows} x {columns}, accepted are {k} rows for this a")
    return columns


def _addend(edge: Edge, a: BatchView, shape: tuple[int, int], beta: complex) -> BatchView:
    if "c" not in edge.memories:
        raise ArgumentError(f"c: got none, accepted is an array where beta is {beta}")
    view = edge.view("c")
    _check_alike(edge, "c", view, a)
    if (view.rows, view.cols) != shape:
        raise ArgumentError(
            f"c: got {view.rows} x {view.cols} matrices, accepted are {shape[0]} x {shape[1]}"
        )
    return view


def _target(edge: Edge, out: Any, over: Any, shape: tuple[int, int], like: BatchView) -> Any:
    """The array to write to: ``out``, else the one to overwrite, else a new one in the order of ``like``."""
    if out is not None:
        return out
    return (
        over
        if over is not None
        else edge.maker((*edge.batch_shape("a"), *shape), like.dtype, like=like)(edge.like)
    )


def _result(edge: Edge, argument: str, target: Any, shape: tuple[int, int], *inputs: BatchView) -> BatchView:
    """View of the array to write to, which is none of the inputs."""
    first = edge.view("a")
    view = edge.result(argument, target, edge.batch_shape("a"), shape, (first.dtype,))
    for one in inputs:
        if view.ptr == one.ptr and one.batch and one.rows and one.cols:
            raise ArgumentError(f"{argument}: the result is an input itself, accepted is other memory")
    return view
