"""getrf on every backend."""

from __future__ import annotations

import numpy as np
import pytest

from batchlas_py import lapack
from batchlas_py.dtypes import DTYPES, REAL_OF
from batchlas_py.errors import PinError
from batchlas_py.testing import matgen, oracle

from .. import checks
from .calls import assert_same, getrf, judge_getrf, random_batch
from .devices import EVERY, LARGER, NATIVE, Device, each_dtype, each_order, on, on_each_layout, on_each_size

SCALES = {"float32": (126 - 12, -149 + 12), "float64": (1023 - 12, -1074 + 12)}


def exact_batch(n: int, dtype: str, *, singular: bool = True) -> list[matgen.ExactLU]:
    """Three matrices; the second has two zero pivots, if there is room and it may."""
    rng = np.random.default_rng(n)
    zeros = (n // 3, n - 1) if singular and n > 3 else ()
    return [matgen.exact_lu(n, dtype, rng, planted) for planted in ((), zeros, ())]


def assert_exact(expected: list[matgen.ExactLU], results: list[np.ndarray], scale: np.ndarray) -> None:
    """Results are the known ones, bit for bit; the columns of ``a`` were scaled by powers of two."""
    for i, (item, lu, ipiv, info) in enumerate(zip(expected, *results, strict=True)):
        scaled = np.tril(item.lu, -1) + np.triu(item.lu) * scale
        np.testing.assert_array_equal(lu, scaled.astype(lu.dtype), err_msg=f"lu of item {i}")
        np.testing.assert_array_equal(ipiv, item.ipiv, err_msg=f"ipiv of item {i}")
        assert info == item.info


@on_each_size("getrf", (*EVERY, *LARGER))
@each_order
def test_every_order(device: Device, n: int, dtype: str, layout: str) -> None:
    n = min(n, device.largest("getrf", dtype))
    a = random_batch(device.batch(n), n, n, dtype, seed=n)
    a[-1, :, n // 2] *= n % 2  # the last item is singular for even n
    lu, ipiv, info = getrf(device, a, layout)
    judge_getrf(device, a, lu, ipiv, info)
    assert (info[:-1] == 0).all()
    assert info[-1] == (0 if n % 2 else n // 2 + 1)


@on_each_layout((*EVERY, *LARGER))
@pytest.mark.parametrize(("n", "dtype"), [(5, "float32"), (12, "complex128")])
def test_every_layout(device: Device, n: int, dtype: str, layout: str) -> None:
    a = random_batch(4, n, n, dtype)
    results = getrf(device, a, layout)
    judge_getrf(device, a, *results)
    assert_same(device, results, getrf(device, a))


@on()
@pytest.mark.parametrize("batch", [1, 2, 3, 5, 7, 9])
@pytest.mark.parametrize("n", [2, 6])
def test_batches_that_do_not_fill_a_block(device: Device, n: int, batch: int) -> None:
    a = random_batch(batch, n, n, "float32", seed=batch)
    judge_getrf(device, a, *getrf(device, a, "C"))


@on()
@each_dtype
@pytest.mark.parametrize("n", [1, 3, 5, 8, 13])
def test_exact_factors_in_both_orders(device: Device, n: int, dtype: str) -> None:
    expected = exact_batch(n, dtype, singular=device.careful)
    a = np.array([item.a for item in expected])
    for layout in ("F", "C"):
        assert_exact(expected, getrf(device, a, layout), np.ones(n))


@on(*NATIVE, *LARGER)
@each_dtype
@pytest.mark.parametrize("end", ["large", "small", "both"])
def test_the_ends_of_the_range_of_numbers(device: Device, dtype: str, end: str) -> None:
    """Powers of two lose no digit, however near to overflow or deep among the subnormal numbers."""
    n = 7
    large, small = SCALES[REAL_OF[dtype]]
    exponents = {"large": [large], "small": [small], "both": [large, small]}[end]
    scale = np.ldexp(1.0, np.resize(exponents, n))
    expected = exact_batch(n, dtype)
    a = np.array([item.a * scale for item in expected]).astype(dtype)
    assert np.isfinite(a).all()
    assert_exact(expected, getrf(device, a, "C"), scale)


@on(*NATIVE, *LARGER)
@pytest.mark.parametrize(("dtype", "least"), [("float32", 1e-45), ("float64", 5e-324)])
def test_the_least_number_is_a_pivot(device: Device, dtype: str, least: float) -> None:
    unit = np.dtype(dtype).type(least)
    a = np.array([[[1, 1], [-1, 2]], [[-1, 2], [1, 0]]]) * unit
    lu, ipiv, info = getrf(device, a)
    expected = [[[unit, unit], [-1, 3 * unit]], [[-unit, 2 * unit], [-1, 2 * unit]]]
    np.testing.assert_array_equal(lu, np.array(expected, dtype))
    np.testing.assert_array_equal(ipiv, [[1, 2], [1, 2]])
    assert not info.any()


@on()
@each_dtype
def test_lapack_types(device: Device, dtype: str) -> None:
    n, rng = 10, np.random.default_rng(1)
    types = device.lapack_types(dtype)
    a = np.array([matgen.dge(imat, n, n, dtype, rng) for imat in types])
    lu, ipiv, info = getrf(device, a)
    judge_getrf(device, a, lu, ipiv, info)
    np.testing.assert_array_equal(info, [matgen.dge_info(imat, n, n) for imat in types])


@on(*NATIVE, *LARGER)
@each_dtype
def test_ties_take_the_lowest_row(device: Device, dtype: str) -> None:
    """Each step of these eliminations is a tie of all rows that are left."""
    hadamard = np.array([[1]])
    for _ in range(3):
        hadamard = np.block([[hadamard, hadamard], [hadamard, -hadamard]])
    turned = hadamard * (1j if dtype.startswith("complex") else -1)
    ascending = np.tril(np.full((8, 8), -1), -1) + np.eye(8)
    a = np.array([turned, ascending, np.ones((8, 8))]).astype(dtype)
    lu, ipiv, info = getrf(device, a)
    judge_getrf(device, a, lu, ipiv, info)
    np.testing.assert_array_equal(ipiv[:, 0], [1, 1, 1])
    np.testing.assert_array_equal(ipiv[1], np.arange(1, 9))
    for item, found in zip(a, ipiv, strict=True):
        np.testing.assert_array_equal(found, oracle.getf2(item).ipiv)


@on(*NATIVE, *LARGER)
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_pivots_by_the_sum_of_parts(device: Device, dtype: str) -> None:
    """Of 3 + 3i and 5 LAPACK takes the first, which the modulus would not."""
    a = np.array([[[3 + 3j, 1], [5, 2]], [[5, 1], [3 - 3j, 2]]], dtype)
    np.testing.assert_array_equal(getrf(device, a)[1], [[1, 2], [2, 2]])


@on()
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_info_is_the_first_zero_pivot(device: Device, dtype: str) -> None:
    spotted = 4 * np.eye(5) + 1
    spotted[:, [1, 3]] = 0
    cases = [
        (np.ones((3, 3)), 2),
        (np.zeros((3, 3)), 1),
        (np.array([[0, 1, 2], [0, 3, 4], [0, 5, 6]]), 1),
        (spotted, 2),
        (np.array([[1, 2], [2, 4]]), 2),
        (np.array([[1, 2, 3], [2, 2, 6], [4, 8, 12]]), 3),
    ]
    for matrix, expected in cases:
        a = matrix[None].astype(dtype)
        lu, ipiv, info = getrf(device, a)
        assert info[0] == expected
        assert np.isfinite(lu).all()
        judge_getrf(device, a, lu, ipiv, info)


@on()
@pytest.mark.parametrize(
    ("n", "dtype"), [*((n, dtype) for n in (3, 8) for dtype in DTYPES), (17, "float32"), (17, "complex128")]
)
def test_spoiled_items_leave_their_neighbours_alone(device: Device, n: int, dtype: str) -> None:
    clean = random_batch(5, n, n, dtype)
    spoiled = clean.copy()
    for item, spoiler in ((1, np.nan), (2, np.inf), (4, 0)):
        spoiled[item, :, n // 2] = spoiler
    checks.check_neighbours(lambda a: getrf(device, a), clean, spoiled)


@on(*NATIVE, *LARGER)
@each_dtype
def test_pivots_stay_in_range_whatever_the_input(device: Device, dtype: str) -> None:
    a = random_batch(6, 5, 5, dtype)
    a[0], a[1], a[2, 2, 3], a[3, 0, 0], a[4, 4] = np.nan, np.inf, np.nan, -np.inf, np.nan
    _, ipiv, info = getrf(device, a)
    checks.check_pivot_range(ipiv, 5)
    assert not info.any(), "NaN and infinity are no zero pivots"


@on("host", *LARGER)
@each_dtype
@pytest.mark.parametrize(("m", "n"), [(2, 4), (4, 2), (7, 1), (1, 7), (40, 33), (6, 35)])
def test_rectangular(device: Device, m: int, n: int, dtype: str) -> None:
    a = random_batch(2, m, n, dtype)
    lu, ipiv, info = getrf(device, a, "C-ld")
    assert ipiv.shape == (2, min(m, n))
    checks.check_getrf(a, lu, ipiv, info)


@on("host", *LARGER)
@pytest.mark.parametrize(("m", "n"), [(9, 5), (5, 9)])
def test_a_zero_pivot_of_a_rectangle(device: Device, m: int, n: int) -> None:
    a = random_batch(3, m, n, "float64")
    a[1, :, 2], a[2, :, [1, 4]] = 0, 0
    lu, ipiv, info = getrf(device, a)
    np.testing.assert_array_equal(info, [0, 3, 2])
    checks.check_getrf(a, lu, ipiv, info)


@on("emulated", "cuda")
def test_tiny_refuses_rectangles(device: Device) -> None:
    a = device.put(random_batch(3, 2, 4, "float32"))
    with pytest.raises(PinError, match="square matrices, got 2 x 4; routes that can: cta"):
        lapack.getrf(a, route="tiny")
