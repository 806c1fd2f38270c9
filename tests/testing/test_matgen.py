"""The test matrices are what their names say."""

from __future__ import annotations

import numpy as np
import pytest

from batchlas_py.dtypes import DTYPES
from batchlas_py.errors import ArgumentError
from batchlas_py.testing import matgen, oracle

SIZES = (1, 2, 3, 5, 10, 31, 33)


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def singular_values(a: np.ndarray) -> np.ndarray:
    """In double precision, scaled so that the largest is of order one."""
    wide = a.astype(np.result_type(a.dtype, np.float64))
    return np.asarray(np.linalg.svd(wide / abs(wide).max(), compute_uv=False))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("imat", matgen.DGE_TYPES)
@pytest.mark.parametrize("shape", [(6, 6), (7, 4), (4, 7), (1, 1), (0, 0), (0, 3)])
def test_shape_dtype_and_repeatability(imat: int, shape: tuple[int, int], dtype: str) -> None:
    a = matgen.dge(imat, *shape, dtype, rng())
    assert a.shape == shape
    assert a.dtype == dtype
    assert np.isfinite(a).all()
    np.testing.assert_array_equal(a, matgen.dge(imat, *shape, dtype, rng()))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", SIZES[1:])
@pytest.mark.parametrize(("imat", "power"), [*((imat, None) for imat in (1, 2, 3, 4, 10, 11)), (8, 0.5)])
def test_condition(imat: int, power: float | None, n: int, dtype: str) -> None:
    sigma = singular_values(matgen.dge(imat, n, n, dtype, rng()))
    expected = 2.0 if power is None else (0.1 / np.finfo(dtype).eps) ** power
    assert sigma[0] / sigma[-1] == pytest.approx(expected, rel=1e-2)


@pytest.mark.parametrize("dtype", DTYPES)
def test_type_9_is_singular_to_within_ten_roundings(dtype: str) -> None:
    sigma = singular_values(matgen.dge(9, 10, 10, dtype, rng()))
    assert sigma[-1] / sigma[0] == pytest.approx(10 * np.finfo(dtype).eps, rel=0.5)


def test_triangular_types() -> None:
    for shape in ((5, 5), (6, 4), (4, 6)):
        diagonal, upper, lower = (matgen.dge(imat, *shape, "float64", rng()) for imat in (1, 2, 3))
        assert not np.triu(diagonal, 1).any()
        assert not np.tril(diagonal, -1).any()
        assert not np.tril(upper, -1).any()
        assert np.triu(upper, 1).any()
        assert not np.triu(lower, 1).any()
        assert np.tril(lower, -1).any()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", SIZES)
def test_zero_column_types(n: int, dtype: str) -> None:
    expected = {5: [0], 6: [n - 1], 7: list(range(n // 2, n))}
    for imat in matgen.DGE_TYPES:
        a = matgen.dge(imat, n, n, dtype, rng())
        assert np.flatnonzero(~a.any(axis=0)).tolist() == expected.get(imat, [])


@pytest.mark.parametrize("shape", [(10, 10), (3, 3), (1, 1), (7, 4), (4, 7)])
def test_required_info_is_what_the_oracle_finds(shape: tuple[int, int]) -> None:
    steps = min(shape)
    required = {5: 1, 6: steps, 7: steps // 2 + 1}
    for imat in matgen.DGE_TYPES:
        assert matgen.dge_info(imat, *shape) == required.get(imat, 0)
        assert oracle.getf2(matgen.dge(imat, *shape, "float64", rng())).info == required.get(imat, 0)


@pytest.mark.parametrize("dtype", DTYPES)
def test_scaled_types_are_near_the_ends_of_the_range(dtype: str) -> None:
    limits = np.finfo(dtype)
    small, large = (abs(matgen.dge(imat, 8, 8, dtype, rng())).max() for imat in (10, 11))
    assert limits.tiny < small < limits.tiny / limits.eps
    assert limits.max * limits.eps / 16 < large < limits.max


def test_unknown_type_is_refused() -> None:
    with pytest.raises(ArgumentError, match="imat: got 12, accepted are 1 to 11"):
        matgen.dge(12, 3, 3, "float32", rng())


@pytest.mark.parametrize("dtype", DTYPES)
def test_unitary(dtype: str) -> None:
    q = matgen.unitary(6, dtype, rng())
    np.testing.assert_allclose(q.conj().T @ q, np.eye(6), atol=1e-14)
    assert np.iscomplexobj(q) == dtype.startswith("complex")


def test_zero_columns_and_scale_row_copy() -> None:
    a = np.ones((2, 3, 3), np.float32)
    zeroed, scaled = matgen.zero_columns(a, [1]), matgen.scale_row(a, 2, 1e-38)
    assert (a == 1).all()
    np.testing.assert_array_equal(zeroed[0], [[1, 0, 1]] * 3)
    np.testing.assert_array_equal(scaled[1, 2], [np.float32(1e-38)] * 3)
    assert (scaled[:, :2] == 1).all()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("zero_pivots", [(), (0,), (3, 1), (4,)])
def test_exact_lu(dtype: str, zero_pivots: tuple[int, ...]) -> None:
    for seed in range(20):
        exact = matgen.exact_lu(5, dtype, np.random.default_rng(seed), zero_pivots)
        result = oracle.getf2(exact.a)
        np.testing.assert_array_equal(result.lu, exact.lu)
        np.testing.assert_array_equal(result.ipiv, exact.ipiv)
        assert result.info == exact.info == (min(zero_pivots) + 1 if zero_pivots else 0)
        assert not result.noise.any()


def test_exact_lu_of_nothing() -> None:
    assert matgen.exact_lu(0, "float32", rng()).a.shape == (0, 0)
