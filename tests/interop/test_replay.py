"""A repeated call is the same call: nothing but addresses may come from the first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from batchlas_py import config, lapack, pinned, trace
from batchlas_py.dtypes import DTYPES
from batchlas_py.errors import ArgumentError, PinError
from batchlas_py.interop import replay

from .. import checks, emulated_gpu
from ..emulated_gpu import EmulatedArray, EmulatedGPU


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> EmulatedGPU:
    """A GPU without a vendor's library, so that one kernel answers every call."""
    return emulated_gpu.install(monkeypatch)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, gpu: EmulatedGPU) -> list[bool]:
    """For every call, whether it was a repetition."""
    answers: list[bool] = []
    find = replay.find

    def noted(key: Any) -> Any:
        known = find(key)
        answers.append(known is not None)
        return known

    monkeypatch.setattr(replay, "find", noted)
    return answers


def values(*shape: int, dtype: str = "float32", seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def solve(gpu: EmulatedGPU, seed: int, n: int = 4, **options: Any) -> None:
    """One gesv of new values, judged."""
    a, b = values(3, n, n, seed=seed), values(3, n, 2, seed=seed + 100)
    x, lu, ipiv, info = lapack.gesv(gpu.array(a), gpu.array(b), **options)
    checks.check_gesv(a, b, x.host, lu.host, ipiv.host, info.host)


def test_the_second_call_reads_its_own_arguments(gpu: EmulatedGPU, asked: list[bool]) -> None:
    for seed in range(3):
        solve(gpu, seed)
    assert asked == [False, True, True]


def test_every_call_has_results_of_its_own(gpu: EmulatedGPU, asked: list[bool]) -> None:
    a, b = gpu.array(values(2, 3, 3)), gpu.array(values(2, 3, 3, seed=1))
    first = lapack.getrf(a)
    kept = [one.host.copy() for one in first]
    second = lapack.getrf(b)
    assert asked == [False, True]
    assert first.lu.host.ctypes.data != second.lu.host.ctypes.data
    for one, before in zip(first, kept, strict=True):
        np.testing.assert_array_equal(one.host, before)


def columns(gpu: EmulatedGPU, array: np.ndarray) -> EmulatedArray:
    return gpu.array(array.swapaxes(1, 2).copy()).swapaxes(1, 2)


def padded(gpu: EmulatedGPU, array: np.ndarray) -> EmulatedArray:
    return gpu.array(np.pad(array, ((0, 0), (0, 0), (0, 3))))[:, :, :4]


def in_dtype(dtype: str) -> Callable[[EmulatedGPU], Any]:
    return lambda gpu: lapack.getrf(gpu.array(values(3, 4, 4, dtype=dtype)))


DIFFERENT: dict[str, Callable[[EmulatedGPU], Any]] = {
    "order": lambda gpu: lapack.getrf(columns(gpu, values(3, 4, 4))),
    "padding": lambda gpu: lapack.getrf(padded(gpu, values(3, 4, 4))),
    "batch": lambda gpu: lapack.getrf(gpu.array(values(2, 4, 4))),
    "rank": lambda gpu: lapack.getrf(gpu.array(values(3, 1, 4, 4))),
    "size": lambda gpu: lapack.getrf(gpu.array(values(3, 5, 5))),
    "routine": lambda gpu: lapack.gesv(gpu.array(values(3, 4, 4)), gpu.array(values(3, 4, 1))),
    "overwriting": lambda gpu: lapack.getrf(gpu.array(values(3, 4, 4)), overwrite_a=True),
    "route": lambda gpu: lapack.getrf(gpu.array(values(3, 4, 4)), route="tiny"),
    **{dtype: in_dtype(dtype) for dtype in DTYPES if dtype != "float32"},
}


@pytest.mark.parametrize("what", DIFFERENT)
def test_what_makes_a_call_another_one(gpu: EmulatedGPU, asked: list[bool], what: str) -> None:
    lapack.getrf(gpu.array(values(3, 4, 4)))
    DIFFERENT[what](gpu)
    DIFFERENT[what](gpu)
    assert asked == [False, False, True]


@pytest.mark.parametrize("make", [EmulatedGPU.array, columns, padded])
def test_repetitions_in_every_layout(gpu: EmulatedGPU, asked: list[bool], make: Any) -> None:
    for seed in range(2):
        a = values(3, 4, 4, seed=seed)
        found = [one.host for one in lapack.getrf(make(gpu, a))]
        checks.check_getrf(a, *found)
    assert asked == [False, True]


def test_repetitions_in_place_and_not(gpu: EmulatedGPU, asked: list[bool]) -> None:
    """Whether results lie over arguments is no part of what is remembered."""
    for seed, over in enumerate((False, True, False)):
        a, b = values(3, 4, 4, seed=seed), values(3, 4, 2, seed=seed)
        there, sides, ipiv, info = map(gpu.array, (a, b, np.zeros((3, 4), np.int32), np.zeros(3, np.int32)))
        x, lu = (sides, there) if over else (gpu.array(0 * b), gpu.array(0 * a))
        lapack.gesv(there, sides, out=(x, lu, ipiv, info))
        checks.check_gesv(a, b, x.host, lu.host, ipiv.host, info.host)
        assert over or there.host.tobytes() == a.tobytes()
    assert asked == [False, True, True]


def test_overwriting_repetitions_return_their_own_arguments(gpu: EmulatedGPU, asked: list[bool]) -> None:
    for seed in range(2):
        a = values(3, 4, 4, seed=seed)
        there = gpu.array(a)
        lu, ipiv, info = lapack.getrf(there, overwrite_a=True)
        assert lu is there
        checks.check_getrf(a, lu.host, ipiv.host, info.host)
    assert asked == [False, True]


def test_repetitions_are_traced(gpu: EmulatedGPU, asked: list[bool]) -> None:
    solve(gpu, 0)
    with trace() as routes:
        solve(gpu, 1)
        solve(gpu, 2, route="tiny")
        solve(gpu, 3, route="tiny")
    assert asked == [False, True, False, True]
    assert [record.source for record in routes][1:] == ["argument route"] * 2
    assert {(record.problem.op, record.route) for record in routes} == {("gesv", "tiny")}


def test_pins_and_settings_reach_repetitions(gpu: EmulatedGPU, monkeypatch: pytest.MonkeyPatch) -> None:
    solve(gpu, 0)
    with trace() as routes:
        with pinned(gesv="tiny"):
            solve(gpu, 1)
        solve(gpu, 2)
        monkeypatch.setenv("BATCHLAS_GESV_ROUTE", "tiny")
        config.refresh()
        solve(gpu, 3)
        monkeypatch.delenv("BATCHLAS_GESV_ROUTE")
        config.refresh()
        solve(gpu, 4)
    first, second, third, fourth = (record.source for record in routes)
    assert (first, third) == ("pinned(gesv=)", "environment BATCHLAS_GESV_ROUTE")
    assert second == fourth
    assert second not in {first, third}


def test_a_pin_that_cannot_run_is_met_by_a_repetition(gpu: EmulatedGPU) -> None:
    solve(gpu, 0)
    with pinned(gesv="vendor"), pytest.raises(PinError, match="'vendor' cannot run gesv"):
        solve(gpu, 1)


def test_repetitions_run_on_the_stream_of_their_own_call(gpu: EmulatedGPU, asked: list[bool]) -> None:
    for stream in (0, 5, 6):
        solve(gpu, stream, stream=stream)
    assert asked == [False, True, True]
    assert gpu.streams == [0, 5, 6]


@pytest.mark.parametrize("route", ["blocked", "vendor"])
def test_routes_of_several_launches_are_not_remembered(
    asked: list[bool], monkeypatch: pytest.MonkeyPatch, route: str
) -> None:
    gpu = emulated_gpu.install(monkeypatch, vendor=True)
    for seed in range(2):
        solve(gpu, seed, route=route)
    assert asked == [False, False]


def test_a_call_that_failed_is_not_remembered(gpu: EmulatedGPU, asked: list[bool]) -> None:
    a = gpu.array(values(3, 4, 4))
    shared = EmulatedArray(np.lib.stride_tricks.as_strided(a.host, a.shape, (0, 16, 4)))
    out = gpu.array(np.zeros((3, 4), np.int32)), gpu.array(np.zeros(3, np.int32))
    for _ in range(2):
        with pytest.raises(ArgumentError, match="lu: elements share memory"):
            lapack.getrf(a, out=(shared, *out))
    assert asked == [False, False]


def test_empty_calls_and_numpy_arrays_are_not_remembered(gpu: EmulatedGPU, asked: list[bool]) -> None:
    for _ in range(2):
        lapack.getrf(gpu.array(values(0, 4, 4)))
        lapack.getrf(values(2, 4, 4))
    assert not any(asked)


def test_memory_is_bounded(gpu: EmulatedGPU, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replay, "LIMIT", 2)
    for batch in (1, 2, 3):
        lapack.getrf(gpu.array(values(batch, 2, 2)))
    assert len(replay._known) == 1
