"""The fused tiny solver itself: every bucket of orders and right-hand sides, every schedule, hard inputs."""

from __future__ import annotations

import numpy as np
import pytest

from batchlas_py.dtypes import DTYPES
from batchlas_py.kernels.choice import RHS_BUCKETS

from ..checks import check_gesv, check_neighbours, check_pivot_range
from . import inputs
from .inputs import LARGEST, SMALLEST, each_dtype, each_order, each_way
from .launching import SEEDS, gesv, getrf


@each_way
@each_order
@each_dtype
def test_solutions_on_every_schedule(dtype: str, n: int, layout: str) -> None:
    a, b = inputs.random_batch(n, dtype), inputs.random_batch(n, dtype, columns=3)
    first, *others = (gesv(a, b, layout, seed=seed) for seed in SEEDS)
    check_gesv(a, b, *first)
    for other in others:
        assert all(x.tobytes() == y.tobytes() for x, y in zip(first, other, strict=True))


@pytest.mark.parametrize("n", range(1, 33))
def test_every_order(n: int) -> None:
    dtype, nrhs = DTYPES[n // 4 % 4], 1 + n % 4
    a, b = inputs.random_batch(n, dtype, 2), inputs.random_batch(n, dtype, 2, nrhs)
    check_gesv(a, b, *gesv(a, b, "C" if n % 3 else "F"))


@pytest.mark.parametrize("nrhs", range(1, RHS_BUCKETS[-1] + 1))
@each_dtype
def test_every_number_of_right_hand_sides(dtype: str, nrhs: int) -> None:
    a, b = inputs.random_batch(6, dtype), inputs.random_batch(6, dtype, columns=nrhs)
    check_gesv(a, b, *gesv(a, b))


@pytest.mark.parametrize("layout", ["sliced", "F", "C"])
def test_other_strides(layout: str) -> None:
    a, b = inputs.random_batch(5, "complex64"), inputs.random_batch(5, "complex64", columns=2)
    check_gesv(a, b, *gesv(a, b, layout))


@each_order
@each_dtype
def test_a_singular_item_gets_nan_alone(dtype: str, n: int) -> None:
    exact = inputs.exact_batch(n, dtype)
    b = inputs.random_batch(n, dtype, len(exact.a), columns=2)
    x, *factors = gesv(exact.a, b)
    np.testing.assert_array_equal(np.isnan(x).all(axis=(1, 2)), exact.info > 0)
    check_gesv(exact.a, b, x, *factors)
    inputs.assert_exact(exact, *factors)


@pytest.mark.parametrize("end", [SMALLEST, LARGEST])
@each_dtype
def test_extreme_magnitudes(dtype: str, end: str) -> None:
    exact = inputs.extreme_batch(3, dtype, end)
    solution = np.ones((len(exact.a), 3, 1), dtype)
    x, *factors = gesv(exact.a, exact.a @ solution if end == SMALLEST else exact.a[:, :, :1])
    inputs.assert_exact(exact, *factors)
    wanted = solution if end == SMALLEST else np.eye(3, 1)[None]
    np.testing.assert_allclose(
        x, np.broadcast_to(wanted, x.shape), rtol=0, atol=32 * float(np.finfo(dtype).eps)
    )


@each_order
@each_dtype
def test_the_factors_are_those_of_getrf(dtype: str, n: int) -> None:
    a, b = inputs.random_batch(n, dtype, 2), inputs.random_batch(n, dtype, 2, columns=1)
    alone = getrf(a)
    for mine, theirs in zip(gesv(a, b)[1:], alone, strict=True):
        np.testing.assert_array_equal(mine, theirs)


@each_order
@each_dtype
def test_nan_stays_in_its_item(dtype: str, n: int) -> None:
    clean, spoiled = inputs.nan_batch(n, dtype)
    b = inputs.random_batch(n, dtype, columns=1)
    check_neighbours(lambda a: gesv(a, b), clean, spoiled)
    x, _, ipiv, _ = gesv(spoiled, b)
    check_pivot_range(ipiv, n)
    assert np.isnan(x[::2]).any(axis=(1, 2)).all()


@each_way
@each_order
def test_spare_members_store_nothing(n: int, layout: str) -> None:
    a, b = inputs.random_batch(n, "float32", 1), inputs.random_batch(n, "float32", 1, columns=3)
    for seed in SEEDS:
        check_gesv(a, b, *gesv(a, b, layout, in_place=True, spare_blocks=1, seed=seed))
