"""The oracle against answers written out by hand, against SciPy, and against wrong answers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import get_lapack_funcs

from batchlas_py.dtypes import DTYPES
from batchlas_py.testing import matgen, oracle

# 3 x 3 without and with swaps, 2 x 2 with a zero corner, 3 x 4, 4 x 2.
BY_HAND = [
    ([[4.0, 2.0], [2.0, 5.0]], [[4.0, 2.0], [0.5, 4.0]], [1, 2], 0),
    ([[0.0, 2.0], [-3.0, 0.0]], [[-3.0, 0.0], [0.0, 2.0]], [2, 2], 0),
    (
        [[1.0, 2.0, 3.0], [2.0, 2.0, 6.0], [4.0, 8.0, 16.0]],
        [[4.0, 8.0, 16.0], [0.5, -2.0, -2.0], [0.25, 0.0, -1.0]],
        [3, 2, 3],
        0,
    ),
    (
        [[1.0, 2.0, 3.0], [2.0, 2.0, 6.0], [4.0, 8.0, 12.0]],
        [[4.0, 8.0, 12.0], [0.5, -2.0, 0.0], [0.25, 0.0, 0.0]],
        [3, 2, 3],
        3,
    ),
    ([[1.0, 2.0], [2.0, 4.0]], [[2.0, 4.0], [0.5, 0.0]], [2, 2], 2),
    (
        [[2.0, 4.0, 0.0, 2.0], [4.0, 4.0, 8.0, 0.0], [0.0, 1.0, 0.0, 1.0]],
        [[4.0, 4.0, 8.0, 0.0], [0.5, 2.0, -4.0, 2.0], [0.0, 0.5, 2.0, 0.0]],
        [2, 2, 3],
        0,
    ),
    (
        [[1.0, 1.0], [2.0, 0.0], [0.0, 4.0], [2.0, 2.0]],
        [[2.0, 0.0], [0.0, 4.0], [0.5, 0.25], [1.0, 0.5]],
        [2, 3],
        0,
    ),
]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("a", "lu", "ipiv", "info"), BY_HAND)
def test_by_hand(a: list[list[float]], lu: list[list[float]], ipiv: list[int], info: int, dtype: str) -> None:
    result = oracle.getf2(np.array(a, dtype))
    np.testing.assert_array_equal(result.lu, np.array(lu, dtype))
    np.testing.assert_array_equal(result.ipiv, ipiv)
    assert result.info == info
    assert result.lu.dtype == dtype
    assert result.decided == len(ipiv)


def test_zero_pivots_are_passed_over() -> None:
    result = oracle.getf2(np.array([[0.0, 1.0, 2.0], [0.0, 3.0, 4.0], [0.0, 5.0, 6.0]]))
    assert result.info == 1
    np.testing.assert_array_equal(result.ipiv, [1, 3, 3])
    assert np.isfinite(result.lu).all()


def test_complex_pivot_is_by_the_sum_of_parts() -> None:
    """|3 + 3i| is below 5 as a modulus, 6 as LAPACK's magnitude."""
    result = oracle.getf2(np.array([[3 + 3j, 1], [5, 2]]))
    assert result.ipiv[0] == 1
    assert result.margin[0] == pytest.approx(5 / 6)


def test_ties_take_the_lowest_row() -> None:
    result = oracle.getf2(np.array([[1.0, 0.0], [-2.0, 1.0], [2.0, 0.0], [-2.0, 8.0]]))
    assert result.ipiv[0] == 2
    assert result.margin[0] == 1


def test_input_is_untouched() -> None:
    a = matgen.random_matrix(5, 5, "float64", np.random.default_rng(0))
    before = a.copy()
    oracle.getf2(a)
    np.testing.assert_array_equal(a, before)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(1, 1), (7, 7), (33, 33), (9, 4), (4, 9)])
def test_agrees_with_lapack(dtype: str, shape: tuple[int, int]) -> None:
    a = matgen.random_matrix(*shape, dtype, np.random.default_rng(3))
    lu, pivots, info = get_lapack_funcs("getrf", dtype=a.dtype)(a)
    result = oracle.getf2(a)
    assert oracle.assert_pivots_agree(pivots + 1, result) == min(shape)
    assert info == result.info == 0
    tolerance = 100 * np.finfo(a.dtype).eps
    np.testing.assert_allclose(result.lu, lu, rtol=0, atol=tolerance * abs(lu).max())


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("trans", ["N", "T", "C"])
def test_substitution_solves(dtype: str, trans: str) -> None:
    rng = np.random.default_rng(4)
    exact = matgen.exact_lu(6, dtype, rng)
    x = rng.integers(-4, 5, (6, 2)).astype(dtype)
    op = {"N": exact.a, "T": exact.a.T, "C": exact.a.conj().T}[trans]
    np.testing.assert_allclose(oracle.getrs(exact.lu, exact.ipiv, op @ x, trans), x, rtol=1e-4, atol=1e-4)


def test_rounding_level_singularity_is_ambiguous() -> None:
    """Whether the last pivot is an exact zero depends on the arithmetic, so neither answer is refused."""
    for rows in ([[1, 2, 3], [4, 5, 6], [7, 8, 9]], [[1, 2, 3], [2, 2, 6], [3, 6, 9]]):
        result = oracle.getf2(np.array(rows, np.float32))
        assert result.decided == 2
        oracle.assert_info_agrees(0, result)
        oracle.assert_info_agrees(3, result)
        with pytest.raises(AssertionError, match="first 2 pivots"):
            oracle.assert_info_agrees(2, result)


def test_near_tie_is_ambiguous_and_a_clear_win_is_not() -> None:
    eps = np.finfo(np.float64).eps
    close = np.array([[3.0, 1.0, 0.0], [1.0, 1.0, 0.0], [1.0, 1.0 + 2 * eps, 1.0]])
    assert oracle.getf2(close).decided == 1
    clear = np.array([[3.0, 1.0, 0.0], [1.0, 1.0, 0.0], [1.0, 2.0, 1.0]])
    assert oracle.getf2(clear).decided == 3


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_few_eps_are_ambiguous_unless_the_arithmetic_was_exact(dtype: str) -> None:
    eps = float(np.finfo(dtype).eps)

    def decided(gap: float, noise: float) -> int:
        lu, ipiv = np.eye(1, dtype=dtype), np.ones(1, np.int32)
        return oracle.Getf2(lu, ipiv, 0, np.array([1 - gap]), np.array([noise])).decided

    assert decided(4 * eps, 1e-3 * eps) == 0
    assert decided(100 * eps, 1e-3 * eps) == 1
    assert decided(100 * eps, 100 * eps) == 0
    assert decided(0, 0) == 1


def test_a_zero_that_reciprocals_miss_is_ambiguous() -> None:
    """49 / 49 is 1, 49 * (1 / 49) is not."""
    result = oracle.getf2(np.array([[49.0, 2.0], [49.0, 2.0]]))
    assert result.info == 2
    assert result.decided == 1


def test_nan_ends_the_comparison() -> None:
    a = matgen.random_matrix(4, 4, "float64", np.random.default_rng(5))
    a[2, 1] = np.nan
    assert oracle.getf2(a).decided == 1


def test_wrong_pivots_and_info_are_refused() -> None:
    exact = matgen.exact_lu(5, "float64", np.random.default_rng(6), zero_pivots=(2, 4))
    result = oracle.getf2(exact.a)
    wrong = exact.ipiv.copy()
    wrong[3] = 9 - wrong[3]
    with pytest.raises(AssertionError, match=r"ipiv\[3\]"):
        oracle.assert_pivots_agree(wrong, result)
    for info in (0, 2, 5):
        with pytest.raises(AssertionError, match="oracle has 3"):
            oracle.assert_info_agrees(info, result)
    oracle.assert_info_agrees(3, result)
