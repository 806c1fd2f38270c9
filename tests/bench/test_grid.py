"""Grids as typed on the command line."""

from __future__ import annotations

import pytest

from batchlas_py._resources import bench_module
from batchlas_py.dtypes import DTYPES
from batchlas_py.errors import ArgumentError, ArgumentTypeError
from batchlas_py.problem import Problem

grid = bench_module("grid")


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        ("7", (7,)),
        ("4:7", (4, 5, 6, 7)),
        ("4:4", (4,)),
        ("4:32:8", (4, 12, 20, 28)),
        ("1024:131072:x2", (1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072)),
        ("1:100:x10", (1, 10, 100)),
        ("8,16, 24", (8, 16, 24)),
        ("32,4:6,5,64:256:x4", (32, 4, 5, 6, 64, 256)),
    ],
)
def test_sizes(text: str, sizes: tuple[int, ...]) -> None:
    assert grid.parse_sizes(text, "n") == sizes


@pytest.mark.parametrize(
    "text", ["", "0", "0:4", "-3", "8:4", "4:8:0", "4:8:x1", "4:8:x0", "4:", "4:8:2:2", "f"]
)
def test_what_is_no_grid_is_refused_by_name(text: str) -> None:
    with pytest.raises(ArgumentError, match=r"^batch: got .*accepted are positive sizes"):
        grid.parse_sizes(text, "batch")


def test_a_dtype_with_sizes_of_its_own_takes_only_these() -> None:
    sizes = grid.parse_sizes_by_dtype(
        "64:256:x2,complex128=32,complex128=8:9", ("float32", "complex128"), "batch"
    )
    assert sizes == {"float32": (64, 128, 256), "complex128": (32, 8, 9)}


def test_a_dtype_without_sizes_is_refused() -> None:
    with pytest.raises(ArgumentError, match="batch: no size for float64"):
        grid.parse_sizes_by_dtype("float32=4", ("float32", "float64"), "batch")


def test_an_unknown_dtype_is_refused() -> None:
    with pytest.raises(ArgumentTypeError, match="batch: got float16"):
        grid.parse_sizes_by_dtype("4,float16=8", ("float32",), "batch")


@pytest.mark.parametrize(
    ("text", "dtypes"), [("all", DTYPES), ("float64, complex64,float64", ("float64", "complex64"))]
)
def test_dtypes(text: str, dtypes: tuple[str, ...]) -> None:
    assert grid.parse_dtypes(text) == dtypes


def test_problems_come_dtype_by_dtype() -> None:
    cells = list(grid.problems("gesv", (2, 3), {"float64": (10,), "float32": (20, 30)}, (1, 4), "C"))
    assert len(cells) == 12
    assert cells[0] == Problem("gesv", "float64", 2, 2, 10, 1, layout="C")
    assert [(c.dtype, c.n, c.nrhs, c.batch) for c in cells[2:7]] == [
        ("float64", 3, 1, 10),
        ("float64", 3, 4, 10),
        ("float32", 2, 1, 20),
        ("float32", 2, 1, 30),
        ("float32", 2, 4, 20),
    ]
