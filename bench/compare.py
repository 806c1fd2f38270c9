"""The command ``batchlas compare``: which cells of two result files differ by more than noise."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import hypot, isnan
from pathlib import Path
from statistics import geometric_mean
from typing import Final

__all__ = ["Change", "changes", "compare"]

SIGMAS: Final = 3.0
LEAST: Final = 0.02  # what two runs of the same code may differ by, whatever their spread
CELL: Final = ("op", "dtype", "m", "n", "nrhs", "batch", "layout", "arm")

Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """One arm on one problem, before and after.

    Attributes
    ----------
    key : tuple of str
        The cells of the columns `CELL`.
    speedup : float
        Time before over time after.
    noise : float
        Relative difference that the spread of both runs explains.
    """

    key: Key
    speedup: float
    noise: float

    @property
    def moved(self) -> bool:
        """Whether the difference is more than noise."""
        return abs(self.speedup - 1) > self.noise


def changes(before: Path, after: Path) -> list[Change]:
    """What both files have timed, in the order of the second."""
    old, new = _rows(before), _rows(after)
    return [_change(key, old[key], new[key]) for key in new if key in old]


def _rows(path: Path) -> dict[Key, tuple[float, float]]:
    """Time and relative spread of each arm, those without a time left out."""
    with path.open(newline="", encoding="utf-8") as file:
        return {
            tuple(row[name] for name in CELL): (float(row["median_us"]), float(row["rel_sd"]))
            for row in csv.DictReader(file)
            if row["median_us"]
        }


def _change(key: Key, old: tuple[float, float], new: tuple[float, float]) -> Change:
    spreads = [0.0 if isnan(spread) else spread for _, spread in (old, new)]
    return Change(key, old[0] / new[0], max(LEAST, SIGMAS * hypot(*spreads)))


def compare(before: Path, after: Path, *, strict: bool = False) -> None:
    """Show which cells of two result files moved beyond noise.

    A cell moved if its times differ by more than three standard deviations of both runs together, and by
    more than 2 %.

    Parameters
    ----------
    before, after : Path
        Files that ``batchlas bench`` wrote.
    strict : bool
        Fail if a cell has become slower.
    """
    found = changes(before, after)
    if not found:
        sys.exit("batchlas: the files have no cell in common")
    moved = sorted((one for one in found if one.moved), key=lambda one: one.speedup)
    for line in (*_moves(moved), *_means(found)):
        print(line)
    slower = sum(one.speedup < 1 for one in moved)
    print(f"{len(found)} cells in common: {slower} slower, {len(moved) - slower} faster")
    if strict and slower:
        sys.exit(f"batchlas: {slower} cells are slower")


def _moves(moved: Iterable[Change]) -> Iterator[str]:
    for one in moved:
        op, dtype, m, n, nrhs, batch, layout, arm = one.key
        size = f"n={n}" if m == n else f"{m}x{n}"
        where = f"{op} {dtype} {size} nrhs={nrhs} batch={batch} {layout} {arm}"
        yield f"{where:70}{one.speedup:8.3f}x  noise {one.noise:.1%}"


def _means(found: Iterable[Change]) -> Iterator[str]:
    """Geometric means by op, dtype and arm."""
    groups: dict[Key, list[float]] = {}
    for one in found:
        groups.setdefault((one.key[0], one.key[1], one.key[-1]), []).append(one.speedup)
    for (op, dtype, arm), speedups in groups.items():
        yield f"{f'{op} {dtype} {arm}, geometric mean of {len(speedups)}':70}{geometric_mean(speedups):8.3f}x"
