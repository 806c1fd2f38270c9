"""The tables of the H200: both sides of every threshold, and no route that the evidence shows to be slow."""

from __future__ import annotations

import csv
from collections import defaultdict
from itertools import product
from pathlib import Path

import pytest

from batchlas_py import config
from batchlas_py._resources import bench_folder
from batchlas_py.dtypes import DTYPES
from batchlas_py.problem import RECORDED, Layout, Problem
from batchlas_py.routing import tables
from batchlas_py.routing.select import select

H200 = RECORDED["sm_90"]
SLOWER = 1.05
FIRST_TINY = {"float32": 3, "float64": 2, "complex64": 2, "complex128": 1}  # at the largest batches
FIRST_BLOCKED = {"float32": 33, "float64": 39, "complex64": 41, "complex128": 43}
MANY, LARGE = 8192, 131072
SPD_QR = (("potrf", 0), ("potrs", 1), ("posv", 1), ("geqrf", 0), ("orgqr", 0))
KINDS = ("ge*", "lu-ge*", "po*", "or*", "qr-tall")
EVIDENCE = sorted(path for kind in KINDS for path in (bench_folder() / "results").glob(f"h200-{kind}.csv"))


@pytest.mark.parametrize("batch", [1, 64, MANY - 1, MANY, LARGE - 1, LARGE, 10 * LARGE])
@pytest.mark.parametrize("dtype", DTYPES)
def test_getrf_thresholds(dtype: str, batch: int) -> None:
    first = FIRST_TINY[dtype] if batch >= LARGE else 1
    routes = {n: select(Problem("getrf", dtype, n, n, batch), H200).route for n in range(1, 65)}
    assert {n for n, route in routes.items() if route == "tiny"} == set(range(first, 33))
    blocked = FIRST_BLOCKED[dtype] if batch >= MANY else 33
    assert {n for n, route in routes.items() if route == "cta"} == set(range(33, blocked))
    assert {n for n, route in routes.items() if route == "blocked"} == set(range(blocked, 65))
    assert set(routes.values()) <= {"tiny", "cta", "blocked", "vendor"}


# dtype, orders on both sides of each threshold, right-hand sides likewise, route.
GETRS = [
    ("float32", (1, 8), (1, 5, 8, 9, 64), "vendor"),
    ("float32", (1, 8), (2, 4), "cta"),
    ("float32", (9, 23, 24, 512), (1, 8), "cta"),
    ("float32", (9, 23), (9, 63), "vendor"),
    ("float32", (9, 23, 24, 512), (64, 500), "blocked"),
    ("float32", (24, 512), (9, 63), "blocked"),
    ("float64", (1, 4), (1, 5, 9, 64), "vendor"),
    ("float64", (1, 4), (2, 4), "cta"),
    ("float64", (5, 8, 9, 15, 16, 512), (1, 8), "cta"),
    ("float64", (5, 8), (9, 64), "vendor"),
    ("float64", (9, 15), (9, 63), "vendor"),
    ("float64", (9, 15, 16, 512), (64, 500), "blocked"),
    ("float64", (16, 512), (9, 63), "blocked"),
    ("complex64", (1, 4), (1, 2, 8, 9, 64), "vendor"),
    ("complex64", (5, 8), (1, 5, 9, 64), "vendor"),
    ("complex64", (5, 8), (2, 4), "cta"),
    ("complex64", (9, 15), (5, 9, 64), "vendor"),
    ("complex64", (9, 15, 16, 23, 24, 512), (1, 4), "cta"),
    ("complex64", (16, 23, 24, 512), (5, 8), "cta"),
    ("complex64", (16, 23), (9, 63), "vendor"),
    ("complex64", (16, 23, 24, 512), (64, 500), "blocked"),
    ("complex64", (24, 512), (9, 63), "blocked"),
    ("complex128", (1, 8), (1, 5, 8, 9, 64), "vendor"),
    ("complex128", (1, 8), (2, 4), "cta"),
    ("complex128", (9, 15), (1, 9, 63), "vendor"),
    ("complex128", (9, 15), (2, 8), "cta"),
    ("complex128", (16, 23, 24, 32, 33, 511, 512), (1, 4), "cta"),
    ("complex128", (16, 23), (9, 63), "vendor"),
    ("complex128", (9, 15, 16, 23), (64, 500), "blocked"),
    ("complex128", (16, 23, 24, 32, 512), (5, 8), "cta"),
    ("complex128", (33, 511), (5, 8), "vendor"),
    ("complex128", (24, 32, 33, 511, 512), (9, 63, 64), "blocked"),
]


@pytest.mark.parametrize("batch", [1, 131072])
@pytest.mark.parametrize(("dtype", "orders", "sides", "route"), GETRS)
def test_getrs_thresholds(
    dtype: str, orders: tuple[int, ...], sides: tuple[int, ...], route: str, batch: int
) -> None:
    for n, nrhs in product(orders, sides):
        problem = Problem("getrs", dtype, n, n, batch, nrhs, trans="N")
        assert select(problem, H200).route == route, problem


@pytest.mark.parametrize("batch", [1, 131072])
@pytest.mark.parametrize("dtype", DTYPES)
def test_getri_thresholds(dtype: str, batch: int) -> None:
    last = 128 if dtype == "complex128" else 256
    routes = {
        n: select(Problem("getri", dtype, n, n, batch), H200).route for n in (1, 5, 32, last, last + 1, 2048)
    }
    assert routes == {n: "cta" if n <= last else "blocked" for n in routes}


@pytest.mark.parametrize("dtype", DTYPES)
def test_what_comes_behind_the_first(dtype: str) -> None:
    """A loop over the items is the better half of the vendor's where a matrix fills the device by itself."""
    first = 1024 if dtype.startswith("complex") else 2048
    vendors = {n: _vendors(Problem("getrf", dtype, n, n, 32)) for n in (64, first - 1, first, 4096)}
    assert vendors == {n: ["vendor/loop", "vendor"][:: 1 if n >= first else -1] for n in vendors}


def _vendors(problem: Problem) -> list[str]:
    row = tables.consult(problem, H200.arch, config.current())[0].row
    return [family for family in row.ranking if family.startswith("vendor")]


@pytest.mark.parametrize("batch", [1, 64, 131072])
@pytest.mark.parametrize("dtype", DTYPES)
def test_gesv_thresholds(dtype: str, batch: int) -> None:
    for nrhs in range(1, 8):
        routes = {n: select(Problem("gesv", dtype, n, n, batch, nrhs), H200).route for n in range(1, 65)}
        tiny = {n for n, route in routes.items() if route == "tiny"}
        assert tiny == (set(range(1, 33)) if nrhs <= 4 else set())
        assert set(routes.values()) <= {"tiny", "blocked"}


# dtype, the orders on both sides of each threshold, route.
POTRF = [
    ("float32", (1, 32), "tiny"),
    ("float32", (33,), "lpanel:panel=8"),
    ("float32", (34, 48, 193, 256), "lpanel:panel=16"),
    ("float32", (49, 192), "cta"),
    ("float32", (257, 2048), "blocked"),
    ("float64", (1, 32), "tiny"),
    ("float64", (33,), "lpanel:panel=8"),
    ("float64", (34, 192), "lpanel:panel=16"),
    ("float64", (193, 2048), "blocked"),
    ("complex64", (1, 32), "tiny"),
    ("complex64", (33, 48), "lpanel:panel=8"),
    ("complex64", (49, 64), "cta"),
    ("complex64", (65, 256), "lpanel:panel=16"),
    ("complex64", (257, 2048), "blocked"),
    ("complex128", (1, 24), "tiny"),
    ("complex128", (25, 128), "lpanel:panel=8"),
    ("complex128", (129, 2048), "blocked"),
]


@pytest.mark.parametrize("batch", [1, 131072])
@pytest.mark.parametrize(("dtype", "orders", "route"), POTRF)
def test_potrf_thresholds(dtype: str, orders: tuple[int, ...], route: str, batch: int) -> None:
    for n in orders:
        assert select(Problem("potrf", dtype, n, n, batch, uplo="L"), H200).route == route, n


# dtype, the orders and right-hand sides on both sides of each threshold, route.
POTRS = [
    ("float32", (1, 4, 5, 512), (1, 7), "cta"),
    ("float32", (1, 4), (8, 64), "vendor"),
    ("float32", (5, 512), (8,), "cta"),
    ("float32", (5, 512), (9, 64), "vendor"),
    ("float64", (1, 512), (1, 8), "cta"),
    ("float64", (1, 512), (9, 64), "vendor"),
    ("complex64", (1, 8, 9, 64, 65, 512), (1, 7), "cta"),
    ("complex64", (1, 8, 33, 64), (8,), "vendor"),
    ("complex64", (9, 32, 65, 512), (8,), "cta"),
    ("complex128", (1, 512), (1, 7), "cta"),
    ("complex128", (1, 512), (8, 64), "vendor"),
]


@pytest.mark.parametrize("batch", [1, 131072])
@pytest.mark.parametrize(("dtype", "orders", "sides", "route"), POTRS)
def test_potrs_thresholds(
    dtype: str, orders: tuple[int, ...], sides: tuple[int, ...], route: str, batch: int
) -> None:
    for n, nrhs in product(orders, sides):
        assert select(Problem("potrs", dtype, n, n, batch, nrhs, "L"), H200).route == route, (n, nrhs)


@pytest.mark.parametrize("batch", [1, 131072])
@pytest.mark.parametrize("dtype", DTYPES)
def test_posv_thresholds(dtype: str, batch: int) -> None:
    for nrhs, last in ((1, 32), (4, 24 if dtype == "complex128" else 32), (5, 0)):
        routes = {n: select(Problem("posv", dtype, n, n, batch, nrhs, "L"), H200).route for n in range(1, 41)}
        assert routes == {n: "tiny" if n <= last else "blocked" for n in routes}


@pytest.mark.parametrize("batch", [1, 131072])
@pytest.mark.parametrize("op", ["geqrf", "orgqr"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_qr_thresholds(dtype: str, op: str, batch: int) -> None:
    last = 24 if dtype == "complex128" or (op, dtype) == ("orgqr", "complex64") else 32
    problems = {n: Problem(op, dtype, n, n, batch, k=n * (op == "orgqr")) for n in (1, 24, 25, 32, 33, 512)}
    routes = {n: select(problem, H200).route for n, problem in problems.items()}
    assert routes == {n: "tiny" if n <= last else "blocked" for n in routes}


@pytest.mark.parametrize("dtype", DTYPES)
def test_tall_panels_are_blocked(dtype: str) -> None:
    for m in (33, 128, 512):
        for n in (1, 32):
            assert select(Problem("geqrf", dtype, m, n, 1000), H200).route == "blocked"


def test_the_tables_decide() -> None:
    for op, nrhs in (("getrf", 0), ("getrs", 1), ("getri", 0), ("gesv", 1), *SPD_QR):
        for n in (8, 64):
            uplo = "L" if op.startswith("po") else ""
            choice = select(Problem(op, "float64", n, n, 1000, nrhs, uplo, k=n * (op == "orgqr")), H200)
            assert choice.source.startswith(f"shipped table {op}.sm_90.txt:")


@pytest.mark.parametrize("path", EVIDENCE, ids=lambda path: str(path.stem))
def test_no_measured_cell_takes_a_slow_route(path: Path) -> None:
    """In each cell the router's choice is within a few percent of the quickest arm."""
    cells: dict[Problem, dict[str, float]] = defaultdict(dict)
    with path.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            m, n, batch, nrhs = (int(row[key]) for key in ("m", "n", "batch", "nrhs"))
            layout: Layout = "C" if row["layout"] == "C" else "F"
            trans, uplo = "N" if row["op"] == "getrs" else "", "L" if row["op"].startswith("po") else ""
            k = n if row["op"] == "orgqr" else 0
            problem = Problem(row["op"], row["dtype"], m, n, batch, nrhs, uplo, trans, layout, k=k)
            if row["median_us"] and row["arm"] == row["route"] and row["arm"] in config.ROUTES[row["op"]]:
                cells[problem][row["route"]] = float(row["median_us"])
    assert cells
    for problem, times in cells.items():
        route = select(problem, H200).route
        assert times[route] <= SLOWER * min(times.values()), (problem, route, times)


def test_there_is_evidence() -> None:
    assert {path.stem for path in EVIDENCE} >= {
        "h200-getrf",
        "h200-gesv",
        *(f"h200-lu-{op}" for op in ("getrf", "getrs", "getri", "gesv")),
        *(f"h200-{op}" for op in ("potrf", "potrs", "posv", "geqrf", "orgqr", "qr-tall")),
    }
