"""Results on screen: a table on a terminal, lines elsewhere."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

from rich.console import Console

from batchlas_py._resources import bench_module
from batchlas_py.problem import Problem
from tests.bench.test_record import ROW

record, report, roof, run = (bench_module(name) for name in ("record", "report", "roof", "run"))

PROBLEM = Problem("getrf", "float32", 4, 4, 10)
SLOW = run.Result(replace(ROW, arm="vendor", route="vendor", median_us=30.0, roof_us=6.0))
FAST = run.Result(replace(ROW, median_us=12.0, roof_us=6.0))
WRONG = run.Result(
    replace(ROW, arm="cta", median_us=None, rel_sd=None, residual_ratio=1e5), "residual ratio 1e+05"
)
CELL = run.CellResult(PROBLEM, (SLOW, FAST, WRONG), {"blocked": "n is 4"}, 30.0)


def shown(terminal: bool, cell: Any = CELL, width: int = 160) -> str:
    text = io.StringIO()
    console = Console(file=text, force_terminal=terminal, width=width, color_system=None)
    with report.open_report(console, 1) as screen:
        screen.add(cell)
    return text.getvalue()


def test_lines_where_there_is_no_terminal() -> None:
    header, vendor, auto, cta, blocked = shown(terminal=False).splitlines()
    assert " ".join(header.split()) == "dtype n nrhs batch arm route us sd reps roof speed-up ratio"
    assert " ".join(vendor.split()) == "float32 4 0 10 vendor vendor 30.0 1.2% 15 0.20 1.00 0.123"
    assert " ".join(auto.split()) == "float32 4 0 10 auto tiny 12.0 1.2% 15 0.50 2.50 0.123"
    assert " ".join(cta.split()) == "float32 4 0 10 cta tiny 15 1e+05 no time: residual ratio 1e+05"
    assert " ".join(blocked.split()) == "float32 4 0 10 blocked cannot run: n is 4"
    assert "\x1b" not in vendor


def test_a_table_on_a_terminal_of_the_usual_width() -> None:
    wide = run.Result(replace(ROW, dtype="complex128", arm="vendor", route="vendor", median_us=12345.6))
    cell = run.CellResult(replace(PROBLEM, dtype="complex128", n=32, batch=131072), (wide,), {}, 12345.6)
    text = shown(terminal=True, cell=cell, width=80)
    assert "timing" in text
    assert "dtype n nrhs batch arm route us sd reps roof speed-up ratio" in " ".join(text.split())
    assert "complex128 32 0 131072 vendor vendor 12345.6 1.2% 15 0.00 1.00 0.123" in " ".join(text.split())


def test_remarks_follow_the_table() -> None:
    *table, failure, refusal = (" ".join(line.split()) for line in shown(terminal=True).splitlines())
    assert table[-1] == "float32 4 0 10 blocked"
    assert failure == "float32 4 0 10 cta: no time: residual ratio 1e+05"
    assert refusal == "float32 4 0 10 blocked: cannot run: n is 4"


def test_an_interrupted_table_is_still_shown() -> None:
    text = io.StringIO()
    console = Console(file=text, force_terminal=True, width=160, color_system=None)
    try:
        with report.open_report(console, 2) as screen:
            screen.add(CELL)
            raise KeyboardInterrupt
    except KeyboardInterrupt:
        pass
    assert "2.50" in text.getvalue()


def test_host_times_have_no_roof_fraction() -> None:
    host = run.CellResult(PROBLEM, (run.Result(replace(ROW, roof_us=None)),), {}, None)
    line = shown(terminal=False, cell=host).splitlines()[1]
    assert " ".join(line.split()) == "float32 4 0 10 auto tiny 12.3 1.2% 15 0.123"


def test_the_heading_names_machine_and_copy_rate() -> None:
    origin = record.Provenance("NVIDIA H200", "580.1", "batchlas_py 1; numpy 2", "abc", "2026-11-30")
    assert report.heading(origin, roof.Roof(4.31e12, "sm_90")) == (
        "NVIDIA H200 580.1: copy 4310 GB/s, read plus written\nbatchlas_py 1; numpy 2; commit abc; 2026-11-30"
    )
