"""The shared checks refuse wrong results: each is broken here once."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import find, given, settings
from hypothesis.errors import NoSuchExample

from batchlas_py.dtypes import DTYPES
from batchlas_py.nan import not_a_number
from batchlas_py.testing import matgen, oracle, ratios

from .. import checks, conftest
from ..strategies import Case, cases

FEW = settings(max_examples=200, derandomize=True, database=None)


def factored(dtype: str = "float64") -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Five 6 x 6 items, the third singular at its second pivot, with the oracle's factors."""
    rng = np.random.default_rng(0)
    a = np.array([matgen.random_matrix(6, 6, dtype, rng) for _ in range(5)])
    a[2, :, 1] = 0
    results = [oracle.getf2(item) for item in a]
    info = np.array([r.info for r in results], np.int32)
    return a, np.array([r.lu for r in results]), np.array([r.ipiv for r in results]), info


def solved(
    a: np.ndarray, lu: np.ndarray, ipiv: np.ndarray, info: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Right-hand sides and solutions, NaN where singular."""
    b = matgen.random_matrix(30, 2, a.dtype.name, np.random.default_rng(1)).reshape(5, 6, 2)
    x = np.array([oracle.getrs(*item) for item in zip(lu, ipiv, b, strict=True)])
    x[info > 0] = not_a_number(x.dtype.name)
    return b, x


@pytest.mark.parametrize("dtype", DTYPES)
def test_right_results_pass(dtype: str) -> None:
    a, lu, ipiv, info = factored(dtype)
    b, x = solved(a, lu, ipiv, info)
    checks.check_getrf(a, lu, ipiv, info)
    checks.check_gesv(a, b, x, lu, ipiv, info)
    inverses = [oracle.getrs(*item, np.eye(6, dtype=dtype)) for item in zip(lu, ipiv, strict=True)]
    inv = np.array(inverses)
    inv[info > 0] = not_a_number(inv.dtype.name)
    checks.check_getri(a, inv, info)


def test_wrong_factor_is_refused() -> None:
    a, lu, ipiv, info = factored()
    lu[3, 4, 2] += 1e-6
    with pytest.raises(AssertionError, match=r"ratio .* of item \(3,\), accepted is below 30"):
        checks.check_getrf(a, lu, ipiv, info)


def test_lost_digit_is_refused() -> None:
    a, lu, ipiv, info = factored()
    lu[1, 5, 5] *= 1 + 2e-14
    assert ratios.dget01(a, lu, ipiv).passes()
    with pytest.raises(AssertionError, match="of item 1, LAPACK has"):
        checks.check_getrf(a, lu, ipiv, info)


@pytest.mark.parametrize("wrong", [0, 5])
def test_wrong_info_is_refused(wrong: int) -> None:
    a, lu, ipiv, info = factored()
    info[2] = wrong
    with pytest.raises(AssertionError, match=rf"info\[2\] is {wrong}, the first zero pivot is 2"):
        checks.check_getrf(a, lu, ipiv, info)


def test_singularity_that_the_factor_hides_is_refused() -> None:
    """A zero pivot replaced by a tiny one, with ``info`` to match, still contradicts the oracle."""
    a, lu, ipiv, info = factored()
    lu[2, 1, 1], info[2] = 1e-300, 0
    with pytest.raises(AssertionError, match="info is 0, the oracle has 2"):
        checks.check_getrf(a, lu, ipiv, info)


def test_pivots_by_another_rule_are_refused() -> None:
    """The factor by modulus is as good a factor; its pivots are not LAPACK's."""
    a = np.array([[[3 + 3j, 1], [5, 2]]])
    swapped = oracle.getf2(a[0, ::-1] * [[2], [1]])
    lu = swapped.lu.copy()
    lu[0], lu[1, 0] = lu[0] / 2, lu[1, 0] * 2
    with pytest.raises(AssertionError, match=r"ipiv\[0\] is 2, the oracle has 1"):
        checks.check_getrf(a, lu[None], np.array([[2, 2]], np.int32), np.zeros(1, np.int32))


@pytest.mark.parametrize("pivot", [7, 2])
def test_pivot_out_of_range_is_refused(pivot: int) -> None:
    a, lu, ipiv, info = factored()
    ipiv[4, 2] = pivot
    with pytest.raises(AssertionError, match="beyond 3 to 6"):
        checks.check_getrf(a, lu, ipiv, info)


def test_integer_types_are_checked() -> None:
    a, lu, ipiv, info = factored()
    with pytest.raises(AssertionError, match="ipiv is int64"):
        checks.check_getrf(a, lu, ipiv.astype(np.int64), info)
    with pytest.raises(AssertionError, match="info is int64"):
        checks.check_getrf(a, lu, ipiv, info.astype(np.int64))


def test_plausible_solution_of_a_singular_item_is_refused() -> None:
    a, lu, ipiv, info = factored()
    b, x = solved(a, lu, ipiv, info)
    x[2, 3, 1] = 0
    with pytest.raises(AssertionError, match="singular item"):
        checks.check_gesv(a, b, x, lu, ipiv, info)
    with pytest.raises(AssertionError, match="singular item"):
        checks.check_getri(a, np.zeros_like(a), info)


def test_wrong_solution_is_refused() -> None:
    a, lu, ipiv, info = factored()
    b, x = solved(a, lu, ipiv, info)
    good = info == 0
    checks.check_getrs(a[good], b[good], x[good])
    with pytest.raises(AssertionError, match="accepted is below 30"):
        checks.check_getrs(a[good], b[good], x[good], "T")


def test_wrong_inverse_is_refused() -> None:
    a, _, _, info = factored()
    with pytest.raises(AssertionError, match="accepted is below 30"):
        checks.check_getri(a, np.where(info[:, None, None] > 0, np.nan, a), info)


def test_neighbours_that_change_are_refused() -> None:
    clean = factored()[0]
    spoiled = clean.copy()
    spoiled[2, 0, 0] = np.nan
    checks.check_neighbours(lambda a: [a * 2], clean, spoiled)
    with pytest.raises(AssertionError, match="result 1 of item 0 changed"):
        checks.check_neighbours(lambda a: [a, a + np.isnan(a).sum()], clean, spoiled)
    with pytest.raises(AssertionError, match="nothing to compare"):
        checks.check_neighbours(lambda a: [a], clean, clean)


@pytest.mark.parametrize("layout", checks.LAYOUTS)
@pytest.mark.parametrize("dtype", [*DTYPES, "int32"])
def test_embedding_keeps_values_and_sees_every_stray_store(layout: str, dtype: str) -> None:
    values = np.arange(24).reshape(2, 3, 4).astype(dtype)
    embedded = checks.embed(values, layout, pad=3)
    np.testing.assert_array_equal(embedded.view, values)
    embedded.view[...] = 7
    embedded.assert_padding_untouched()
    inside = np.zeros(embedded.buffer.shape, bool)
    embedded.pick(inside)[...] = True
    assert not inside[0].any()
    assert not inside[-1].any()
    for place in np.argwhere(~inside):
        kept = embedded.buffer[tuple(place)]
        embedded.buffer[tuple(place)] = 0
        with pytest.raises(AssertionError, match="1 elements outside the matrices changed"):
            embedded.assert_padding_untouched()
        embedded.buffer[tuple(place)] = kept


def test_layouts_are_what_they_are_called() -> None:
    values = np.zeros((2, 3, 4), np.float32)
    views = {name: checks.embed(values, name, pad=5).view for name in checks.LAYOUTS}
    strides = {name: tuple(s // 4 for s in view.strides) for name, view in views.items()}
    assert strides == {
        "F": (12, 1, 3),
        "C": (12, 4, 1),
        "F-ld": (40, 1, 8),
        "C-ld": (36, 9, 1),
        "sliced": (48, 16, 2),
        "negative": (12, -4, -1),
    }


@given(cases())
def test_cases_are_what_they_say(case: Case) -> None:
    a = case.matrices()
    assert a.shape == (case.batch, case.n, case.n)
    assert a.dtype == case.dtype
    assert case.right_hand_sides().shape == (case.batch, case.n, case.nrhs)
    assert np.array_equal(a, case.matrices())
    assert np.array_equal(case.embed(a).view, a)
    assert all(not a[item, :, column].any() for item, column in case.zero_columns)


def test_broadcast_is_one_matrix_with_batch_stride_0() -> None:
    case = Case(3, batch=4, layout="broadcast", zero_columns=((2, 1),))
    a = case.matrices()
    view = case.embed(a).view
    assert view.strides[0] == 0
    np.testing.assert_array_equal(view, a)
    assert not a[:, :, 1].any()


def test_failures_shrink_to_simple_cases() -> None:
    simplest = Case(1, hardness=0.25)
    assert find(cases(), is_double_complex, settings=FEW) == replace(simplest, dtype="complex128")
    assert find(cases(), has_zero_column, settings=FEW) == replace(simplest, zero_columns=((0, 0),))
    with pytest.raises(NoSuchExample):
        find(cases(singular=False), has_zero_column, settings=FEW)


def is_double_complex(case: Case) -> bool:
    return case.dtype == "complex128"


def has_zero_column(case: Case) -> bool:
    return len(case.zero_columns) > 0


def test_gpu_tests_are_skipped_under_one_reason(tmp_path: Path) -> None:
    """Three GPU tests in two files make one line of the summary."""
    (tmp_path / "conftest.py").write_text(
        f"exec(open({conftest.__file__!r}).read())\nwhy_no_gpu = lambda: 'none in this test'\n"
    )
    for name, count in (("test_one.py", 2), ("test_two.py", 1)):
        body = "import pytest\n" + "".join(
            f"@pytest.mark.gpu\ndef test_{i}():\n    raise AssertionError\n" for i in range(count)
        )
        (tmp_path / name).write_text(body + "def test_on_the_host():\n    pass\n")
    command = [sys.executable, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", str(tmp_path)]
    report = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path).stdout
    assert "2 passed, 3 skipped" in report
    assert report.count("SKIPPED") == 1
    assert "SKIPPED [3]" in report
    assert "GPU tests: none in this test" in report
