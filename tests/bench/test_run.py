"""The harness: interleaved arms, restored inputs, and no time for a wrong result."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from batchlas_py import config, lapack
from batchlas_py._resources import bench_module
from batchlas_py.errors import ArgumentError, PinError
from batchlas_py.problem import Problem

arms, arrays, record, roof, run, setups, timing = (
    bench_module(name) for name in ("arms", "arrays", "record", "roof", "run", "setups", "timing")
)

ORIGIN = record.Provenance("D", "", "v", "c", "2026-11-30")
GETRF = Problem("getrf", "float64", 4, 4, 10)


def small_cache() -> Any:
    """NumPy, with so little cache that a cell needs no more sets than its bursts."""
    library = arrays.LIBRARIES["numpy"]()
    library.cache_bytes = 0
    return library


def harness(*competitors: Any, **options: Any) -> Any:
    policy = timing.Policy(rel_sd=0.0, fewest=2, most=7, seconds=1e4, burst=3)
    return run.Harness(small_cache(), competitors, roof.Roof(1e9, "host"), ORIGIN, policy, **options)


def only(cells: Iterator[Any]) -> Any:
    (cell,) = cells
    return cell


def vendor(log: list[tuple[str, np.ndarray]], name: str) -> Any:
    """LAPACK, noting the matrix that it finds in its first operand."""

    def call(setup: Any, operands: Any) -> None:
        log.append((name, next(iter(operands.values())).copy()))
        setup.call(operands, "vendor")

    return arms.Arm(name, call)


def garbage(setup: Any, operands: Any) -> None:
    setup.call(operands, "vendor")
    operands["a"][0] += 1


def refusing(setup: Any, operands: Any) -> None:
    raise PinError("route: n is 4, accepted is at most 3")


def test_a_row_per_arm() -> None:
    cell = only(harness(arms.route_arm("auto"), arms.route_arm("vendor")).run([GETRF]))
    first, second = (result.row for result in cell.results)
    assert (first.arm, second.arm) == ("auto", "vendor")
    assert first.route == second.route == "vendor"
    assert (first.op, first.dtype, first.m, first.n, first.nrhs, first.batch, first.layout) == (
        *("getrf", "float64", 4, 4, 0, 10, "F"),
    )
    assert first.reps == second.reps == 7
    assert first.median_us > 0
    assert first.rel_sd > 0
    assert 0 < first.residual_ratio < 30
    assert first.roof_us == pytest.approx(setups.SETUPS["getrf"].traffic(GETRF) / 1e3)
    assert first.commit == "c"
    assert cell.baseline_us == first.median_us


@pytest.mark.parametrize("op", setups.SETUPS)
def test_every_op_is_timed(op: str) -> None:
    problem = Problem(op, "complex64", 3, 3, 5, 2 if setups.SETUPS[op].has_rhs else 0, layout="C")
    (result,) = only(harness(arms.route_arm("vendor")).run([problem])).results
    assert result.fault == ""
    assert result.row.median_us > 0


def test_a_wrong_result_is_not_a_time() -> None:
    cell = only(harness(arms.route_arm("vendor"), arms.Arm("garbage", garbage)).run([GETRF]))
    right, wrong = cell.results
    assert right.row.median_us > 0
    assert (wrong.row.arm, wrong.row.route) == ("garbage", "vendor")
    assert (wrong.row.median_us, wrong.row.rel_sd, wrong.row.reps) == (None, None, 7)
    assert wrong.row.residual_ratio > 30
    assert "residual ratio" in wrong.fault


def test_one_wrong_round_is_enough() -> None:
    turns = iter(range(100))

    def wrong_once(setup: Any, operands: Any) -> None:
        setup.call(operands, "vendor")
        if next(turns) == 4:
            operands["a"][-1] += 1

    (result,) = only(harness(arms.Arm("once", wrong_once)).run([GETRF])).results
    assert result.row.median_us is None


def test_an_arm_that_does_nothing_has_no_time() -> None:
    (result,) = only(harness(arms.Arm("idle", lambda setup, operands: None)).run([GETRF])).results
    assert result.row.median_us is None
    assert result.row.route == "idle"


def test_a_first_arm_without_a_time_is_no_baseline() -> None:
    cell = only(harness(arms.Arm("garbage", garbage), arms.route_arm("vendor")).run([GETRF]))
    assert cell.baseline_us is None


def test_an_arm_that_cannot_run_is_left_out_with_its_reason() -> None:
    cell = only(harness(arms.Arm("small", refusing), arms.route_arm("vendor")).run([GETRF]))
    assert cell.refusals == {"small": "route: n is 4, accepted is at most 3"}
    assert [result.row.arm for result in cell.results] == ["vendor"]
    assert cell.baseline_us is None


def test_a_cell_that_no_arm_can_run_ends() -> None:
    assert only(harness(arms.Arm("small", refusing)).run([GETRF])).results == ()


def test_arms_take_turns_and_each_round_starts_with_another() -> None:
    log: list[tuple[str, np.ndarray]] = []
    only(harness(vendor(log, "a"), vendor(log, "b"), vendor(log, "c")).run([GETRF]))
    warm, first, second, third = "abc", "abc", "bbbcccaaa", "cccaaabbb"
    assert "".join(name for name, _ in log) == warm + first + second + third


@pytest.mark.parametrize("op", setups.SETUPS)
def test_every_call_finds_the_same_inputs(op: str) -> None:
    log: list[tuple[str, np.ndarray]] = []
    problem = Problem(op, "float32", 4, 4, 10, 2 if setups.SETUPS[op].has_rhs else 0)
    only(harness(vendor(log, "a"), vendor(log, "b")).run([problem]))
    assert len(log) == 2 + 2 * 7
    for _, found in log:
        np.testing.assert_array_equal(found, log[0][1])


def test_a_burst_uses_a_set_for_each_call() -> None:
    seen: list[int] = []

    def call(setup: Any, operands: Any) -> None:
        seen.append(operands["a"].ctypes.data)
        setup.call(operands, "vendor")

    only(harness(arms.Arm("a", call)).run([GETRF]))
    assert len(set(seen[2:5])) == 3


def test_a_cell_whose_time_is_up_still_gets_its_fewest_repetitions() -> None:
    policy = timing.Policy(rel_sd=0.0, fewest=3, most=100, seconds=0.0)
    short = run.Harness(small_cache(), (arms.route_arm("vendor"),), roof.Roof(1e9, "host"), ORIGIN, policy)
    (result,) = only(short.run([GETRF])).results
    assert result.row.reps == 3


def test_host_times_say_so_and_have_no_roof() -> None:
    (result,) = only(harness(arms.route_arm("vendor"), host_times=True).run([GETRF])).results
    assert result.row.arm == "vendor@host"
    assert result.row.roof_us is None
    assert result.row.median_us > 0


@pytest.mark.parametrize("host_times", [False, True])
def test_the_devices_clock_counts_unless_the_hosts_is_asked_for(host_times: bool) -> None:
    class Clock(arrays.LIBRARIES["numpy"]):  # type: ignore[misc, name-defined]
        cache_bytes = 0

        def elapsed_us(self, start: int, stop: int) -> float:
            return 123.0

    policy = timing.Policy(rel_sd=0.1, fewest=2, most=2)
    arm, rate = arms.route_arm("vendor"), roof.Roof(1e9, "host")
    (result,) = only(run.Harness(Clock(), (arm,), rate, ORIGIN, policy, host_times).run([GETRF])).results
    assert (result.row.median_us == 123.0) is not host_times


def test_the_route_is_that_of_the_op_itself() -> None:
    def pair(setup: Any, operands: Any) -> None:
        factors = lapack.getrf(operands["a"])
        operands["b"][:] = lapack.getrs(factors.lu, factors.ipiv, operands["b"])
        for name, values in zip(("a", "ipiv", "info"), factors, strict=True):
            operands[name][:] = values

    problem = Problem("gesv", "float64", 4, 4, 10, 2)
    (result,) = only(harness(arms.Arm("pair", pair)).run([problem])).results
    assert result.row.route == "pair"
    assert result.row.median_us > 0


def test_nothing_is_timed_while_runs_are_traced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BATCHLAS_KERNEL_TRACE", "1")
    config.refresh()
    try:
        with pytest.raises(ArgumentError, match="BATCHLAS_KERNEL_TRACE"):
            next(harness(arms.route_arm("vendor")).run([GETRF]))
    finally:
        monkeypatch.undo()
        config.refresh()


def test_sets_outgrow_the_cache_several_times() -> None:
    nbytes = setups.SETUPS["getrf"].nbytes(GETRF)
    assert run.set_count(GETRF, cache_bytes=100 * nbytes, available=10**12, burst=5) == 800
    assert run.set_count(GETRF, cache_bytes=nbytes, available=10**12, burst=20) == 20


def test_sets_stay_within_the_memory() -> None:
    nbytes = setups.SETUPS["getrf"].nbytes(GETRF)
    assert run.set_count(GETRF, 100 * nbytes, available=50 * nbytes, burst=5) == 45
    with pytest.raises(ArgumentError, match=r"batch: .*needs \d+ bytes"):
        run.set_count(GETRF, 0, available=5 * nbytes, burst=5)


def test_a_grid_that_does_not_fit_is_refused_before_anything_runs() -> None:
    seen: list[str] = []
    arm = arms.Arm("a", lambda setup, operands: seen.append("ran"))
    with pytest.raises(ArgumentError, match="batch"):
        next(harness(arm).run([GETRF, Problem("getrf", "float64", 4, 4, 10**13)]))
    assert seen == []


def test_arms_are_routes_of_the_op() -> None:
    assert [arm.name for arm in arms.parse_arms("vendor, tiny,auto,vendor", "getrf")] == [
        "vendor",
        "tiny",
        "auto",
    ]
    with pytest.raises(ArgumentError, match="arms: got 'tini' for getrf, accepted are auto, tiny"):
        arms.parse_arms("vendor,tini", "getrf")
