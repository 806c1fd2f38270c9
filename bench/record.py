"""Rows of a result file, and where they come from."""

from __future__ import annotations

import csv
import platform
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

import batchlas_py
from batchlas_py._version import __version__
from batchlas_py.problem import DeviceInfo

__all__ = ["COLUMNS", "CsvFile", "Provenance", "Row", "commit_of", "csv_file", "provenance"]

COMPONENTS: Final = {
    "numba-cuda": ("numba-cuda",),
    "cuda": ("nvidia-cuda-runtime", "nvidia-cuda-runtime-cu12"),
    "cublas": ("nvidia-cublas", "nvidia-cublas-cu12"),
    "nvmath": ("nvmath-python",),
    "cupy": ("cupy-cuda13x", "cupy-cuda12x", "cupy"),
    "torch": ("torch",),
    "numpy": ("numpy",),
    "scipy": ("scipy",),
}


@dataclass(frozen=True, slots=True)
class Provenance:
    """What every row of one run shares: device, driver, versions of the software, commit, date."""

    device: str
    driver: str
    versions: str
    commit: str
    date: str


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a result file; the fields are its columns.

    Attributes
    ----------
    arm, route : str
        What was asked for, and what answered.
    median_us, rel_sd : float or None
        None if the result failed its check: then there is no time.
    roof_us : float or None
        None for host times, which no roof of the device bounds.
    residual_ratio : float
        LAPACK's test ratio, worst of the items checked.
    """

    op: str
    dtype: str
    m: int
    n: int
    nrhs: int
    batch: int
    layout: str
    arm: str
    route: str
    median_us: float | None
    rel_sd: float | None
    reps: int
    roof_us: float | None
    residual_ratio: float
    device: str
    driver: str
    versions: str
    commit: str
    date: str


COLUMNS: Final = tuple(field.name for field in fields(Row))
FORMATS: Final = {"median_us": ".3f", "rel_sd": ".4f", "roof_us": ".3f", "residual_ratio": ".4g"}


class CsvFile:
    """A result file that is complete up to the last row written, whatever happens next."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self._writer = csv.writer(file, lineterminator="\n")
        self._write(COLUMNS)

    def add(self, row: Row) -> None:
        """Append a row."""
        self._write(tuple(_cell(name, getattr(row, name)) for name in COLUMNS))

    def _write(self, cells: tuple[str, ...]) -> None:
        self._writer.writerow(cells)
        self._file.flush()


@contextmanager
def csv_file(path: Path) -> Iterator[CsvFile]:
    """Open a new result file, with its header."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        yield CsvFile(file)


def provenance(device: DeviceInfo, commit: str | None) -> Provenance:
    """Describe this machine and installation.

    Parameters
    ----------
    device : DeviceInfo
        What the benchmark runs on.
    commit : str, optional
        Overrides what the checkout says.
    """
    name = device.name if device.is_gpu else platform.processor() or platform.machine()
    driver = _driver() if device.is_gpu else ""
    now = datetime.now(UTC).strftime("%Y-%m-%d")
    return Provenance(name, driver, _versions(), commit or commit_of(Path(batchlas_py.__file__)), now)


def commit_of(file: Path) -> str:
    """Commit of the checkout that tracks ``file``, with ``-dirty`` if changed; else the package's version."""
    try:
        _git(file, "ls-files", "--error-unmatch", file.name)
        return _git(file, "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*")
    except (OSError, subprocess.CalledProcessError):
        return __version__


def _git(file: Path, *arguments: str) -> str:
    command = ["git", "-C", str(file.parent), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def _driver() -> str:
    command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        answer = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return answer.split()[0]


def _versions() -> str:
    found = {label: _first_version(names) for label, names in COMPONENTS.items()}
    parts = [f"{label} {number}" for label, number in found.items() if number]
    return "; ".join([f"batchlas_py {__version__}", *parts])


def _first_version(names: tuple[str, ...]) -> str:
    for name in names:
        try:
            return version(name)
        except PackageNotFoundError:
            continue
    return ""


def _cell(column: str, value: object) -> str:
    if value is None:
        return ""
    return f"{value:{FORMATS.get(column, '')}}"
