"""What runs without the vendor's libraries: the order behind ``vendor`` in the rows of sm_89 is a decision.

The first tests read the rows alone; the others ask the router, with the families of this version.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest

from batchlas_py import config
from batchlas_py.dtypes import DTYPES
from batchlas_py.problem import RECORDED, Problem
from batchlas_py.routing import tables
from batchlas_py.routing.select import Selection, select

from .fakes import Environment

SM_89 = RECORDED["sm_89"]

# op, dtype, orders, right-hand sides, batches, native families in order.
ROWS = [
    ("getrf", "float32", (1, 4, 5, 7, 8, 9, 16, 17, 24, 25, 32), (0,), (1, 255, 256), "tiny cta blocked"),
    ("getrf", "float32", (33, 255), (0,), (1, 255, 256), "cta blocked"),
    ("getrf", "float32", (256, 511, 512, 4096), (0,), (1, 255, 256), "blocked cta"),
    ("getrf", "complex64", (1, 4, 5, 7, 8, 9, 16, 17, 24, 25, 32), (0,), (1, 255, 256), "tiny cta blocked"),
    ("getrf", "complex64", (33, 255), (0,), (1, 255, 256), "cta blocked"),
    ("getrf", "complex64", (256, 511), (0,), (1, 255), "cta blocked"),
    ("getrf", "complex64", (256, 511), (0,), (256, 32768), "blocked cta"),
    ("getrf", "complex64", (512, 4096), (0,), (1, 255, 256), "blocked cta"),
    ("getrf", "float64", (1, 4, 5, 16, 17, 24, 25, 32), (0,), (1, 255, 256), "cta tiny blocked"),
    ("getrf", "float64", (33, 255, 256, 511, 512, 4096), (0,), (1, 255, 256), "blocked cta"),
    ("getrf", "complex128", (1, 4, 5, 16), (0,), (1, 255, 256), "cta tiny blocked"),
    ("getrf", "complex128", (17, 32, 33, 255, 256, 511, 512, 4096), (0,), (1, 255, 256), "cta blocked"),
    ("getrs", "float32", (1, 31, 32, 2048), (1, 2, 3, 4, 5, 8, 9, 63), (1, 127, 128), "cta blocked"),
    ("getrs", "float32", (1, 31, 32, 2048), (64, 127, 128), (1, 127), "cta blocked"),
    ("getrs", "float32", (1, 31, 32, 2048), (64, 127, 128), (128, 32768), "blocked cta"),
    ("getrs", "float64", (1, 31, 32, 2048), (1, 2, 3, 4, 5, 63, 64, 127), (1, 127, 128), "cta blocked"),
    ("getrs", "float64", (1, 31, 32, 2048), (128, 1000), (1, 127), "cta blocked"),
    ("getrs", "float64", (1, 31, 32, 2048), (128, 1000), (128, 32768), "blocked cta"),
    ("getrs", "complex64", (1, 31, 32, 2048), (1, 2, 3, 4, 5, 64, 128), (1, 127, 128), "cta blocked"),
    ("getrs", "complex128", (1, 31, 32, 2048), (1, 2, 3, 4, 5, 64, 128), (1, 127, 128), "cta blocked"),
    *(("getri", dtype, (1, 127, 128, 255, 256, 2048), (0,), (1, 127, 128), "blocked") for dtype in DTYPES),
    ("gesv", "float32", (1, 16, 17, 32), (1, 4, 5), (1, 32768), "tiny blocked"),
    ("gesv", "float32", (33, 4096), (1, 4, 5), (1, 32768), "blocked"),
    ("gesv", "complex64", (1, 16), (1, 4, 5), (1, 32768), "tiny blocked"),
    ("gesv", "complex64", (17, 32, 33, 4096), (1, 4, 5), (1, 32768), "blocked"),
    ("gesv", "float64", (1, 16, 17, 32, 33, 4096), (1, 4, 5), (1, 32768), "blocked"),
    ("gesv", "complex128", (1, 16, 17, 32, 33, 4096), (1, 4, 5), (1, 32768), "blocked"),
]

# The same with the families of this version on the record's device; past what a family can run, the next.
ROUTES = [
    ("getrf", "float32", (1, 4, 5, 32), (0,), "tiny"),
    ("getrf", "float32", (33, 77), (0,), "cta"),
    ("getrf", "float32", (78, 255, 256, 512, 4096), (0,), "blocked"),
    ("getrf", "complex64", (1, 4, 5, 7, 8, 9, 24, 25, 32), (0,), "tiny"),
    ("getrf", "complex64", (33, 54), (0,), "cta"),
    ("getrf", "complex64", (55, 255, 256, 511, 512, 4096), (0,), "blocked"),
    ("getrf", "float64", (1, 32), (0,), "cta"),
    ("getrf", "float64", (33, 54, 55, 255, 256, 4096), (0,), "blocked"),
    ("getrf", "complex128", (1, 16, 17, 32, 33, 38), (0,), "cta"),
    ("getrf", "complex128", (39, 255, 256, 4096), (0,), "blocked"),
    *(("getrs", dtype, (1, 31, 32, 64, 256), (1, 2, 3, 4, 5, 8), "cta") for dtype in DTYPES),
    *(("getrs", dtype, (1, 31, 32, 64, 256), (9, 63, 64, 127, 128), "blocked") for dtype in DTYPES),
    *(("getri", dtype, (1, 127, 128, 255, 256, 2048), (0,), "blocked") for dtype in DTYPES),
    ("gesv", "float32", (1, 16, 17, 32), (1, 4), "tiny"),
    ("gesv", "float32", (1, 32), (5,), "blocked"),
    ("gesv", "float32", (33, 256), (1, 4, 5), "blocked"),
    ("gesv", "complex64", (1, 16), (1, 4), "tiny"),
    ("gesv", "complex64", (16,), (5,), "blocked"),
    ("gesv", "complex64", (17, 32, 33, 256), (1, 4, 5), "blocked"),
    ("gesv", "float64", (1, 16, 17, 32, 33, 256), (1, 4, 5), "blocked"),
    ("gesv", "complex128", (1, 16, 17, 32, 33, 256), (1, 4, 5), "blocked"),
]

# And with the vendor: the first family of the row, wherever that is a native one.
NATIVE_FIRST = [
    ("getrf", "float32", (5, 32), (0,), 1, "tiny"),
    ("getrf", "float32", (256, 512, 2048), (0,), 1, "blocked"),
    ("getrf", "complex64", (5, 7, 9, 24), (0,), 1, "tiny"),
    ("getrf", "complex64", (256, 511), (0,), 256, "blocked"),
    ("getrf", "complex64", (512, 2048), (0,), 1, "blocked"),
    *(("getrs", dtype, (32, 64, 512), (1, 2), 1, "cta") for dtype in DTYPES),
    ("getrs", "float32", (32, 64, 512), (3, 4), 1, "cta"),
    ("getrs", "float32", (1, 31, 32, 512), (64,), 128, "blocked"),
    ("getrs", "float64", (1, 31, 32, 512), (128,), 128, "blocked"),
    ("getri", "float32", (128, 2048), (0,), 1, "blocked"),
    ("getri", "complex64", (256, 2048), (0,), 1, "blocked"),
]
VENDOR_FIRST = [
    ("getrf", "float32", (1, 4, 33, 255), (0,), 1),
    ("getrf", "complex64", (1, 4, 8, 25, 32, 33, 255), (0,), 1),
    ("getrf", "complex64", (256, 511), (0,), 255),
    *(("getrf", dtype, (1, 16, 17, 32, 33, 2048), (0,), 32768) for dtype in ("float64", "complex128")),
    *(("getrs", dtype, (1, 31), (1, 2, 3, 4), 32768) for dtype in DTYPES),
    ("getrs", "float32", (32, 512), (5, 63), 128),
    ("getrs", "float32", (1, 31, 32, 512), (64,), 127),
    ("getrs", "float64", (32, 512), (3, 64, 127), 128),
    ("getrs", "float64", (1, 31, 32, 512), (128,), 127),
    *(("getrs", dtype, (32, 512), (3, 64, 128), 128) for dtype in ("complex64", "complex128")),
    ("getri", "float32", (1, 127), (0,), 32768),
    ("getri", "complex64", (1, 128, 255), (0,), 32768),
    *(("getri", dtype, (1, 128, 256, 2048), (0,), 128) for dtype in ("float64", "complex128")),
]


def problems(
    op: str, dtype: str, orders: tuple[int, ...], columns: tuple[int, ...], batches: tuple[int, ...]
) -> Iterator[Problem]:
    for n, nrhs, batch in product(orders, columns, batches):
        yield Problem(op, dtype, n, n, batch, nrhs)


def decided(problem: Problem) -> Selection:
    """What the router takes, which the shipped table must have decided."""
    choice = select(problem, SM_89)
    assert choice.source.startswith(f"shipped table {problem.op}.sm_89.txt:"), problem
    return choice


@pytest.mark.usefixtures("environment")
@pytest.mark.parametrize(("op", "dtype", "orders", "columns", "batches", "native"), ROWS)
def test_native_families_of_the_rows(
    op: str,
    dtype: str,
    orders: tuple[int, ...],
    columns: tuple[int, ...],
    batches: tuple[int, ...],
    native: str,
) -> None:
    for problem in problems(op, dtype, orders, columns, batches):
        (answer,) = tables.consult(problem, "sm_89", config.current())
        assert [name for name in answer.row.ranking if name != "vendor"] == native.split(), problem


@pytest.mark.parametrize(("op", "dtype", "orders", "columns", "route"), ROUTES)
def test_route_with_the_vendor_switched_off(
    environment: Environment,
    op: str,
    dtype: str,
    orders: tuple[int, ...],
    columns: tuple[int, ...],
    route: str,
) -> None:
    environment(BATCHLAS_VENDOR="off")
    for problem in problems(op, dtype, orders, columns, (1, 127, 128, 255, 256, 32768)):
        choice = decided(problem)
        assert choice.route == route, problem
        assert not any(choice.verdicts[name].ok for name in choice.verdicts if name.startswith("vendor"))


@pytest.mark.usefixtures("environment")
@pytest.mark.parametrize(("op", "dtype", "orders", "columns", "batch", "route"), NATIVE_FIRST)
def test_a_native_family_before_the_vendor(
    op: str, dtype: str, orders: tuple[int, ...], columns: tuple[int, ...], batch: int, route: str
) -> None:
    for problem in problems(op, dtype, orders, columns, (batch,)):
        assert decided(problem).route == route, problem


@pytest.mark.usefixtures("environment")
@pytest.mark.parametrize(("op", "dtype", "orders", "columns", "batch"), VENDOR_FIRST)
def test_the_vendor_before_every_native_family(
    op: str, dtype: str, orders: tuple[int, ...], columns: tuple[int, ...], batch: int
) -> None:
    for problem in problems(op, dtype, orders, columns, (batch,)):
        assert decided(problem).route == "vendor", problem
