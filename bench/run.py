"""The benchmark itself: every cell of a grid, all arms interleaved in one process."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Final

from batchlas_py import config
from batchlas_py.errors import ArgumentError, PinError, UnsupportedProblem
from batchlas_py.problem import Problem

from .arms import Arm
from .arrays import ArrayLibrary
from .record import Provenance, Row
from .roof import Roof
from .setups import SETUPS
from .timing import Policy, Samples, rotations, time_enqueue, time_work
from .work import Check, Work

__all__ = ["CellResult", "Harness", "Result", "refuse_tracing", "set_count"]

CACHE_MULTIPLE: Final = 8
SPARE_SETS: Final = 5  # the inputs as drawn, their pristine copy, and what making them takes
SEED: Final = 20261


@dataclass(frozen=True, slots=True)
class Result:
    """A row, and what is wrong with the result if the row has no time."""

    row: Row
    fault: str = ""


@dataclass(frozen=True, slots=True)
class CellResult:
    """All arms on one problem.

    Attributes
    ----------
    problem : Problem
        What was timed.
    results : tuple of Result
        In the order of the arms.
    refusals : dict of str to str
        Arms that cannot run the problem, and why.
    baseline_us : float or None
        The first arm's time, None if it has none.
    """

    problem: Problem
    results: tuple[Result, ...]
    refusals: dict[str, str]
    baseline_us: float | None


@dataclass(slots=True)
class _Trial:
    arm: Arm
    route: str
    samples: Samples = field(default_factory=Samples)
    checks: list[Check] = field(default_factory=list)

    @property
    def verdict(self) -> Check:
        """The first check that failed, else the worst ratio."""
        failed = (check for check in self.checks if check.fault)
        return next(failed, None) or max(self.checks)


@dataclass(frozen=True, slots=True)
class Harness:
    """Everything that the cells of one run share.

    Attributes
    ----------
    library : ArrayLibrary
        Holds the operands.
    arms : sequence of Arm
        The competitors; speed-ups refer to the first.
    roof : Roof
        What the device can do at best.
    provenance : Provenance
        What every row says of the machine and the software.
    policy : Policy
        How often to repeat.
    host_times : bool
        Time the host's cost of a call instead of the device's work; rows say ``@host`` after the arm.
    """

    library: ArrayLibrary
    arms: Sequence[Arm]
    roof: Roof
    provenance: Provenance
    policy: Policy
    host_times: bool = False

    def run(self, grid: Sequence[Problem]) -> Iterator[CellResult]:
        """Time every problem; a grid that does not fit in memory is refused before the first."""
        refuse_tracing()
        cache, available = self.library.cache_bytes, self.library.available_bytes()
        counts = [set_count(problem, cache, available, self.policy.burst) for problem in grid]
        for problem, count in zip(grid, counts, strict=True):
            yield self.cell(problem, count)
            self.library.release()

    def cell(self, problem: Problem, count: int) -> CellResult:
        """Time every arm on one problem, with ``count`` sets of operands."""
        work = Work(self.library, SETUPS[problem.op], problem, count, SEED)
        trials, refusals = self._warm(work)
        self._time(work, trials)
        results = {trial.arm.name: self._result(work, trial) for trial in trials}
        first = results.get(self.arms[0].name)
        return CellResult(problem, tuple(results.values()), refusals, first.row.median_us if first else None)

    def _warm(self, work: Work) -> tuple[list[_Trial], dict[str, str]]:
        trials: list[_Trial] = []
        refusals: dict[str, str] = {}
        for arm in self.arms:
            work.restore()
            try:
                trials.append(_Trial(arm, arm.answering_route(work.setup, work.arrays(0))))
            except (PinError, UnsupportedProblem) as refusal:
                refusals[arm.name] = str(refusal)
        return trials, refusals

    def _time(self, work: Work, trials: list[_Trial]) -> None:
        deadline = time.monotonic() + self.policy.seconds
        for order in rotations(trials):
            for trial in order:
                self._burst(work, trial)
            late = time.monotonic() > deadline
            if all(self.policy.enough(t.samples, late=late) for t in trials):
                return

    def _burst(self, work: Work, trial: _Trial) -> None:
        length = min(self.policy.burst_length(trial.samples), work.count)
        calls = [partial(trial.arm.call, work.setup, work.arrays(index)) for index in range(length)]
        timer = time_enqueue if self.host_times else time_work
        work.restore()
        trial.samples.values.extend(timer(self.library, calls))
        trial.checks.append(work.check(length - 1))

    def _result(self, work: Work, trial: _Trial) -> Result:
        check, samples, problem = trial.verdict, trial.samples, work.problem
        row = Row(
            **{name: getattr(problem, name) for name in ("op", "dtype", "m", "n", "nrhs", "batch", "layout")},
            arm=trial.arm.name + ("@host" if self.host_times else ""),
            route=trial.route,
            median_us=None if check.fault else samples.median,
            rel_sd=None if check.fault else samples.rel_sd,
            reps=len(samples.values),
            roof_us=None if self.host_times else self.roof.microseconds(work.setup, problem),
            residual_ratio=check.ratio,
            **asdict(self.provenance),
        )
        return Result(row, check.fault)


def refuse_tracing() -> None:
    """Refuse to time while every run logs its route."""
    if config.current().kernel_trace:
        variable = config.Config.kernel_trace.variable
        raise ArgumentError(f"{variable}: got on, accepted is off: a run that is traced is not timed")


def set_count(problem: Problem, cache_bytes: int, available: int, burst: int) -> int:
    """Sets of operands: enough to outgrow the cache several times, within the memory available.

    Raises
    ------
    ArgumentError
        Not even one set fits.
    """
    nbytes = SETUPS[problem.op].nbytes(problem)
    fitting = available // nbytes - SPARE_SETS
    if fitting < 1:
        needed = (1 + SPARE_SETS) * nbytes
        raise ArgumentError(f"batch: {problem} needs {needed} bytes, accepted is what fits in {available}")
    return min(fitting, max(burst, -(-CACHE_MULTIPLE * cache_bytes // nbytes)))
