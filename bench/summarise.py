"""What result files say: speed-ups against one arm, and the quickest arm of each cell.

``python -m bench.summarise FOLDER_OR_FILE...`` prints geometric means by op and dtype and by order, with the
least cell of each, and with ``--cells`` the quickest arm of every cell.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import geometric_mean
from typing import Final

from batchlas_py.problem import Layout, Problem

__all__ = ["Cell", "Group", "best_arms", "groups", "read_cells", "summarise"]

NATIVE: Final = "native"  # stands for the quickest of this package's kernels in a cell
FOREIGN: Final = ("vendor", "torch", "cusolver")
Key = tuple[str, ...]


@dataclass(slots=True)
class Cell:
    """Times of one problem in microseconds, by arm, and the least time possible."""

    times: dict[str, float] = field(default_factory=dict)
    roof_us: float | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """One arm against the baseline over some cells.

    Attributes
    ----------
    key : tuple of str
        What the cells have in common, the arm last.
    cells : int
        How many there are, of which ``wins`` are quicker than the baseline.
    mean, least : float
        Geometric mean of the speed-ups, and the smallest of them, which is that of ``worst``.
    roof : float or None
        Geometric mean of the fractions of the roof.
    """

    key: Key
    cells: int
    wins: int
    mean: float
    least: float
    worst: Problem
    roof: float | None


def read_cells(places: Iterable[Path]) -> dict[Problem, Cell]:
    """Cells of result files, or of folders of them; of two times for an arm the later counts.

    Rows without a time, and times of the host's part, are left out.
    """
    cells: dict[Problem, Cell] = defaultdict(Cell)
    for place in places:
        for path in sorted(place.glob("*.csv")) if place.is_dir() else (place,):
            with path.open(newline="", encoding="utf-8") as file:
                for row in csv.DictReader(file):
                    if row["median_us"] and not row["arm"].endswith("@host"):
                        cell = cells[_problem(row)]
                        cell.times[row["arm"]] = float(row["median_us"])
                        cell.roof_us = float(row["roof_us"]) if row["roof_us"] else None
    return dict(cells)


def _problem(row: Mapping[str, str]) -> Problem:
    m, n, batch, nrhs = (int(row[name]) for name in ("m", "n", "batch", "nrhs"))
    layout: Layout = "C" if row["layout"] == "C" else "F"
    return Problem(row["op"], row["dtype"], m, n, batch, nrhs, layout=layout)


def _with_native(times: Mapping[str, float]) -> dict[str, float]:
    ours = [time for arm, time in times.items() if not arm.startswith(FOREIGN) and arm != "auto"]
    return {**times, NATIVE: min(ours)} if ours else dict(times)


def groups(
    cells: Mapping[Problem, Cell], key: Callable[[Problem], Key], baseline: str = "vendor"
) -> Iterator[Group]:
    """Every arm against the baseline, over the cells that share a key and have both times."""
    found: dict[Key, list[tuple[float, Problem, float | None]]] = defaultdict(list)
    for problem, cell in cells.items():
        times = _with_native(cell.times)
        for arm, time in times.items():
            if arm != baseline and baseline in times:
                roof = cell.roof_us / time if cell.roof_us else None
                found[(*key(problem), arm)].append((times[baseline] / time, problem, roof))
    for name, members in found.items():
        speeds, roofs = [one[0] for one in members], [one[2] for one in members if one[2]]
        least, worst, _ = min(members, key=lambda one: one[0])
        roof = geometric_mean(roofs) if roofs else None
        wins = sum(speed > 1 for speed in speeds)
        yield Group(name, len(members), wins, geometric_mean(speeds), least, worst, roof)


def best_arms(cells: Mapping[Problem, Cell]) -> Iterator[tuple[Problem, list[tuple[str, float]]]]:
    """Arms of every cell, the quickest first, with their times over that of the quickest."""
    for problem, cell in cells.items():
        ranked = sorted(cell.times.items(), key=lambda item: item[1])
        yield problem, [(arm, time / ranked[0][1]) for arm, time in ranked]


def summarise(*places: Path, baseline: str = "vendor", cells: bool = False) -> None:
    """Print what result files say.

    Parameters
    ----------
    *places : Path
        Result files, or folders of them.
    baseline : str
        The arm that speed-ups refer to.
    cells : bool
        Print the arms of every cell too, the quickest first.
    """
    known = read_cells(places)
    _print("by dtype", groups(known, lambda p: (p.op, p.dtype), baseline))
    _print("by order", groups(known, lambda p: (p.op, p.dtype, f"n={p.n}"), baseline))
    if cells:
        print("\nquickest arms, with times over that of the first")
        for problem, ranked in best_arms(known):
            print(f"{_where(problem):52}{'  '.join(f'{arm} {times:.2f}' for arm, times in ranked)}")


def _print(title: str, found: Iterable[Group]) -> None:
    print(f"\n{title:44}{'mean':>8}{'least':>8}{'wins':>10}{'roof':>6}  least at")
    for one in found:
        roof = "" if one.roof is None else f"{one.roof:.2f}"
        wins = f"{one.wins}/{one.cells}"
        print(
            f"{_columns(one.key):44}{one.mean:8.2f}{one.least:8.2f}{wins:>10}{roof:>6}  {_where(one.worst)}"
        )


def _columns(key: Sequence[str]) -> str:
    *shared, arm = key
    return f"{' '.join(shared)} {arm}"


def _where(problem: Problem) -> str:
    nrhs = f" nrhs={problem.nrhs}" if problem.nrhs else ""
    return f"{problem.op} {problem.dtype} n={problem.n}{nrhs} batch={problem.batch} {problem.layout}"


if __name__ == "__main__":
    from cyclopts import run

    run(summarise)
