"""Routing tables: text files, one per op and arch, whose rows rank the families.

A file ``<op>.<arch>.txt`` opens with ``#`` lines that say where its rows come from; the last of them
names the columns. Each row after it holds a dtype, inclusive ranges (``5..32``, ``33..``, ``any``) of
n, nrhs and batch, and a ranking. The first row that holds a problem decides; nothing is interpolated.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from .._resources import tables_folder
from ..config import Config
from ..dtypes import DTYPES
from ..errors import TableError
from ..problem import Problem
from .registry import routes

COLUMNS: Final = ("dtype", "n", "nrhs", "batch", "ranking")
WIDTHS: Final = (12, 14, 12, 18, 0)
UNBOUNDED: Final = 2**63 - 1

_RANGE: Final = re.compile(r"(\d+)\.\.(\d*)")
_ARCH: Final = re.compile(r"sm_(\d+)")


class Range(NamedTuple):
    """Integers from ``low`` to ``high``, both included."""

    low: int = 0
    high: int = UNBOUNDED

    def __str__(self) -> str:
        """Return the text of a table's cell."""
        if self == ANY:
            return "any"
        return f"{self.low}.." if self.high == UNBOUNDED else f"{self.low}..{self.high}"


ANY: Final = Range()
Box = tuple[Range, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """One decision: the problems that it holds, and the families from best to worst."""

    dtype: str
    n: Range
    nrhs: Range
    batch: Range
    ranking: tuple[str, ...]

    @property
    def box(self) -> Box:
        """Ranges in the order of the columns."""
        return self.n, self.nrhs, self.batch

    def holds(self, problem: Problem) -> bool:
        """Whether the problem is inside the row's ranges."""
        if self.dtype != problem.dtype:
            return False
        point = (problem.n, problem.nrhs, problem.batch)
        return all(low <= value <= high for value, (low, high) in zip(point, self.box, strict=True))

    def __str__(self) -> str:
        """Return the row's cells, padded to the columns."""
        return _padded((self.dtype, *map(str, self.box), " ".join(self.ranking)))


@dataclass(frozen=True, slots=True)
class Table:
    """A parsed table.

    Attributes
    ----------
    header : tuple of str
        The ``#`` lines above the one that names the columns.
    rows : tuple of Row
        In the order of the file.
    """

    header: tuple[str, ...]
    rows: tuple[Row, ...]

    def row(self, problem: Problem) -> Row | None:
        """First row that holds the problem."""
        return next((row for row in self.rows if row.holds(problem)), None)

    def line(self, row: Row) -> int:
        """Line of the file at which a row stands."""
        return len(self.header) + 2 + self.rows.index(row)


def parse(text: str, op: str, source: str = "table") -> Table:
    """Table of ``op`` from its text; what is wrong raises `TableError` with ``source`` and the line."""
    lines = text.splitlines()
    rows_at = next((i for i, line in enumerate(lines) if not line.startswith("#")), len(lines))
    if not rows_at or tuple(lines[rows_at - 1].lstrip("#").split()) != COLUMNS:
        names = " ".join(COLUMNS)
        raise TableError(f"{source}:{max(rows_at, 1)}: the last # line above the rows must be '# {names}'")
    rows: list[Row] = []
    for number, line in enumerate(lines[rows_at:], rows_at + 1):
        try:
            rows.append(_row(line, op))
            _check_reachable(rows)
        except ValueError as error:
            raise TableError(f"{source}:{number}: {error}") from error
    return Table(tuple(lines[: rows_at - 1]), tuple(rows))


def write(table: Table) -> str:
    """Text of a table; a file that has these columns comes back from `parse` as the same bytes."""
    lines = [*table.header, f"# {_padded(COLUMNS)}", *(f"  {row}" for row in table.rows)]
    return "".join(f"{line}\n" for line in lines)


class Answer(NamedTuple):
    """The row that holds a problem, and where it stands."""

    row: Row
    source: str


def consult(problem: Problem, arch: str, config: Config) -> tuple[Answer, ...]:
    """Answers of the user's table and of the shipped one, the one to follow first.

    Each folder answers with its table of the arch, or with its nearest older one. The nearer arch goes
    first; at the same arch, the user's table.
    """
    placed = [
        _place("user", config.tables, problem.op, arch, config.generation),
        _place("shipped", tables_folder(), problem.op, arch, config.generation),
    ]
    nearer_first = sorted(filter(None, placed), key=lambda one: -one.number)
    answers = (one.answer(problem, arch) for one in nearer_first)
    return tuple(answer for answer in answers if answer)


class _Placed(NamedTuple):
    """A table in its folder."""

    owner: str
    path: Path
    number: int
    table: Table

    def answer(self, problem: Problem, arch: str) -> Answer | None:
        row = self.table.row(problem)
        if row is None:
            return None
        file = self.path.name if self.owner == "shipped" else self.path
        older = "" if self.number == arch_number(arch) else f" (nearest older than {arch})"
        return Answer(row, f"{self.owner} table {file}:{self.table.line(row)}{older}")


@lru_cache(maxsize=256)
def _place(owner: str, folder: Path, op: str, arch: str, _generation: int) -> _Placed | None:
    numbered = {_file_number(path, op): path for path in folder.glob(f"{op}.*.txt")}
    number = max((one for one in numbered if one <= arch_number(arch)), default=None)
    if number is None:
        return None
    path = numbered[number]
    return _Placed(owner, path, number, parse(path.read_text("utf-8"), op, str(path)))


def arch_number(arch: str) -> int:
    """``90`` of ``"sm_90"``."""
    match = _ARCH.fullmatch(arch)
    if match is None:
        raise TableError(f"arch: got {arch!r}, accepted are sm_80, sm_90 and the like")
    return int(match[1])


def _file_number(path: Path, op: str) -> int:
    try:
        return arch_number(path.name.removeprefix(f"{op}.").removesuffix(".txt"))
    except TableError as error:
        raise TableError(f"{path}: tables are named {op}.<arch>.txt; {error}") from error


def _padded(cells: Sequence[str]) -> str:
    return "".join(f"{cell:<{width}}" for cell, width in zip(cells, WIDTHS, strict=True))


def _row(line: str, op: str) -> Row:
    cells = line.split()
    if len(cells) < len(COLUMNS):
        raise ValueError(f"got {len(cells)} cells, a row is {' '.join(COLUMNS)}")
    dtype, n, nrhs, batch, *ranking = cells
    if dtype not in DTYPES:
        raise ValueError(f"dtype: got {dtype!r}, accepted are {', '.join(DTYPES)}")
    _check_ranking(ranking, op)
    return Row(dtype, _range(n, "n"), _range(nrhs, "nrhs"), _range(batch, "batch"), tuple(ranking))


def _range(text: str, column: str) -> Range:
    if text == "any":
        return ANY
    match = _RANGE.fullmatch(text)
    if match is None:
        raise ValueError(f"{column}: got {text!r}, accepted are ranges like 5..32, 33.. and any")
    found = Range(int(match[1]), int(match[2] or UNBOUNDED))
    if found.low > found.high:
        raise ValueError(f"{column}: got {text!r}, which is empty")
    return found


def _check_ranking(ranking: Sequence[str], op: str) -> None:
    for name in ranking:
        if name not in routes(op):
            raise ValueError(f"ranking: got {name!r}, accepted for {op} are {', '.join(routes(op))}")
        if ranking.count(name) > 1:
            raise ValueError(f"ranking: {name!r} stands twice")


def _check_reachable(rows: Sequence[Row]) -> None:
    *above, last = rows
    left = [last.box]
    for row in above:
        if row.dtype == last.dtype:
            left = [piece for box in left for piece in _outside(box, row.box)]
    if not left:
        raise ValueError("the rows above hold every problem of this row")


def _outside(box: Box, cut: Box) -> list[Box]:
    """Boxes that together are ``box`` without ``cut``."""
    pieces: list[Box] = []
    for axis, (mine, other) in enumerate(zip(box, cut, strict=True)):
        if other.low > mine.high or other.high < mine.low:
            return [*pieces, box]
        for low, high in ((mine.low, other.low - 1), (other.high + 1, mine.high)):
            if low <= high:
                pieces.append((*box[:axis], Range(low, high), *box[axis + 1 :]))
        inner = Range(max(mine.low, other.low), min(mine.high, other.high))
        box = (*box[:axis], inner, *box[axis + 1 :])
    return pieces
