"""Routing tables from measured cells: order of families, cuts along n, right-hand sides and batches."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from batchlas_py._resources import bench_module
from batchlas_py.problem import Problem
from batchlas_py.routing import tables

ranking, summarise, record = (bench_module(name) for name in ("ranking", "summarise", "record"))

Times = dict[str, float]


def cells(op: str, *found: tuple[int, int, int, Times], dtype: str = "float32") -> dict[Problem, Any]:
    """Cells of (n, nrhs, batch, times)."""
    return {Problem(op, dtype, n, n, batch, nrhs): summarise.Cell(times) for n, nrhs, batch, times in found}


def text(op: str, measured: dict[Problem, Any]) -> list[str]:
    return [" ".join(str(row).split()) for row in ranking.table_rows(op, measured)]


def test_families_by_time_and_what_was_not_measured_last() -> None:
    times = {"vendor": 2.0, "cta": 1.0, "torch-magma": 0.1}
    assert text("getri", cells("getri", (8, 0, 100, times))) == ["float32 1.. any any cta vendor blocked"]


def test_a_family_that_cannot_run_somewhere_is_worse_than_any_that_can() -> None:
    small, large = {"tiny": 1.0, "vendor": 1.02}, {"vendor": 9.0}
    assert ranking.rank("gesv", [small, large]) == ("vendor", "tiny", "blocked")


def test_orders_are_cut_where_no_ranking_is_good_for_both_sides() -> None:
    measured = cells(
        "getri",
        (4, 0, 9, {"cta": 1.0, "vendor": 3.0}),
        (8, 0, 9, {"cta": 1.04, "vendor": 1.0}),
        (16, 0, 9, {"cta": 2.0, "vendor": 1.0}),
        (32, 0, 9, {"cta": 2.0, "vendor": 1.0}),
    )
    assert text("getri", measured) == [
        "float32 1..8 any any cta vendor blocked",
        "float32 9.. any any vendor cta blocked",
    ]


def test_a_value_of_right_hand_sides_holds_up_to_the_next() -> None:
    fast, slow = {"cta": 1.0, "vendor": 2.0}, {"cta": 2.0, "vendor": 1.0}
    measured = cells("getrs", (8, 1, 9, fast), (8, 4, 9, slow))
    assert text("getrs", measured) == [
        "float32 1.. 0..3 any cta vendor blocked",
        "float32 1.. 4.. any vendor cta blocked",
    ]


def test_batches_that_fill_the_device_are_one_range_and_ladders_are_several() -> None:
    fast, slow = {"cta": 1.0, "vendor": 2.0}, {"cta": 2.0, "vendor": 1.0}
    assert text("getri", cells("getri", (8, 0, 900, fast), (16, 0, 300, fast))) == [
        "float32 1.. any any cta vendor blocked"
    ]
    assert text("getri", cells("getri", (8, 0, 1, slow), (8, 0, 64, fast))) == [
        "float32 1.. any 0..63 vendor cta blocked",
        "float32 1.. any 64.. cta vendor blocked",
    ]


def test_other_ops_and_rectangles_do_not_count() -> None:
    measured = cells("getri", (8, 0, 9, {"cta": 1.0})) | cells("potrf", (8, 0, 9, {"vendor": 1.0}))
    tall = {Problem("getri", "float64", 9, 8, 9): summarise.Cell({"vendor": 1.0})}
    assert text("getri", measured | tall) == ["float32 1.. any any cta blocked vendor"]


def written(folder: Path) -> Path:
    origin = {
        **{"device": "NVIDIA H200", "driver": "580.1", "versions": "batchlas_py 0.1.0"},
        **{"commit": "feedbeef", "date": "2026-12-01"},
    }
    path = folder / "getri.csv"
    with record.csv_file(path) as file:
        for arm, time in (("vendor", 3.0), ("cta", 1.0)):
            file.add(
                record.Row(
                    *("getri", "float64", 8, 8, 0, 100, "F", arm, arm, time, 0.01, 5, 0.5, 0.1),
                    **origin,
                )
            )
    return path


def test_the_text_is_a_table_that_says_where_it_comes_from(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ranking.ranking("getri", written(tmp_path))
    shown = capsys.readouterr().out
    table = tables.parse(shown, "getri")
    assert tables.write(table) == shown
    assert table.rows[0].ranking == ("cta", "vendor", "blocked")
    for fact in ("getri on sm_90", "NVIDIA H200", "580.1", "2026-12-01 at feedbeef", "getri.csv"):
        assert fact in "\n".join(table.header)
