"""What result files say: means, least cells, quickest arms."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from batchlas_py._resources import bench_module
from batchlas_py.problem import Problem

from .test_record import ROW

record, summarise = bench_module("record"), bench_module("summarise")


def rows(n: int, roof: float | None, **times: float | None) -> list[Any]:
    base = replace(ROW, m=n, n=n, roof_us=roof)
    return [replace(base, arm=arm, route=arm, median_us=time) for arm, time in times.items()]


def written(path: Path, *rows_of_cells: list[Any]) -> Path:
    with record.csv_file(path) as file:
        for row in chain.from_iterable(rows_of_cells):
            file.add(row)
    return path


def cell(n: int) -> Problem:
    return Problem("getrf", "float32", n, n, 10)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return written(
        tmp_path / "getrf.csv",
        rows(4, 2.0, vendor=8.0, cta=2.0, blocked=4.0),
        rows(8, 2.0, vendor=9.0, cta=10.0, blocked=1.0, torch=0.5),
        rows(16, None, vendor=6.0, cta=None, auto=3.0),
        rows(32, None, cta=6.0),
    )


def by_dtype(problem: Problem) -> tuple[str, ...]:
    return problem.op, problem.dtype


def test_times_by_problem_and_arm(file: Path) -> None:
    cells = summarise.read_cells([file])
    assert list(cells) == [cell(n) for n in (4, 8, 16, 32)]
    assert cells[cell(4)].times == {"vendor": 8.0, "cta": 2.0, "blocked": 4.0}
    assert cells[cell(16)].times == {"vendor": 6.0, "auto": 3.0}


def test_host_times_are_left_out_and_the_later_time_counts(tmp_path: Path) -> None:
    written(tmp_path / "a.csv", [replace(ROW, arm="vendor@host")], rows(4, 1.0, vendor=8.0))
    written(tmp_path / "b.csv", rows(4, 1.0, vendor=7.0))
    assert summarise.read_cells([tmp_path])[cell(4)].times == {"vendor": 7.0}


def test_speed_ups(file: Path) -> None:
    found = {one.key[-1]: one for one in summarise.groups(summarise.read_cells([file]), by_dtype)}
    assert set(found) == {"cta", "blocked", "native", "torch", "auto"}
    cta = found["cta"]
    assert cta.key == ("getrf", "float32", "cta")
    assert (cta.cells, cta.wins) == (2, 1)
    assert cta.mean == pytest.approx((4.0 * 0.9) ** 0.5)
    assert cta.least == pytest.approx(0.9)
    assert cta.worst == cell(8)
    assert cta.roof == pytest.approx((2.0 / 2.0 * 2.0 / 10.0) ** 0.5)
    assert found["auto"].roof is None


def test_native_is_the_quickest_kernel_of_this_package(file: Path) -> None:
    found = {one.key[-1]: one for one in summarise.groups(summarise.read_cells([file]), by_dtype)}
    native = found["native"]
    assert native.mean == pytest.approx((4.0 * 9.0) ** 0.5)
    assert (native.cells, native.wins, native.worst) == (2, 2, cell(4))


def test_another_baseline(file: Path) -> None:
    cells = summarise.read_cells([file])
    found = {one.key[-1]: one for one in summarise.groups(cells, by_dtype, "blocked")}
    assert found["vendor"].mean == pytest.approx((0.5 * 1 / 9) ** 0.5)


def test_arms_of_a_cell_the_quickest_first(file: Path) -> None:
    ranked = dict(summarise.best_arms(summarise.read_cells([file])))
    assert ranked[cell(4)] == [("cta", 1.0), ("blocked", 2.0), ("vendor", 4.0)]
    assert ranked[cell(32)] == [("cta", 1.0)]


def test_on_screen(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    summarise.summarise(file, cells=True)
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert "by dtype mean least wins roof least at" in lines
    assert "getrf float32 cta 1.90 0.90 1/2 0.45 getrf float32 n=8 batch=10 F" in lines
    assert "getrf float32 n=8 blocked 9.00 9.00 1/1 2.00 getrf float32 n=8 batch=10 F" in lines
    assert "getrf float32 n=4 batch=10 F cta 1.00 blocked 2.00 vendor 4.00" in lines
