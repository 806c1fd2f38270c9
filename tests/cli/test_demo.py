"""``batchlas demo`` on the host: what it prints, and that it fails on a wrong answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from io import StringIO
from time import sleep
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from rich.console import Console

import batchlas_py
from batchlas_py import lapack
from batchlas_py.cli import demo as module
from batchlas_py.cli.app import app
from batchlas_py.cli.demo import demo
from batchlas_py.errors import ArgumentError, BackendUnavailable
from batchlas_py.problem import RECORDED

BATCH = 1030
DOCUMENT = {"schema", "version", "backend", "device", "note", "sets"}
SET = {
    "name": str,
    "title": str,
    "n": int,
    "batch": int,
    "distinct": int,
    "dtype": str,
    "routes": list,
    "first_call": float,
    "seconds": float,
    "systems_per_second": float,
    "worst_ratio": float,
    "passed": bool,
    "scipy_loop": dict,
    "speedup": float,
}


@pytest.fixture(autouse=True)
def short_loop_and_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LOOP_SYSTEMS", 16)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.delenv("TTY_COMPATIBLE", raising=False)


@pytest.fixture
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    def unavailable() -> None:
        raise BackendUnavailable("CUDA cannot be used: no driver was found")

    monkeypatch.setattr(batchlas_py, "device_info", unavailable)


def spoil(monkeypatch: pytest.MonkeyPatch, item: int, value: float) -> None:
    """Let one solution of every ``gesv`` be wrong."""
    right = lapack.gesv

    def gesv(a: Any, b: Any, *, out: Any) -> Any:
        result = right(a, b, out=out)
        result.x[item] = value
        return result

    monkeypatch.setattr(lapack, "gesv", gesv)


def test_json_is_one_document_with_a_stable_schema(capfd: pytest.CaptureFixture[str]) -> None:
    demo(batch=BATCH, backend="host", json=True)
    out, err = capfd.readouterr()
    document = json.loads(out)
    assert err == ""
    assert set(document) == DOCUMENT
    assert (document["schema"], document["backend"]) == (1, "host")
    assert [(one["name"], one["n"]) for one in document["sets"]] == [("h2o2", 11), ("gri30", 54)]
    for one in document["sets"]:
        assert {key: type(value) for key, value in one.items()} == SET
        assert (one["batch"], one["dtype"]) == (BATCH, "float64")
        assert set(one["scipy_loop"]) == {"timed", "seconds"}
        assert one["passed"]
        assert 0 < one["worst_ratio"] < 30


def test_numbers_hang_together(capsys: pytest.CaptureFixture[str]) -> None:
    demo(batch=BATCH, backend="host", json=True)
    for one in json.loads(capsys.readouterr().out)["sets"]:
        assert one["systems_per_second"] == pytest.approx(BATCH / one["seconds"])
        assert one["speedup"] == pytest.approx(one["scipy_loop"]["seconds"] / one["seconds"])
        assert one["scipy_loop"]["timed"] == 16


def test_route_is_the_one_that_ran(capsys: pytest.CaptureFixture[str]) -> None:
    with batchlas_py.trace() as runs:
        lapack.gesv(np.eye(11)[None], np.ones((1, 11, 1)))
    demo(batch=4, backend="host", json=True)
    for one in json.loads(capsys.readouterr().out)["sets"]:
        assert one["routes"] == [{"op": r.problem.op, "route": r.route, "why": r.source} for r in runs]
        assert one["routes"][0]["op"] == "gesv"


def test_batch_suits_the_backend(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    small = [source._replace(batch={"host": 8 + i, "cuda": 1}) for i, source in enumerate(module.SOURCES)]
    monkeypatch.setattr(module, "SOURCES", small)
    demo(backend="host", json=True)
    assert [one["batch"] for one in json.loads(capsys.readouterr().out)["sets"]] == [8, 9]


def test_plain_text_away_from_a_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    demo(batch=BATCH, backend="host")
    out, err = capfd.readouterr()
    assert err == ""
    assert out.isascii()
    assert "\x1b" not in out
    head, *sets = out.split("\n\n")
    assert head.splitlines()[1].startswith("Backend: host, ")
    for (name, n), text in zip((("h2o2", 11), ("gri30", 54)), sets, strict=True):
        told = dict(line.split(": ", 1) for line in text.splitlines())
        assert told["set"].startswith(name)
        assert told["n"] == str(n)
        assert told["batch"].startswith(f"{BATCH} (")
        assert told["dtype"] == "float64"
        assert told["route"].startswith("gesv vendor (")
        assert "passes" in told["worst residual ratio"]
        assert told["SciPy loop"].endswith("(16 systems timed, scaled to the batch)")
        assert float(told["systems per second"].replace(",", "")) > 0
        assert float(told["speed-up over it"]) > 0


def test_table_on_a_terminal(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "160")
    demo(batch=8, backend="host")
    row = next(line for line in capfd.readouterr().out.splitlines() if "dtype" in line)
    assert [cell.strip() for cell in row.split("│")[1:-1]] == ["dtype", "float64", "float64"]


@pytest.mark.parametrize(
    ("patience", "terminal", "hidden", "shown"),
    [
        (0.0, True, False, True),
        (60.0, True, False, False),
        (0.0, True, True, False),
        (0.0, False, False, False),
    ],
)
def test_bar_is_for_a_terminal_that_waits(
    patience: float, terminal: bool, hidden: bool, shown: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PATIENCE", patience)
    console = Console(file=StringIO(), force_terminal=terminal, width=80)
    with module.progress(console, hidden=hidden) as stage:
        stage("at work")
        sleep(0.3)
    assert isinstance(console.file, StringIO)
    assert ("at work" in console.file.getvalue()) is shown


@pytest.mark.parametrize("item", [0, 600, BATCH - 1])
def test_one_wrong_solution_anywhere_fails(
    item: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    spoil(monkeypatch, item, 1.0)
    with pytest.raises(SystemExit) as caught:
        demo(batch=BATCH, backend="host")
    assert caught.value.code == 1
    assert capsys.readouterr().out.count("FAILS") == 2


def test_solution_that_is_not_finite_fails_in_valid_json(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    spoil(monkeypatch, 600, np.nan)
    with pytest.raises(SystemExit):
        demo(batch=BATCH, backend="host", json=True)
    out = capsys.readouterr().out
    assert "NaN" not in out
    assert [(one["passed"], one["worst_ratio"]) for one in json.loads(out)["sets"]] == [(False, None)] * 2


def test_batch_must_be_positive() -> None:
    with pytest.raises(ArgumentError, match=r"batch: got 0, accepted is 1 or more"):
        demo(batch=0)


@pytest.mark.usefixtures("no_gpu")
def test_without_cuda_the_host_steps_in_and_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    demo(batch=4)
    out = capsys.readouterr().out
    assert "Backend: host" in out
    assert "CUDA cannot be used: no driver was found" in out


@pytest.mark.usefixtures("no_gpu")
def test_cuda_on_demand_must_be_there() -> None:
    with pytest.raises(BackendUnavailable, match="CUDA cannot be used: no driver was found"):
        demo(backend="cuda")


@pytest.fixture
def events(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A "GPU" whose arrays are NumPy's; lists what the demo asks of it, in order."""
    happened: list[str] = []

    def noted(name: str, does: Callable[..., Any]) -> Callable[..., Any]:
        def step(*arguments: Any, **keywords: Any) -> Any:
            happened.append(f"{name} again" if keywords.get("out") else name)
            return does(*arguments, **keywords)

        return step

    device = SimpleNamespace(sync=noted("wait", lambda: None))
    monkeypatch.setattr(batchlas_py, "device_info", lambda: RECORDED["sm_90"])
    monkeypatch.setattr(batchlas_py, "to_device", noted("send", np.asarray))
    monkeypatch.setattr(batchlas_py, "DeviceArray", SimpleNamespace(to_host=noted("fetch", np.asarray)))
    monkeypatch.setattr(module, "core_device", {0: device}.__getitem__)
    monkeypatch.setattr(lapack, "gesv", noted("gesv", lapack.gesv))
    return happened


def test_device_time_is_taken_between_waits(events: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    demo(batch=4, json=True)
    document = json.loads(capsys.readouterr().out)
    assert (document["backend"], document["device"]) == ("cuda", "NVIDIA H200")
    one_set = ["send", "send", "wait", "gesv", "wait"]
    one_set += [*["wait", "gesv again", "wait"] * module.REPEATS, "fetch"]
    assert events == one_set * 2


def test_scipy_loop_is_scaled_to_the_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter((10.0, 12.0))
    monkeypatch.setattr(module, "perf_counter", lambda: next(clock))
    loop = module.scipy_loop(np.eye(2)[None], np.ones((1, 2, 1)), 160)
    assert (loop.timed, loop.seconds) == (16, 20.0)


def test_command_line_reaches_it(capsys: pytest.CaptureFixture[str]) -> None:
    app(["demo", "--batch", "4", "--backend", "host", "--json"], result_action="return_value")
    assert json.loads(capsys.readouterr().out)["sets"][0]["batch"] == 4


@pytest.mark.gpu
def test_on_the_gpu(capsys: pytest.CaptureFixture[str]) -> None:
    demo(batch=4096, backend="cuda", json=True)
    document = json.loads(capsys.readouterr().out)
    assert document["backend"] == "cuda"
    assert all(one["passed"] for one in document["sets"])
