"""Samples, the rule that ends repeating, and whose turn it is."""

from __future__ import annotations

import math
import time
from itertools import islice
from typing import Any

import pytest

from batchlas_py._resources import bench_module

timing = bench_module("timing")
NUMPY: Any = bench_module("arrays").LIBRARIES["numpy"]


def test_median_and_relative_deviation() -> None:
    samples = timing.Samples([1.0, 2.0, 6.0])
    assert samples.median == 2.0
    assert samples.rel_sd == pytest.approx(math.sqrt(7) / 3)


def test_a_single_sample_has_no_deviation() -> None:
    assert math.isnan(timing.Samples([3.0]).rel_sd)


@pytest.mark.parametrize(
    ("values", "enough"),
    [
        ([10.0] * 3, False),
        ([10.0] * 4, True),
        ([10.0, 20.0] * 2, False),
        ([10.0, 20.0] * 4, True),
    ],
    ids=["too few", "agree", "disagree", "as many as may be"],
)
def test_when_samples_are_enough(values: list[float], enough: bool) -> None:
    policy = timing.Policy(rel_sd=0.05, fewest=4, most=8)
    assert policy.enough(timing.Samples(values)) is enough
    assert policy.enough(timing.Samples(values), late=True) is (len(values) >= 4)


@pytest.mark.parametrize(
    ("values", "length"), [([], 1), ([10.0], 5), ([3e5], 1)], ids=["first", "fast", "slow"]
)
def test_bursts_are_short_until_an_arm_is_known_to_be_fast(values: list[float], length: int) -> None:
    assert timing.Policy(seconds=10.0, burst=5).burst_length(timing.Samples(values)) == length


def test_each_round_starts_with_another_arm() -> None:
    assert list(islice(timing.rotations("abc"), 4)) == [list("abc"), list("bca"), list("cab"), list("abc")]
    assert list(timing.rotations("")) == []


def test_work_is_timed_between_marks_and_read_after_waiting() -> None:
    log: list[str] = []

    class Stream(NUMPY):  # type: ignore[misc]
        def mark(self) -> int:
            log.append("mark")
            return len(log)

        def occupy(self, seconds: float) -> None:
            log.append(f"busy {seconds / timing.HOST_SECONDS:g}")

        def synchronize(self) -> None:
            log.append("wait")

        def elapsed_us(self, start: int, stop: int) -> float:
            log.append(f"{start}-{stop}")
            return float(stop - start)

    calls = [lambda: log.append("first"), lambda: log.append("second")]
    assert timing.time_work(Stream(), calls) == [2.0, 2.0]
    assert log == ["busy 2", "mark", "first", "mark", "mark", "second", "mark", "wait", "2-4", "5-7"]


def test_host_time_is_what_a_call_takes_to_return_on_an_idle_device() -> None:
    log: list[str] = []

    class Stream(NUMPY):  # type: ignore[misc]
        def synchronize(self) -> None:
            log.append("wait")
            time.sleep(0.05)

    def call() -> None:
        log.append("call")
        time.sleep(0.01)

    times = timing.time_enqueue(Stream(), [call, call, call])
    assert log == ["wait", "call", "call", "call", "wait"]
    assert 1e4 <= min(times) < 5e4
