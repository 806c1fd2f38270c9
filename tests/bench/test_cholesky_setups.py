"""Counts of the Cholesky ops, and whether wrong results of theirs are seen."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from batchlas_py._resources import bench_module
from batchlas_py.dtypes import DTYPES
from batchlas_py.problem import Problem

SETUPS: Any = bench_module("setups").SETUPS
NUMPY: Any = bench_module("arrays").LIBRARIES["numpy"]
OPS = ("potrf", "potrs", "posv")


def count_potrf(n: int) -> tuple[int, int]:
    """Multiplications (roots and reciprocals count as one) and additions, counted."""
    multiplications = additions = 0
    for below in range(n - 1, -1, -1):
        pairs = below * (below + 1) // 2
        multiplications += 1 + below + pairs
        additions += pairs
    return multiplications, additions


@pytest.mark.parametrize("n", [1, 2, 3, 7, 32])
def test_operations_are_those_of_the_textbook_loops(n: int) -> None:
    problem = Problem("potrf", "float32", n, n, 1, 3)
    factor, solve = count_potrf(n), (3 * (n * n + n), 3 * (n * n - n))
    assert SETUPS["potrf"].operations(problem) == pytest.approx(factor)
    assert SETUPS["potrs"].operations(problem) == solve
    assert SETUPS["posv"].operations(problem) == pytest.approx((factor[0] + solve[0], factor[1] + solve[1]))


@pytest.mark.parametrize(
    ("op", "read", "written"),
    [
        ("potrf", 10 * 8, 10 * 8 + 4),
        ("potrs", 10 * 8 + 4 * 2 * 8, 4 * 2 * 8),
        ("posv", 10 * 8 + 4 * 2 * 8, 10 * 8 + 4 * 2 * 8 + 4),
    ],
)
def test_traffic_is_the_triangle_once_in_and_once_out(op: str, read: int, written: int) -> None:
    problem = Problem(op, "float64", 4, 4, 100, 2)
    assert SETUPS[op].traffic(problem) == 100 * (read + written)
    assert SETUPS[op].nbytes(problem) >= 100 * 16 * 8


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("op", OPS)
def test_wrong_results_are_seen(op: str, dtype: str) -> None:
    setup, problem = SETUPS[op], Problem(op, dtype, 4, 4, 5, 2)
    before = {name: np.array(array) for name, array in setup.inputs(NUMPY(), problem, 1).items()}
    after = {name: array.copy() for name, array in before.items()}
    after["info"] = np.zeros(5, np.int32)
    assert not setup.residual(before, after) < 30, "nothing was done"
    setup.call(after, "vendor")
    assert setup.residual(before, after) < 30
    next(after[o.name] for o in setup.operands(problem) if o.role == "inout")[3, 1, 1] *= 1.01
    assert not setup.residual(before, after) < 30
