"""The Cholesky kernels in shared memory and by panels: tiles and panels that end early, every schedule."""

from __future__ import annotations

import pytest

from . import cholesky
from .cholesky import Potrf, check_potrf, cta, lpanel, random_batch
from .inputs import each_dtype
from .launching import SEEDS

KERNELS = {"cta": cta, "lpanel:panel=8": lpanel(8), "lpanel:panel=16": lpanel(16)}
each_kernel = pytest.mark.parametrize("potrf", KERNELS.values(), ids=list(KERNELS))
# Each kernel and each dtype.
each_pair = pytest.mark.parametrize(
    ("potrf", "dtype"),
    [(cta, "float32"), (cta, "complex128"), (lpanel(8), "complex64"), (lpanel(16), "float64")],
    ids=["cta-float32", "cta-complex128", "panel8-complex64", "panel16-float64"],
)
each_triangle = pytest.mark.parametrize("uplo", ["L", "U"])
each_layout = pytest.mark.parametrize("layout", ["F-ld", "C-ld", "sliced"])


@each_kernel
@pytest.mark.parametrize("n", [1, 32, 33])
@each_dtype
def test_factors_of_orders_at_the_edges(dtype: str, n: int, potrf: Potrf) -> None:
    a = random_batch(n, dtype, 1)
    check_potrf(a, *potrf(a))


@each_kernel
@each_layout
@each_triangle
def test_triangles_in_every_layout(uplo: str, layout: str, potrf: Potrf) -> None:
    a = random_batch(35, "complex64", 1, uplo)
    check_potrf(a, *potrf(a, layout, uplo), uplo)


@each_kernel
def test_every_schedule(potrf: Potrf) -> None:
    a = random_batch(70, "float32", 1)
    first, *others = (potrf(a, seed=seed) for seed in SEEDS)
    check_potrf(a, *first)
    for other in others:
        assert first.c.tobytes() == other.c.tobytes()


@pytest.mark.parametrize("warps", [1, 3, 4])
def test_any_number_of_warps(warps: int) -> None:
    a = random_batch(97, "float32", 1)
    check_potrf(a, *cta(a, warps=warps))


@each_kernel
@each_triangle
def test_the_first_failure_counts(uplo: str, potrf: Potrf) -> None:
    cholesky.check_failures(potrf, 40, "complex64", "F-ld", uplo)


@each_pair
def test_nan_is_not_positive_and_stays_in_its_item(dtype: str, potrf: Potrf) -> None:
    cholesky.check_nan_pivot(potrf, 34, dtype)


@each_pair
def test_badly_scaled_matrices(dtype: str, potrf: Potrf) -> None:
    cholesky.check_scaling(potrf, 34, dtype)


def test_panels_of_several_slices() -> None:
    a = random_batch(97, "float64", 1)
    for columns in (8, 16):
        check_potrf(a, *lpanel(columns)(a))
