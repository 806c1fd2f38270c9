"""Properties of getrf and gesv over problems that hypothesis draws."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import HealthCheck, assume, given, settings

from batchlas_py import lapack

from .. import checks
from ..strategies import Case, cases
from .calls import empty, judge_gesv, judge_getrf, pivots
from .devices import Device, on

EMULATED_LAYOUTS = ("F", "C", "F-ld", "C-ld", "sliced", "broadcast")
# A test's device serves all its examples.
shared = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
on_the_host = settings(suppress_health_check=shared)
on_the_emulator = settings(on_the_host, max_examples=20)
on_a_gpu = settings(settings.get_profile("thorough"), suppress_health_check=shared)
small = cases(max_n=20, max_nrhs=4, max_batch=3, layouts=EMULATED_LAYOUTS)
for_kernels = cases(max_n=32, max_nrhs=4, max_batch=70)


def place(device: Device, case: Case, values: np.ndarray) -> tuple[Any, checks.Embedded]:
    """An input of a case, on the device, and what it must still be after the call."""
    embedded = case.embed(values)
    if case.layout == "broadcast":
        return device.broadcast(device.put(values[:1]), values.shape), embedded
    return embedded.pick(device.put(embedded.buffer)), embedded


def check_getrf(device: Device, case: Case) -> None:
    """Right factors of the case in every output layout of its own, and an input that stays."""
    assume(case.n <= device.largest("getrf", case.dtype))
    values = case.matrices()
    a, embedded = place(device, case, values)
    out = tuple(map(device.put, (empty(values), pivots(case.batch, case.n), pivots(case.batch))))
    judge_getrf(device, values, *map(device.get, lapack.getrf(a, out=out)))
    assert device.get(a).tobytes() == np.ascontiguousarray(embedded.view).tobytes()
    returned = lapack.getrf(a)
    for mine, given_one in zip(returned, out, strict=True):
        assert device.get(mine).tobytes() == device.get(given_one).tobytes()


def check_gesv(device: Device, case: Case) -> None:
    """Right solutions, NaN exactly where the matrix is singular, and inputs that stay."""
    assume(case.n <= device.largest("gesv", case.dtype))
    values, sides = case.matrices(), case.right_hand_sides()
    (a, _), (b, _) = place(device, case, values), (device.put(sides), None)
    x, lu, ipiv, info = map(device.get, lapack.gesv(a, b))
    judge_gesv(device, values, sides, x, lu, ipiv, info)
    planted = {item for item, _ in case.zero_columns}
    singular = set(range(case.batch)) if planted and case.layout == "broadcast" else planted
    assert {i for i in range(case.batch) if np.isnan(x[i]).any()} == singular
    assert device.get(a).tobytes() == values.tobytes()
    assert device.get(b).tobytes() == sides.tobytes()


@on("host")
@on_the_host
@given(case=cases())
def test_getrf_on_the_host(device: Device, case: Case) -> None:
    check_getrf(device, case)


@on("host")
@on_the_host
@given(case=cases())
def test_gesv_on_the_host(device: Device, case: Case) -> None:
    check_gesv(device, case)


@on("emulated")
@on_the_emulator
@given(case=small)
def test_getrf_on_the_emulator(device: Device, case: Case) -> None:
    check_getrf(device, case)


@on("emulated")
@on_the_emulator
@given(case=small)
def test_gesv_on_the_emulator(device: Device, case: Case) -> None:
    check_gesv(device, case)


@on("cuda")
@on_a_gpu
@given(case=for_kernels)
def test_getrf_on_a_gpu(device: Device, case: Case) -> None:
    check_getrf(device, case)


@on("cuda")
@on_a_gpu
@given(case=for_kernels)
def test_gesv_on_a_gpu(device: Device, case: Case) -> None:
    check_gesv(device, case)
