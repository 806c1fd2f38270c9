"""The tables of QR hold the windows of the BatchLAS record, on both sides of every threshold."""

from __future__ import annotations

import pytest

from batchlas_py.dtypes import DTYPES
from batchlas_py.problem import RECORDED, Problem
from batchlas_py.routing.select import DEFAULT_ORDER, select

SM_89 = RECORDED["sm_89"]
NATIVE, VENDOR = "cta blocked vendor", "vendor cta blocked"
# dtype, orders inside of a window, orders just outside of any, ranking.
GEQRF = [
    ("float32", (64, 65, 511, 512), (63, 513), NATIVE),
    ("float64", (64,), (63, 65, 127), VENDOR),
    ("float64", (128, 512), (127, 513), NATIVE),
    ("complex64", (64, 512), (63, 513), NATIVE),
    ("complex128", (64, 256), (63, 257), VENDOR),
]


@pytest.mark.parametrize(("dtype", "inside", "outside", "ranking"), GEQRF)
def test_geqrf(dtype: str, inside: tuple[int, ...], outside: tuple[int, ...], ranking: str) -> None:
    for n in inside:
        for batch in (1, 32768):
            choice = select(Problem("geqrf", dtype, n, n, batch), SM_89)
            assert choice.rule.endswith(ranking)
            assert (choice.route == "vendor") == (ranking == VENDOR)
    for n in outside:
        assert select(Problem("geqrf", dtype, n, n, 1), SM_89).source == DEFAULT_ORDER


@pytest.mark.parametrize("dtype", DTYPES)
def test_orgqr(dtype: str) -> None:
    routes = {n: select(Problem("orgqr", dtype, n, n, 64, k=n), SM_89) for n in (3, 4, 16, 33, 512, 513)}
    assert [n for n, choice in routes.items() if choice.source == DEFAULT_ORDER] == [3, 513]
    assert routes[16].route == "tiny" and routes[33].route == "blocked"
