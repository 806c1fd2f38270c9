"""The command ``batchlas bench``: from the words typed to rows on screen and on disk."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from rich.console import Console

from batchlas_py import device_info
from batchlas_py.errors import ArgumentError, BackendUnavailable
from batchlas_py.problem import HOST, DeviceInfo, Problem

from .arms import parse_arms
from .arrays import open_library
from .grid import parse_dtypes, parse_sizes, parse_sizes_by_dtype, problems
from .record import csv_file, provenance
from .report import heading, open_report
from .roof import measure_roof
from .run import Harness, Result
from .setups import SETUPS, Setup
from .timing import Policy

__all__ = ["Backend", "bench", "find_device"]

Backend = Literal["auto", "cuda", "host"]


def bench(
    op: str,
    *,
    n: str = "4:32",
    m: int = 0,
    batch: str = "131072",
    dtype: str = "all",
    nrhs: str = "1",
    layout: Literal["F", "C"] = "F",
    arms: str = "vendor,auto",
    out: Path | None = None,
    backend: Backend = "auto",
    host: bool = False,
    reps: int = 10,
    max_reps: int = 50,
    rel_sd: float = 0.01,
    seconds: float = 10.0,
    commit: str | None = None,
) -> None:
    """Time routes of an op against each other, and check every result that is timed.

    Grids are numbers and inclusive ranges: ``4:32``, ``4:32:4``, ``1024:131072:x2``, ``8,16,24``.
    The command fails if a result does, or if no arm can run.

    Parameters
    ----------
    op : str
        ``getrf``, ``getrs``, ``getri``, ``gesv``, ``potrf``, ``potrs``, ``posv``, ``geqrf``, ``orgqr``,
        ``ormqr``, ``qr``, ``gemm``, ``trsm`` or ``laswp``.
    n : str
        Grid of orders.
    m : int
        Rows of the matrices; by default they are square.
    batch : str
        Grid of batch sizes; ``131072,complex128=65536`` gives a dtype its own.
    dtype : str
        ``all``, or dtypes separated by commas.
    nrhs : str
        Grid of right-hand sides, for the ops that have any; of inner extents for ``gemm``.
    layout : {"F", "C"}
        Column-major or row-major matrices.
    arms : str
        Routes separated by commas; ``auto`` is the router's choice, ``torch`` and ``torch-magma`` are
        torch's LU and QR. Speed-ups refer to the first.
    out : Path, optional
        CSV file to write; it is complete up to the last cell at any time.
    backend : {"auto", "cuda", "host"}
        ``auto`` is CUDA where there is a device, else LAPACK on the host.
    host : bool
        Time what a call costs the host instead of what it costs the device.
    reps : int
        Repetitions in any case.
    max_reps : int
        Repetitions at most, but for the last round.
    rel_sd : float
        Relative standard deviation at which repeating stops.
    seconds : float
        Time after which a cell gets no further round of repetitions.
    commit : str, optional
        What the rows say of the source, where there is no checkout to ask.
    """
    setup, dtypes = _setup(op), parse_dtypes(dtype)
    columns = parse_sizes(nrhs, "nrhs") if setup.has_rhs else (0,)
    batches = parse_sizes_by_dtype(batch, dtypes, "batch")
    grid = list(problems(op, parse_sizes(n, "n"), batches, columns, layout, m))
    competitors, device = parse_arms(arms, op), find_device(backend)
    library = open_library(device.backend)
    roof, origin = measure_roof(library, device.arch), provenance(device, commit)
    print(heading(origin, roof))
    policy = Policy(rel_sd, reps, max_reps, seconds)
    harness = Harness(library, competitors, roof, origin, policy, host_times=host)
    _fail_unless_timed(list(_reported(harness, grid, out or Path(os.devnull))))


def _setup(op: str) -> Setup:
    if op not in SETUPS:
        raise ArgumentError(f"op: got {op!r}, accepted are {', '.join(SETUPS)}")
    return SETUPS[op]


def find_device(backend: Backend) -> DeviceInfo:
    """The device to time on, as the option says."""
    if backend == "host":
        return HOST
    try:
        return device_info()
    except BackendUnavailable:
        if backend == "cuda":
            raise
        return HOST


def _reported(harness: Harness, grid: list[Problem], out: Path) -> Iterator[Result]:
    with open_report(Console(), len(grid)) as report, csv_file(out) as rows:
        for cell in harness.run(grid):
            report.add(cell)
            for result in cell.results:
                rows.add(result.row)
            yield from cell.results


def _fail_unless_timed(results: list[Result]) -> None:
    faults = sum(bool(result.fault) for result in results)
    if faults:
        sys.exit(f"batchlas: {faults} of {len(results)} rows have no time, because their results are wrong")
    if not results:
        sys.exit("batchlas: no arm can run any of these problems")
