"""Results on screen: a progress bar and a table on a terminal, a line as soon as it is known elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Final, Protocol

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from .record import Provenance
from .roof import Roof
from .run import CellResult, Result

__all__ = ["HEADINGS", "Report", "heading", "lines", "open_report"]

HEADINGS: Final = (
    ("dtype", 10),
    ("n", 4),
    ("nrhs", 4),
    ("batch", 8),
    ("arm", 12),
    ("route", 10),
    ("us", 11),
    ("sd", 6),
    ("reps", 4),
    ("roof", 5),
    ("speed-up", 8),
    ("ratio", 8),
)
LEFT: Final = ("dtype", "arm", "route")


class Report(Protocol):
    """Where results go as they come."""

    def add(self, cell: CellResult) -> None:
        """Show, or keep for the table, one cell."""


def heading(provenance: Provenance, roof: Roof) -> str:
    """What the times were taken on, and the copy rate that the roof rests on."""
    machine = " ".join(filter(None, (provenance.device, provenance.driver)))
    return (
        f"{machine}: copy {roof.copy_rate / 1e9:.0f} GB/s, read plus written\n"
        f"{provenance.versions}; commit {provenance.commit}; {provenance.date}"
    )


def lines(cell: CellResult) -> Iterator[tuple[tuple[str, ...], str]]:
    """One cell's lines: texts under `HEADINGS`, and a remark or ``""``."""
    for result in cell.results:
        yield _texts(cell, result), f"no time: {result.fault}" if result.fault else ""
    for arm, reason in cell.refusals.items():
        yield (*_where(cell), arm, *("",) * 7), f"cannot run: {reason}"


def open_report(console: Console, total: int) -> AbstractContextManager[Report]:
    """A report for ``total`` cells, as the console allows."""
    return _table_report(console, total) if console.is_terminal else _plain_report(console)


class _Plain:
    def __init__(self, console: Console) -> None:
        self._console = console
        self._print(tuple(name for name, _ in HEADINGS), "")

    def add(self, cell: CellResult) -> None:
        for texts, remark in lines(cell):
            self._print(texts, remark)

    def _print(self, texts: tuple[str, ...], remark: str) -> None:
        columns = zip(HEADINGS, texts, strict=True)
        line = "  ".join(f"{text:{'<' if name in LEFT else '>'}{width}}" for (name, width), text in columns)
        self._console.file.write(f"{line}  {remark}".rstrip() + "\n")
        self._console.file.flush()


class _Tabular:
    def __init__(self, progress: Progress, table: Table, total: int) -> None:
        self._progress, self._table = progress, table
        self._task = progress.add_task("timing", total=total)
        self.remarks: list[str] = []

    def add(self, cell: CellResult) -> None:
        for texts, remark in lines(cell):
            self._table.add_row(*texts, style="red" if remark else "")
            if remark:
                self.remarks.append(f"{' '.join(filter(None, texts[:5]))}: {remark}")
        self._progress.advance(self._task)


@contextmanager
def _plain_report(console: Console) -> Iterator[Report]:
    yield _Plain(console)


@contextmanager
def _table_report(console: Console, total: int) -> Iterator[Report]:
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False)
    for name, _ in HEADINGS:
        table.add_column(name, justify="left" if name in LEFT else "right", no_wrap=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        report = _Tabular(progress, table, total)
        try:
            yield report
        finally:
            progress.stop()
            console.print(table, *report.remarks, sep="\n", markup=False, highlight=False)


def _where(cell: CellResult) -> tuple[str, str, str, str]:
    problem = cell.problem
    return problem.dtype, str(problem.n), str(problem.nrhs), str(problem.batch)


def _texts(cell: CellResult, result: Result) -> tuple[str, ...]:
    row = result.row
    return (
        *_where(cell),
        row.arm,
        row.route,
        _number(row.median_us, ".1f"),
        _number(row.rel_sd, ".1%"),
        str(row.reps),
        _number(_quotient(row.roof_us, row.median_us), ".2f"),
        _number(_quotient(cell.baseline_us, row.median_us), ".2f"),
        f"{row.residual_ratio:.3g}",
    )


def _quotient(above: float | None, below: float | None) -> float | None:
    return None if above is None or below is None else above / below


def _number(value: float | None, form: str) -> str:
    return "" if value is None else format(value, form)
