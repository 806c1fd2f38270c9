"""The explanation says what the call would do, and why."""

from __future__ import annotations

import numpy as np
import pytest

from batchlas_py import config
from batchlas_py.errors import ArgumentError, ArgumentTypeError
from batchlas_py.family import no
from batchlas_py.problem import HOST, RECORDED, Problem
from batchlas_py.routing.explain import explain
from batchlas_py.routing.select import select

from .fakes import Environment, Register, family

TEXT = """\
getrf float32 n=64 batch=8192 layout=F on sm_89 (NVIDIA GeForce RTX 4090)
  tiny         no: n = 64 is above 32
  cta          yes
  blocked      yes
  vendor       yes
  vendor/loop  yes
  decided by   shipped table getrf.sm_89.txt:9
  rule         float32 33..255 any any vendor cta blocked
  route        vendor"""

PINNED = """\
getrf float32 n=64 batch=8192 layout=F on sm_89 (NVIDIA GeForce RTX 4090)
  tiny         no: n = 64 is above 32
  cta          yes
  blocked      yes
  vendor       yes
  vendor/loop  yes
  error        argument route: 'tiny' cannot run getrf float32 n=64 batch=8192 layout=F on sm_89: \
n = 64 is above 32; routes that can: cta, blocked, vendor, vendor/loop"""

pytestmark = pytest.mark.usefixtures("recorded")


def test_text() -> None:
    assert str(explain("getrf", n=64, batch=8192, dtype="float32", arch="sm_89")) == TEXT


def test_text_of_a_pin_that_cannot_run() -> None:
    why = explain("getrf", n=64, batch=8192, dtype="float32", arch="sm_89", route="tiny")
    assert str(why) == PINNED
    assert why.route is None


def test_data_agrees_with_select() -> None:
    why = explain("gesv", n=12, batch=64, dtype=np.complex64, nrhs=5, arch="sm_89", layout="C")
    problem = Problem("gesv", "complex64", 12, 12, 64, 5, layout="C")
    chosen = select(problem, RECORDED["sm_89"])
    assert why.problem == problem
    assert (why.route, why.source, why.rule, why.verdicts) == (
        chosen.route,
        chosen.source,
        chosen.rule,
        chosen.verdicts,
    )
    assert why.route == "blocked"
    assert why.verdicts["tiny"] == no("nrhs = 5 is above 4")


def test_all_of_the_problem_is_passed_on() -> None:
    why = explain("getrs", m=3, n=5, batch=7, dtype="float64", nrhs=2, uplo="U", trans="C", layout="strided")
    assert why.problem == Problem("getrs", "float64", 3, 5, 7, 2, "U", "C", "strided")


def test_default_arch_is_a_recorded_one() -> None:
    assert explain("getrf", n=16, batch=1, dtype="float32").device == RECORDED["sm_90"]


def test_host_arch() -> None:
    why = explain("getrf", n=16, batch=1, dtype="float32", arch="host")
    assert (why.device, why.route) == (HOST, "vendor")


def test_own_device() -> None:
    device = RECORDED["sm_80"]
    assert explain("getrf", n=16, batch=1, dtype="float32", device=device).device is device


def test_settings_in_force_count(environment: Environment) -> None:
    environment(BATCHLAS_VENDOR="off")
    with config.pinned(getrf="blocked"):
        why = explain("getrf", n=16, batch=1, dtype="float32", arch="sm_89")
    assert (why.route, why.source) == ("blocked", "pinned(getrf=)")
    assert why.verdicts["vendor"] == no("BATCHLAS_VENDOR=off")


def test_unsupported_problem_is_explained(register: Register) -> None:
    register(family("getrf", "tiny", lambda _p, _d: no("not square")))
    why = explain("getrf", m=3, n=4, batch=1, dtype="float32", arch="sm_89")
    assert why.route is None
    assert why.error.startswith("no family can run getrf float32 m=3 n=4 ")


def test_unknown_arch_names_the_known_ones() -> None:
    with pytest.raises(
        ArgumentError, match=r"^arch: got 'sm_1', accepted are sm_80, sm_89, sm_90, sm_100, host$"
    ):
        explain("getrf", n=16, batch=1, dtype="float32", arch="sm_1")


def test_arch_and_device_exclude_each_other() -> None:
    with pytest.raises(ArgumentError, match=r"^arch: got 'sm_89' together with device"):
        explain("getrf", n=16, batch=1, dtype="float32", arch="sm_89", device=HOST)


def test_unknown_dtype() -> None:
    with pytest.raises(ArgumentTypeError, match=r"^dtype: got float16"):
        explain("getrf", n=16, batch=1, dtype="float16")
