"""The grids that the claims on speed rest on, in one process and within a time.

``python -m bench.suite --out FOLDER`` writes a result file for each op. A run that its budget cuts short
ends between two cells; ``--done FOLDER`` leaves out the cells that earlier files hold.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from importlib.util import find_spec
from itertools import chain, product
from pathlib import Path
from typing import Final, Literal

from rich.console import Console

from batchlas_py.errors import ArgumentError, BatchlasError
from batchlas_py.problem import Layout, Problem

from .arms import parse_arms
from .arrays import open_library
from .command import Backend, find_device
from .grid import parse_dtypes, parse_sizes
from .record import csv_file, provenance
from .report import heading, open_report
from .roof import measure_roof
from .run import CellResult, Harness, refuse_tracing
from .summarise import Cell, read_cells
from .timing import Policy

__all__ = ["PARTS", "SATURATING", "Part", "saturating", "suite"]

SATURATING: Final = {
    16: 131072,
    31: 65536,
    48: 32768,
    64: 16384,
    96: 8192,
    192: 4096,
    256: 2048,
    512: 512,
    1024: 128,
    2048: 32,
}  # batches that fill the device, by the largest order that they are for
FULL: Final = "full"
LADDER: Final = f"{FULL},64,8,1"
FIRST_ORDER: Final = {"vendor/loop": 512}
NEEDS: Final = {"torch": "torch", "torch-magma": "torch", "cusolver": "cupy"}


@dataclass(frozen=True, slots=True)
class Part:
    """The grid of one op.

    Attributes
    ----------
    orders, columns : tuple of int
        Orders, and right-hand sides; 0 for an op without any.
    batch : str
        Batches separated by commas; ``full`` is `saturating`.
    arms : tuple of str
        The competitors, the one that speed-ups refer to first.
    """

    orders: tuple[int, ...]
    columns: tuple[int, ...]
    batch: str
    arms: tuple[str, ...]


PARTS: Final = {
    "getrf": Part(
        (33, 48, 64, 96, 128, 192, 256, 384, 512, 1024, 2048),
        (0,),
        LADDER,
        ("vendor", "vendor/loop", "torch-magma", "cta", "blocked", "blocked/leaf=slm"),
    ),
    "getrs": Part((32, 64, 128, 256, 512), (1, 2, 4, 8, 64), FULL, ("vendor", "cta", "blocked")),
    "getri": Part((5, 8, 16, 32, 64, 128, 256, 512), (0,), FULL, ("vendor", "torch-magma", "cta", "blocked")),
    "gesv": Part(
        (5, 8, 16, 32, 33, 64, 128, 256, 512), (1,), FULL, ("vendor", "torch-magma", "tiny", "blocked")
    ),
    "potrf": Part(
        (4, 8, 12, 16, 24, 32, 33, 48, 64, 96, 128, 192, 256, 384, 512),
        (0,),
        FULL,
        ("cusolver", "vendor", "torch-magma", "tiny", "cta", "lpanel:panel=8", "lpanel:panel=16", "blocked"),
    ),
    "potrs": Part((4, 8, 16, 32, 64, 128, 256, 512), (1, 4, 8), FULL, ("vendor", "cta", "blocked")),
    "posv": Part((4, 8, 16, 24, 32, 64, 128), (1,), FULL, ("cusolver", "vendor", "tiny", "blocked")),
    "geqrf": Part(
        (4, 8, 12, 16, 24, 32, 33, 48, 64, 96, 128, 192, 256, 384, 512),
        (0,),
        FULL,
        ("vendor", "tiny", "cta", "blocked"),
    ),
    "orgqr": Part((8, 16, 24, 32, 64), (0,), FULL, ("blocked", "tiny")),
    "qr": Part((8, 16, 24, 32, 48, 64), (0,), "8192", ("torch", "tiny", "blocked")),
}


def saturating(n: int) -> int:
    """Batch of matrices of order ``n`` that fills the device."""
    return next((batch for largest, batch in SATURATING.items() if n <= largest), min(SATURATING.values()))


def suite(
    *,
    out: Path,
    only: str = ",".join(PARTS),
    dtype: str = "all",
    n: str = "",
    nrhs: str = "",
    batch: str = "",
    arms: str = "",
    layout: Literal["F", "C"] = "F",
    budget: float = 540.0,
    seconds: float = 2.0,
    reps: int = 5,
    max_reps: int = 20,
    rel_sd: float = 0.01,
    commit: str | None = None,
    done: Path | None = None,
    backend: Backend = "auto",
) -> None:
    """Time each op on its grid.

    Parameters
    ----------
    out : Path
        Folder for the result files, ``getrf.csv`` and so on.
    only : str
        Ops separated by commas.
    dtype : str
        ``all``, or dtypes separated by commas.
    n : str
        Orders, as for ``batchlas bench``; by default those of the op's grid.
    nrhs : str
        Right-hand sides, likewise.
    batch : str
        Batches separated by commas, in the order in which to time them; ``full`` fills the device.
    arms : str
        Competitors separated by commas; by default those of the op's grid that are installed.
    layout : {"F", "C"}
        Column-major or row-major matrices.
    budget : float
        Seconds after which no further cell is begun.
    seconds : float
        Time after which a cell gets no further round of repetitions.
    reps : int
        Repetitions in any case.
    max_reps : int
        Repetitions at most, but for the last round.
    rel_sd : float
        Relative standard deviation at which repeating stops.
    commit : str, optional
        What the rows say of the source, where there is no checkout to ask.
    done : Path, optional
        Folder of result files whose cells are left out.
    backend : {"auto", "cuda", "host"}
        ``auto`` is CUDA where there is a device, else LAPACK on the host.
    """
    deadline = time.monotonic() + budget
    refuse_tracing()
    parts = {op: _part(op, n, nrhs, batch, arms) for op in only.split(",")}
    held = _held(done, out)
    every = chain.from_iterable(_problems(op, part, dtype, layout) for op, part in parts.items())
    grid = [problem for problem in every if problem not in held]
    device = find_device(backend)
    library = open_library(device.backend)
    roof, origin = measure_roof(library, device.arch), provenance(device, commit)
    print(heading(origin, roof))
    base = Harness(library, (), roof, origin, Policy(rel_sd, reps, max_reps, seconds))
    cells = _timed(base, grid, parts, deadline)
    _finish(_written(cells, out, list(parts), len(grid)), len(grid))


def _held(done: Path | None, out: Path) -> Mapping[Problem, Cell]:
    if done is None:
        return {}
    if done.resolve() == out.resolve():
        raise ArgumentError(f"done: got {done}, accepted is a folder other than that of out")
    return read_cells([done])


def _part(op: str, n: str, nrhs: str, batch: str, arms: str) -> Part:
    if op not in PARTS:
        raise ArgumentError(f"only: got {op!r}, accepted are {', '.join(PARTS)}")
    part = PARTS[op]
    return Part(
        parse_sizes(n, "n") if n else part.orders,
        parse_sizes(nrhs, "nrhs") if nrhs and part.columns != (0,) else part.columns,
        batch or part.batch,
        tuple(arms.split(",")) if arms else tuple(filter(_installed, part.arms)),
    )


def _installed(arm: str) -> bool:
    return arm not in NEEDS or find_spec(NEEDS[arm]) is not None


def _problems(op: str, part: Part, dtype: str, layout: Layout) -> Iterator[Problem]:
    """The grid, dtypes innermost: what a short budget leaves is then alike for all of them."""
    for count, n, columns, kind in product(
        part.batch.split(","), part.orders, part.columns, parse_dtypes(dtype)
    ):
        for items in (saturating(n),) if count == FULL else parse_sizes(count, "batch"):
            yield Problem(op, kind, n, n, items, columns, layout=layout)


def _timed(
    base: Harness, grid: Iterable[Problem], parts: dict[str, Part], deadline: float
) -> Iterator[CellResult]:
    for problem in grid:
        if time.monotonic() > deadline:
            return
        names = [name for name in parts[problem.op].arms if problem.n >= FIRST_ORDER.get(name, 0)]
        yield from replace(base, arms=parse_arms(",".join(names), problem.op)).run([problem])


def _written(cells: Iterable[CellResult], out: Path, ops: list[str], total: int) -> list[CellResult]:
    """Write the cells as they come, one file an op."""
    with ExitStack() as stack:
        report = stack.enter_context(open_report(Console(), total))
        files = {op: stack.enter_context(csv_file(out / f"{op}.csv")) for op in ops}
        seen = []
        for cell in cells:
            report.add(cell)
            for result in cell.results:
                files[cell.problem.op].add(result.row)
            seen.append(cell)
        return seen


def _finish(cells: list[CellResult], total: int) -> None:
    print(f"{len(cells)} of {total} cells timed")
    faults = sum(bool(result.fault) for cell in cells for result in cell.results)
    if faults:
        sys.exit(f"suite: {faults} rows have no time, because their results are wrong")


if __name__ == "__main__":
    from cyclopts import run

    try:
        run(suite)
    except BatchlasError as error:
        sys.exit(f"suite: {error}")
