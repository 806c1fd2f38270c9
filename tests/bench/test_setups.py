"""Counts of bytes and operations, and the roof made of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from batchlas_py._resources import bench_module
from batchlas_py.dtypes import DTYPES
from batchlas_py.problem import Problem

roof, setups = bench_module("roof"), bench_module("setups")
NUMPY: Any = bench_module("arrays").LIBRARIES["numpy"]


def count_getrf(n: int) -> tuple[int, int]:
    """Multiplications (a reciprocal counts as one) and additions of Gaussian elimination, counted."""
    multiplications = additions = 0
    for below in range(n - 1, -1, -1):
        multiplications += 1 + below + below * below
        additions += below * below
    return multiplications, additions


def count_getrs(n: int, nrhs: int) -> tuple[int, int]:
    """Of a unit lower and an upper triangular solve, by counting."""
    pairs = nrhs * sum(range(n)) * 2
    return pairs + nrhs * n, pairs


@pytest.mark.parametrize("n", [1, 2, 3, 7, 32])
def test_operations_are_those_of_the_textbook_loops(n: int) -> None:
    problem = Problem("getrf", "float32", n, n, 1, 3)
    factor, solve = count_getrf(n), count_getrs(n, 3)
    assert setups.SETUPS["getrf"].operations(problem) == pytest.approx(factor)
    assert setups.SETUPS["getrs"].operations(problem) == pytest.approx(solve)
    assert setups.SETUPS["gesv"].operations(problem) == pytest.approx(
        (factor[0] + solve[0], factor[1] + solve[1])
    )


@pytest.mark.parametrize("n", [1, 2, 5])
def test_operations_of_products_solves_and_interchanges(n: int) -> None:
    """A solve with a unit triangle is half of getrs less the divisions."""
    problem = Problem("gemm", "float64", n, n, 1, 3)
    assert setups.SETUPS["gemm"].operations(problem) == (3 * n * n, 3 * n * n)
    pairs = count_getrs(n, 3)[1] // 2
    assert setups.SETUPS["trsm"].operations(problem) == (pairs, pairs)
    assert setups.SETUPS["laswp"].operations(problem) == (0, 0)


@pytest.mark.parametrize("op", ["gemm", "trsm", "laswp"])
def test_wrong_results_are_seen(op: str) -> None:
    setup, problem = setups.SETUPS[op], Problem(op, "float64", 4, 4, 5, 2)
    before = {name: np.array(array) for name, array in setup.inputs(NUMPY(), problem, 1).items()}
    after = {name: array.copy() for name, array in before.items()}
    assert not setup.residual(before, after) < 30, "nothing was done"
    setup.call(after, "vendor")
    assert setup.residual(before, after) < 30
    next(after[o.name] for o in setup.operands(problem) if o.role == "inout")[3, 1, 1] += 1e-3
    assert not setup.residual(before, after) < 30


@pytest.mark.parametrize("n", [1, 2, 5])
def test_an_inverse_costs_what_is_left_of_two_n_cubed(n: int) -> None:
    inverse = setups.SETUPS["getri"].operations(Problem("getri", "float64", n, n, 1))
    factor = count_getrf(n)
    assert inverse[0] + factor[0] == pytest.approx(n**3 + n**2 / 2 + 3 * n / 2)
    assert inverse[1] + factor[1] == pytest.approx(n**3 - 2 * n**2 + n)


def test_a_complex_operation_counts_as_its_real_ones() -> None:
    getrf = setups.SETUPS["getrf"]
    multiplications, additions = count_getrf(4)
    assert getrf.flops(Problem("getrf", "float32", 4, 4, 10)) == pytest.approx(
        10 * (multiplications + additions)
    )
    assert getrf.flops(Problem("getrf", "complex64", 4, 4, 10)) == pytest.approx(
        10 * (6 * multiplications + 2 * additions)
    )


@pytest.mark.parametrize(
    ("op", "read", "written"),
    [
        ("getrf", 4 * 4 * 8, 4 * 4 * 8 + 4 * 4 + 4),
        ("getrs", 4 * 4 * 8 + 4 * 4 + 4 * 2 * 8, 4 * 2 * 8),
        ("getri", 4 * 4 * 8 + 4 * 4, 4 * 4 * 8 + 4),
        ("gesv", 4 * 4 * 8 + 4 * 2 * 8, 4 * 4 * 8 + 4 * 2 * 8 + 4 * 4 + 4),
        ("gemm", 2 * 4 * 2 * 8 + 4 * 4 * 8, 4 * 4 * 8),
        ("trsm", 4 * 4 * 8 + 4 * 2 * 8, 4 * 2 * 8),
        ("laswp", 4 * 4 * 8 + 4 * 4, 4 * 4 * 8),
    ],
)
def test_traffic_is_every_operand_once_in_and_once_out(op: str, read: int, written: int) -> None:
    problem = Problem(op, "float64", 4, 4, 100, 2)
    assert setups.SETUPS[op].traffic(problem) == 100 * (read + written)


def test_the_roof_is_the_larger_of_moving_and_reckoning() -> None:
    getrf, small, large = setups.SETUPS["getrf"], *(Problem("getrf", "float64", n, n, 100) for n in (4, 2048))
    ours = roof.Roof(4e12, "sm_90")
    assert ours.microseconds(getrf, small) == pytest.approx(getrf.traffic(small) / 4e6)
    assert ours.microseconds(getrf, large) == pytest.approx(getrf.flops(large) / 33.5e6)


def test_an_arch_without_a_peak_has_the_memory_roof_alone() -> None:
    getrf, problem = setups.SETUPS["getrf"], Problem("getrf", "float32", 2048, 2048, 10)
    assert roof.Roof(1e9, "host").microseconds(getrf, problem) == pytest.approx(getrf.traffic(problem) / 1e3)


@pytest.mark.parametrize("peaks", roof.PEAK_TFLOPS.values(), ids=list(roof.PEAK_TFLOPS))
def test_every_peak_names_both_precisions(peaks: dict[str, float]) -> None:
    assert set(peaks) == {"float32", "float64"}
    assert peaks["float32"] > peaks["float64"]


def test_the_copy_rate_counts_both_directions() -> None:
    class TwoMicroseconds(NUMPY):  # type: ignore[misc]
        def elapsed_us(self, start: int, stop: int) -> float:
            assert stop > start
            return 2.0

    assert roof.copy_rate(TwoMicroseconds(), 4000) == pytest.approx(2 * 4000 / 2e-6)


def test_every_op_is_set_up_for_every_dtype() -> None:
    for op, setup in setups.SETUPS.items():
        assert setup.op == op
        for dtype in DTYPES:
            assert setup.nbytes(Problem(op, dtype, 3, 3, 2, 1)) > 0
