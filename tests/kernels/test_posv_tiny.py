"""The fused tiny solver of positive definite systems: every bucket, every schedule, failures."""

from __future__ import annotations

import numpy as np
import pytest

from batchlas_py.dtypes import DTYPES
from batchlas_py.kernels.cholesky_choice import SPD_RHS, spd_tiny_max_n

from .cholesky import (
    assert_nan_where_failed,
    check_posv,
    check_potrf,
    failing_batch,
    posv,
    random_batch,
    random_sides,
    tiny,
)
from .inputs import each_dtype
from .launching import SEEDS
from .test_potrf_tiny import each_corner, each_order, each_triangle, each_way, spilling_batch


@each_corner
@each_order
def test_solutions_on_every_schedule(dtype: str, n: int, uplo: str, layout: str) -> None:
    batch = spilling_batch(n, dtype)
    a, b = random_batch(n, dtype, batch, uplo), random_sides(batch, n, 3, dtype)
    first, *others = (posv(a, b, layout, uplo, seed=seed) for seed in SEEDS)
    check_potrf(a, first.c, first.info, uplo)
    check_posv(a, b, first.x, uplo)
    for other in others:
        assert all(x.tobytes() == y.tobytes() for x, y in zip(first, other, strict=True))


@pytest.mark.parametrize("n", range(1, 33))
def test_every_order(n: int) -> None:
    dtype, uplo = DTYPES[n // 4 % 4], "LU"[n % 2]
    nrhs = 1 + n % 4 if n <= spd_tiny_max_n(dtype, "sm_90", SPD_RHS[-1]) else 1
    a, b = random_batch(n, dtype, 2, uplo), random_sides(2, n, nrhs, dtype)
    x, c, info = posv(a, b, "C" if n % 3 else "F", uplo)
    check_potrf(a, c, info, uplo)
    check_posv(a, b, x, uplo)


@pytest.mark.parametrize("nrhs", range(1, SPD_RHS[-1] + 1))
@each_dtype
def test_every_number_of_right_hand_sides(dtype: str, nrhs: int) -> None:
    a, b = random_batch(6, dtype, 2), random_sides(2, 6, nrhs, dtype)
    check_posv(a, b, posv(a, b).x)


@each_triangle
@each_order
@each_dtype
def test_a_failed_item_gets_nan_alone(dtype: str, n: int, uplo: str) -> None:
    a, expected = failing_batch(n, dtype, uplo)
    x, _, info = posv(a, random_sides(len(a), n, 2, dtype), uplo=uplo)
    np.testing.assert_array_equal(info, expected)
    assert_nan_where_failed(x, info)


@each_dtype
def test_a_pivot_of_zero_gives_nan(dtype: str) -> None:
    x, _, info = posv(np.zeros((2, 1, 1), dtype), np.ones((2, 1, 1), dtype))
    np.testing.assert_array_equal(info, 1)
    assert_nan_where_failed(x, info)


@each_way
@each_order
def test_the_factors_are_those_of_potrf(n: int, layout: str) -> None:
    a = random_batch(n, "complex64", 2)
    alone, fused = tiny(a, layout), posv(a, random_sides(2, n, 1, "complex64"), layout)
    assert alone.c.tobytes() == fused.c.tobytes()


@each_way
@each_order
def test_spare_members_store_nothing(n: int, layout: str) -> None:
    a, b = random_batch(n, "float32", 1), random_sides(1, n, 3, "float32")
    check_posv(a, b, posv(a, b, layout, spare_blocks=1).x)
