"""gemm and trsm on every backend that has them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest

from batchlas_py import ArgumentError, ArgumentTypeError, PinError, lapack
from batchlas_py.dtypes import DTYPES, is_complex
from batchlas_py.testing import ratios
from batchlas_py.testing.ratios import THRESHOLD

from .. import checks
from .calls import assert_same, call, empty, random_batch
from .devices import Device, each_dtype, each_order, marks, on, on_each_layout

DEVICES = ("host", "emulated", "emulated-cublas", "cuda", "cublas")
LETTERS = ("N", "T", "C")
BATCH = 2
SIDES, TRIANGLES = ("L", "R"), ("L", "U")


def over(**axes: Sequence[Any]) -> pytest.MarkDecorator:
    """Every combination on each device; on the emulator, which is slow, as many as show every value."""
    longest = max(map(len, axes.values()))
    places = list(product(*(range(len(values)) for values in axes.values())))
    cells = [
        pytest.param(
            name, *(values[i] for i, values in zip(place, axes.values(), strict=True)), marks=marks(name)
        )
        for name in DEVICES
        for place in places
        if name != "emulated" or sum(place) % longest == 0
    ]
    return pytest.mark.parametrize(("device", *axes), cells, indirect=["device"])


def op(matrices: np.ndarray, trans: str) -> np.ndarray:
    transposed = matrices if trans == "N" else matrices.swapaxes(-1, -2)
    return np.conj(transposed) if trans == "C" else transposed


def factor(rows: int, cols: int, trans: str, dtype: str, seed: int) -> np.ndarray:
    """A matrix whose ``op`` is rows x cols."""
    return random_batch(BATCH, *((rows, cols) if trans == "N" else (cols, rows)), dtype, seed)


def gemm(device: Device, layout: Any, *matrices: np.ndarray, **options: Any) -> np.ndarray:
    """A product, judged; the arguments may not change."""
    a, b, *addend = matrices
    alpha, beta = options.get("alpha", 1), options.get("beta", 0)
    left, right = op(a, options.get("transa", "N")), op(b, options.get("transb", "N"))
    arguments = dict(zip("abc", matrices, strict=False))
    out = np.full((BATCH, left.shape[1], right.shape[2]), 77, a.dtype)
    c: np.ndarray
    (c,) = call(device, lapack.gemm, arguments, {"x": out}, layout, **options)
    start = addend[0].astype(np.result_type(a, np.float64)) * beta if addend else None
    ratio = ratios.dmmch(c, left.astype(np.result_type(a, np.float64)) * alpha, right, start)
    assert ratio.worst < THRESHOLD
    return c


def triangle_of(a: np.ndarray, uplo: str, diag: str) -> np.ndarray:
    part = np.tril(a) if uplo == "L" else np.triu(a)
    if diag == "U":
        part[:, range(a.shape[1]), range(a.shape[1])] = 1
    return part


def trsm(
    device: Device, layout: Any, a: np.ndarray, b: np.ndarray, alpha: complex = 1, **letters: str
) -> np.ndarray:
    """A solution, judged."""
    x: np.ndarray
    (x,) = call(device, lapack.trsm, {"a": a, "b": b}, {"x": empty(b)}, layout, alpha=alpha, **letters)
    full = op(triangle_of(a, letters.get("uplo", "L"), letters.get("diag", "N")), letters.get("trans", "N"))
    sides = b.astype(np.result_type(a, np.float64)) * alpha
    if letters.get("side", "L") == "L":
        ratio = ratios.dget02(full, x, sides)
    else:
        ratio = ratios.dget02(op(full, "T"), op(x, "T"), op(sides, "T"))
    assert ratio.worst < THRESHOLD
    return x


def triangle(n: int, dtype: str, seed: int = 0) -> np.ndarray:
    """Full matrices, whose triangles are well-conditioned."""
    matrices: np.ndarray = random_batch(BATCH, n, n, dtype, seed) / n + np.eye(n, dtype=dtype) * 2
    return matrices


@over(transa=LETTERS, transb=LETTERS, dtype=DTYPES)
def test_every_transposition(device: Device, transa: str, transb: str, dtype: str) -> None:
    a, b = factor(5, 7, transa, dtype, 1), factor(7, 3, transb, dtype, 2)
    c = random_batch(BATCH, 5, 3, dtype, 3)
    for layout in ("F", "C"):
        gemm(device, layout, a, b, c, transa=transa, transb=transb, alpha=-1, beta=1)


@over(transa=LETTERS, transb=LETTERS, shift=range(4))
def test_factors_and_product_in_layouts_of_their_own(
    device: Device, shift: int, transa: str, transb: str
) -> None:
    names = ["F-ld", "C-ld", "sliced", "C"]
    layouts = dict(zip(("a", "b", "c", "x"), names[shift:] + names[:shift], strict=True))
    a, b = factor(4, 6, transa, "complex64", 1), factor(6, 5, transb, "complex64", 2)
    gemm(device, layouts, a, b, transa=transa, transb=transb)
    c = random_batch(BATCH, 4, 5, "complex64", 3)
    gemm(device, layouts, a, b, c, transa=transa, transb=transb, alpha=2 - 1j, beta=0.5j)


@on_each_layout(DEVICES)
@each_dtype
def test_gemm_in_every_layout(device: Device, layout: str, dtype: str) -> None:
    """The same bits wherever the result has the same order, and for real numbers in either order."""
    a, b = random_batch(BATCH, 6, 4, dtype, 1), random_batch(BATCH, 4, 9, dtype, 2)
    alike = "F" if checks.LAYOUTS[layout].column_major or not is_complex(dtype) else "C"
    assert_same(device, [gemm(device, layout, a, b)], [gemm(device, alike, a, b)])


@over(shape=[(1, 1, 1), (1, 5, 3), (5, 1, 3), (4, 3, 1), (33, 17, 40)], layout=("F", "C"), dtype=DTYPES)
def test_gemm_of_every_shape(device: Device, shape: tuple[int, int, int], layout: str, dtype: str) -> None:
    m, n, k = shape
    gemm(device, layout, random_batch(BATCH, m, k, dtype, 1), random_batch(BATCH, k, n, dtype, 2))


@on(*DEVICES)
@each_dtype
@each_order
def test_an_empty_product_is_the_scaled_addend(device: Device, layout: str, dtype: str) -> None:
    a, b, c = (np.zeros((2, 3, 0), dtype), np.zeros((2, 0, 4), dtype), random_batch(2, 3, 4, dtype))
    put = device.put_columns if layout == "F" else device.put
    c_there = put(c)
    result = lapack.gemm(device.put(a), device.put(b), c_there, beta=2)
    np.testing.assert_array_equal(device.get(result), 2 * c)
    np.testing.assert_array_equal(device.get(c_there), c)
    np.testing.assert_array_equal(device.get(lapack.gemm(device.put(a), device.put(b))), 0 * c)


@on(*DEVICES)
def test_factors_of_zero_keep_nan_out(device: Device) -> None:
    """As in BLAS: C is not read where beta is zero, A and B are not where alpha is."""
    a, c, bad = np.full((2, 2, 2), 3.0), np.ones((2, 2, 2)), np.full((2, 2, 2), np.nan)
    target = device.put(bad)
    assert lapack.gemm(device.put(a), device.put(a), target, overwrite_c=True) is target
    np.testing.assert_array_equal(device.get(target), 18 * c)
    kept = lapack.gemm(device.put(bad), device.put(a), device.put(c), alpha=0, beta=1)
    np.testing.assert_array_equal(device.get(kept), c)
    nothing = lapack.trsm(device.put(bad), device.put(bad), alpha=0)
    np.testing.assert_array_equal(device.get(nothing), 0 * c)


@on(*DEVICES)
@pytest.mark.parametrize("over", [False, True])
def test_where_the_product_goes(device: Device, over: bool) -> None:
    a, b, c = (random_batch(BATCH, 4, 4, "float64", seed) for seed in range(3))
    addend = device.put_columns(c)
    result = lapack.gemm(device.put(a), device.put(b), addend, beta=-2, overwrite_c=over)
    assert (result is addend) is over
    assert ratios.dmmch(device.get(result), a, b, -2 * c).passes()
    if not over:
        np.testing.assert_array_equal(device.get(addend), c)
        interface = result if isinstance(result, np.ndarray) else getattr(result, "host", result)
        assert interface.strides[-2] < interface.strides[-1], "not in the order of c"


@on("emulated-cublas")
def test_row_major_operands_are_not_copied(device: Any) -> None:
    """Only conjugation without transposition costs a copy, and only for complex matrices."""
    shape = (BATCH, 4, 4)
    for dtype, trans, copies in (("float32", "C", 0), ("complex64", "T", 0), ("complex64", "C", 1)):
        a, b, x = (device.put(np.ones(shape, dtype)) for _ in range(3))
        c = device.put_columns(np.ones(shape, dtype))
        device.gpu.launches.clear()
        lapack.gemm(a, b, c, transa=trans, overwrite_c=True)
        assert [source.name for source in device.gpu.launches].count("relayout") == copies
        device.gpu.launches.clear()
        lapack.trsm(a, c, trans=trans, overwrite_b=True)
        assert [source.name for source in device.gpu.launches].count("relayout") == copies
        lapack.gemm(a, b, x, transa=trans, transb=trans, overwrite_c=True)
        assert [source.name for source in device.gpu.launches].count("relayout") == copies


@over(side=SIDES, uplo=TRIANGLES, trans=LETTERS, diag=("N", "U"), dtype=("float64", "complex64"))
def test_every_triangle(device: Device, side: str, uplo: str, trans: str, diag: str, dtype: str) -> None:
    a = triangle(5, dtype)
    b = random_batch(BATCH, *((5, 3) if side == "L" else (3, 5)), dtype, seed=1)
    letters = {"side": side, "uplo": uplo, "trans": trans, "diag": diag}
    for layout in ("F", "C"):
        trsm(device, layout, a, b, alpha=-0.5, **letters)


@over(side=SIDES, trans=LETTERS, shift=range(3))
def test_triangle_sides_and_solution_in_layouts_of_their_own(
    device: Device, shift: int, trans: str, side: str
) -> None:
    names = ["F-ld", "C-ld", "sliced"]
    layouts = dict(zip(("a", "b", "x"), names[shift:] + names[:shift], strict=True))
    b = random_batch(BATCH, *((4, 6) if side == "L" else (6, 4)), "complex128", seed=1)
    trsm(device, layouts, triangle(4, "complex128"), b, 1 + 2j, side=side, trans=trans, uplo="U")


@on(*DEVICES)
@each_order
@pytest.mark.parametrize(("uplo", "diag"), [("L", "N"), ("U", "U"), ("L", "U")])
def test_the_other_triangle_is_not_read(device: Device, uplo: str, diag: str, layout: str) -> None:
    clean = triangle_of(triangle(6, "float64"), uplo, diag)
    dirty = clean.copy()
    rows, cols = np.triu_indices(6, 0 if diag == "U" else 1)
    if uplo == "U":
        rows, cols = cols, rows
    dirty[:, rows, cols] = np.nan
    b = random_batch(BATCH, 6, 2, "float64", seed=1)
    solutions = []
    for a in (clean, dirty):
        arguments = {"a": a, "b": b}
        solutions += call(device, lapack.trsm, arguments, {"x": empty(b)}, layout, uplo=uplo, diag=diag)
    assert np.isfinite(solutions[1]).all()
    assert_same(device, solutions[:1], solutions[1:])


@over(n=[1, 2, 31, 33], dtype=DTYPES)
def test_trsm_of_every_order(device: Device, n: int, dtype: str) -> None:
    for nrhs in (1, 4):
        b = random_batch(BATCH, n, nrhs, dtype, seed=1)
        trsm(device, "F" if n % 2 else "C", triangle(n, dtype), b, uplo="U")


@on(*DEVICES)
@pytest.mark.parametrize("over", [False, True])
def test_where_the_solution_goes(device: Device, over: bool) -> None:
    a, b = triangle(4, "float32"), random_batch(BATCH, 4, 4, "float32", seed=1)
    sides = device.put_columns(b)
    x = lapack.trsm(device.put(a), sides, overwrite_b=over)
    assert (x is sides) is over
    assert ratios.dget02(np.tril(a), device.get(x), b).passes()
    assert over or (device.get(sides) == b).all()


@on(*DEVICES)
def test_a_zero_on_the_diagonal_raises_nothing(device: Device) -> None:
    a = np.array([[[0.0, 0], [1, 1]], [[2, 0], [0, 2]]])
    x = device.get(lapack.trsm(device.put(a), device.put(np.ones((2, 2, 1)))))
    assert not np.isfinite(x[0]).any()
    np.testing.assert_array_equal(x[1], 0.5)


@on("host", "emulated", "emulated-cublas")
@pytest.mark.parametrize("shape", [(0, 3, 3), (2, 0, 0), (2, 3, 0)])
def test_nothing_to_do(device: Device, shape: tuple[int, int, int]) -> None:
    batch, n, nrhs = shape
    a, b = device.put(np.ones((batch, n, n))), device.put(np.ones((batch, n, nrhs)))
    assert device.get(lapack.trsm(a, b)).shape == shape
    assert device.get(lapack.gemm(a, b)).shape == shape


ONES = np.ones((2, 3, 4))
SQUARE = np.ones((2, 3, 3))
WRONG: dict[str, tuple[Any, type[Exception], str]] = {
    "transa": (lambda p: lapack.gemm(p(ONES), p(ONES), transa="X"), ArgumentError, "transa: got 'X'"),
    "inner": (
        lambda p: lapack.gemm(p(ONES), p(ONES)),
        ArgumentError,
        "b: op.b. is 3 x 4, accepted are 4 rows",
    ),
    "batch": (
        lambda p: lapack.gemm(p(SQUARE), p(SQUARE[:1])),
        ArgumentError,
        r"b: got shape \(1, 3, 3\), accepted are leading dimensions \(2,\)",
    ),
    "dtype": (
        lambda p: lapack.gemm(p(SQUARE), p(SQUARE.astype("float32"))),
        ArgumentTypeError,
        "b: got float32, accepted is a's float64",
    ),
    "no c": (lambda p: lapack.gemm(p(SQUARE), p(SQUARE), beta=1), ArgumentError, "c: got none"),
    "c": (
        lambda p: lapack.gemm(p(SQUARE), p(SQUARE), p(ONES), beta=1),
        ArgumentError,
        "c: got 3 x 4 matrices, accepted are 3 x 3",
    ),
    "complex": (lambda p: lapack.gemm(p(SQUARE), p(SQUARE), alpha=1j), ArgumentError, "alpha: got 1j"),
    "alpha": (
        lambda p: lapack.trsm(p(SQUARE), p(ONES), alpha="1"),  # type: ignore[arg-type]
        ArgumentTypeError,
        "alpha: got str",
    ),
    "side": (lambda p: lapack.trsm(p(SQUARE), p(ONES), side="B"), ArgumentError, "side: got 'B'"),
    "uplo": (lambda p: lapack.trsm(p(SQUARE), p(ONES), uplo="B"), ArgumentError, "uplo: got 'B'"),
    "diag": (lambda p: lapack.trsm(p(SQUARE), p(ONES), diag="B"), ArgumentError, "diag: got 'B'"),
    "order": (
        lambda p: lapack.trsm(p(SQUARE), p(ONES), side="R"),
        ArgumentError,
        "b: got 4 columns, accepted are 3 for this a",
    ),
    "square": (lambda p: lapack.trsm(p(ONES), p(ONES)), ArgumentError, "a: got 3 x 4 .* square"),
}


@on("host", "emulated-cublas")
@pytest.mark.parametrize("what", WRONG)
def test_wrong_arguments(device: Device, what: str) -> None:
    attempt, kind, message = WRONG[what]
    with pytest.raises(kind, match=message):
        attempt(device.put)


@on("host", "emulated-cublas")
def test_a_result_over_an_input(device: Device) -> None:
    a, b = device.put(SQUARE), device.put(SQUARE)
    with pytest.raises(ArgumentError, match="c: the result is an input itself"):
        lapack.gemm(a, b, out=b)
    with pytest.raises(ArgumentError, match="x: the result is an input itself"):
        lapack.trsm(a, b, out=a)


@on("host", "emulated-cublas")
def test_a_refused_route_writes_nothing(device: Device) -> None:
    a, c, out = device.put(SQUARE), device.put(SQUARE), device.put(7 * SQUARE)
    with pytest.raises(PinError, match="argument route: got 'tiny' for gemm"):
        lapack.gemm(a, a, c, beta=1, out=out, route="tiny")
    np.testing.assert_array_equal(device.get(out), 7 * SQUARE)
