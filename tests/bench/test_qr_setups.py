"""Counts of QR, and that wrong results are seen."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from batchlas_py._resources import bench_module
from batchlas_py.problem import Problem

setups, grid = bench_module("setups"), bench_module("grid")
NUMPY: Any = bench_module("arrays").LIBRARIES["numpy"]
OPS = ("geqrf", "orgqr", "ormqr", "qr")


@pytest.mark.parametrize("shape", [(1, 1), (5, 5), (7, 3), (3, 7)], ids=str)
def test_operations_are_two_passes_a_reflector(shape: tuple[int, int]) -> None:
    """Leading terms: each reflector reads and writes what is below and right of it."""
    m, n = shape
    k = min(m, n)
    passes = [2 * sum((m - j) * (width - j) for j in range(k)) for width in (n, k)]
    lower = 2 * m * n
    problem = Problem("geqrf", "float64", m, n, 1, 3)
    factor, form = (setups.SETUPS[op].operations(problem) for op in ("geqrf", "orgqr"))
    assert factor[0] == factor[1] == pytest.approx(passes[0], abs=lower)
    assert form[0] == form[1] == pytest.approx(passes[1], abs=lower)
    assert setups.SETUPS["qr"].operations(problem)[0] == factor[0] + form[0]
    applied = 2 * 3 * sum(m - j for j in range(k))
    assert setups.SETUPS["ormqr"].operations(problem)[0] == pytest.approx(applied, abs=3 * k)


@pytest.mark.parametrize("shape", [(4, 4), (6, 3)], ids=str)
@pytest.mark.parametrize("op", OPS)
def test_wrong_results_are_seen(op: str, shape: tuple[int, int]) -> None:
    setup, problem = setups.SETUPS[op], Problem(op, "complex64", *shape, 5, 2 if op == "ormqr" else 0)
    before = {name: np.array(array) for name, array in setup.inputs(NUMPY(), problem, 1).items()}
    operands = tuple(setup.operands(problem))
    after = {
        o.name: np.zeros((5, *o.shape), o.dtype) if o.role == "out" else before[o.name].copy()
        for o in operands
    }
    setup.call(after, "vendor")
    assert setup.residual(before, after) < 30
    next(after[o.name] for o in operands if o.role != "in")[3, 1, 1] += 1e-3
    assert not setup.residual(before, after) < 30


def test_traffic_of_factors_and_of_q() -> None:
    problem = Problem("geqrf", "float64", 6, 3, 10)
    assert setups.SETUPS["geqrf"].traffic(problem) == 10 * 8 * (2 * 18 + 3)
    assert setups.SETUPS["qr"].traffic(problem) == 10 * 8 * (18 + 18 + 9)


def test_a_grid_of_tall_matrices() -> None:
    (problem,) = grid.problems("geqrf", (32,), {"float32": (10,)}, (0,), "F", 128)
    assert (problem.m, problem.n) == (128, 32)
