"""The LU kernel in shared and in global memory: every size, every schedule, hard inputs, panels."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

from batchlas_py.capability import getrf_bytes, reduction_bytes
from batchlas_py.dtypes import DTYPES
from batchlas_py.kernels.block_specs import GetrfCtaSpec
from batchlas_py.testing import matgen, oracle

from ..checks import check_getrf, check_neighbours, check_pivot_range, embed
from . import inputs, launching
from .inputs import LARGEST, SMALLEST, each_complex_dtype, each_dtype
from .launching import PAD, SEEDS, Lu, blank, launch, matrices


class Way(NamedTuple):
    """A kernel and its block size."""

    scope: str
    storage: str
    threads: int


BLOCK, WARP, GLOBAL = Way("block", "shared", 64), Way("warp", "shared", 64), Way("block", "global", 64)
FOUR_WARPS, EIGHT_WARPS = Way("block", "shared", 128), Way("block", "shared", 256)
FOUR_WARPS_GLOBAL = Way("block", "global", 128)
WAYS = {"block": BLOCK, "warp": WARP, "global": GLOBAL}

each_way = pytest.mark.parametrize("way", WAYS.values(), ids=list(WAYS))
each_small_order = pytest.mark.parametrize("n", [3, 9])


def factored(
    a: np.ndarray,
    way: Way = BLOCK,
    layout: str = "F-ld",
    *,
    in_place: bool = False,
    base: int = 0,
    info: Any = -7,
    seed: int = 0,
) -> Lu:
    """Factor a batch, shape (batch, m, n), as a panel with ``base`` rows above it."""
    batch, m, n = a.shape
    spec = GetrfCtaSpec(a.dtype.name, *way)
    source = embed(a, layout, PAD)
    target = source if in_place or way.storage == "global" else blank(a.shape, a.dtype, layout)
    pivots = embed(np.full((batch, min(m, n), 1), -7, np.int32), "F-ld", PAD)
    codes = np.array(np.broadcast_to(info, batch), np.int32)
    members = way.threads // 32 if way.scope == "warp" else 1
    each = getrf_bytes(spec.dtype, m, n) if way.storage == "shared" else reduction_bytes(spec.dtype)
    ipiv, _, _, stride = matrices(pivots, written=True)
    launch(
        "getrf_cta", spec, -(-batch // members), *matrices(source), *matrices(target, written=True),
        ipiv, stride, codes, base, m, n, batch, seed=seed, shared=members * each,
    )  # fmt: skip
    launching._assert_kept(a, source, target)
    pivots.assert_padding_untouched()
    return Lu(target.view, pivots.view[..., 0].copy(), codes)


def random_batch(m: int, n: int, dtype: str, batch: int = 2) -> np.ndarray:
    """Normal entries, shape (batch, m, n)."""
    flat = matgen.random_matrix(batch * m, n, dtype, np.random.default_rng(100 * m + n))
    return flat.reshape(batch, m, n)


def assert_same_bits(one: Lu, other: Lu) -> None:
    for name, x, y in zip(Lu._fields, one, other, strict=True):
        assert x.tobytes() == y.tobytes(), f"{name} differs"


@each_way
@pytest.mark.parametrize(
    ("m", "n", "layout"), [(1, 1, "F-ld"), (6, 6, "F-ld"), (7, 3, "C-ld"), (3, 8, "C-ld")]
)
@each_dtype
def test_factors_on_every_schedule(dtype: str, m: int, n: int, layout: str, way: Way) -> None:
    a = random_batch(m, n, dtype, batch=3)
    first, *others = (factored(a, way, layout, seed=seed) for seed in SEEDS)
    check_getrf(a, *first)
    for other in others:
        assert_same_bits(first, other)


@pytest.mark.parametrize("n", [*range(1, 21), 31, 32, 33, 40])
def test_every_order(n: int) -> None:
    dtype, way = DTYPES[n // 2 % 4], (BLOCK, GLOBAL, FOUR_WARPS, WARP)[n % 4 if n <= 32 else n % 3]
    a = random_batch(n, n, dtype, batch=1)
    check_getrf(a, *factored(a, way, "C" if n % 3 else "F"))


@pytest.mark.parametrize("way", [FOUR_WARPS, EIGHT_WARPS, FOUR_WARPS_GLOBAL], ids=str)
@pytest.mark.parametrize(("m", "n"), [(129, 1), (130, 4)])
@each_dtype
def test_every_warp_searches_a_tall_panel(dtype: str, m: int, n: int, way: Way) -> None:
    a = random_batch(m, n, dtype, batch=1)
    first = factored(a, way)
    check_getrf(a, *first)
    assert_same_bits(first, factored(a, way, seed=1))


@pytest.mark.parametrize(("m", "n"), [(12, 40), (70, 5), (5, 70)])
def test_several_columns_at_once_and_the_rest(m: int, n: int) -> None:
    a = random_batch(m, n, "float32", batch=1)
    first = factored(a, BLOCK)
    check_getrf(a, *first)
    assert_same_bits(first, factored(a, FOUR_WARPS))


@pytest.mark.parametrize("layout", ["sliced", "F", "C"])
@pytest.mark.parametrize("way", [BLOCK, GLOBAL], ids=["shared", "global"])
def test_other_strides(layout: str, way: Way) -> None:
    a = random_batch(5, 4, "float64")
    check_getrf(a, *factored(a, way, layout))


@each_way
@each_dtype
def test_the_bits_of_the_tiny_kernel(dtype: str, way: Way) -> None:
    a = random_batch(9, 9, dtype)
    a[1, :, 4] = 0
    assert_same_bits(launching.getrf(a), factored(a, way))


@each_way
@each_dtype
def test_elimination_goes_on_past_a_zero_pivot(dtype: str, way: Way) -> None:
    for n in (3, 6):
        exact = inputs.exact_batch(n, dtype)
        inputs.assert_exact(exact, *factored(exact.a, way))


@each_small_order
@each_dtype
def test_a_triangle_is_its_own_factor_singular_or_not(dtype: str, n: int) -> None:
    a = np.triu(inputs.random_batch(n, dtype, batch=3))
    a[1, n // 2, n // 2] = a[2, -1, -1] = 0
    steps = np.broadcast_to(np.arange(1, n + 1), (3, n))
    inputs.assert_exact(inputs.Exact(a, a, steps, np.array([0, n // 2 + 1, n])), *factored(a))


def test_a_zero_pivot_multiplies_by_zero() -> None:
    """A column of negative zeros is no multiplier of negative zero: 0 - (-0) 1 would be 0, not -0."""
    a = np.array([[[-0.0, 1, 2], [-0.0, -0.0, 3], [-0.0, -0.0, -0.0]]], np.float32)
    assert_same_bits(launching.getrf(a), factored(a))


def test_an_infinite_pivot_divides_to_zero() -> None:
    a = random_batch(6, 6, "float32")
    a[:, 0, 0] = np.inf
    lu, ipiv, _ = factored(a)
    assert (ipiv[:, 0] == 1).all()
    assert (lu[:, 1:, 0] == 0).all()


@pytest.mark.parametrize("end", [SMALLEST, LARGEST])
@each_dtype
def test_extreme_magnitudes(dtype: str, end: str) -> None:
    exact = inputs.extreme_batch(3, dtype, end)
    inputs.assert_exact(exact, *factored(exact.a))


@each_small_order
@each_dtype
def test_ties_take_the_lowest_row(dtype: str, n: int) -> None:
    a, lowest = inputs.tied_batch(n, dtype)
    lu, ipiv, info = factored(a)
    np.testing.assert_array_equal(ipiv[:, 0], lowest)
    check_getrf(a, lu, ipiv, info)


@pytest.mark.parametrize(("way", "lowest"), [(BLOCK, 40), (FOUR_WARPS, 33), (EIGHT_WARPS, 100)], ids=str)
@each_dtype
def test_ties_of_a_tall_panel_take_the_lowest_row(dtype: str, way: Way, lowest: int) -> None:
    """Rows of one thread, of one warp and of several, the lowest not in the first."""
    a = np.full((1, 140, 2), 0.5, dtype)
    a[0, [lowest, lowest + 1, 104, 128, 131], 0] = 1, -1, 1, 1, 1
    assert factored(a, way).ipiv[0, 0] == lowest + 1


@each_small_order
@each_complex_dtype
def test_the_pivot_metric_is_the_sum_of_parts(dtype: str, n: int) -> None:
    a, pivots = inputs.metric_batch(n, dtype)
    np.testing.assert_array_equal(factored(a).ipiv[:, 0], pivots)


@pytest.mark.parametrize("m", [12, 140])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_the_last_bit_decides_a_pivot(dtype: str, m: int) -> None:
    a = random_batch(m, 2, dtype, batch=3)
    a[:, :, 0] = 1
    rows = np.array([1, m // 2, m - 1])
    a[[0, 1, 2], rows, 0] = -np.nextafter(1, 2)
    np.testing.assert_array_equal(factored(a, FOUR_WARPS).ipiv[:, 0], rows + 1)


@pytest.mark.parametrize(("spoiler", "way"), [(np.nan, BLOCK), (np.inf, WARP)], ids=["nan", "inf"])
@each_dtype
def test_nan_and_infinity_stay_in_their_item(dtype: str, spoiler: float, way: Way) -> None:
    clean = random_batch(6, 6, dtype, batch=3)
    spoiled = clean.copy()
    spoiled[0, 1:, 2], spoiled[2, 5, 3] = spoiler, spoiler
    check_neighbours(lambda a: factored(a, way), clean, spoiled)
    check_pivot_range(factored(spoiled, way).ipiv, 6)


@each_dtype
def test_nan_is_the_largest(dtype: str) -> None:
    n = 9
    a, first = inputs.random_batch(n, dtype, batch=3), np.array([0, n // 2, n - 1])
    a[:, 1, 0] = np.inf
    for item in range(3):
        a[item, first[item] :, 0] = np.nan
    np.testing.assert_array_equal(factored(a).ipiv[:, 0], first + 1)


@each_way
def test_in_place_and_spare_members(way: Way) -> None:
    a = random_batch(6, 6, "float32", batch=3)
    for seed in SEEDS:
        check_getrf(a, *factored(a, way, in_place=True, seed=seed))


@each_way
@each_dtype
def test_a_panel_counts_from_its_base(dtype: str, way: Way) -> None:
    a = random_batch(7, 3, dtype, batch=3)
    whole, panel = factored(a, way), factored(a, way, base=32, info=0)
    assert panel.lu.tobytes() == whole.lu.tobytes()
    np.testing.assert_array_equal(panel.ipiv, whole.ipiv + 32)
    assert not panel.info.any()


@each_way
def test_the_first_zero_pivot_of_all_panels_stays(way: Way) -> None:
    a = random_batch(7, 3, "float32", batch=4)
    a[1:, :, 1] = 0
    np.testing.assert_array_equal(factored(a, way, info=99).info, [0, 2, 2, 2])
    np.testing.assert_array_equal(factored(a, way, base=32, info=[5, 0, 7, 0]).info, [5, 34, 7, 34])


def test_the_oracle_agrees_on_a_tall_panel() -> None:
    a = random_batch(140, 3, "float64", batch=1)
    oracle.assert_pivots_agree(factored(a, FOUR_WARPS).ipiv[0], oracle.getf2(a[0]))
