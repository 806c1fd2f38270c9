"""The tiny Cholesky kernel itself: every bucket of orders, every schedule, hard inputs."""

from __future__ import annotations

import numpy as np
import pytest

from batchlas_py.dtypes import DTYPES
from batchlas_py.kernels.cholesky_choice import spd_tiny_spec

from . import cholesky
from .cholesky import check_potrf, random_batch, tiny
from .inputs import each_dtype
from .launching import SEEDS

ORDERS = (3, 5, 9, 17)
each_order = pytest.mark.parametrize("n", ORDERS)
each_triangle = pytest.mark.parametrize("uplo", ["L", "U"])
each_way = pytest.mark.parametrize("layout", ["F-ld", "C-ld"])
# Every dtype on both triangles and in both layouts; all four pairs of these for one.
CORNERS = [
    *(("float32", "L", "F-ld"), ("float32", "U", "C-ld"), ("float64", "L", "C-ld"), ("float64", "U", "F-ld")),
    *(("complex64", uplo, layout) for uplo in "LU" for layout in ("F-ld", "C-ld")),
    *(("complex128", "L", "F-ld"), ("complex128", "U", "C-ld")),
]
each_corner = pytest.mark.parametrize(("dtype", "uplo", "layout"), CORNERS)


def spilling_batch(n: int, dtype: str) -> int:
    """One matrix more than fills a block."""
    return spd_tiny_spec(dtype, n, staged=False).per_block + 1


@each_corner
@each_order
def test_factors_on_every_schedule(dtype: str, n: int, uplo: str, layout: str) -> None:
    a = random_batch(n, dtype, spilling_batch(n, dtype), uplo)
    first, *others = (tiny(a, layout, uplo, seed=seed) for seed in SEEDS)
    check_potrf(a, *first, uplo)
    for other in others:
        assert first.c.tobytes() == other.c.tobytes()


@pytest.mark.parametrize("n", range(1, 33))
def test_every_order(n: int) -> None:
    dtype, uplo = DTYPES[n // 4 % 4], "LU"[n % 2]
    a = random_batch(n, dtype, 2, uplo)
    check_potrf(a, *tiny(a, "C" if n % 3 else "F", uplo), uplo)


@each_triangle
def test_other_strides(uplo: str) -> None:
    a = random_batch(5, "complex64", 3, uplo)
    check_potrf(a, *tiny(a, "sliced", uplo), uplo)


@each_way
@each_triangle
@each_order
def test_the_first_failure_counts(n: int, uplo: str, layout: str) -> None:
    cholesky.check_failures(tiny, n, "complex64", layout, uplo)


@each_order
@each_dtype
def test_nan_is_not_positive_and_stays_in_its_item(dtype: str, n: int) -> None:
    cholesky.check_nan_pivot(tiny, n, dtype)


@each_order
@each_dtype
def test_badly_scaled_matrices(dtype: str, n: int) -> None:
    cholesky.check_scaling(tiny, n, dtype)


@each_order
@each_dtype
def test_exact_factors(dtype: str, n: int) -> None:
    cholesky.check_exact(tiny, n, dtype)


@each_dtype
def test_ends_of_the_range(dtype: str) -> None:
    limits = np.finfo(dtype)
    values = [limits.smallest_subnormal, limits.tiny, limits.max, np.inf, 0, -limits.tiny, np.nan]
    a = np.array(values, dtype).reshape(-1, 1, 1)
    c, info = tiny(a)
    np.testing.assert_array_equal(info, [0, 0, 0, 0, 1, 1, 1])
    np.testing.assert_array_equal(c[:4], np.sqrt(a[:4].real).astype(dtype))


@each_dtype
def test_an_infinite_pivot_is_positive(dtype: str) -> None:
    a = np.array([[[np.inf, 0], [1, 4]]], dtype)
    c, info = tiny(a)
    assert not info.any()
    np.testing.assert_array_equal(np.tril(c[0]), [[np.inf, 0], [0, 2]])


@each_way
@each_order
def test_spare_members_store_nothing(n: int, layout: str) -> None:
    a = random_batch(n, "float32", 1)
    for seed in SEEDS:
        check_potrf(a, *tiny(a, layout, spare_blocks=1, seed=seed))
