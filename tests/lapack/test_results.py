"""What a call returns and what it leaves alone: shapes, memory order, overwriting, nothing to do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from batchlas_py import lapack, trace
from batchlas_py.testing import ratios

from .. import checks
from .calls import assert_same, empty, factors, judge_gesv, judge_getri, judge_getrs, pivots, random_batch
from .devices import EVERY, SOLVING, Device, each_dtype, on

LEADS = [(), (1,), (4,), (2, 3), (2, 1, 3), (1, 1)]


def flat(values: np.ndarray, item: int) -> np.ndarray:
    """Leading dimensions as one."""
    return values.reshape(-1, *values.shape[values.ndim - item :])


@on(*EVERY)
@pytest.mark.parametrize("lead", LEADS, ids=str)
@pytest.mark.parametrize("columns", [False, True], ids=["C", "F"])
def test_leading_dimensions_of_any_rank(device: Device, lead: tuple[int, ...], columns: bool) -> None:
    n, batch = 3, int(np.prod(lead))
    a, b = random_batch(batch, n, n, "float32"), random_batch(batch, n, 2, "float32", seed=1)
    put = device.put_columns if columns else device.put
    result = lapack.gesv(put(a.reshape(*lead, n, n)), put(b.reshape(*lead, n, 2)))
    assert [type(one) for one in result] == [type(put(a))] * 4
    x, lu, ipiv, info = map(device.get, result)
    assert [one.shape for one in (x, lu, ipiv, info)] == [(*lead, n, 2), (*lead, n, n), (*lead, n), lead]
    judge_gesv(device, a, b, flat(x, 2), flat(lu, 2), flat(ipiv, 1), info.reshape(-1))


@on(*SOLVING)
@pytest.mark.parametrize("lead", LEADS, ids=str)
def test_leading_dimensions_of_getrs_and_getri(device: Device, lead: tuple[int, ...]) -> None:
    n, batch = 3, int(np.prod(lead))
    a, b = random_batch(batch, n, n, "complex64"), random_batch(batch, n, 2, "complex64")
    lu, ipiv = factors(a)
    placed = device.put(lu.reshape(*lead, n, n)), device.put(ipiv.reshape(*lead, n))
    x = device.get(lapack.getrs(*placed, device.put(b.reshape(*lead, n, 2)), "C"))
    inv, info = map(device.get, lapack.getri(*placed))
    assert (x.shape, inv.shape, info.shape) == ((*lead, n, 2), (*lead, n, n), lead)
    judge_getrs(a, b, flat(x, 2), "C")
    judge_getri(a, flat(inv, 2), info.reshape(-1))


def unit_strides(device: Device, array: Any) -> list[bool]:
    """Whether rows and columns follow one another in memory."""
    strides = array.strides if isinstance(array, np.ndarray) else array.__cuda_array_interface__["strides"]
    itemsize = 8
    return [stride == itemsize for stride in strides or (4 * itemsize, itemsize)][-2:]


@on(*EVERY)
@pytest.mark.parametrize("columns", [False, True], ids=["C", "F"])
def test_results_have_the_memory_order_of_their_arguments(device: Device, columns: bool) -> None:
    a, b = random_batch(2, 4, 4, "float64"), random_batch(2, 4, 3, "float64")
    put = device.put_columns if columns else device.put
    x, lu, *_ = lapack.gesv(put(a), put(b))
    assert unit_strides(device, lu) == unit_strides(device, x) == [columns, not columns]


@on(*EVERY)
@each_dtype
def test_dtypes_of_results(device: Device, dtype: str) -> None:
    a = device.put(random_batch(2, 3, 3, dtype))
    x, lu, ipiv, info = map(device.get, lapack.gesv(a, a))
    assert [one.dtype.name for one in (x, lu, ipiv, info)] == [dtype, dtype, "int32", "int32"]


@on(*EVERY)
@pytest.mark.parametrize("layout", ["F", "C", "C-ld"])
@pytest.mark.parametrize("n", [1, 5])
def test_overwriting(device: Device, n: int, layout: str) -> None:
    """What a call writes over holds the same bits as new results do, and what it was not given stays."""
    a, b = random_batch(3, n, n, "float32"), random_batch(3, n, 2, "float32")
    expected = lapack.gesv(device.put(a), device.put(b))
    for over_a, over_b in ((False, False), (True, False), (False, True), (True, True)):
        placed_a, placed_b = device.place(a, layout), device.place(b, layout)
        array_a, array_b = placed_a.array, placed_b.array
        result = lapack.gesv(array_a, array_b, overwrite_a=over_a, overwrite_b=over_b)
        assert (result.lu is array_a, result.x is array_b) == (over_a, over_b)
        assert_same(device, map(device.get, result), map(device.get, expected))
        assert over_a or placed_a.values().tobytes() == a.tobytes()
        assert over_b or placed_b.values().tobytes() == b.tobytes()
        placed_a.assert_padding_untouched()
        placed_b.assert_padding_untouched()


@on(*EVERY)
def test_overwriting_getrf(device: Device) -> None:
    a = random_batch(3, 4, 4, "complex128")
    expected = lapack.getrf(device.put(a))
    array = device.put(a)
    result = lapack.getrf(array, overwrite_a=True)
    assert result.lu is array
    assert_same(device, map(device.get, result), map(device.get, expected))


@on(*SOLVING)
@pytest.mark.parametrize("trans", ["N", "C"])
def test_overwriting_getrs(device: Device, trans: str) -> None:
    a, b = random_batch(3, 4, 4, "complex64"), random_batch(3, 4, 2, "complex64")
    lu, ipiv = map(device.put, factors(a))
    array = device.put(b)
    x = lapack.getrs(lu, ipiv, array, trans, overwrite_b=True)
    assert x is array
    judge_getrs(a, b, device.get(x), trans)


@on(*EVERY)
def test_out_is_what_comes_back(device: Device) -> None:
    a, b = random_batch(3, 4, 4, "float64"), random_batch(3, 4, 2, "float64")
    out = tuple(map(device.put, (empty(b), empty(a), pivots(3, 4), pivots(3))))
    result = lapack.gesv(device.put(a), device.put(b), out=out)
    assert all(mine is given for mine, given in zip(result, out, strict=True))
    judge_gesv(device, a, b, *map(device.get, result))


@on(*EVERY)
def test_out_in_the_other_memory_order(device: Device) -> None:
    a, b = random_batch(3, 4, 4, "float64"), random_batch(3, 4, 2, "float64")
    matrices = device.put_columns(empty(b)), device.put_columns(empty(a))
    out = *matrices, *map(device.put, (pivots(3, 4), pivots(3)))
    judge_gesv(device, a, b, *map(device.get, lapack.gesv(device.put(a), device.put(b), out=out)))
    out = device.put(empty(b)), device.put(empty(a)), *map(device.put, (pivots(3, 4), pivots(3)))
    columns = device.put_columns(a), device.put_columns(b)
    judge_gesv(device, a, b, *map(device.get, lapack.gesv(*columns, out=out)))


@on(*EVERY)
@pytest.mark.parametrize("batch", [1, 6])
def test_one_matrix_for_a_whole_batch(device: Device, batch: int) -> None:
    one, b = random_batch(1, 5, 5, "float32"), random_batch(batch, 5, 1, "float32")
    a = device.broadcast(device.put(one), (batch, 5, 5))
    judge_gesv(
        device, np.broadcast_to(one, (batch, 5, 5)), b, *map(device.get, lapack.gesv(a, device.put(b)))
    )


@on(*EVERY)
def test_entries_with_strides_of_zero(device: Device) -> None:
    """One number, seen as a batch of matrices."""
    a = device.broadcast(device.put(np.array([[[3.0]]])), (2, 3, 3))
    lu, ipiv, info = map(device.get, lapack.getrf(a))
    checks.check_getrf(np.full((2, 3, 3), 3.0), lu, ipiv, info)
    np.testing.assert_array_equal(info, [2, 2])


EMPTY = [((0,), 3), ((2,), 0), ((2, 0), 4), ((), 0), ((0, 3), 0), ((0,), 40)]


@on(*EVERY)
@pytest.mark.parametrize(("lead", "n"), EMPTY, ids=str)
def test_nothing_to_do(device: Device, lead: tuple[int, ...], n: int) -> None:
    """Empty problems have empty results and info 0; nothing is launched."""
    a, b = np.zeros((*lead, n, n), "complex64"), np.zeros((*lead, n, 2), "complex64")
    expected = {"x": b.shape, "lu": a.shape, "inv": a.shape, "ipiv": (*lead, n), "info": lead}
    ipiv = np.zeros((*lead, n), np.int32)
    with trace() as routes:
        every = [
            lapack.getrf(device.put(a))._asdict(),
            lapack.gesv(device.put(a), device.put(b))._asdict(),
            lapack.getri(device.put(a), device.put(ipiv))._asdict(),
            {"x": lapack.getrs(device.put(a), device.put(ipiv), device.put(b))},
        ]
    assert not routes
    assert not device.launched()
    for name, array in (item for results in every for item in results.items()):
        values = device.get(array)
        assert values.shape == expected[name], name
        assert values.dtype == (np.int32 if name in {"ipiv", "info"} else np.complex64)
        assert name != "info" or not values.any()


@on(*SOLVING)
def test_no_sides_for_getrs(device: Device) -> None:
    lu, ipiv = map(device.put, factors(random_batch(2, 3, 3, "float32")))
    with trace() as routes:
        x = lapack.getrs(lu, ipiv, device.put(np.zeros((2, 3, 0), "float32")))
    assert device.get(x).shape == (2, 3, 0)
    assert not routes


@on(*EVERY)
@pytest.mark.parametrize("route", [None, "tiny", "blocked"])
def test_without_sides_gesv_still_factors(device: Device, route: str | None) -> None:
    """Its factors and info are as right as with sides, singular items included."""
    a = random_batch(2, 3, 3, "float32")
    a[1] = 0
    x, *found = lapack.gesv(device.put(a), device.put(np.zeros((2, 3, 0), "float32")), route=route)
    assert device.get(x).shape == (2, 3, 0)
    checks.check_getrf(a, *map(device.get, found))


@on(*EVERY)
@pytest.mark.parametrize("shape", [(0, 3), (3, 0)])
def test_rectangles_of_no_size(device: Device, shape: tuple[int, int]) -> None:
    lu, ipiv, info = map(device.get, lapack.getrf(device.put(np.zeros((2, *shape)))))
    assert (lu.shape, ipiv.shape, info.shape) == ((2, *shape), (2, 0), (2,))
    assert not info.any()


@on("emulated")
def test_without_a_vendor_there_is_a_native_route_for_everything(device: Device) -> None:
    a = random_batch(2, 3, 3, "float32")
    lu, ipiv, _ = lapack.getrf(device.put(a))
    with trace() as routes:
        inverse = lapack.getri(lu, ipiv).inv
        solution = lapack.gesv(device.put(a), device.put(np.ones((2, 3, 5), "float32"))).x
    taken = {(one.problem.op, one.route) for one in routes}
    assert {("getri", "cta"), ("gesv", "blocked")} <= taken
    assert "vendor" not in {route for _, route in taken}
    assert ratios.dget03(a, device.get(inverse)).passes()
    assert ratios.dget02(a, device.get(solution), np.ones((2, 3, 5), "float32")).passes()
