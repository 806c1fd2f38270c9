"""The tiny LU kernel itself: every bucket, both ways to memory, every schedule, hard inputs."""

from __future__ import annotations

import numpy as np
import pytest

from batchlas_py.dtypes import DTYPES

from ..checks import check_getrf, check_neighbours, check_pivot_range
from . import inputs
from .inputs import LARGEST, SMALLEST, each_complex_dtype, each_dtype, each_order, each_way
from .launching import SEEDS, getrf


@each_way
@each_order
@each_dtype
def test_factors_on_every_schedule(dtype: str, n: int, layout: str) -> None:
    a = inputs.random_batch(n, dtype)
    first, *others = (getrf(a, layout, seed=seed) for seed in SEEDS)
    check_getrf(a, *first)
    for other in others:
        assert all(x.tobytes() == y.tobytes() for x, y in zip(first, other, strict=True))


@pytest.mark.parametrize("n", range(1, 33))
def test_every_order(n: int) -> None:
    a = inputs.random_batch(n, DTYPES[n // 2 % 4], batch=2)
    check_getrf(a, *getrf(a, "C" if n % 3 else "F"))


@pytest.mark.parametrize("layout", ["sliced", "F", "C"])
def test_other_strides(layout: str) -> None:
    a = inputs.random_batch(5, "float64")
    check_getrf(a, *getrf(a, layout))


@each_way
@each_order
@each_dtype
def test_elimination_goes_on_past_a_zero_pivot(dtype: str, n: int, layout: str) -> None:
    exact = inputs.exact_batch(n, dtype)
    inputs.assert_exact(exact, *getrf(exact.a, layout))


@each_order
@each_dtype
def test_a_triangle_is_its_own_factor_singular_or_not(dtype: str, n: int) -> None:
    a = np.triu(inputs.random_batch(n, dtype, batch=3))
    a[1, n // 2, n // 2] = a[2, -1, -1] = 0
    steps = np.broadcast_to(np.arange(1, n + 1), (3, n))
    inputs.assert_exact(inputs.Exact(a, a, steps, np.array([0, n // 2 + 1, n])), *getrf(a))


@pytest.mark.parametrize("end", [SMALLEST, LARGEST])
@each_dtype
def test_extreme_magnitudes(dtype: str, end: str) -> None:
    exact = inputs.extreme_batch(3, dtype, end)
    inputs.assert_exact(exact, *getrf(exact.a))


@each_order
@each_dtype
def test_ties_take_the_lowest_row(dtype: str, n: int) -> None:
    a, lowest = inputs.tied_batch(n, dtype)
    lu, ipiv, info = getrf(a)
    np.testing.assert_array_equal(ipiv[:, 0], lowest)
    check_getrf(a, lu, ipiv, info)


@each_order
@each_complex_dtype
def test_the_pivot_metric_is_the_sum_of_parts(dtype: str, n: int) -> None:
    a, pivots = inputs.metric_batch(n, dtype)
    np.testing.assert_array_equal(getrf(a).ipiv[:, 0], pivots)


@each_order
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_the_last_bit_decides_a_pivot(dtype: str, n: int) -> None:
    a = inputs.random_batch(n, dtype, batch=n)
    a[:, :, 0] = 1
    for item in range(n):
        a[item, item, 0] = -np.nextafter(1, 2)
    np.testing.assert_array_equal(getrf(a[1:4]).ipiv[:, 0], np.arange(2, n + 1)[:3])


@each_order
@each_dtype
def test_nan_stays_in_its_item(dtype: str, n: int) -> None:
    clean, spoiled = inputs.nan_batch(n, dtype)
    check_neighbours(getrf, clean, spoiled)
    lu, ipiv, _ = getrf(spoiled)
    check_pivot_range(ipiv, n)
    assert np.isnan(lu[::2]).any(axis=(1, 2)).all()


@each_order
@each_dtype
def test_nan_is_the_largest(dtype: str, n: int) -> None:
    a, first = inputs.random_batch(n, dtype, batch=3), np.array([0, n // 2, n - 1])
    for item in range(3):
        a[item, first[item] :, 0] = np.nan
    np.testing.assert_array_equal(getrf(a).ipiv[:, 0], first + 1)


@each_way
@each_order
def test_spare_members_store_nothing(n: int, layout: str) -> None:
    a = inputs.random_batch(n, "float32", batch=1)
    for seed in SEEDS:
        check_getrf(a, *getrf(a, layout, in_place=True, spare_blocks=1, seed=seed))
