"""The LU panel in registers: one warp and several, rows of a thread, hard inputs, panels inside a matrix."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

from batchlas_py.dtypes import DTYPES
from batchlas_py.kernels.block_specs import PanelSpec
from batchlas_py.testing import matgen

from ..checks import check_getrf, check_neighbours, check_pivot_range
from . import inputs, launching
from .inputs import LARGEST, SMALLEST, each_complex_dtype, each_dtype
from .launching import SEEDS, Panel


class Way(NamedTuple):
    """A specialisation: register columns, rows of a thread, most threads."""

    columns: int
    rows_each: int
    threads: int


WARP, WARPS = Way(6, 1, 32), Way(6, 1, 96)
TWO_ROWS, FOUR_ROWS = Way(6, 2, 64), Way(4, 4, 64)
HIGHEST = {WARP: 32, WARPS: 96, TWO_ROWS: 128, FOUR_ROWS: 256}  # rows

NAMES = ("warp", "warps", "two rows", "four rows")
KINDS = {WARP: DTYPES[::3], WARPS: DTYPES, TWO_ROWS: DTYPES[1:3], FOUR_ROWS: DTYPES[::3]}

each_way = pytest.mark.parametrize("way", HIGHEST, ids=NAMES)
each_kernel = pytest.mark.parametrize(
    ("way", "dtype"),
    [
        pytest.param(way, dtype, id=f"{name}-{dtype}")
        for name, (way, dtypes) in zip(NAMES, KINDS.items(), strict=True)
        for dtype in dtypes
    ],
)
each_small_order = pytest.mark.parametrize("n", [3, 6])


def factored(a: np.ndarray, way: Way = WARP, layout: str = "F-ld", **options: Any) -> Panel:
    """Factor a batch, shape (batch, m, n)."""
    return launching.getrf_panel(a, PanelSpec(a.dtype.name, *way), layout, **options)


def random_batch(m: int, n: int, dtype: str, batch: int = 2) -> np.ndarray:
    return inputs.random_batch(m, dtype, batch, n)


def tall(way: Way, columns: int, dtype: str, batch: int = 2) -> np.ndarray:
    """Panels whose last rows do not fill a warp.

    The last row, of which idle threads hold copies, is large; so is the first, which makes way twice.
    """
    m = HIGHEST[way] - 5
    a = random_batch(m, columns, dtype, batch)
    a[:, 0] *= 4
    a[:, m - 1] *= 8
    return a


def assert_same_bits(one: tuple[np.ndarray, ...], other: tuple[np.ndarray, ...]) -> None:
    for number, (x, y) in enumerate(zip(one, other, strict=True)):
        assert x.tobytes() == y.tobytes(), f"result {number} differs"


def permutation(ipiv: np.ndarray, m: int) -> np.ndarray:
    """The row that each row was, after the interchanges."""
    rows = np.tile(np.arange(m, dtype=np.int32), (len(ipiv), 1))
    for mine, pivots in zip(rows, ipiv, strict=True):
        for step, pivot in enumerate(pivots):
            mine[[step, pivot - 1]] = mine[[pivot - 1, step]]
    return rows


@each_kernel
def test_factors_on_every_schedule(dtype: str, way: Way) -> None:
    a = tall(way, way.columns - 1, dtype, batch=1 if way is FOUR_ROWS else 2)
    first, *others = (factored(a, way, seed=seed) for seed in SEEDS)
    check_getrf(a, *first[:3])
    np.testing.assert_array_equal(first.moved, permutation(first.ipiv, a.shape[1]))
    for other in others:
        assert_same_bits(first, other)


@pytest.mark.parametrize("m", [1, 2, 5, 31, 32, 33, 63, 64, 65, 96])
def test_every_height(m: int) -> None:
    a = random_batch(m, 3, DTYPES[m // 2 % 4])
    way = WARP if m <= HIGHEST[WARP] else WARPS
    check_getrf(a, *factored(a, way)[:3])


@each_way
@pytest.mark.parametrize(("m", "n"), [(1, 4), (3, 4), (2, 3)])
def test_wide_panels(m: int, n: int, way: Way) -> None:
    """As many steps as rows, and all columns take part."""
    for dtype in DTYPES:
        a = random_batch(m, n, dtype)
        results = factored(a, way)
        check_getrf(a, *results[:3])
        np.testing.assert_array_equal(results.moved, permutation(results.ipiv, m))


@each_way
def test_as_many_rows_as_the_block_has(way: Way) -> None:
    a = random_batch(HIGHEST[way], 2, "float32", batch=1)
    check_getrf(a, *factored(a, way)[:3])


@pytest.mark.parametrize("layout", ["F", "C", "C-ld", "sliced"])
def test_other_strides(layout: str) -> None:
    a = random_batch(7, 4, "complex64")
    assert_same_bits(factored(a, WARP, layout), factored(a))


@each_kernel
def test_the_bits_of_the_tiny_kernel(dtype: str, way: Way) -> None:
    n = way.columns
    a = inputs.random_batch(n, dtype, batch=2)
    a[1, :, n // 2] = 0
    assert_same_bits(launching.getrf(a), factored(a, way)[:3])


def test_the_bits_of_every_way_are_the_same() -> None:
    for dtype in ("float32", "complex128"):
        a = random_batch(61, 4, dtype, batch=1)
        for way in (TWO_ROWS, FOUR_ROWS):
            assert_same_bits(factored(a, WARPS), factored(a, way))


@each_kernel
def test_elimination_goes_on_past_a_zero_pivot(dtype: str, way: Way) -> None:
    exact = inputs.exact_batch(min(way.columns, 5), dtype)
    inputs.assert_exact(exact, *factored(exact.a, way)[:3])


@each_small_order
@each_dtype
def test_a_triangle_is_its_own_factor_singular_or_not(dtype: str, n: int) -> None:
    a = np.triu(inputs.random_batch(n, dtype, batch=3))
    a[1, n // 2, n // 2] = a[2, -1, -1] = 0
    steps = np.broadcast_to(np.arange(1, n + 1), (3, n))
    inputs.assert_exact(inputs.Exact(a, a, steps, np.array([0, n // 2 + 1, n])), *factored(a)[:3])


def test_a_zero_pivot_multiplies_by_zero() -> None:
    """A column of negative zeros is no multiplier of negative zero: 0 - (-0) 1 would be 0, not -0."""
    a = np.array([[[-0.0, 1, 2], [-0.0, -0.0, 3], [-0.0, -0.0, -0.0]]], np.float32)
    assert_same_bits(launching.getrf(a), factored(a)[:3])


@pytest.mark.parametrize("end", [SMALLEST, LARGEST])
@each_dtype
def test_extreme_magnitudes(dtype: str, end: str) -> None:
    exact = inputs.extreme_batch(3, dtype, end)
    inputs.assert_exact(exact, *factored(exact.a)[:3])


@each_small_order
@each_dtype
def test_ties_take_the_lowest_row(dtype: str, n: int) -> None:
    a, lowest = inputs.tied_batch(n, dtype)
    results = factored(a)
    np.testing.assert_array_equal(results.ipiv[:, 0], lowest)
    check_getrf(a, *results[:3])


@pytest.mark.parametrize(
    ("way", "tied"),
    [
        (WARPS, (3, 7, 70)),
        (WARPS, (33, 90)),
        (TWO_ROWS, (70, 75, 110)),
        (TWO_ROWS, (12, 76)),
        (FOUR_ROWS, (40, 72, 200)),
    ],
    ids=str,
)
@each_dtype
def test_ties_of_several_warps_take_the_lowest_row(dtype: str, way: Way, tied: tuple[int, ...]) -> None:
    """Rows of one warp, of several, and of one thread."""
    a = np.full((1, HIGHEST[way] - 3, 2), 0.5, dtype)
    a[0, tied, 0] = np.resize([1, -1], len(tied))
    assert factored(a, way).ipiv[0, 0] == min(tied) + 1


@each_way
@each_complex_dtype
def test_the_pivot_metric_is_the_sum_of_parts(dtype: str, way: Way) -> None:
    a, pivots = inputs.metric_batch(4, dtype)
    np.testing.assert_array_equal(factored(a, way).ipiv[:, 0], pivots)


@each_way
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_the_last_bit_decides_a_pivot(dtype: str, way: Way) -> None:
    m = HIGHEST[way] - 1
    a = random_batch(m, 2, dtype, batch=3)
    a[:, :, 0] = 1
    rows = np.array([1, m // 2, m - 1])
    a[[0, 1, 2], rows, 0] = -np.nextafter(1, 2)
    np.testing.assert_array_equal(factored(a, way).ipiv[:, 0], rows + 1)


@each_way
@pytest.mark.parametrize(
    ("spoiler", "dtype"),
    [(np.nan, "float32"), (np.inf, "float64"), (np.nan, "complex64"), (np.inf, "complex64")],
)
def test_nan_and_infinity_stay_in_their_item(dtype: str, spoiler: float, way: Way) -> None:
    clean = random_batch(HIGHEST[way] // 2 + 3, 3, dtype, batch=3)
    spoiled = clean.copy()
    spoiled[0, 1:, 1], spoiled[2, 5, 2] = spoiler, spoiler
    check_neighbours(lambda a: factored(a, way), clean, spoiled)
    check_pivot_range(factored(spoiled, way).ipiv, clean.shape[1])


@each_kernel
def test_nan_is_the_largest(dtype: str, way: Way) -> None:
    m = HIGHEST[way] - 2
    a, first = random_batch(m, 2, dtype, batch=3), np.array([0, m // 2, m - 1])
    a[:, 1, 0] = np.inf
    for item in range(3):
        a[item, first[item] :, 0] = np.nan
    np.testing.assert_array_equal(factored(a, way).ipiv[:, 0], first + 1)


@each_kernel
def test_a_panel_counts_from_its_base(dtype: str, way: Way) -> None:
    a = random_batch(7, 3, dtype)
    whole, panel = factored(a, way), factored(a, way, base=32, info=0)
    assert_same_bits((whole.lu, whole.moved), (panel.lu, panel.moved))
    np.testing.assert_array_equal(panel.ipiv, whole.ipiv + 32)
    assert not panel.info.any()


@each_way
def test_the_first_zero_pivot_of_all_panels_stays(way: Way) -> None:
    a = random_batch(7, 3, "float32", batch=4)
    a[1:, :, 1:] = 0
    np.testing.assert_array_equal(factored(a, way, info=99).info, [0, 2, 2, 2])
    np.testing.assert_array_equal(factored(a, way, base=32, info=[5, 0, 7, 0]).info, [5, 34, 7, 34])


def test_shipped_widths() -> None:
    """All 32 columns, in one warp and in two."""
    for m in (32, 40):
        a = matgen.random_matrix(m, 32, "float32", np.random.default_rng(m))[None]
        spec = PanelSpec("float32", 32, 1, 32 if m == 32 else 128)
        check_getrf(a, *launching.getrf_panel(a, spec)[:3])
