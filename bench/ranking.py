"""Rows of a routing table from measured cells.

``python -m bench.ranking OP FILE...`` prints the table of an op. The columns n, nrhs and batch are cut where
the quickest family changes: a measured value holds for what lies between it and the one before it for n, and
between it and the next one for right-hand sides and batches. The last row of each goes on without end.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log
from pathlib import Path
from typing import Final

from batchlas_py.dtypes import DTYPES
from batchlas_py.problem import RECORDED, Problem
from batchlas_py.routing.registry import routes
from batchlas_py.routing.tables import ANY, UNBOUNDED, Range, Row, Table, write

from .summarise import Cell, read_cells

__all__ = ["CLOSE", "rank", "table", "table_rows"]

CLOSE: Final = 1.05
SLOWEST: Final = log(1e6)  # of a family that cannot run where others can

Times = Mapping[str, float]
Cells = Mapping[Problem, Cell]


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Neighbouring orders, with the times of the families in each."""

    orders: tuple[int, ...]
    times: tuple[Times, ...]

    def joined(self, other: _Stretch) -> _Stretch:
        return _Stretch(self.orders + other.orders, self.times + other.times)


def rank(op: str, cells: Sequence[Times]) -> tuple[str, ...]:
    """Families from best to worst over some cells, those that were not measured last, in the default order.

    A cell has times by family; one that is absent could not run there.
    """

    def score(name: str) -> float:
        return sum(log(times[name]) if name in times else SLOWEST for times in cells)

    measured = [name for name in routes(op) if any(name in times for times in cells)]
    rest = [name for name in routes(op) if name not in measured]
    return (*sorted(measured, key=score), *rest)


def table(op: str, files: Sequence[Path]) -> Table:
    """The table that result files of one run make."""
    with files[0].open(newline="", encoding="utf-8") as file:
        origin = next(csv.DictReader(file))
    header = (
        f"# {op} on {_arch(origin['device'])}: families from best to worst, the first that can run is taken",
        f"# device    {origin['device']}, driver {origin['driver']}, square column-major matrices",
        f"# software  {origin['versions']}",
        f"# measured  {origin['date']} at {origin['commit']}, {', '.join(path.name for path in files)}",
        "#",
    )
    return Table(header, table_rows(op, read_cells(files)))


def _arch(device: str) -> str:
    return next((arch for arch, known in RECORDED.items() if known.name == device), device)


def _route(ranking: Sequence[str], times: Times) -> str:
    """The family that such a ranking takes."""
    return next(name for name in ranking if name in times)


def _good(op: str, stretch: _Stretch) -> bool:
    """Whether one ranking is within a few percent of the best in each cell."""
    ranking = rank(op, stretch.times)
    return all(times[_route(ranking, times)] <= CLOSE * min(times.values()) for times in stretch.times)


def _stretches(op: str, cells: Mapping[int, Times]) -> Iterator[_Stretch]:
    """Orders in as few stretches as have a good ranking each, taken greedily from the smallest."""
    current: _Stretch | None = None
    for n in sorted(cells):
        one = _Stretch((n,), (cells[n],))
        if current is None:
            current = one
        elif _good(op, current.joined(one)):
            current = current.joined(one)
        else:
            yield current
            current = one
    if current is not None:
        yield current


def table_rows(op: str, cells: Cells) -> tuple[Row, ...]:
    """Rows for what was measured of an op, by dtype, right-hand sides and batch."""
    return tuple(
        row
        for dtype in DTYPES
        for row in sorted(_of_dtype(op, _families(op, dtype, cells)), key=lambda row: row.box)
    )


def _families(op: str, dtype: str, cells: Cells) -> dict[Problem, Times]:
    """Cells of square matrices with the times of families alone."""
    return {
        problem: {name: time for name, time in cell.times.items() if name in routes(op)}
        for problem, cell in cells.items()
        if problem.op == op and problem.dtype == dtype and problem.m == problem.n
    }


def _of_dtype(op: str, cells: Mapping[Problem, Times]) -> Iterator[Row]:
    for nrhs, held in _ranges({problem.nrhs for problem in cells}).items():
        here = {problem: times for problem, times in cells.items() if problem.nrhs == nrhs}
        yield from _of_batches(op, here, held)


def _of_batches(op: str, cells: Mapping[Problem, Times], nrhs: Range) -> Iterator[Row]:
    """Batches differ by order where they fill the device, so they count by their rank at each order."""
    levels = _levels(cells)
    for batch, level in levels.items():
        stretches = list(_stretches(op, level))
        lows = [0, *(one.orders[-1] + 1 for one in stretches[:-1])]
        for low, stretch in zip(lows, stretches, strict=True):
            high = UNBOUNDED if stretch is stretches[-1] else stretch.orders[-1]
            yield Row(_dtype(cells), Range(max(low, 1), high), nrhs, batch, rank(op, stretch.times))


def _dtype(cells: Mapping[Problem, Times]) -> str:
    return next(iter(cells)).dtype


def _levels(cells: Mapping[Problem, Times]) -> dict[Range, dict[int, Times]]:
    """Orders and their times by range of batches; one range if each order has one batch."""
    by_order: dict[int, list[int]] = {}
    for problem in cells:
        by_order.setdefault(problem.n, []).append(problem.batch)
    if all(len(batches) == 1 for batches in by_order.values()):
        return {ANY: {problem.n: times for problem, times in cells.items()}}
    ranges = _ranges({problem.batch for problem in cells})
    return {
        held: {problem.n: times for problem, times in cells.items() if problem.batch == batch}
        for batch, held in ranges.items()
    }


def _ranges(values: Iterable[int]) -> dict[int, Range]:
    """A value and all up to the next one; the first from 0, the last without end."""
    ordered = sorted(values)
    if len(ordered) < 2:
        return dict.fromkeys(ordered, ANY)
    lows = [0, *ordered[1:]]
    highs = [high - 1 for _, high in pairwise(ordered)]
    return {
        value: Range(low, high) for value, low, high in zip(ordered, lows, [*highs, UNBOUNDED], strict=True)
    }


def ranking(op: str, *files: Path) -> None:
    """Print the routing table that result files make.

    Parameters
    ----------
    op : str
        Name of the op.
    *files : Path
        Result files of one run; of two times for an arm the later counts.
    """
    print(write(table(op, files)), end="")


if __name__ == "__main__":
    from cyclopts import run

    run(ranking)
