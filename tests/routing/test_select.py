"""Who decides, in which order, and what is said when nothing can run."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from batchlas_py import config
from batchlas_py.errors import ArgumentError, PinError, UnsupportedProblem
from batchlas_py.family import YES, Family, Verdict, no
from batchlas_py.problem import HOST, RECORDED, DeviceInfo, Problem
from batchlas_py.routing.select import describe, select

from .fakes import Environment, Register, always, family, vendor

SM_89 = RECORDED["sm_89"]
OLD = replace(SM_89, arch="sm_70")
SMALL = Problem("getrf", "float32", 16, 16, 1000)
LARGE = Problem("getrf", "float32", 64, 64, 1000)


def user_table(tmp_path: Path, rows: str) -> Path:
    path = tmp_path / "tables" / "getrf.sm_89.txt"
    path.parent.mkdir()
    path.write_text(f"# a user's\n# dtype n nrhs batch ranking\n{rows}\n", "utf-8")
    config.refresh()
    return path


@pytest.mark.usefixtures("recorded")
class TestOrder:
    """Argument, pinned, environment, user's table, shipped table, default order."""

    def test_argument_wins_over_all(self, environment: Environment) -> None:
        environment(BATCHLAS_GETRF_ROUTE="blocked")
        with config.pinned(getrf="cta"):
            chosen = select(SMALL, SM_89, "vendor")
        assert (chosen.route, chosen.source) == ("vendor", "argument route")

    def test_pinned_wins_over_the_environment(self, environment: Environment) -> None:
        environment(BATCHLAS_GETRF_ROUTE="blocked")
        with config.pinned(getrf="cta"):
            chosen = select(SMALL, SM_89)
        assert (chosen.route, chosen.source) == ("cta", "pinned(getrf=)")

    def test_environment_wins_over_the_tables(self, environment: Environment, tmp_path: Path) -> None:
        user_table(tmp_path, "float32 any any any vendor")
        environment(BATCHLAS_GETRF_ROUTE="blocked")
        chosen = select(SMALL, SM_89)
        assert (chosen.route, chosen.source) == ("blocked", "environment BATCHLAS_GETRF_ROUTE")

    def test_user_table_wins_over_the_shipped_one(self, tmp_path: Path) -> None:
        path = user_table(tmp_path, "float32 16..16 any any cta vendor")
        chosen = select(SMALL, SM_89)
        assert (chosen.route, chosen.source) == ("cta", f"user table {path}:3")
        assert chosen.rule == "float32 16..16 any any cta vendor"

    def test_shipped_table_wins_over_the_default_order(self) -> None:
        chosen = select(LARGE, SM_89)
        assert chosen.route == "vendor"
        assert chosen.source == "shipped table getrf.sm_89.txt:9"
        assert chosen.rule == "float32 33..255 any any vendor cta blocked"

    def test_default_order_where_no_table_is(self) -> None:
        chosen = select(LARGE, OLD)
        assert (chosen.route, chosen.source) == ("cta", "default order")
        assert chosen.rule == "tiny cta blocked vendor vendor/loop"

    @pytest.mark.parametrize("pin", ["argument", "pinned"])
    def test_auto_lifts_the_pins_below(self, environment: Environment, pin: str) -> None:
        environment(BATCHLAS_GETRF_ROUTE="blocked")
        with config.pinned(getrf="auto" if pin == "pinned" else "cta"):
            chosen = select(SMALL, SM_89, "auto" if pin == "argument" else None)
        assert chosen.source == "shipped table getrf.sm_89.txt:8"

    def test_pin_of_one_op_is_none_of_another(self) -> None:
        with config.pinned(gesv="blocked"):
            assert select(SMALL, SM_89).source.startswith("shipped")

    def test_row_whose_families_all_refuse_falls_through(self, tmp_path: Path) -> None:
        user_table(tmp_path, "float32 any any any tiny")
        assert select(SMALL, SM_89).source.startswith("user table")
        assert select(LARGE, SM_89).source == "shipped table getrf.sm_89.txt:9"


def test_shipped_row_whose_families_all_refuse_falls_to_the_default_order(register: Register) -> None:
    register(family("gesv", "vendor"), family("gesv", "blocked", lambda _p, _d: no("no child runs")))
    chosen = select(Problem("gesv", "float64", 8, 8, 10, 1), SM_89)
    assert (chosen.route, chosen.source, chosen.rule) == ("vendor", "default order", "vendor blocked")


@pytest.mark.usefixtures("recorded")
class TestPinsThatFail:
    def test_unknown_route_names_the_known_ones(self) -> None:
        with pytest.raises(PinError) as caught:
            select(SMALL, SM_89, "tyni")
        assert str(caught.value) == (
            "argument route: got 'tyni' for getrf, accepted are auto, tiny, cta, blocked, vendor, vendor/loop"
        )

    def test_pin_that_cannot_run_says_why_and_what_can(self) -> None:
        with pytest.raises(PinError) as caught, config.pinned(getrf="tiny"):
            select(LARGE, SM_89)
        assert str(caught.value) == (
            "pinned(getrf=): 'tiny' cannot run getrf float32 n=64 batch=1000 layout=F on sm_89: "
            "n = 64 is above 32; routes that can: cta, blocked, vendor, vendor/loop"
        )

    def test_environment_pin_that_cannot_run_raises(self, environment: Environment) -> None:
        environment(BATCHLAS_GETRF_ROUTE="tiny")
        with pytest.raises(PinError, match=r"^environment BATCHLAS_GETRF_ROUTE: 'tiny' cannot run"):
            select(LARGE, SM_89)

    def test_pin_is_judged_again_when_settings_change(self) -> None:
        assert select(LARGE, SM_89).route == "vendor"
        with config.pinned(getrf="blocked"):
            assert select(LARGE, SM_89).route == "blocked"
        assert select(LARGE, SM_89).route == "vendor"


def test_route_without_a_family_is_not_in_this_version(register: Register) -> None:
    register(family("getrf", "tiny"))
    verdicts = select(SMALL, SM_89).verdicts
    missing = no("not in this version")
    absent = dict.fromkeys(("cta", "blocked", "vendor", "vendor/loop"), missing)
    assert verdicts == {"tiny": YES, **absent}
    with pytest.raises(PinError, match=r"'cta' cannot run .*: not in this version; routes that can: tiny$"):
        select(SMALL, SM_89, "cta")


def test_unsupported_problem_lists_every_reason(register: Register) -> None:
    def refuse(_problem: Problem, _device: DeviceInfo) -> Verdict:
        return no("not square")

    register(family("getrf", "tiny", refuse), family("getrf", "vendor", refuse))
    with pytest.raises(UnsupportedProblem) as caught:
        select(Problem("getrf", "float64", 3, 4, 2, layout="C"), SM_89)
    assert str(caught.value) == (
        "no family can run getrf float64 m=3 n=4 batch=2 layout=C on sm_89: tiny: not square; "
        "cta: not in this version; blocked: not in this version; vendor: not square; "
        "vendor/loop: not in this version"
    )


def test_unknown_op() -> None:
    with pytest.raises(ArgumentError, match=r"^op: got 'getfr'"):
        select(Problem("getfr", "float32", 4, 4, 1), SM_89)


@pytest.mark.usefixtures("recorded")
class TestHost:
    """LAPACK is the one family there, whatever the tables and the environment say of CUDA."""

    def test_auto_is_lapack_without_a_table(self) -> None:
        chosen = select(SMALL, HOST)
        assert (chosen.route, chosen.source) == ("vendor", "default order")

    def test_native_families_are_refused(self) -> None:
        reasons = {
            verdict.reason for name, verdict in select(SMALL, HOST).verdicts.items() if name != "vendor"
        }
        assert reasons == {"runs on a CUDA device, not on the host"}

    def test_environment_pin_does_not_apply(self, environment: Environment) -> None:
        environment(BATCHLAS_GETRF_ROUTE="tiny")
        assert select(SMALL, HOST).route == "vendor"

    def test_argument_pin_applies(self) -> None:
        with pytest.raises(PinError, match=r"^argument route: 'tiny' cannot run .* on host: runs on a CUDA"):
            select(SMALL, HOST, "tiny")

    def test_pinned_applies(self) -> None:
        with (
            pytest.raises(PinError, match=r"^pinned\(getrf=\): 'tiny' cannot run"),
            config.pinned(getrf="tiny"),
        ):
            select(SMALL, HOST)

    def test_pinned_vendor_is_fine(self) -> None:
        assert select(SMALL, HOST, "vendor").source == "argument route"

    def test_vendor_switch_does_not_apply(self, environment: Environment) -> None:
        environment(BATCHLAS_VENDOR="off")
        assert select(SMALL, HOST).route == "vendor"
        assert select(SMALL, HOST).device == HOST


@pytest.mark.usefixtures("recorded")
class TestVendorOff:
    def test_first_native_entry_of_the_row_runs(self, environment: Environment) -> None:
        assert select(LARGE, SM_89).route == "vendor"
        environment(BATCHLAS_VENDOR="off")
        chosen = select(LARGE, SM_89)
        assert (chosen.route, chosen.source) == ("cta", "shipped table getrf.sm_89.txt:9")
        assert chosen.verdicts["vendor"] == no("BATCHLAS_VENDOR=off")

    def test_families_and_launchers_see_a_device_without_it(self, environment: Environment) -> None:
        environment(BATCHLAS_VENDOR="off")
        expected = replace(SM_89, has_vendor=False, vendor_reason="BATCHLAS_VENDOR=off")
        assert select(LARGE, SM_89).device == expected

    def test_pin_of_the_vendor_says_what_switched_it_off(self, environment: Environment) -> None:
        environment(BATCHLAS_VENDOR="off")
        with pytest.raises(
            PinError, match=r"'vendor' cannot run .*: BATCHLAS_VENDOR=off; routes that can: cta"
        ):
            select(LARGE, SM_89, "vendor")


def test_choice_is_remembered_until_settings_change(register: Register) -> None:
    asked: list[Problem] = []

    def count(problem: Problem, _device: DeviceInfo) -> Verdict:
        asked.append(problem)
        return YES

    register(family("getrf", "tiny", count))
    first = select(SMALL, SM_89)
    assert select(replace(SMALL), replace(SM_89)) is first
    assert len(asked) == 1
    config.refresh()
    select(SMALL, SM_89)
    assert len(asked) == 2


def test_every_family_is_judged_once(register: Register) -> None:
    families: list[Family] = [family("getrf", "tiny", always), family("getrf", "vendor", vendor)]
    register(*families)
    chosen = select(SMALL, OLD)
    assert chosen.family is families[0]
    assert list(chosen.verdicts) == ["tiny", "cta", "blocked", "vendor", "vendor/loop"]


def test_description_of_a_problem() -> None:
    problem = Problem("getrs", "complex64", 3, 5, 7, 2, trans="C", layout="strided")
    assert describe(problem) == "getrs complex64 m=3 n=5 nrhs=2 trans=C batch=7 layout=strided"


def test_routing_imports_no_kernels() -> None:
    code = (
        "import sys, batchlas_py.routing.run, batchlas_py.routing.explain\n"
        "assert not {name for name in sys.modules if name.split('.')[0] in ('numba', 'cuda', 'scipy')}"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
