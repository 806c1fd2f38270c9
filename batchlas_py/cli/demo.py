"""``batchlas demo``: Newton systems of burning gases, solved, timed and checked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from json import dumps
from math import isfinite
from statistics import median
from threading import Timer
from time import perf_counter
from typing import Any, Final, NamedTuple

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from scipy.linalg import lu_factor, lu_solve

import batchlas_py

from .. import lapack
from .._resources import bench_folder
from .._version import __version__
from ..errors import ArgumentError, BackendUnavailable
from ..problem import HOST, Backend, DeviceInfo
from ..runtime.device import core_device
from ..testing.ratios import THRESHOLD, dget02

__all__ = ["demo"]

SCHEMA: Final = 1
REPEATS: Final = 5
LOOP_SYSTEMS: Final = 2048
PATIENCE: Final = 2.0
STAGES: Final = ("data, first call", "timed calls", "check", "SciPy loop")


class Source(NamedTuple):
    """One data set: its file, what it is, and how many systems each backend solves unless told."""

    name: str
    title: str
    batch: dict[Backend, int]


SOURCES: Final = (
    Source("h2o2", "hydrogen in air (H2/O2 submechanism)", {"cuda": 131072, "host": 16384}),
    Source("gri30", "methane in air (GRI-Mech 3.0)", {"cuda": 16384, "host": 2048}),
)


class Place(NamedTuple):
    """Where the systems are solved, and how arrays get there and back; ``note`` says why not on a GPU."""

    backend: Backend
    device: str
    send: Callable[[np.ndarray], Any]
    fetch: Callable[[Any], np.ndarray]
    synchronize: Callable[[], object]
    note: str = ""


@dataclass(frozen=True)
class Step:
    """A run of the router: an op, the route it took, and who decided."""

    op: str
    route: str
    why: str


@dataclass(frozen=True)
class Loop:
    """SciPy's ``lu_factor`` and ``lu_solve`` in a loop: systems timed, and seconds scaled to the batch."""

    timed: int
    seconds: float


@dataclass(frozen=True)
class Report:
    """What is told of one set; times are in seconds for the whole batch.

    Attributes
    ----------
    distinct : int
        Systems in the data set; they repeat until the batch is full.
    routes : list of Step
        That of ``gesv``, then those of the ops that it is made of.
    first_call, seconds : float
        The first call, which may compile kernels, and the median of later ones.
    worst_ratio : float or None
        Largest test ratio (dget02) over all systems; None if a solution is not finite.
    """

    name: str
    title: str
    n: int
    batch: int
    distinct: int
    dtype: str
    routes: list[Step]
    first_call: float
    seconds: float
    systems_per_second: float
    worst_ratio: float | None
    passed: bool
    scipy_loop: Loop
    speedup: float


def demo(*, batch: int | None = None, backend: Backend | None = None, json: bool = False) -> None:
    """Solve Newton systems of combustion chemistry, check every solution, and time it.

    Parameters
    ----------
    batch
        Systems in each batch; unless given, what suits the backend.
    backend
        cuda or host; unless given, cuda where it can be used.
    json
        Print one JSON document and nothing else.
    """
    if batch is not None and batch < 1:
        raise ArgumentError(f"batch: got {batch}, accepted is 1 or more")
    console = Console(highlight=False, markup=False, soft_wrap=True)
    place = choose(backend)
    with progress(console, hidden=json) as stage:
        reports = [solve(source, batch or source.batch[place.backend], place, stage) for source in SOURCES]
    if json:
        print(dumps(document(place, reports), indent=2, allow_nan=False))
    else:
        show(console, place, reports)
    if not all(report.passed for report in reports):
        raise SystemExit(1)


def choose(backend: Backend | None) -> Place:
    """The place asked for; else the GPU, or the host where none can be used."""
    if backend == "host":
        return host()
    try:
        return gpu(batchlas_py.device_info())
    except BackendUnavailable as reason:
        if backend == "cuda":
            raise
        return host(note=str(reason))


def host(note: str = "") -> Place:
    """NumPy's arrays, where they are."""
    return Place("host", HOST.name, np.asarray, np.asarray, lambda: None, note)


def gpu(device: DeviceInfo) -> Place:
    """A device and the package's own arrays, so that no array library is needed."""
    wait = core_device(device.ordinal).sync
    return Place("cuda", device.name, batchlas_py.to_device, batchlas_py.DeviceArray.to_host, wait)


def solve(source: Source, batch: int, place: Place, stage: Callable[[str], None]) -> Report:
    """Fill a batch from one data set, solve it on the device, and judge the solutions."""
    stages = (f"{source.name}: {name}" for name in STAGES)
    stage(next(stages))
    matrices, rhs = load(source.name)
    a, b = place.send(repeated(matrices, batch)), place.send(repeated(rhs, batch))
    with batchlas_py.trace() as runs:
        first_call, results = timed(a, b, place)
    stage(next(stages))
    seconds = median(timed(a, b, place, results)[0] for _ in range(REPEATS))
    stage(next(stages))
    worst = worst_ratio(matrices, rhs, place.fetch(results.x))
    stage(next(stages))
    loop = scipy_loop(matrices, rhs, batch)
    return Report(
        name=source.name,
        title=source.title,
        n=matrices.shape[-1],
        batch=batch,
        distinct=len(matrices),
        dtype=matrices.dtype.name,
        routes=[Step(run.problem.op, run.route, run.source) for run in runs],
        first_call=first_call,
        seconds=seconds,
        systems_per_second=batch / seconds,
        worst_ratio=worst if isfinite(worst) else None,
        passed=worst < THRESHOLD,
        scipy_loop=loop,
        speedup=loop.seconds / seconds,
    )


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Matrices (count, n, n) and right-hand sides (count, n, 1) of a data set."""
    with np.load(bench_folder() / "data" / f"{name}.npz") as data:
        return data["matrix"], data["rhs"][..., None]


def repeated(items: np.ndarray, batch: int) -> np.ndarray:
    """``items`` over and over along the first axis, ``batch`` in all."""
    return items[np.arange(batch) % len(items)]


def timed(
    a: Any, b: Any, place: Place, out: lapack.GesvResult | None = None
) -> tuple[float, lapack.GesvResult]:
    """Seconds until the results of ``gesv`` are ready, and the results, in ``out`` if that is given."""
    place.synchronize()
    start = perf_counter()
    results = lapack.gesv(a, b, out=out)
    place.synchronize()
    return perf_counter() - start, results


def worst_ratio(matrices: np.ndarray, rhs: np.ndarray, x: np.ndarray) -> float:
    """Largest test ratio over the batch; NaN if there is one."""
    parts = (x[start : start + len(matrices)] for start in range(0, len(x), len(matrices)))
    ratios = [dget02(matrices[: len(part)], part, rhs[: len(part)]).worst for part in parts]
    return float(np.max(ratios))


def scipy_loop(matrices: np.ndarray, rhs: np.ndarray, batch: int) -> Loop:
    """Time a loop over a part of the batch, and scale it to all."""
    timed = min(batch, LOOP_SYSTEMS)
    items = [(matrices[i % len(matrices)], rhs[i % len(matrices)]) for i in range(timed + 1)]
    _solve_one(*items.pop())
    start = perf_counter()
    for a, b in items:
        _solve_one(a, b)
    return Loop(timed, (perf_counter() - start) * batch / timed)


def _solve_one(a: np.ndarray, b: np.ndarray) -> None:
    lu_solve(lu_factor(a, check_finite=False), b, check_finite=False)


@contextmanager
def progress(console: Console, *, hidden: bool) -> Iterator[Callable[[str], None]]:
    """A function that names the next stage; on a terminal a bar follows once patience is over."""
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    bar = Progress(*columns, console=console, transient=True, disable=hidden or not console.is_terminal)
    task = bar.add_task("", total=len(SOURCES) * len(STAGES), completed=-1)
    timer = Timer(PATIENCE, bar.start)
    timer.start()
    try:
        yield lambda name: bar.update(task, description=name, advance=1)
    finally:
        timer.cancel()
        timer.join()
        bar.stop()


def document(place: Place, reports: list[Report]) -> dict[str, Any]:
    """What ``--json`` prints."""
    return {
        "schema": SCHEMA,
        "version": __version__,
        "backend": place.backend,
        "device": place.device,
        "note": place.note,
        "sets": [asdict(report) for report in reports],
    }


def show(console: Console, place: Place, reports: list[Report]) -> None:
    """Print a table on a terminal, lines elsewhere."""
    console.print(f"batchlas_py {__version__}: Newton systems of igniting gases, one LU solve each")
    console.print(f"Backend: {place.backend}, {place.device}")
    if place.note:
        console.print(" ".join(place.note.split()))
    told = [facts(report) for report in reports]
    if console.is_terminal:
        console.print(table(told), soft_wrap=False)
    else:
        for one in told:
            console.print(*("", *(f"{name}: {text}" for name, text in one.items())), sep="\n")


def table(told: list[dict[str, str]]) -> Table:
    """Sets side by side, one fact a row."""
    names, *rows = ([name, *(one[name] for one in told)] for name in told[0])
    result = Table(*names, show_lines=False)
    for row in rows:
        result.add_row(*row)
    return result


def facts(report: Report) -> dict[str, str]:
    """What a reader is told of a set, by name."""
    loop = report.scipy_loop
    ratio = "not finite" if report.worst_ratio is None else f"{report.worst_ratio:.2g}"
    return {
        "set": f"{report.name}, {report.title}",
        "n": str(report.n),
        "batch": f"{report.batch} ({report.distinct} distinct)",
        "dtype": report.dtype,
        "route": "; ".join(f"{step.op} {step.route} ({step.why})" for step in report.routes),
        "first call": duration(report.first_call),
        "time": f"{duration(report.seconds)} (median of {REPEATS} calls)",
        "systems per second": f"{float(f'{report.systems_per_second:.3g}'):,.0f}",
        "worst residual ratio": f"{ratio} ({'passes' if report.passed else 'FAILS'}: below {THRESHOLD:g})",
        "SciPy loop": f"{duration(loop.seconds)} ({loop.timed} systems timed, scaled to the batch)",
        "speed-up over it": f"{report.speedup:.3g}",
    }


def duration(seconds: float) -> str:
    """Seconds or milliseconds, to three digits."""
    return f"{seconds:.3g} s" if seconds >= 1 else f"{seconds * 1e3:.3g} ms"
