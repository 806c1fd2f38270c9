"""The host backend, called through its launchers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given

from batchlas_py.dtypes import DTYPES
from batchlas_py.errors import ArgumentError
from batchlas_py.family import Call
from batchlas_py.problem import HOST, Problem
from batchlas_py.testing import matgen, oracle
from batchlas_py.vendor import lapack
from batchlas_py.views import BatchView

from .. import checks
from ..strategies import Case, cases

pytestmark = pytest.mark.filterwarnings("error")

SIZES = (1, 2, 3, 5, 10, 31, 32, 33, 50)


def batch_view(array: np.ndarray) -> BatchView:
    batch, rows, cols = array.shape
    per_batch, per_row, per_col = (stride // array.itemsize for stride in array.strides)
    address, dtype = array.ctypes.data, array.dtype.name
    return BatchView(address, dtype, batch, rows, cols, per_batch, per_row, per_col, array)


def no_children(_problem: Problem, _operands: object) -> None:
    raise AssertionError("the host backend asks for no other op")


def launch(launcher: Callable[[Call], None], arrays: dict[str, np.ndarray], trans: str = "") -> None:
    first = next(iter(arrays.values()))
    batch, m, n = first.shape
    nrhs = arrays["b"].shape[2] if "b" in arrays else 0
    problem = Problem(launcher.__name__, first.dtype.name, m, n, batch, nrhs, trans=trans)
    operands = {name: batch_view(array) for name, array in arrays.items()}
    launcher(Call(problem, HOST, operands, 0, no_children))


class Outputs:
    """Results of one call, each in a poisoned buffer: ``lu``, ``x`` and ``inv`` in the given layout."""

    def __init__(self, layout: str = "F", **shapes: tuple[tuple[int, ...], str]) -> None:
        self.embedded = {
            name: checks.embed(np.zeros(shape, dtype), layout if name in {"lu", "x", "inv"} else "F")
            for name, (shape, dtype) in shapes.items()
        }

    def __getitem__(self, name: str) -> np.ndarray:
        return self.embedded[name].view

    @property
    def views(self) -> dict[str, np.ndarray]:
        return {name: item.view for name, item in self.embedded.items()}

    def assert_padding_untouched(self) -> None:
        for item in self.embedded.values():
            item.assert_padding_untouched()


def getrf(a: np.ndarray, layout: str = "F") -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """``lu``, ``ipiv`` and ``info`` without their trailing 1s; neither padding nor input may change."""
    batch, m, n = a.shape
    before = a.tobytes()
    out = Outputs(
        layout,
        lu=(a.shape, a.dtype.name),
        ipiv=((batch, min(m, n), 1), "int32"),
        info=((batch, 1, 1), "int32"),
    )
    launch(lapack.getrf, {"a": a, **out.views})
    out.assert_padding_untouched()
    assert a.tobytes() == before
    return out["lu"], out["ipiv"][:, :, 0], out["info"][:, 0, 0]


def getrs(lu: np.ndarray, ipiv: np.ndarray, b: np.ndarray, trans: str = "N", layout: str = "F") -> np.ndarray:
    """``x``; neither padding nor inputs may change."""
    before = lu.tobytes(), ipiv.tobytes(), b.tobytes()
    out = Outputs(layout, x=(b.shape, b.dtype.name))
    launch(lapack.getrs, {"lu": lu, "ipiv": ipiv[..., None], "b": b, **out.views}, trans)
    out.assert_padding_untouched()
    assert (lu.tobytes(), ipiv.tobytes(), b.tobytes()) == before
    return out["x"]


def getri(lu: np.ndarray, ipiv: np.ndarray, layout: str = "F") -> tuple[np.ndarray, np.ndarray]:
    """``inv`` and ``info``; neither padding nor inputs may change."""
    before = lu.tobytes(), ipiv.tobytes()
    out = Outputs(layout, inv=(lu.shape, lu.dtype.name), info=((len(lu), 1, 1), "int32"))
    launch(lapack.getri, {"lu": lu, "ipiv": ipiv[..., None], **out.views})
    out.assert_padding_untouched()
    assert (lu.tobytes(), ipiv.tobytes()) == before
    return out["inv"], out["info"][:, 0, 0]


def gesv(
    a: np.ndarray, b: np.ndarray, layout: str = "F"
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """``x``, ``lu``, ``ipiv`` and ``info``; neither padding nor inputs may change."""
    batch, n, _ = a.shape
    before = a.tobytes(), b.tobytes()
    out = Outputs(
        layout,
        x=(b.shape, b.dtype.name),
        lu=(a.shape, a.dtype.name),
        ipiv=((batch, n, 1), "int32"),
        info=((batch, 1, 1), "int32"),
    )
    launch(lapack.gesv, {"a": a, "b": b, **out.views})
    out.assert_padding_untouched()
    assert (a.tobytes(), b.tobytes()) == before
    return out["x"], out["lu"], out["ipiv"][:, :, 0], out["info"][:, 0, 0]


def batch_of(n: int, count: int, dtype: str, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.array([matgen.random_matrix(n, n, dtype, rng) for _ in range(count)])


# ---- properties


@given(cases())
def test_getrf_meets_the_checks(case: Case) -> None:
    a = case.embed(case.matrices())
    checks.check_getrf(a.view, *getrf(a.view, "C-ld"))
    a.assert_padding_untouched()


@given(cases(layouts=tuple(checks.LAYOUTS)))
def test_getrf_in_place(case: Case) -> None:
    values = case.matrices()
    a = case.embed(values)
    ipiv, info = np.zeros((case.batch, case.n, 1), np.int32), np.zeros((case.batch, 1, 1), np.int32)
    launch(lapack.getrf, {"a": a.view, "lu": a.view, "ipiv": ipiv, "info": info})
    a.assert_padding_untouched()
    for mine, theirs in zip((a.view, ipiv[..., 0], info[:, 0, 0]), getrf(values), strict=True):
        assert mine.tobytes() == theirs.tobytes()


@given(cases())
def test_gesv_meets_the_checks(case: Case) -> None:
    a, b = case.matrices(), case.right_hand_sides()
    results = gesv(case.embed(a).view, b, "F-ld")
    checks.check_gesv(a, b, *results)


@given(cases(layouts=tuple(checks.LAYOUTS)))
def test_gesv_in_place(case: Case) -> None:
    a, b = case.embed(case.matrices()), case.embed(case.right_hand_sides())
    expected = gesv(a.view.copy(), b.view.copy())
    ipiv, info = np.zeros((case.batch, case.n, 1), np.int32), np.zeros((case.batch, 1, 1), np.int32)
    operands = {"a": a.view, "b": b.view, "x": b.view, "lu": a.view, "ipiv": ipiv, "info": info}
    launch(lapack.gesv, operands)
    a.assert_padding_untouched()
    b.assert_padding_untouched()
    for mine, theirs in zip((b.view, a.view, ipiv[..., 0], info[:, 0, 0]), expected, strict=True):
        assert mine.tobytes() == theirs.tobytes()


@pytest.mark.parametrize("trans", ["N", "T", "C"])
@given(case=cases(singular=False))
def test_getrs_meets_the_checks(trans: str, case: Case) -> None:
    a, b = case.matrices(), case.right_hand_sides()
    lu, ipiv, _ = getrf(a)
    x = getrs(case.embed(lu).view if case.layout != "broadcast" else lu, ipiv, b, trans, "sliced")
    checks.check_getrs(a, b, x, trans)


@given(cases())
def test_getri_meets_the_checks(case: Case) -> None:
    a = case.matrices()
    lu, ipiv, factor_info = getrf(a)
    inv, info = getri(lu, ipiv, "negative")
    np.testing.assert_array_equal(info, factor_info)
    checks.check_getri(a, inv, info)


@given(cases(max_batch=5))
def test_a_singular_or_nan_item_leaves_its_neighbours_alone(case: Case) -> None:
    values = batch_of(case.n, case.batch + 2, case.dtype, case.seed)
    b, spoiled = values[:, :, :1].copy(), values.copy()
    spoiled[0, :, case.n // 2] = 0
    spoiled[-1, case.n // 2, 0] = np.nan
    checks.check_neighbours(lambda a: gesv(a, b), values, spoiled)
    lu, ipiv, _ = getrf(values)
    bad = lu.copy()
    bad[0, case.n // 2, case.n // 2] = 0
    checks.check_neighbours(lambda factors: getri(factors, ipiv), lu, bad)


# ---- LAPACK's matrix types


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", SIZES)
def test_dge_types(n: int, dtype: str) -> None:
    rng = np.random.default_rng(n)
    a = np.array([matgen.dge(imat, n, n, dtype, rng) for imat in matgen.DGE_TYPES])
    required = [matgen.dge_info(imat, n, n) for imat in matgen.DGE_TYPES]
    lu, ipiv, info = getrf(a)
    np.testing.assert_array_equal(info, required)
    checks.check_getrf(a, lu, ipiv, info)
    checks.check_getri(a, *getri(lu, ipiv))
    regular = info == 0
    b = np.array([item @ matgen.random_matrix(n, 3, dtype, rng) for item in a]).astype(dtype)
    for trans in "NTC":
        x = getrs(lu[regular], ipiv[regular], b[regular], trans)
        checks.check_getrs(a[regular], b[regular], x, trans)
    checks.check_gesv(a, b, *gesv(a, b))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (50, 10), (10, 50), (1, 4), (4, 1), (33, 32)])
def test_rectangular_types(shape: tuple[int, int], dtype: str) -> None:
    rng = np.random.default_rng(0)
    a = np.array([matgen.dge(imat, *shape, dtype, rng) for imat in matgen.DGE_TYPES])
    lu, ipiv, info = getrf(a)
    assert ipiv.shape == (len(a), min(shape))
    np.testing.assert_array_equal(info, [matgen.dge_info(imat, *shape) for imat in matgen.DGE_TYPES])
    checks.check_getrf(a, lu, ipiv, info)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("zero_pivots", [(), (0,), (2,), (7, 5), (8,)])
def test_exact_factors(zero_pivots: tuple[int, ...], dtype: str) -> None:
    exact = [matgen.exact_lu(9, dtype, np.random.default_rng(seed), zero_pivots) for seed in range(8)]
    lu, ipiv, info = getrf(np.array([item.a for item in exact]))
    np.testing.assert_array_equal(lu, [item.lu for item in exact])
    np.testing.assert_array_equal(ipiv, [item.ipiv for item in exact])
    np.testing.assert_array_equal(info, [item.info for item in exact])


# ---- cases that users reported


def test_zero_corner_needs_a_swap() -> None:
    a, b = np.array([[[0.0, 2.0], [-3.0, 0.0]]]), np.array([[[1.0], [-4.0]]])
    x, _, ipiv, info = gesv(a, b)
    np.testing.assert_allclose(x[0, :, 0], [4 / 3, 1 / 2], rtol=1e-15)
    np.testing.assert_array_equal(ipiv, [[2, 2]])
    assert info[0] == 0


@pytest.mark.parametrize("dtype", DTYPES)
def test_info_is_the_first_zero_pivot_and_the_factor_is_whole(dtype: str) -> None:
    planted = matgen.zero_columns(4 * np.eye(5) + 1, [1, 3])
    for a, first in (
        (np.ones((3, 3)), 2),
        (np.zeros((3, 3)), 1),
        (np.array([[0.0, 1, 2], [0, 3, 4], [0, 5, 6]]), 1),
        (planted, 2),
    ):
        batch = a[None].astype(dtype)
        lu, ipiv, info = getrf(batch)
        assert info[0] == first
        checks.check_getrf(batch, lu, ipiv, info)


@pytest.mark.parametrize("batch", [1, 2, 3, 1000])
def test_info_per_item_for_every_batch_size(batch: int) -> None:
    a = np.tile(np.eye(3), (batch, 1, 1))
    a[0, 2, 2] = 0
    b = np.arange(1.0, 4.0).reshape(1, 3, 1).repeat(batch, axis=0)
    x, _, _, info = gesv(a, b)
    np.testing.assert_array_equal(info, [3] + [0] * (batch - 1))
    assert np.isnan(x[0]).all()
    np.testing.assert_array_equal(x[1:], b[1:])


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_singular_item_has_no_plausible_solution(dtype: str) -> None:
    a, b = np.array([[[1, 1], [0, 0]]] * 2, dtype), np.ones((2, 2, 1), dtype)
    x, lu, ipiv, info = gesv(a, b)
    np.testing.assert_array_equal(info, [2, 2])
    assert np.isnan(x).all()
    assert np.isnan(getri(lu, ipiv)[0]).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_exactly_singular_pair(dtype: str) -> None:
    for rows, first in (([[1, 2], [2, 4]], 2), ([[1, 2, 3], [2, 2, 6], [4, 8, 12]], 3)):
        assert getrf(np.array([rows], dtype))[2][0] == first


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_singular_to_rounding_is_judged_by_its_factor(dtype: str) -> None:
    a = np.array([[[1, 2, 3], [2, 2, 6], [3, 6, 9]], [[1, 2, 3], [4, 5, 6], [7, 8, 9]]], dtype)
    lu, ipiv, info = getrf(a)
    assert set(info.tolist()) <= {0, 3}
    checks.check_getrf(a, lu, ipiv, info)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("batch", "n", "nrhs"), [(0, 0, 3), (3, 0, 0), (0, 4, 4), (2, 3, 0), (3, 0, 2)])
def test_zero_sizes(batch: int, n: int, nrhs: int, dtype: str, capfd: pytest.CaptureFixture[str]) -> None:
    a, b = np.zeros((batch, n, n), dtype), np.zeros((batch, n, nrhs), dtype)
    a[...] = np.eye(n)
    lu, ipiv, info = getrf(a)
    assert (lu.shape, ipiv.shape, info.tolist()) == ((batch, n, n), (batch, n), [0] * batch)
    x, lu, ipiv, info = gesv(a, b)
    assert (x.shape, lu.shape, ipiv.shape, info.tolist()) == (b.shape, a.shape, (batch, n), [0] * batch)
    assert getrs(lu, ipiv, b).shape == b.shape
    inv, info = getri(lu, ipiv)
    assert (inv.shape, info.tolist()) == (a.shape, [0] * batch)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("shape", [(2, 0, 3), (2, 3, 0)])
def test_zero_sized_rectangles(shape: tuple[int, int, int], capfd: pytest.CaptureFixture[str]) -> None:
    lu, ipiv, info = getrf(np.zeros(shape))
    assert (lu.shape, ipiv.shape, info.tolist()) == (shape, (2, 0), [0, 0])
    assert capfd.readouterr() == ("", "")


def test_info_without_right_hand_sides() -> None:
    assert gesv(np.zeros((1, 2, 2)), np.zeros((1, 2, 0)))[3][0] == 1


def test_complex_pivot_is_by_the_sum_of_parts() -> None:
    for dtype in ("complex64", "complex128"):
        assert getrf(np.array([[[3 + 3j, 1], [5, 2]]], dtype))[1][0, 0] == 1


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [2, 9, 40])
def test_ties_take_the_lowest_row(n: int, dtype: str) -> None:
    a = np.array([np.random.default_rng(seed).choice([-1, 1], (n, n)) for seed in range(20)], dtype)
    a[:, 0, 0] = 0
    np.testing.assert_array_equal(getrf(a)[1][:, 0], 2)


@pytest.mark.parametrize("n", [2, 5, 16, 33])
def test_badly_scaled_row(n: int) -> None:
    """No flush to zero: the last row lies among the subnormal numbers, and so may the last pivot."""
    rng = np.random.default_rng(n)
    a = matgen.scale_row(rng.uniform(size=(8, n, n)).astype(np.float32), n - 1, 1e-38)
    b = (a.astype(np.float64) @ rng.uniform(-1, 1, (8, n, 2))).astype(np.float32)
    x, lu, ipiv, info = gesv(a, b)
    checks.check_gesv(a, b, x, lu, ipiv, info)
    wide = a.astype(np.float64)
    backward = abs(b - wide @ x).max((1, 2)) / abs(wide).sum(2).max(1) / abs(x).max((1, 2))
    assert (backward <= 10 * n * 6e-8).all()
    last_row = abs(b - wide @ x)[:, -1].max(1) / (abs(wide[:, -1:]) @ abs(x)).max((1, 2))
    assert (last_row < 1e-4).all()
    for i in range(len(a)):
        assert gesv(a[i : i + 1], b[i : i + 1])[0].tobytes() == x[i].tobytes()


# ---- the ends of the range of numbers, and what is not a number


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("end", ["subnormal", "largest"])
@pytest.mark.parametrize("zero_pivots", [(), (3,)])
def test_scaling_by_a_power_of_two_changes_u_alone(
    zero_pivots: tuple[int, ...], end: str, dtype: str
) -> None:
    exact = [matgen.exact_lu(7, dtype, np.random.default_rng(seed), zero_pivots) for seed in range(6)]
    scale = end_of_range(end, dtype)
    lu, ipiv, info = getrf(np.array([item.a for item in exact]) * scale)
    np.testing.assert_array_equal(lu, [np.tril(item.lu, -1) + np.triu(item.lu) * scale for item in exact])
    np.testing.assert_array_equal(ipiv, [item.ipiv for item in exact])
    np.testing.assert_array_equal(info, [item.info for item in exact])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("trans", ["N", "T", "C"])
@pytest.mark.parametrize("end", ["subnormal", "largest"])
def test_scaling_a_and_b_leaves_the_solution(end: str, trans: str, dtype: str) -> None:
    a = np.array([matgen.exact_lu(7, dtype, np.random.default_rng(seed)).a for seed in range(6)])
    scale = end_of_range(end, dtype)
    lu, ipiv, _ = getrf(a * scale)
    ones = np.ones((6, 7, 1), dtype)
    op = {"N": a, "T": a.swapaxes(1, 2), "C": a.conj().swapaxes(1, 2)}[trans]
    np.testing.assert_allclose(getrs(lu, ipiv, (op @ ones) * scale, trans), ones, rtol=1e-4)


def end_of_range(end: str, dtype: str) -> float:
    """A scale that takes multiples of 1/4 up to 32 to subnormal numbers, or just short of overflow."""
    limits = np.finfo(dtype)
    return float(4 * limits.smallest_subnormal if end == "subnormal" else 2.0 ** (limits.maxexp - 6))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_subnormal_pivot_below_a_zero_is_found(dtype: str) -> None:
    small = float(np.finfo(dtype).tiny) / 8
    lu, ipiv, info = getrf(np.array([[[0, 1], [small, 1]]], dtype))
    np.testing.assert_array_equal(lu, np.array([[[small, 1], [0, 1]]], dtype))
    assert ipiv.tolist() == [[2, 2]]
    assert not info.any()


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_pivot_of_two_subnormal_parts(dtype: str) -> None:
    """The magnitude of the first pivot is a normal number, its parts are not."""
    a = np.array([[[0.75 + 0.75j, 0.25], [0.125, 8]]]) * float(np.finfo(dtype).tiny)
    lu, ipiv, _ = getrf(a.astype(dtype))
    assert ipiv.tolist() == [[1, 2]]
    np.testing.assert_allclose(lu[0, 1, 0], 0.125 / (0.75 + 0.75j), rtol=1e-6)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("scale", ["tiny", "max"])
def test_complex_pivot_rule_holds_at_the_ends(scale: str, dtype: str) -> None:
    limit = float(getattr(np.finfo(dtype), scale))
    a = np.array([[[3 + 3j, 1], [5, 2]]]) * (limit / 16)
    assert getrf(a.astype(dtype))[1][0, 0] == 1


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_pivot_near_overflow(dtype: str) -> None:
    """Each part of the pivot is a number, the sum of the parts is not."""
    largest = float(np.finfo(dtype).max)
    a = (np.array([[[1 + 1j, 0.5], [0.5, 0.5j]]]) * (0.6 * largest)).astype(dtype)
    lu, ipiv, _ = getrf(a)
    np.testing.assert_allclose(lu[0, 1], [0.25 - 0.25j, (-0.125 + 0.625j) * 0.6 * largest], rtol=1e-6)
    np.testing.assert_allclose(getrs(lu, ipiv, a)[0], np.eye(2), atol=1e-6)
    inv = getri(lu, ipiv)[0]
    exact = np.linalg.inv(np.array([[1 + 1j, 0.5], [0.5, 0.5j]]))
    np.testing.assert_allclose(inv[0].astype(np.complex128) * (0.6 * largest), exact, atol=1e-5)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [1, 2, 5, 17, 40])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_not_a_number_keeps_pivots_in_range(bad: float, n: int, dtype: str) -> None:
    a = batch_of(n, n + 1, dtype)
    for i in range(n):
        a[i, i, (3 * i) % n] = bad
    a[n] = bad
    lu, ipiv, info = getrf(a)
    checks.check_pivot_range(ipiv, n)
    checks.check_info_is_first_zero_pivot(lu, info)
    assert not np.isfinite(lu).all(axis=(1, 2)).any()
    _, *factors = gesv(a, np.ones((n + 1, n, 1), dtype))
    for mine, theirs in zip(factors, (lu, ipiv, info), strict=True):
        assert mine.tobytes() == theirs.tobytes()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(8, 3), (3, 8), (40, 5)])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_pivots_of_rectangles_stay_in_range(bad: float, shape: tuple[int, int], dtype: str) -> None:
    m, n = shape
    a = np.array([matgen.random_matrix(m, n, dtype, np.random.default_rng(0))] * (m * n))
    a.reshape(m * n, m * n)[np.arange(m * n), np.arange(m * n)] = bad
    lu, ipiv, info = getrf(a)
    checks.check_pivot_range(ipiv, m)
    checks.check_info_is_first_zero_pivot(lu, info)


def test_a_lapack_that_loses_its_way_at_a_nan_is_not_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some return a pivot below the first row; here even where no NaN reaches the diagonal."""
    a = np.array([[[4.0, 1.0], [1.0, 4.0], [np.nan, 2.0]]])

    def getrf_of_another_lapack(item: np.ndarray, *, overwrite_a: bool) -> tuple[np.ndarray, list[int], int]:
        return item, [-1, 1], 0

    another = lapack._routines("float64")._replace(getrf=getrf_of_another_lapack)
    monkeypatch.setattr(lapack, "_routines", lambda dtype: another)
    checks.check_pivot_range(getrf(a)[1], 3)


@pytest.mark.parametrize("dtype", DTYPES)
def test_nan_never_becomes_a_number(dtype: str) -> None:
    a, ones = batch_of(6, 36, dtype), np.ones((36, 6, 1), dtype)
    a.reshape(36, 36)[np.arange(36), np.arange(36)] = np.nan
    assert np.isnan(gesv(a, ones)[0]).any(axis=(1, 2)).all()


def test_many_parts_are_one_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    a = batch_of(3, 50, "float64")
    b = a[:, :, :1].copy()
    whole = gesv(a, b)
    monkeypatch.setattr(lapack, "PART_BYTES", 8 * 9 * 7)
    for mine, theirs in zip(getrf(a), whole[1:], strict=True):
        assert mine.tobytes() == theirs.tobytes()
    for mine, theirs in zip(gesv(a, b), whole, strict=True):
        assert mine.tobytes() == theirs.tobytes()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("trans", ["N", "T", "C"])
def test_solutions_agree_with_the_oracle(trans: str, dtype: str) -> None:
    exact = matgen.exact_lu(12, dtype, np.random.default_rng(1))
    b = np.arange(-12, 12).reshape(12, 2).astype(dtype)
    mine = getrs(exact.lu[None], exact.ipiv[None], b[None], trans)[0]
    theirs = oracle.getrs(exact.lu, exact.ipiv, b, trans)
    np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e3 * np.finfo(dtype).eps * abs(theirs).max())


# ---- errors


@pytest.mark.parametrize("pivot", [0, 4, -1])
def test_pivot_out_of_range_is_refused(pivot: int) -> None:
    lu, ipiv = np.eye(3)[None].copy(), np.array([[1, pivot, 3]], np.int32)
    with pytest.raises(ArgumentError, match=r"ipiv: got values from .* accepted are 1 to 3"):
        getrs(lu, ipiv, np.ones((1, 3, 1)))
    with pytest.raises(ArgumentError, match="ipiv"):
        getri(lu, ipiv)


def test_device_memory_is_refused() -> None:
    views = dict.fromkeys(("a", "lu", "ipiv", "info"), BatchView(0, "float64", 1, 2, 2, 4, 1, 2))
    call = Call(Problem("getrf", "float64", 2, 2, 1), HOST, views, 0, no_children)
    with pytest.raises(ArgumentError, match="a: got device memory, the host backend accepts NumPy arrays"):
        lapack.getrf(call)
