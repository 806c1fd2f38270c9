"""Ratios: small on right results, large on damaged ones, and exact at the edges."""

from __future__ import annotations

import numpy as np
import pytest

from batchlas_py.dtypes import DTYPES
from batchlas_py.testing import matgen, oracle, ratios
from batchlas_py.testing.ratios import THRESHOLD, Ratios, dget01, dget02, dget03, dmmch, tripwire


def factored(shape: tuple[int, int, int], dtype: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Random matrices of shape (batch, m, n) with the oracle's factors."""
    rng = np.random.default_rng(1)
    batch, m, n = shape
    a = np.array([matgen.random_matrix(m, n, dtype, rng) for _ in range(batch)])
    results = [oracle.getf2(item) for item in a]
    return a, np.array([r.lu for r in results]), np.array([r.ipiv for r in results])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(3, 12, 12), (2, 9, 5), (2, 5, 9)])
def test_dget01_is_about_one_roundoff(dtype: str, shape: tuple[int, int, int]) -> None:
    a, lu, ipiv = factored(shape, dtype)
    assert 0 < dget01(a, lu, ipiv).worst < 1


def test_dget01_is_the_formula() -> None:
    """|L U - P A| = 4, n = 2, |A| = 8, in units of 2**-53."""
    a, lu = np.array([[1.0, 2.0], [4.0, 6.0]]), np.array([[4.0, 6.0], [0.25, 4.5]])
    assert dget01(a, lu, np.array([2, 2])).worst == 4 / 2 / 8 * 2**53


def test_dget02_is_the_formula_over_columns() -> None:
    """Columns (|r|, |x|) are (3, 2) and (1, 5); |A| = 4 by columns, 5 by rows."""
    a = np.array([[2.0, 3.0], [0.0, 1.0]])
    x = np.array([[1.0, 5.0], [1.0, 0.0]])
    residual = np.array([[2.0, 1.0], [1.0, 0.0]])
    assert dget02(a, x, a @ x + residual).worst == 3 / 4 / 2 * 2**53
    assert dget02(a, x, a.T @ x + residual, "T").worst == 3 / 5 / 2 * 2**53


def test_dget02_conjugates_for_c_alone() -> None:
    a, x = np.array([[1j]]), np.array([[1.0 + 0j]])
    assert dget02(a, x, np.array([[-1j]]), "C").worst == 0
    assert dget02(a, x, np.array([[1j]]), "T").worst == 0
    assert dget02(a, x, np.array([[1j]]), "C").worst > THRESHOLD


def test_dget03_is_the_formula() -> None:
    """|I - A^-1 A| = 1, n = 2, |A| = 4, |A^-1| = 1/2."""
    a, inv = np.diag([2.0, 4.0]), np.diag([0.5, 0.5])
    assert dget03(a, inv).worst == 1 / 2 / 4 / 0.5 * 2**53


def test_dmmch_is_the_formula_over_elements() -> None:
    """|error| = 2 and 1 where |A| |B| + |C| is 1 * 3 + 1 and 2 * 3 + 0, in units of 2**-53."""
    a, b, c = np.array([[1.0], [-2.0]]), np.array([[-3.0]]), np.array([[1.0], [0.0]])
    product = a @ b + c + np.array([[2.0], [1.0]])
    assert dmmch(product, a, b, c).worst == 2 / 4 * 2**53
    assert dmmch(a @ b, a, b).worst == 0
    assert dmmch(0 * a, 0 * a, b).worst == 0
    assert dmmch(np.ones((1, 1)), np.zeros((1, 1)), b).worst == np.inf
    assert np.isnan(dmmch(np.full((2, 1), np.nan), a, b).worst)
    assert dmmch(np.zeros((3, 2, 0)), np.zeros((3, 2, 1)), np.zeros((3, 1, 0))).values.shape == (3,)


def test_single_precision_counts_its_own_roundoff() -> None:
    a, lu = np.array([[1.0, 2.0], [4.0, 6.0]], np.float32), np.array([[4.0, 6.0], [0.25, 4.5]], np.float32)
    assert dget01(a, lu, np.array([2, 2])).worst == 4 / 2 / 8 * 2**24


def test_a_lost_digit_trips_the_wire_and_a_wrong_factor_the_gate() -> None:
    a, lu, ipiv = factored((3, 12, 12), "float64")
    clean = dget01(a, lu, ipiv)
    assert tripwire(clean, clean)
    lu[1, 5, 5] *= 1 + 1e-14
    assert not tripwire(dget01(a, lu, ipiv), clean)
    lu[1, 5, 5] *= 1 + 1e-8
    assert not dget01(a, lu, ipiv).passes()
    assert dget01(a, lu, ipiv).index == (1,)


def test_wrong_pivots_fail() -> None:
    a, lu, ipiv = factored((2, 6, 6), "float32")
    assert not dget01(a, lu, np.broadcast_to(np.arange(1, 7), ipiv.shape)).passes()


def test_nan_fails_every_gate_and_is_the_worst() -> None:
    broken = Ratios(np.array([[0.1, 50.0], [np.nan, 0.2]]))
    fine = Ratios(np.full((2, 2), 100.0))
    assert np.isnan(broken.worst)
    assert broken.index == (1, 0)
    assert not broken.passes()
    assert not tripwire(broken, fine)
    a, lu, ipiv = factored((2, 4, 4), "complex64")
    lu[1, 2, 3] = np.nan
    assert dget01(a, lu, ipiv).index == (1,)
    assert not dget01(a, lu, ipiv).passes()


def test_threshold_is_exclusive_and_tripwire_inclusive() -> None:
    assert THRESHOLD == 30
    assert not Ratios(np.array([30.0])).passes()
    assert Ratios(np.array([29.9])).passes()
    reference = Ratios(np.array([0.1, 2.0]))
    assert tripwire(Ratios(np.array([1.0, 8.0])), reference)
    assert not tripwire(Ratios(np.array([1.1, 8.0])), reference)
    assert not tripwire(Ratios(np.array([1.0, 8.1])), reference)


@pytest.mark.parametrize("shape", [(0, 3, 3), (2, 0, 3), (2, 3, 0), (2, 0, 0)])
def test_empty_is_zero(shape: tuple[int, ...]) -> None:
    a = np.zeros(shape)
    assert dget01(a, a, np.zeros((shape[0], min(shape[1:])), int)).worst == 0
    square = np.zeros((shape[0], shape[1], shape[1]))
    assert dget02(square, a, a).worst == 0
    if not shape[1] or not shape[0]:
        assert dget03(square, square).worst == 0


def test_zero_matrix_and_zero_solution() -> None:
    zero, one, pivots = np.zeros((2, 2)), np.eye(2), np.array([1, 2])
    assert dget01(zero, zero, pivots).worst == 0
    assert dget01(zero, one, pivots).worst == 2**53
    assert dget02(one, zero, one).worst == 2**53
    assert dget02(zero, one, one).worst == 2**53
    assert dget03(zero, one).worst == dget03(one, zero).worst == 2**53


def test_leading_shape_is_kept() -> None:
    a = np.broadcast_to(np.eye(2), (2, 3, 2, 2))
    ratio = dget01(a, a, np.broadcast_to([1, 2], (2, 3, 2)))
    assert ratio.values.shape == (2, 3)
    assert ratios.dget02(a, a, a).values.shape == (2, 3)
    assert dget03(a, a).values.shape == (2, 3)
