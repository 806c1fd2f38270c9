"""getrs on every backend that has it."""

from __future__ import annotations

import numpy as np
import pytest

from batchlas_py import lapack
from batchlas_py.testing import matgen, oracle

from .calls import assert_same, factors, getrs, judge_getrs, random_batch
from .devices import SOLVING, Device, each_dtype, each_order, on, on_each_layout, on_each_size

ANYWHERE = (*SOLVING, "emulated", "cuda")
each_trans = pytest.mark.parametrize("trans", ["N", "T", "C"])


def assert_close_to(expected: np.ndarray, x: np.ndarray) -> None:
    np.testing.assert_allclose(x, expected, rtol=0, atol=64 * np.finfo(x.dtype).eps * abs(expected).max())


@on_each_size("getrs", ANYWHERE)
@each_trans
def test_every_order(device: Device, n: int, dtype: str, trans: str) -> None:
    batch = min(device.batch(n), 33)
    a, b = random_batch(batch, n, n, dtype, seed=n), random_batch(batch, n, 1 + n % 4, dtype)
    judge_getrs(a, b, getrs(device, *factors(a), b, trans, "C" if n % 2 else "F"), trans)


@on(*ANYWHERE)
@each_dtype
@each_order
@pytest.mark.parametrize("nrhs", [1, 3, 4, 9])
def test_any_number_of_sides_in_any_order(device: Device, nrhs: int, layout: str, dtype: str) -> None:
    """Row-major sides, n of them or not, must not be taken for column-major ones."""
    a, b = random_batch(3, 4, 4, dtype), random_batch(3, 4, nrhs, dtype, seed=nrhs)
    lu, ipiv = factors(a)
    x = getrs(device, lu, ipiv, b, layout=layout)
    judge_getrs(a, b, x)
    for i in range(3):
        assert_close_to(oracle.getrs(lu[i], ipiv[i], b[i]), x[i])


@on_each_layout(ANYWHERE)
@pytest.mark.parametrize(("trans", "dtype"), [("N", "float64"), ("C", "complex64")])
def test_every_layout(device: Device, layout: str, trans: str, dtype: str) -> None:
    a, b = random_batch(3, 7, 7, dtype), random_batch(3, 7, 2, dtype)
    x = getrs(device, *factors(a), b, trans, layout)
    judge_getrs(a, b, x, trans)
    assert_same(device, [x], [getrs(device, *factors(a), b, trans)])


@on(*ANYWHERE)
@pytest.mark.parametrize("shift", range(3))
def test_every_operand_has_a_layout_of_its_own(device: Device, shift: int) -> None:
    names = ["F-ld", "F", "C-ld", "sliced"]
    layouts = dict(zip(("lu", "b", "x"), names[shift:] + names[:shift], strict=False))
    a, b = random_batch(3, 5, 5, "float64"), random_batch(3, 5, 3, "float64")
    judge_getrs(a, b, getrs(device, *factors(a), b, "T", layouts), "T")


@on(*ANYWHERE)
@each_trans
def test_conjugation_and_transposition_by_hand(device: Device, trans: str) -> None:
    """Of [[0, 2i], [1, 1]] with one interchange; each of the three answers differs."""
    lu, ipiv = np.array([[[1, 1], [0, 2j]]], "complex128"), np.array([[2, 2]], np.int32)
    b = np.array([[[2], [4]]], "complex128")
    expected = {"N": [4 + 1j, -1j], "T": [-1j, 2 + 0j], "C": [1j, 2 + 0j]}
    a = np.array([[0, 2j], [1, 1]])
    op = {"N": a, "T": a.T, "C": a.conj().T}[trans]
    np.testing.assert_array_equal(op @ np.array(expected[trans]), b[0, :, 0])
    np.testing.assert_array_equal(getrs(device, lu, ipiv, b, trans)[0, :, 0], expected[trans])


@on(*ANYWHERE)
@each_trans
@each_dtype
def test_exact_solutions(device: Device, trans: str, dtype: str) -> None:
    """Interchanges are applied in the right order and direction, seen without any rounding."""
    items = [matgen.exact_lu(9, dtype, np.random.default_rng(seed)) for seed in range(3)]
    lu, ipiv = np.array([item.lu for item in items]), np.array([item.ipiv for item in items])
    x = np.arange(1, 19).reshape(9, 2).astype(dtype) * np.ones((3, 1, 1), dtype)
    a = np.array([item.a for item in items])
    op = {"N": a, "T": a.swapaxes(1, 2), "C": a.swapaxes(1, 2).conj()}[trans]
    np.testing.assert_array_equal(getrs(device, lu, ipiv, op @ x, trans), x)


@on(*ANYWHERE)
def test_a_zero_pivot_gives_no_plausible_number(device: Device) -> None:
    a = np.array([[[1, 1], [0, 0]], [[2, 0], [0, 2]]], "float64")
    lu, ipiv = factors(a)
    x = getrs(device, lu, ipiv, np.ones((2, 2, 1)))
    assert not np.isfinite(x[0]).any()
    np.testing.assert_array_equal(x[1], [[0.5], [0.5]])


@on(*ANYWHERE)
@pytest.mark.parametrize("batch", [1, 3])
def test_one_factorization_serves_many_sides(device: Device, batch: int) -> None:
    """Matrices and sides with a batch stride of 0 are read where they are."""
    a, b = random_batch(1, 6, 6, "float32"), random_batch(batch, 6, 2, "float32")
    lu, ipiv = factors(a)
    many = device.broadcast(device.put(lu), (batch, 6, 6))
    x = lapack.getrs(many, device.put(np.repeat(ipiv, batch, axis=0)), device.put(b))
    judge_getrs(np.broadcast_to(a, (batch, 6, 6)), b, device.get(x))
    same = lapack.getrs(
        device.put(np.repeat(lu, batch, axis=0)),
        device.put(np.repeat(ipiv, batch, axis=0)),
        device.broadcast(device.put(b[:1]), b.shape),
    )
    judge_getrs(np.broadcast_to(a, (batch, 6, 6)), np.broadcast_to(b[:1], b.shape), device.get(same))
