"""The QR kernel of a thread block: stacked groups, groups side by side, every schedule, hard inputs."""

from __future__ import annotations

import numpy as np
import pytest

from batchlas_py.dtypes import DTYPES
from batchlas_py.kernels.qr_specs import QrPanelSpec
from batchlas_py.testing import matgen, qr_oracle

from ..checks import check_neighbours
from ..qr_checks import check_geqrf, check_like_lapack, conditioned
from . import inputs
from .inputs import each_complex_dtype, each_dtype
from .launching import SEEDS
from .qr_launching import Factors, geqrf_panel
from .test_qr_tiny import integers

# Rows and lanes of a group, wide or not, with a shape that needs several groups and leaves some to spare.
STACKED, SIDE_BY_SIDE, THIN = (8, 32, False), (8, 8, True), (8, 8, False)
WAYS = [(STACKED, (19, 6)), (SIDE_BY_SIDE, (18, 13)), (SIDE_BY_SIDE, (7, 21)), (THIN, (37, 5))]
Way = tuple[int, int, bool]
each_way = pytest.mark.parametrize(("way", "shape"), WAYS, ids=str)
each_layout = pytest.mark.parametrize("layout", ["F-ld", "C-ld"])


def spec(dtype: str, way: Way, threads: int = 256) -> QrPanelSpec:
    rows, lanes, wide = way
    return QrPanelSpec(dtype, rows, lanes, wide, threads)


def random_batch(shape: tuple[int, int], dtype: str, batch: int = 2) -> np.ndarray:
    return inputs.random_batch(shape[0], dtype, batch, shape[1])


def factor(a: np.ndarray, way: Way, layout: str = "F-ld", seed: int = 0) -> Factors:
    return geqrf_panel(a, spec(a.dtype.name, way), layout, seed=seed)


@each_way
@each_dtype
def test_factors_on_every_schedule(dtype: str, way: Way, shape: tuple[int, int]) -> None:
    a = random_batch(shape, dtype)
    seeds = SEEDS if dtype in ("float32", "complex64") else SEEDS[:1]
    first, *others = (factor(a, way, seed=seed) for seed in seeds)
    check_geqrf(a, *first)
    for other in others:
        assert all(x.tobytes() == y.tobytes() for x, y in zip(first, other, strict=True))


@each_layout
@each_way
def test_reflectors_are_those_of_lapack(way: Way, shape: tuple[int, int], layout: str) -> None:
    for dtype in ("float64", "complex64"):
        a = conditioned(2, *shape, dtype)
        check_like_lapack(a, *factor(a, way, layout))


@pytest.mark.parametrize(
    "shape", [(1, 1), (1, 4), (8, 8), (9, 3), (16, 16), (24, 5), (5, 24), (23, 23)], ids=str
)
@pytest.mark.parametrize("way", [(8, 8, True), (4, 8, True)], ids=str)
def test_every_shape(way: Way, shape: tuple[int, int]) -> None:
    a = random_batch(shape, DTYPES[sum(shape) % 4])
    check_geqrf(a, *factor(a, way))


@pytest.mark.parametrize("rows", [32, 33, 64, 65])
def test_shipped_rows(rows: int) -> None:
    a = random_batch((rows, 4), "float32", 1)
    check_geqrf(a, *geqrf_panel(a, spec("float32", (32, 32, False))))


@each_way
def test_in_place(way: Way, shape: tuple[int, int]) -> None:
    a = random_batch(shape, "float32")
    given, expected = geqrf_panel(a, spec("float32", way), in_place=True), factor(a, way)
    assert given.qr.tobytes() == expected.qr.tobytes()


@each_way
@each_dtype
def test_a_triangle_is_its_own_factor(dtype: str, way: Way, shape: tuple[int, int]) -> None:
    a = np.triu(random_batch(shape, dtype))
    for item in a:
        np.fill_diagonal(item, item.diagonal().real)
    qr, tau = factor(a, way)
    np.testing.assert_array_equal(qr, a)
    assert not tau.any()


@each_complex_dtype
def test_the_last_row_of_a_complex_matrix_becomes_real(dtype: str) -> None:
    a = random_batch((10, 10), dtype)
    qr, tau = factor(a, SIDE_BY_SIDE)
    assert tau[:, -1].all() and not qr[:, -1, -1].imag.any()


@pytest.mark.parametrize("end", [inputs.LARGEST, inputs.SMALLEST])
@each_dtype
def test_powers_of_two_change_nothing(dtype: str, end: str) -> None:
    a, limits = integers(18, 5, dtype, 2), np.finfo(dtype)
    power = float(limits.smallest_subnormal) if end == inputs.SMALLEST else 2.0 ** (limits.maxexp - 8)
    plain, scaled = factor(a, STACKED), factor((a * power).astype(dtype), STACKED)
    assert scaled.tau.tobytes() == plain.tau.tobytes()
    np.testing.assert_array_equal(np.tril(scaled.qr, -1), np.tril(plain.qr, -1))


@each_dtype
def test_columns_may_be_scaled_apart(dtype: str) -> None:
    a = integers(18, 4, dtype, 2)
    far = float(2.0 ** (np.finfo(dtype).maxexp * 3 // 4))
    powers = np.array([far, 1 / far, far, 1 / far])
    plain, scaled = factor(a, SIDE_BY_SIDE), factor((a * powers).astype(dtype), SIDE_BY_SIDE)
    assert scaled.tau.tobytes() == plain.tau.tobytes()
    np.testing.assert_array_equal(np.triu(scaled.qr), np.triu(plain.qr) * powers)


@each_way
@each_dtype
def test_squares_that_vanish(dtype: str, way: Way, shape: tuple[int, int]) -> None:
    a = random_batch(shape, dtype)
    a[:, 1:] *= np.dtype(dtype).type(float(np.finfo(dtype).tiny) ** 0.75)
    qr, tau = factor(a, way)
    check_geqrf(a, qr, tau)
    for i in range(2):
        expected = qr_oracle.geqr2(a[i])
        np.testing.assert_array_equal(tau[i] == 0, expected.tau == 0)


@each_dtype
def test_lapack_types(dtype: str) -> None:
    rng = np.random.default_rng(3)
    a = np.array([matgen.dge(imat, 19, 9, dtype, rng) for imat in matgen.DGE_TYPES])
    check_geqrf(a, *factor(a, SIDE_BY_SIDE))


@each_way
def test_nan_stays_in_its_item_and_right_of_its_column(way: Way, shape: tuple[int, int]) -> None:
    clean = random_batch(shape, "float64")
    spoiled = clean.copy()
    spoiled[0, -1, 2] = np.nan
    check_neighbours(lambda a: factor(a, way), clean, spoiled)
    qr, _ = factor(spoiled, way)
    assert np.isnan(qr[0, :, 2]).all()
    np.testing.assert_array_equal(qr[0, :, :2], factor(clean, way).qr[0, :, :2])
