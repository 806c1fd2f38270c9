"""Launching through the router: what a launcher gets, children, and the trace."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from batchlas_py import config
from batchlas_py.errors import PinError
from batchlas_py.family import Call
from batchlas_py.problem import HOST, RECORDED, Problem
from batchlas_py.routing.run import Record, run, trace
from batchlas_py.views import BatchView

from .fakes import Environment, Register, family

SM_89 = RECORDED["sm_89"]
SOLVE = Problem("gesv", "float64", 8, 8, 10, 1)
OPERANDS = {"a": BatchView(16, "float64", 10, 8, 8, 64, 1, 8)}


@pytest.fixture
def calls(register: Register) -> list[Call]:
    """Calls that arrive; gesv blocked runs getrf and then getrs."""
    arrived: list[Call] = []

    def compose(call: Call) -> None:
        arrived.append(call)
        call.run(call.problem.child("getrf", nrhs=0), {"lu": call.operands["a"]})
        call.run(call.problem.child("getrs", trans="N"), call.operands)

    leaves = [
        family(op, name, launch=arrived.append) for op in ("getrf", "getrs") for name in ("cta", "vendor")
    ]
    register(
        family("gesv", "blocked", launch=compose), family("gesv", "vendor", launch=arrived.append), *leaves
    )
    return arrived


def names(calls: list[Call]) -> list[str]:
    return [call.problem.op for call in calls]


def test_launcher_gets_the_call_as_it_was_made(calls: list[Call]) -> None:
    chosen = run(SOLVE, OPERANDS, SM_89, 7, "vendor")
    (call,) = calls
    assert (call.problem, call.device, call.stream) == (SOLVE, SM_89, 7)
    assert call.operands is OPERANDS
    assert (chosen.route, chosen.source) == ("vendor", "argument route")


def test_children_run_on_the_same_device_and_stream(calls: list[Call]) -> None:
    device = replace(SM_89, ordinal=3)
    run(SOLVE, OPERANDS, device, 7)
    assert names(calls) == ["gesv", "getrf", "getrs"]
    assert {(call.device, call.stream) for call in calls} == {(device, 7)}
    assert calls[1].problem == Problem("getrf", "float64", 8, 8, 10)
    assert calls[1].operands == {"lu": OPERANDS["a"]}
    assert calls[2].problem.trans == "N"


def test_pin_of_the_parent_does_not_pin_the_children(calls: list[Call]) -> None:
    with trace() as routes:
        run(SOLVE, OPERANDS, SM_89, 0, "blocked")
    assert [(one.problem.op, one.route) for one in routes] == [
        ("gesv", "blocked"),
        ("getrf", "vendor"),
        ("getrs", "vendor"),
    ]
    assert routes[0].source == "argument route"
    assert routes[1].source == "shipped table getrf.sm_89.txt:11"


def test_each_child_answers_to_its_own_pin(calls: list[Call]) -> None:
    with trace() as routes, config.pinned(getrf="cta", getrs="vendor"):
        run(SOLVE, OPERANDS, SM_89, 0)
    assert [one.route for one in routes] == ["blocked", "cta", "vendor"]


def test_child_whose_pin_cannot_run_raises(calls: list[Call]) -> None:
    with pytest.raises(PinError, match=r"^pinned\(getrf=\): 'tiny'"), config.pinned(getrf="tiny"):
        run(SOLVE, OPERANDS, SM_89, 0)
    assert names(calls) == ["gesv"]


def test_vendor_switch_reaches_the_children(calls: list[Call], environment: Environment) -> None:
    environment(BATCHLAS_VENDOR="off")
    run(SOLVE, OPERANDS, SM_89, 0)
    assert [call.device.vendor_reason for call in calls] == ["BATCHLAS_VENDOR=off"] * 3


def test_nothing_launches_when_the_pin_is_wrong(calls: list[Call]) -> None:
    with trace() as routes, pytest.raises(PinError):
        run(SOLVE, OPERANDS, SM_89, 0, "tiny")
    assert calls == []
    assert routes == []


def test_trace_holds_problem_route_and_source(calls: list[Call]) -> None:
    with trace() as routes:
        run(SOLVE, OPERANDS, HOST, 0)
    run(SOLVE, OPERANDS, HOST, 0)
    assert routes == [Record(SOLVE, "vendor", "default order")]
    assert str(routes[0]) == "gesv float64 n=8 nrhs=1 batch=10 layout=F -> vendor (default order)"


def test_traces_nest(calls: list[Call]) -> None:
    with trace() as outer:
        run(SOLVE, OPERANDS, SM_89, 0, "vendor")
        with trace() as inner:
            run(SOLVE, OPERANDS, HOST, 0)
        run(SOLVE, OPERANDS, SM_89, 0, "vendor")
    assert [one.source for one in inner] == ["default order"]
    assert [one.source for one in outer] == ["argument route", "default order", "argument route"]


LOGGED = """
import logging
from batchlas_py.family import YES, Family
from batchlas_py.problem import HOST, Problem
from batchlas_py.routing import registry
from batchlas_py.routing.run import run, trace

logging.basicConfig(level=logging.INFO)
registry.families = lambda op: (Family(op, "vendor", lambda problem, device: YES, lambda call: None),)
with trace():
    run(Problem("getrf", "float32", 4, 4, 2), {}, HOST, 0)
"""


@pytest.mark.parametrize(
    ("switch", "expected"),
    [("1", "getrf float32 n=4 batch=2 layout=F -> vendor (default order)\n"), ("0", "")],
)
def test_kernel_trace_logs_to_stderr(switch: str, expected: str, tmp_path: Path) -> None:
    variables = {**os.environ, "BATCHLAS_KERNEL_TRACE": switch, "BATCHLAS_TABLES": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", LOGGED], env=variables, capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("", expected)


def test_device_is_not_changed_without_the_switch(calls: list[Call]) -> None:
    run(SOLVE, OPERANDS, SM_89, 0)
    assert len(calls) == 3
    assert all(call.device is SM_89 for call in calls)
