"""gesv on every backend."""

from __future__ import annotations

import numpy as np
import pytest

import batchlas_py
from batchlas_py.dtypes import REAL_OF
from batchlas_py.testing import matgen

from .. import checks
from .calls import assert_same, gesv, judge_gesv, random_batch
from .devices import EVERY, NATIVE, SOLVING, Device, each_dtype, each_order, on, on_each_layout, on_each_size

SCALES = {"float32": (114, -140), "float64": (1010, -1064)}


@on_each_size("gesv")
def test_every_order(device: Device, n: int, dtype: str) -> None:
    n = min(n, device.largest("gesv", dtype))
    a, b = (random_batch(device.batch(n), n, cols, dtype, seed=n + cols) for cols in (n, 1 + n % 4))
    a[-1, :, n // 3] *= n % 2  # the last item is singular for even n
    x, lu, ipiv, info = gesv(device, a, b, "C" if n % 2 else "F")
    judge_gesv(device, a, b, x, lu, ipiv, info)
    assert (info[:-1] == 0).all()
    assert info[-1] == (0 if n % 2 else n // 3 + 1)


@on()
@each_dtype
@each_order
@pytest.mark.parametrize("nrhs", [1, 2, 3, 4])
def test_few_sides(device: Device, nrhs: int, layout: str, dtype: str) -> None:
    """As many sides as rows, too, where a transposed read would go unnoticed by any shape."""
    a, b = random_batch(3, 4, 4, dtype, seed=1), random_batch(3, 4, nrhs, dtype, seed=nrhs)
    judge_gesv(device, a, b, *gesv(device, a, b, layout))


@on(*SOLVING, "cublas")
@each_order
@pytest.mark.parametrize("dtype", ["float64", "complex64"])
@pytest.mark.parametrize("route", ["blocked", "vendor"])
@pytest.mark.parametrize(("n", "nrhs"), [(3, 5), (4, 33)])
def test_many_sides(device: Device, n: int, nrhs: int, layout: str, dtype: str, route: str) -> None:
    if not device.on_gpu:
        route = "vendor"
    a, b = random_batch(3, n, n, dtype, seed=n), random_batch(3, n, nrhs, dtype, seed=nrhs)
    a[1, :, 1] = 0
    judge_gesv(device, a, b, *gesv(device, a, b, layout, route=route))


@on_each_layout()
@pytest.mark.parametrize(("n", "nrhs", "dtype"), [(5, 1, "complex64"), (12, 3, "float64")])
def test_every_layout(device: Device, layout: str, n: int, nrhs: int, dtype: str) -> None:
    a, b = random_batch(4, n, n, dtype), random_batch(4, n, nrhs, dtype, seed=1)
    results = gesv(device, a, b, layout)
    judge_gesv(device, a, b, *results)
    assert_same(device, results, gesv(device, a, b))


@on(*EVERY)
@pytest.mark.parametrize("shift", range(4))
def test_every_operand_has_a_layout_of_its_own(device: Device, shift: int) -> None:
    names = ["F-ld", "F", "C-ld", "sliced"]
    layouts = dict(zip(("a", "b", "lu", "x"), names[shift:] + names[:shift], strict=True))
    a, b = random_batch(3, 5, 5, "float64"), random_batch(3, 5, 3, "float64")
    judge_gesv(device, a, b, *gesv(device, a, b, layouts))


@on()
@pytest.mark.parametrize("batch", [1, 2, 3, 5, 7, 9])
@pytest.mark.parametrize("n", [2, 6])
def test_batches_that_do_not_fill_a_block(device: Device, n: int, batch: int) -> None:
    a, b = random_batch(batch, n, n, "float64", seed=batch), random_batch(batch, n, 1, "float64")
    judge_gesv(device, a, b, *gesv(device, a, b, "C"))


@on()
@each_dtype
@each_order
def test_without_a_pivot_there_is_no_answer(device: Device, dtype: str, layout: str) -> None:
    a, b = np.array([[[0, 2], [-3, 0]]], dtype), np.array([[[1], [-4]]], dtype)
    x, _, ipiv, info = gesv(device, a, b, layout)
    eps = float(np.finfo(dtype).eps)
    np.testing.assert_allclose(x[0, :, 0], [4 / 3, 1 / 2], rtol=4 * eps)
    np.testing.assert_array_equal(ipiv, [[2, 2]])
    assert info[0] == 0


@on()
@each_dtype
@pytest.mark.parametrize("n", [1, 3, 5, 8, 13])
def test_exact_solutions(device: Device, n: int, dtype: str) -> None:
    items = [matgen.exact_lu(n, dtype, np.random.default_rng(seed)) for seed in range(3)]
    a, x = np.array([item.a for item in items]), exact_solutions(n, dtype)
    for layout in ("F", "C"):
        solution, lu, ipiv, info = gesv(device, a, a @ x, layout)
        np.testing.assert_array_equal(solution, x)
        np.testing.assert_array_equal(lu, [item.lu for item in items])
        np.testing.assert_array_equal(ipiv, [item.ipiv for item in items])
        assert not info.any()


@on(*NATIVE)
@each_dtype
@pytest.mark.parametrize("end", [0, 1], ids=["large", "small"])
def test_the_ends_of_the_range_of_numbers(device: Device, dtype: str, end: int) -> None:
    """Powers of two lose no digit, however near to overflow or deep among the subnormal numbers."""
    n = 7
    scale = np.ldexp(1.0, SCALES[REAL_OF[dtype]][end])
    exact = matgen.exact_lu(n, dtype, np.random.default_rng(5)).a
    x = exact_solutions(n, dtype)[:1]
    a, b = (exact * scale).astype(dtype)[None], (exact @ x * scale).astype(dtype)
    assert np.isfinite(a).all()
    assert np.isfinite(b).all()
    np.testing.assert_array_equal(gesv(device, a, b, "C")[0], x)


def exact_solutions(n: int, dtype: str) -> np.ndarray:
    """Small integers, shape (3, n, 2)."""
    x = np.random.default_rng(n).integers(-3, 4, (3, n, 2)).astype(dtype)
    return x * np.dtype(dtype).type(1j) if dtype.startswith("complex") else x


@on(*NATIVE)
@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_a_row_near_underflow(device: Device, dtype: str) -> None:
    """A row of subnormal numbers is no row of zeros, and a batch treats an item as it would alone."""
    n, batch = 6, 4
    a = matgen.scale_row(random_batch(batch, n, n, dtype), n - 1, 1e-38)
    b = random_batch(batch, n, 1, dtype)
    together = gesv(device, a, b)
    judge_gesv(device, a, b, *together)
    assert not together[-1].any()
    for i in range(batch):
        alone = gesv(device, a[i : i + 1], b[i : i + 1])
        assert [one[0].tobytes() for one in alone] == [one[i].tobytes() for one in together]


@on()
@each_dtype
def test_lapack_types(device: Device, dtype: str) -> None:
    n, rng = 10, np.random.default_rng(2)
    types = device.lapack_types(dtype)
    a = np.array([matgen.dge(imat, n, n, dtype, rng) for imat in types])
    b = np.array([item @ random_batch(1, n, 2, dtype)[0] for item in a])
    x, lu, ipiv, info = gesv(device, a, b)
    judge_gesv(device, a, b, x, lu, ipiv, info)
    np.testing.assert_array_equal(info, [matgen.dge_info(imat, n, n) for imat in types])


@on(*EVERY)
@pytest.mark.parametrize("batch", [1, 2, 3, 17])
@pytest.mark.parametrize("nrhs", [1, 3])
def test_one_singular_item_at_any_batch_size(device: Device, batch: int, nrhs: int) -> None:
    check_one_singular_item(device, batch, nrhs)


@on("host", "cuda", "cublas")
def test_one_singular_item_of_a_thousand(device: Device) -> None:
    check_one_singular_item(device, 1000, 1)


def check_one_singular_item(device: Device, batch: int, nrhs: int) -> None:
    """The first item alone is reported, and alone has no solution."""
    a = np.repeat(np.eye(3)[None], batch, axis=0)
    a[0, 2, 2] = 0
    b = np.ones((batch, 3, nrhs))
    x, _, _, info = gesv(device, a, b)
    np.testing.assert_array_equal(info, [3] + [0] * (batch - 1))
    assert checks.all_nan(x[0])
    np.testing.assert_array_equal(x[1:], 1)


@on(*EVERY)
@each_dtype
def test_no_plausible_numbers_from_a_singular_item(device: Device, dtype: str) -> None:
    a = np.array([[[1, 1], [0, 0]], [[1, 2], [2, 4]], [[0, 0], [0, 0]]], dtype)
    x, _, _, info = gesv(device, a, np.ones((3, 2, 1), dtype))
    np.testing.assert_array_equal(info, [2, 2, 1])
    assert checks.all_nan(x)


@on(*EVERY)
@pytest.mark.parametrize(("n", "dtype"), [(3, "float32"), (8, "complex128"), (17, "float64")])
def test_spoiled_items_leave_their_neighbours_alone(device: Device, n: int, dtype: str) -> None:
    clean = random_batch(5, n, n + 1, dtype)
    spoiled = clean.copy()
    for item, spoiler in ((1, np.nan), (2, np.inf), (4, 0)):
        spoiled[item, :, n // 2] = spoiler
    checks.check_neighbours(lambda ab: gesv(device, ab[:, :, :n], ab[:, :, n:]), clean, spoiled)


@on(*EVERY)
def test_a_spoiled_side_leaves_its_neighbours_alone(device: Device) -> None:
    """A NaN in one right-hand side is the answer to that one alone."""
    a, clean = random_batch(2, 6, 6, "float32"), random_batch(2, 6, 3, "float32", seed=1)
    spoiled = clean.copy()
    spoiled[0, 2, 1] = np.nan
    before, after = (gesv(device, a, b)[0] for b in (clean, spoiled))
    assert np.isnan(after[0, :, 1]).any()
    kept = np.ones((2, 3), bool)
    kept[0, 1] = False
    np.testing.assert_array_equal(after.swapaxes(1, 2)[kept], before.swapaxes(1, 2)[kept])


@on("emulated-cublas", "cuda")
def test_blocked_takes_its_factors_from_any_family(device: Device) -> None:
    a, b = random_batch(3, 5, 5, "complex64"), random_batch(3, 5, 6, "complex64")
    with batchlas_py.pinned(getrf="tiny", gesv="blocked"):
        judge_gesv(device, a, b, *gesv(device, a, b, "C"))
