"""Operand sets: restored before each round, laid out as asked, judged without mercy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from batchlas_py import lapack
from batchlas_py._resources import bench_module
from batchlas_py.dtypes import DTYPES
from batchlas_py.problem import Problem

setups, work = bench_module("setups"), bench_module("work")
NUMPY = bench_module("arrays").LIBRARIES["numpy"]()
MAY_BE_EXACT = {"laswp", "gemm"}  # nothing is rounded; the reference is rounded alike


def make(op: str = "gesv", dtype: str = "float64", layout: str = "F", count: int = 2, n: int = 4) -> Any:
    problem = Problem(op, dtype, n, n, 10, 3 if setups.SETUPS[op].has_rhs else 0, layout=layout)  # type: ignore[arg-type]
    cell = work.Work(NUMPY, setups.SETUPS[op], problem, count, seed=5)
    cell.restore()
    return cell


def solved(op: str = "gesv", **options: Any) -> Any:
    cell = make(op, **options)
    cell.setup.call(cell.arrays(1), "vendor")
    return cell


@pytest.mark.parametrize("op", setups.SETUPS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", ["F", "C"])
def test_a_right_result_passes(op: str, dtype: str, layout: str) -> None:
    check = solved(op, dtype=dtype, layout=layout).check(1)
    assert check.fault == ""
    assert check.ratio < 30
    assert check.ratio > 0 or op in MAY_BE_EXACT


@pytest.mark.parametrize("op", setups.SETUPS)
def test_what_no_call_wrote_does_not_pass(op: str) -> None:
    assert make(op).check(1).fault


@pytest.mark.parametrize(
    ("name", "index", "value", "fault"),
    [
        ("info", 7, 2, "info is in 0..2, expected 0..0"),
        ("ipiv", (9, 3), 5, "5, expected 1..4"),
        ("ipiv", (3, 0), 0, "ipiv is in 0..4, expected 1..4"),
        ("b", (8, 1, 1), np.inf, "b is not finite everywhere"),
        ("a", (0, 3, 0), np.nan, "a is not finite everywhere"),
        ("b", (9, 3, 2), 1e3, ", accepted is < 30"),
        ("a", (0, 0, 0), 1e3, ", accepted is < 30"),
    ],
)
def test_one_wrong_element_is_a_fault(name: str, index: Any, value: float, fault: str) -> None:
    cell = solved()
    cell.arrays(1)[name][index] = value
    assert fault in cell.check(1).fault


def test_restoring_undoes_a_call_and_poisons_the_outputs() -> None:
    cell = make()
    fresh = {name: array.copy() for name, array in cell.arrays(0).items()}
    cell.setup.call(cell.arrays(0), "vendor")
    assert not np.array_equal(cell.arrays(0)["a"], fresh["a"])
    cell.restore()
    for name in ("a", "b"):
        np.testing.assert_array_equal(cell.arrays(0)[name], fresh[name])
        np.testing.assert_array_equal(cell.arrays(1)[name], fresh[name])
    for name in ("ipiv", "info"):
        assert (cell.arrays(1)[name] == -1).all()
    assert np.isnan(make("getri").arrays(0)["inv"]).all()


def test_the_largest_operand_is_restored_last_so_that_no_small_one_stays_in_the_cache() -> None:
    order: list[int] = []

    class Log(type(NUMPY)):  # type: ignore[misc]
        def copy(self, target: Any, source: Any) -> None:
            order.append(target.nbytes)
            super().copy(target, source)

        def fill(self, target: Any, value: float) -> None:
            order.append(target.nbytes)
            super().fill(target, value)

    cell = work.Work(Log(), setups.SETUPS["gesv"], Problem("gesv", "float64", 4, 4, 10, 3), 2, seed=5)
    order.clear()
    cell.restore()
    assert order == [2 * 10 * size for size in (4, 4 * 4, 4 * 3 * 8, 4 * 4 * 8)]


def test_restoring_repairs_an_input_that_a_call_must_not_write() -> None:
    cell = make("getrs")
    lu = cell.arrays(0)["lu"].copy()
    cell.arrays(0)["lu"][:] = 0
    cell.restore()
    np.testing.assert_array_equal(cell.arrays(0)["lu"], lu)


def test_sets_do_not_share_memory() -> None:
    cell = make()
    first, second = cell.arrays(0), cell.arrays(1)
    assert not any(np.shares_memory(first[name], second[name]) for name in first)


@pytest.mark.parametrize(("layout", "strides"), [("F", (1, 4)), ("C", (4, 1))])
def test_layout(layout: str, strides: tuple[int, int]) -> None:
    a = make(layout=layout).arrays(0)["a"]
    assert a.shape == (10, 4, 4)
    assert tuple(stride // a.itemsize for stride in a.strides) == (16, *strides)


def test_both_layouts_hold_the_same_matrices() -> None:
    np.testing.assert_array_equal(make(layout="F").arrays(0)["a"], make(layout="C").arrays(0)["a"])


def test_inputs_are_uniform_about_zero() -> None:
    values = NUMPY.random((20000,), "complex64", seed=1)
    assert values.dtype == np.complex64
    for part in (values.real, values.imag):
        assert -0.5 <= part.min() < -0.49
        assert 0.49 < part.max() <= 0.5
        assert abs(part.mean()) < 0.01
    assert abs(np.corrcoef(values.real, values.imag)[0, 1]) < 0.05


@pytest.mark.parametrize(("batch", "n", "count"), [(131072, 32, 64), (3, 4, 3), (1, 4, 1), (1000, 2048, 2)])
def test_the_sample_has_the_first_and_the_last_item(batch: int, n: int, count: int) -> None:
    items = work.sample_items(Problem("getrf", "float32", n, n, batch))
    assert (items[0], items[-1], len(items)) == (0, batch - 1, count)


def test_factors_of_the_inputs_come_from_the_matrix_that_is_checked_against() -> None:
    cell = make("getrs")
    a = NUMPY.random((10, 4, 4), "float64", seed=5)
    np.testing.assert_array_equal(cell.arrays(0)["lu"], lapack.getrf(a).lu)
