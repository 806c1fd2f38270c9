"""How a call's route is chosen and pinned, and what is kept on record of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from batchlas_py import PinError, config, explain, lapack, pinned, trace

from .calls import factors, judge_gesv, random_batch
from .devices import Device, on


def solve(device: Device, n: int = 4, nrhs: int = 1, **options: Any) -> list[np.ndarray]:
    """One gesv, judged."""
    a, b = random_batch(2, n, n, "float32"), random_batch(2, n, nrhs, "float32")
    results = [device.get(one) for one in lapack.gesv(device.put(a), device.put(b), **options)]
    judge_gesv(device, a, b, *results)
    return results


@on("emulated", "cuda")
def test_the_default_route_is_the_one_that_explain_tells(device: Device) -> None:
    with pinned(gesv="auto"), trace() as routes:
        solve(device)
        explained = explain("gesv", n=4, nrhs=1, batch=2, dtype="float32", layout="C", arch=device.arch)
    record = routes[0]
    problem = record.problem
    assert (problem.op, problem.n, problem.nrhs, problem.batch, problem.dtype) == ("gesv", 4, 1, 2, "float32")
    assert (record.route, record.source) == (explained.route, explained.source)


@on("host")
def test_the_host_has_one_route(device: Device) -> None:
    with trace() as routes:
        solve(device)
    assert [(record.problem.op, record.route) for record in routes] == [("gesv", "vendor")]


@on("emulated-cublas", "cuda")
@pytest.mark.parametrize("getrf", ["tiny", "vendor"])
def test_blocked_runs_getrf_and_getrs_each_on_its_own_route(device: Device, getrf: str) -> None:
    with pinned(getrf=getrf, getrs="auto"), trace() as routes:
        solve(device, nrhs=6, route="blocked")
    assert [(record.problem.op, record.route) for record in routes] == [
        ("gesv", "blocked"),
        ("getrf", getrf),
        ("getrs", "vendor"),
    ]
    assert [record.source for record in routes[:2]] == ["argument route", "pinned(getrf=)"]
    assert [record.problem.nrhs for record in routes] == [6, 0, 6]
    assert routes[2].problem.trans == "N"


@on("emulated-cublas", "cuda")
def test_argument_wins_over_pin_over_environment(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BATCHLAS_GESV_ROUTE", "vendor")
    config.refresh()
    with trace() as routes:
        with pinned(gesv="tiny"):
            solve(device, route="blocked")
            solve(device)
        with pinned(gesv="auto"):
            solve(device)
    made = [record for record in routes if record.problem.op == "gesv"]
    assert [record.route for record in made[:2]] == ["blocked", "tiny"]
    assert [record.source for record in made[:2]] == ["argument route", "pinned(gesv=)"]
    assert made[2].source not in {"argument route", "pinned(gesv=)", "environment BATCHLAS_GESV_ROUTE"}


@on("emulated")
def test_environment_pins(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BATCHLAS_GETRF_ROUTE", "vendor")
    config.refresh()
    a = device.put(random_batch(2, 3, 3, "float32"))
    with pytest.raises(PinError, match="environment BATCHLAS_GETRF_ROUTE: 'vendor' cannot run getrf float32"):
        lapack.getrf(a)
    with trace() as routes:
        lapack.getrf(a, route="auto")
    assert routes[0].route == "tiny"


@on("host")
def test_the_environment_speaks_of_cuda_alone(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BATCHLAS_GESV_ROUTE", "tiny")
    monkeypatch.setenv("BATCHLAS_VENDOR", "off")
    config.refresh()
    solve(device)


@on("emulated-cublas", "cuda")
def test_vendor_switched_off(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BATCHLAS_VENDOR", "off")
    config.refresh()
    lu, ipiv = (device.put(one) for one in factors(random_batch(2, 3, 3, "float32")))
    with pinned(getri="vendor"), pytest.raises(PinError, match=r"BATCHLAS_VENDOR.*off"):
        lapack.getri(lu, ipiv)
    with pinned(getri="auto", trsm="auto"), trace() as routes:
        lapack.getri(lu, ipiv)
    assert {one.route for one in routes} == {"cta"}
    with pinned(gesv="auto", getrf="auto"), trace() as routes:
        solve(device)
    assert routes[0].route == "tiny"


@on("emulated", "emulated-cublas", "cuda", "cublas")
def test_a_pin_that_cannot_run_says_why(device: Device) -> None:
    large, small = random_batch(1, 33, 33, "float32"), random_batch(1, 3, 3, "float32")
    with pytest.raises(PinError, match=r"argument route: 'tiny' cannot run getrf .* n = 33 is above 32"):
        lapack.getrf(device.put(large), route="tiny")
    with pytest.raises(PinError, match=r"'tiny' cannot run gesv .*nrhs=5 .* nrhs = 5 is above 4"):
        lapack.gesv(device.put(small), device.put(random_batch(1, 3, 5, "float32")), route="tiny")
    with (
        pinned(gesv="tiny"),
        pytest.raises(PinError, match=r"pinned\(gesv=\): 'tiny' cannot run gesv .* n = 33 is above 32"),
    ):
        lapack.gesv(device.put(large), device.put(large[..., :1]))


@on("host")
def test_a_pin_of_a_kernel_does_not_run_on_the_host(device: Device) -> None:
    a = device.put(random_batch(1, 3, 3, "float32"))
    with pytest.raises(PinError, match=r"'tiny' cannot run getrf .* on host: runs on a CUDA device"):
        lapack.getrf(a, route="tiny")
    with pinned(getrf="tiny"), pytest.raises(PinError, match=r"pinned\(getrf=\): 'tiny' cannot run getrf"):
        lapack.getrf(a)


@on()
def test_a_pin_of_an_unknown_route_lists_the_known_ones(device: Device) -> None:
    a = device.put(random_batch(1, 3, 3, "float32"))
    with pytest.raises(PinError, match="got 'tinny' for getrf, accepted are auto, tiny, cta,"):
        lapack.getrf(a, route="tinny")
