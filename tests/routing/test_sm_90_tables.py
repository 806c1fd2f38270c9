"""The tables of the H200: both sides of every threshold, and no route that the evidence shows to be slow."""

from __future__ import annotations

import csv
from collections import defaultdict
from pathlib import Path

import pytest

from batchlas_py._resources import bench_folder
from batchlas_py.dtypes import DTYPES
from batchlas_py.problem import RECORDED, Layout, Problem
from batchlas_py.routing.select import select

H200 = RECORDED["sm_90"]
SLOWER = 1.05
FIRST_TINY = {"float32": 3, "float64": 2, "complex64": 2, "complex128": 1}  # at the largest batches
FIRST_BLOCKED = {"float32": 33, "float64": 39, "complex64": 41, "complex128": 43}
LARGE = 131072
EVIDENCE = sorted((bench_folder() / "results").glob("h200-ge*.csv"))


@pytest.mark.parametrize("batch", [1, 64, LARGE - 1, LARGE, 10 * LARGE])
@pytest.mark.parametrize("dtype", DTYPES)
def test_getrf_thresholds(dtype: str, batch: int) -> None:
    first = FIRST_TINY[dtype] if batch >= LARGE else 1
    routes = {n: select(Problem("getrf", dtype, n, n, batch), H200).route for n in range(1, 65)}
    assert {n for n, route in routes.items() if route == "tiny"} == set(range(first, 33))
    assert {n for n, route in routes.items() if route == "cta"} == set(range(33, FIRST_BLOCKED[dtype]))
    assert {n for n, route in routes.items() if route == "blocked"} == set(range(FIRST_BLOCKED[dtype], 65))
    assert set(routes.values()) <= {"tiny", "cta", "blocked", "vendor"}


@pytest.mark.parametrize("batch", [1, 64, 131072])
@pytest.mark.parametrize("dtype", DTYPES)
def test_gesv_thresholds(dtype: str, batch: int) -> None:
    for nrhs in range(1, 8):
        routes = {n: select(Problem("gesv", dtype, n, n, batch, nrhs), H200).route for n in range(1, 65)}
        tiny = {n for n, route in routes.items() if route == "tiny"}
        assert tiny == (set(range(1, 33)) if nrhs <= 4 else set())
        assert set(routes.values()) <= {"tiny", "blocked"}


def test_the_tables_decide() -> None:
    for op, nrhs in (("getrf", 0), ("gesv", 1)):
        for n in (8, 64):
            choice = select(Problem(op, "float64", n, n, 1000, nrhs), H200)
            assert choice.source.startswith(f"shipped table {op}.sm_90.txt:")


@pytest.mark.parametrize("path", EVIDENCE, ids=lambda path: str(path.stem))
def test_no_measured_cell_takes_a_slow_route(path: Path) -> None:
    """In each cell the router's choice is within a few percent of the quickest arm."""
    cells: dict[Problem, dict[str, float]] = defaultdict(dict)
    with path.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            m, n, batch, nrhs = (int(row[key]) for key in ("m", "n", "batch", "nrhs"))
            layout: Layout = "C" if row["layout"] == "C" else "F"
            problem = Problem(row["op"], row["dtype"], m, n, batch, nrhs, layout=layout)
            if row["median_us"] and row["arm"] == row["route"]:
                cells[problem][row["route"]] = float(row["median_us"])
    assert cells
    for problem, times in cells.items():
        route = select(problem, H200).route
        assert times[route] <= SLOWER * min(times.values()), (problem, route, times)


def test_there_is_evidence() -> None:
    assert {path.stem for path in EVIDENCE} >= {"h200-getrf", "h200-gesv"}
