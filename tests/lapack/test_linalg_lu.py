"""linalg.solve, inv, lu_factor and lu_solve by NumPy's rules, on the host and on devices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batchlas_py import linalg, trace
from batchlas_py.errors import ArgumentError, ArgumentTypeError, LinAlgError
from batchlas_py.linalg import common
from batchlas_py.testing import matgen

from .devices import Device, each_dtype, on

BACKENDS = ("host", "emulated", "cuda", "cublas")
each_trans = pytest.mark.parametrize("trans", [0, 1, 2])
# Leading dimensions of the matrices, shape of the right-hand sides.
SHAPES: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    ((), (4,)),
    ((), (4, 2)),
    ((3,), (4, 2)),
    ((3,), (4,)),
    ((), (3, 4, 2)),
    ((2, 1), (3, 4, 2)),
    ((3,), (2, 1, 4, 1)),
    ((1,), (5, 4, 1)),
]


def matrices(lead: tuple[int, ...], n: int, dtype: str, seed: int = 0) -> np.ndarray:
    """Well-conditioned ones."""
    rng = np.random.default_rng(seed)
    count = int(np.prod(lead, dtype=int))
    made = [matgen.with_condition(n, n, 3.0, dtype, rng) for _ in range(count)]
    return np.array(made, dtype).reshape((*lead, n, n))


def sides(shape: tuple[int, ...], dtype: str, seed: int = 1) -> np.ndarray:
    values = np.random.default_rng(seed).standard_normal((2, *shape))
    made: np.ndarray = values[0] + 1j * values[1] if np.dtype(dtype).kind == "c" else values[0]
    return made.astype(dtype)


def assert_close(x: np.ndarray, expected: np.ndarray) -> None:
    assert (x.shape, x.dtype) == (expected.shape, expected.dtype)
    size = float(abs(expected).max(initial=1))
    np.testing.assert_allclose(x, expected, rtol=0, atol=200 * float(np.finfo(x.dtype).eps) * size)


@on(*BACKENDS)
@each_dtype
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_solve(device: Device, shape: tuple[tuple[int, ...], tuple[int, ...]], dtype: str) -> None:
    a, b = matrices(shape[0], 4, dtype), sides(shape[1], dtype)
    mine = device.put(a)
    assert_close(device.get(linalg.solve(mine, device.put(b))), np.linalg.solve(a, b))
    np.testing.assert_array_equal(device.get(mine), a)


@on(*BACKENDS)
@each_trans
@each_dtype
def test_lu_solve(device: Device, dtype: str, trans: int) -> None:
    for lead, shape in SHAPES[::3]:
        a, b = matrices(lead, 4, dtype), sides(shape, dtype)
        factors = linalg.lu_factor(device.put(a))
        op = (a, a.swapaxes(-1, -2), a.conj().swapaxes(-1, -2))[trans]
        assert_close(device.get(linalg.lu_solve(factors, device.put(b), trans)), np.linalg.solve(op, b))


@on(*BACKENDS)
@each_dtype
def test_inv(device: Device, dtype: str) -> None:
    for lead in ((), (3,), (2, 2)):
        a = matrices(lead, 5, dtype)
        assert_close(device.get(linalg.inv(device.put(a))), np.linalg.inv(a))


@on("host", "emulated")
def test_one_factorization_serves_all_sides_of_a_matrix(device: Device) -> None:
    with trace() as routes:
        linalg.solve(device.put(matrices((), 4, "float64")), device.put(sides((50, 4, 2), "float64")))
    problem = next(one.problem for one in routes if one.problem.op == "gesv")
    assert (problem.batch, problem.nrhs) == (1, 100)


@on("host", "emulated")
def test_pivots_count_from_zero(device: Device) -> None:
    lu, piv = linalg.lu_factor(device.put(np.array([[0.0, 2.0], [4.0, 1.0]])))
    np.testing.assert_array_equal(device.get(piv), [1, 1])
    np.testing.assert_array_equal(device.get(lu), [[4, 1], [0, 2]])


@on("host", "emulated")
@pytest.mark.parametrize(
    ("of_a", "of_b", "found"),
    [
        ("float32", "complex64", "complex64"),
        ("float64", "complex64", "complex128"),
        ("float32", "float64", "float64"),
        ("int32", "float32", "float64"),
        ("int64", "int8", "float64"),
    ],
)
def test_dtypes_meet_as_in_numpy(device: Device, of_a: str, of_b: str, found: str) -> None:
    a, b = (np.eye(3) * 2).astype(of_a), np.ones((3, 1), of_b)
    x = device.get(linalg.solve(device.put(a), device.put(b)))
    assert x.dtype == found
    np.testing.assert_array_equal(x, np.full((3, 1), 0.5))
    assert device.get(linalg.inv(device.put(a))).dtype == ("float64" if of_a.startswith("int") else of_a)


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_shapes_are_those_of_numpy(data: st.DataObject) -> None:
    dimensions = st.lists(st.sampled_from([0, 1, 2, 3]), max_size=3)
    n, columns = data.draw(st.integers(1, 3)), data.draw(st.integers(0, 3))
    lead_a, lead_b = tuple(data.draw(dimensions)), tuple(data.draw(dimensions))
    a, b = matrices(lead_a, n, "float64"), sides((*lead_b, n, columns), "float64")
    try:
        expected = np.linalg.solve(a, b)
    except ValueError:
        with pytest.raises(ArgumentError, match="leading dimensions"):
            linalg.solve(a, b)
        return
    assert_close(linalg.solve(a, b), expected)


def test_a_singular_matrix() -> None:
    a = matrices((3,), 4, "float64")
    a[1] = 0
    for call in (linalg.inv, lambda one, **options: linalg.solve(one, np.ones(4), **options)):
        with pytest.raises(LinAlgError, match="singular: 1 items, the first is number 1"):
            call(a)
        x = call(a, check=False)
        assert np.isnan(x[1]).all() and np.isfinite(x[[0, 2]]).all()


@on("emulated")
def test_a_gpu_raises_if_told_to(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    a = device.put(np.zeros((2, 3, 3), "float32"))
    assert np.isnan(device.get(linalg.inv(a))).all()
    monkeypatch.setattr(common, "fetch", lambda memory, stream, ordinal: np.array([0, 2], np.int32))
    with pytest.raises(LinAlgError, match="the first is number 1"):
        linalg.inv(a, check=True)


@pytest.mark.parametrize(
    ("a", "b", "error", "message"),
    [
        (np.eye(3), np.ones((2, 1)), ArgumentError, r"b: got shape \(2, 1\), accepted are 3 rows"),
        (np.ones(3), np.ones(3), ArgumentError, r"a: got shape \(3,\), accepted are \(..., n, n\)"),
        (np.ones((3, 2)), np.ones(3), ArgumentError, "accepted are square"),
        (
            np.eye(3, dtype="float16"),
            np.ones(3, "float16"),
            ArgumentTypeError,
            "dtype: got a float16, b float16",
        ),
        (np.eye(3), np.array(["x"] * 3), ArgumentTypeError, "b: got str32, accepted are numbers"),
    ],
    ids=["rows", "vector", "rectangle", "half", "text"],
)
def test_what_is_refused(a: Any, b: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        linalg.solve(a, b)


def test_trans_is_a_number() -> None:
    with pytest.raises(ArgumentError, match="trans: got 3, accepted are 0, 1, 2"):
        linalg.lu_solve(linalg.lu_factor(np.eye(2)), np.ones(2), 3)
