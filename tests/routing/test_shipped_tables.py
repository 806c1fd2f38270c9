"""The shipped tables hold the rows of the BatchLAS record, on both sides of every threshold."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from batchlas_py import config
from batchlas_py._resources import tables_folder
from batchlas_py.dtypes import DTYPES
from batchlas_py.problem import RECORDED, Problem
from batchlas_py.routing import tables
from batchlas_py.routing.select import select

SM_89 = RECORDED["sm_89"]
VENDOR_FREE = replace(SM_89, has_vendor=False, vendor_reason="not installed")
FILES = sorted(tables_folder().glob("*.txt"))
BATCHES = (1, 255, 256, 32768)

TINY = "tiny vendor cta blocked"
VENDOR_TINY = "vendor tiny cta blocked"
VENDOR_CTA = "vendor cta blocked"
CTA = "cta vendor blocked"
BLOCKED = "blocked vendor cta"
DOUBLE = "vendor cta tiny blocked"
DOUBLE_LARGE = "vendor blocked cta"

# dtype, orders, batches, ranking: both sides of each threshold of n, and of batch where it counts.
GETRF = [
    ("float32", (1, 4), BATCHES, VENDOR_TINY),
    ("float32", (5, 7, 8, 9, 16, 17, 24, 25, 32), BATCHES, TINY),
    ("float32", (33, 255), BATCHES, VENDOR_CTA),
    ("float32", (256, 511, 512, 1024, 4096), BATCHES, BLOCKED),
    ("complex64", (1, 4, 8, 25, 26, 31, 32), BATCHES, VENDOR_TINY),
    ("complex64", (5, 7, 9, 16, 17, 24), BATCHES, TINY),
    ("complex64", (33, 255), BATCHES, VENDOR_CTA),
    ("complex64", (256, 511), (1, 255), VENDOR_CTA),
    ("complex64", (256, 511), (256, 32768), BLOCKED),
    ("complex64", (512, 1024, 4096), BATCHES, BLOCKED),
    ("float64", (1, 4, 5, 16, 17, 32), BATCHES, DOUBLE),
    ("float64", (33, 255, 256, 511, 512, 4096), BATCHES, DOUBLE_LARGE),
    ("complex128", (1, 4, 5, 16), BATCHES, DOUBLE),
    ("complex128", (17, 32, 33, 255, 256, 511, 512, 4096), BATCHES, VENDOR_CTA),
]
GESV = [
    ("float32", (1, 16, 17, 32), "tiny blocked"),
    ("float32", (33, 4096), "blocked"),
    ("complex64", (1, 16), "tiny blocked"),
    ("complex64", (17, 32, 33, 4096), "blocked"),
    ("float64", (1, 16, 17, 32, 33, 4096), "blocked"),
    ("complex128", (1, 16, 17, 32, 33, 4096), "blocked"),
]
# dtype, orders, right-hand sides, batches, ranking.
SMALL, LARGE = (1, 31), (32, 33, 256, 2048)
FEW, MANY = (1, 127), (128, 32768)
GETRS = [
    ("float32", SMALL, (1, 2, 3, 4, 5, 63), (*FEW, *MANY), VENDOR_CTA),
    ("float32", LARGE, (1, 2, 3, 4), (*FEW, *MANY), CTA),
    ("float32", LARGE, (5, 8, 9, 16, 63), (*FEW, *MANY), VENDOR_CTA),
    ("float32", (*SMALL, *LARGE), (64, 127, 128, 1000), FEW, VENDOR_CTA),
    ("float32", (*SMALL, *LARGE), (64, 127, 128, 1000), MANY, BLOCKED),
    ("float64", SMALL, (1, 2, 3, 4, 5, 63, 64, 127), (*FEW, *MANY), VENDOR_CTA),
    ("float64", LARGE, (1, 2), (*FEW, *MANY), CTA),
    ("float64", LARGE, (3, 4, 5, 63, 64, 127), (*FEW, *MANY), VENDOR_CTA),
    ("float64", (*SMALL, *LARGE), (128, 1000), FEW, VENDOR_CTA),
    ("float64", (*SMALL, *LARGE), (128, 1000), MANY, BLOCKED),
    *(
        (dtype, orders, columns, (*FEW, *MANY), rank)
        for dtype in ("complex64", "complex128")
        for orders, columns, rank in (
            (SMALL, (1, 2, 3, 4, 5, 63, 64, 127, 128, 1000), VENDOR_CTA),
            (LARGE, (1, 2), CTA),
            (LARGE, (3, 4, 5, 63, 64, 127, 128, 1000), VENDOR_CTA),
        )
    ),
]
# dtype, orders, ranking.
GETRI = [
    ("float32", (1, 32, 127), "vendor blocked"),
    ("float32", (128, 255, 256, 2048), "blocked vendor"),
    ("complex64", (1, 127, 128, 255), "vendor blocked"),
    ("complex64", (256, 512, 2048), "blocked vendor"),
    ("float64", (1, 127, 128, 255, 256, 2048), "vendor blocked"),
    ("complex128", (1, 127, 128, 255, 256, 2048), "vendor blocked"),
]
OPS = ("getrf", "getrs", "getri", "gesv")
GETRF_CELLS = [(t, n, b, rank) for t, orders, batches, rank in GETRF for n in orders for b in batches]
GESV_CELLS = [(t, n, rank) for t, orders, rank in GESV for n in orders]
NRHS = (1, 2, 4, 5, 64)


def ranking(problem: Problem) -> str:
    (answer,) = tables.consult(problem, "sm_89", config.current())
    return " ".join(answer.row.ranking)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.name))
def test_file_is_written_as_it_was_read_and_sorted(path: Path) -> None:
    op = path.name.split(".")[0]
    text = path.read_bytes()
    table = tables.parse(text.decode(), op)
    keys = [(DTYPES.index(row.dtype), *row.box) for row in table.rows]
    assert tables.write(table).encode() == text
    assert keys == sorted(keys)


@pytest.mark.parametrize("op", OPS)
def test_header_says_where_the_rows_come_from(op: str) -> None:
    header = "\n".join(tables.parse((tables_folder() / f"{op}.sm_89.txt").read_text("utf-8"), op).header)
    for fact in ("BatchLAS record", "RTX 4090", "CUDA 13.2", "2026-09-10 to 2026-09-27"):
        assert fact in header


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_problem_has_exactly_one_row(op: str, dtype: str) -> None:
    table = tables.parse((tables_folder() / f"{op}.sm_89.txt").read_text("utf-8"), op)
    columns = (1, 2, 3, 4, 5, 63, 64, 127, 128, 10**6) if op == "getrs" else (0,)
    for n, nrhs, batch in product(range(1, 600), columns, (1, 127, 128, 255, 256, 10**6)):
        problem = Problem(op, dtype, n, n, batch, nrhs)
        assert sum(row.holds(problem) for row in table.rows) == 1, (n, nrhs, batch)


@pytest.mark.usefixtures("recorded")
@pytest.mark.parametrize(("dtype", "n", "batch", "expected"), GETRF_CELLS)
def test_getrf_rows(dtype: str, n: int, batch: int, expected: str) -> None:
    assert ranking(Problem("getrf", dtype, n, n, batch)) == expected


@pytest.mark.usefixtures("recorded")
@pytest.mark.parametrize("nrhs", NRHS)
@pytest.mark.parametrize(("dtype", "n", "expected"), GESV_CELLS)
def test_gesv_rows(dtype: str, n: int, expected: str, nrhs: int) -> None:
    assert {ranking(Problem("gesv", dtype, n, n, batch, nrhs)) for batch in BATCHES} == {expected}


@pytest.mark.usefixtures("recorded")
@pytest.mark.parametrize(("dtype", "orders", "columns", "batches", "expected"), GETRS)
def test_getrs_rows(
    dtype: str, orders: tuple[int, ...], columns: tuple[int, ...], batches: tuple[int, ...], expected: str
) -> None:
    for n, nrhs, batch in product(orders, columns, batches):
        assert ranking(Problem("getrs", dtype, n, n, batch, nrhs)) == expected, (n, nrhs, batch)


@pytest.mark.usefixtures("recorded")
@pytest.mark.parametrize(("dtype", "orders", "expected"), GETRI)
def test_getri_rows(dtype: str, orders: tuple[int, ...], expected: str) -> None:
    for n, batch in product(orders, (1, 127, 128, 32768)):
        assert ranking(Problem("getri", dtype, n, n, batch)) == expected, (n, batch)


@pytest.mark.usefixtures("recorded")
@pytest.mark.parametrize(("dtype", "n", "batch", "rank"), GETRF_CELLS)
def test_getrf_takes_the_first_family_of_the_row(dtype: str, n: int, batch: int, rank: str) -> None:
    chosen = select(Problem("getrf", dtype, n, n, batch), SM_89)
    assert chosen.route == rank.split()[0]
    assert chosen.source.startswith("shipped table getrf.sm_89.txt:")


# The order behind the vendor, where it cannot be used: a decision of its own.
NATIVE = [
    ("float32", (1, 4, 5, 32), "tiny cta blocked"),
    ("float32", (33, 77), "cta blocked"),
    ("float32", (78, 255), "blocked"),
    ("float32", (256, 4096), "blocked"),
    ("complex64", (1, 4, 5, 8, 24, 25, 32), "tiny cta blocked"),
    ("complex64", (33, 54), "cta blocked"),
    ("complex64", (55, 255, 256, 4096), "blocked"),
    ("float64", (1, 32), "cta tiny blocked"),
    ("float64", (33, 54), "blocked cta"),
    ("float64", (55, 4096), "blocked"),
    ("complex128", (1, 16), "cta tiny blocked"),
    ("complex128", (17, 38), "cta blocked"),
    ("complex128", (39, 4096), "blocked"),
]


@pytest.mark.usefixtures("recorded")
@pytest.mark.parametrize("batch", [255, 256])
@pytest.mark.parametrize(("dtype", "n", "rank"), [(t, n, rank) for t, orders, rank in NATIVE for n in orders])
def test_getrf_order_without_a_vendor(dtype: str, n: int, rank: str, batch: int) -> None:
    problem = Problem("getrf", dtype, n, n, batch)
    chosen = select(problem, VENDOR_FREE)
    able = [name for name in ranking(problem).split() if chosen.verdicts[name].ok]
    assert able == rank.split()
    assert chosen.route == able[0]


@pytest.mark.usefixtures("recorded")
@pytest.mark.parametrize(("dtype", "largest"), [("float32", 32), ("complex64", 16)])
def test_gesv_tiny_window_ends_with_the_kernel(dtype: str, largest: int) -> None:
    def route(n: int, nrhs: int) -> str:
        return select(Problem("gesv", dtype, n, n, 8192, nrhs), SM_89).route

    assert route(largest, 4) == "tiny"
    assert route(largest, 5) == "blocked"
    assert route(largest + 1, 4) == "blocked"
