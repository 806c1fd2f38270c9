"""The shipped tables of potrf and posv on sm_89: rows where the BatchLAS record measured, and no others."""

from __future__ import annotations

import pytest

from batchlas_py._resources import tables_folder
from batchlas_py.dtypes import DTYPES
from batchlas_py.problem import RECORDED, Problem
from batchlas_py.routing import tables
from batchlas_py.routing.select import DEFAULT_ORDER, select

SM_89 = RECORDED["sm_89"]
SMALL = "tiny cta vendor blocked"
LARGE = "vendor cta blocked lpanel:panel=8 lpanel:panel=16"
# dtype, orders, ranking; None where the default order decides: both sides of each threshold.
POTRF = [
    ("float32", (1, 7, 49, 63, 257, 1024), None),
    ("float32", (8, 9, 32, 33, 48), SMALL),
    ("float32", (64, 255, 256), LARGE),
    ("complex64", (1, 7, 9, 32, 33, 256), None),
    ("complex64", (8,), SMALL),
    ("float64", (1, 8, 32, 64, 256), None),
    ("complex128", (1, 8, 32, 64, 256), None),
]


@pytest.mark.usefixtures("recorded")
@pytest.mark.parametrize("batch", [1, 32768])
@pytest.mark.parametrize(("dtype", "n", "rank"), [(t, n, rank) for t, orders, rank in POTRF for n in orders])
def test_potrf_rows(dtype: str, n: int, rank: str | None, batch: int) -> None:
    chosen = select(Problem("potrf", dtype, n, n, batch, uplo="L"), SM_89)
    if rank is None:
        assert chosen.source == DEFAULT_ORDER
        return
    assert chosen.source.startswith("shipped table potrf.sm_89.txt:")
    assert chosen.rule.endswith(f"any any {rank}")
    assert chosen.route == next(name for name in rank.split() if chosen.verdicts[name].ok)


@pytest.mark.usefixtures("recorded")
@pytest.mark.parametrize("dtype", DTYPES)
def test_posv_was_never_measured(dtype: str) -> None:
    for n in (1, 8, 16, 17, 32, 33, 512):
        assert select(Problem("posv", dtype, n, n, 100, 1, "L"), SM_89).source == DEFAULT_ORDER


@pytest.mark.parametrize("op", ["potrf", "posv"])
def test_header_says_where_the_rows_come_from(op: str) -> None:
    text = (tables_folder() / f"{op}.sm_89.txt").read_text("utf-8")
    table = tables.parse(text, op)
    assert tables.write(table) == text
    for fact in ("BatchLAS record", "RTX 4090", "CUDA 13.2", "2026-09-10", "the default order decides"):
        assert fact in "\n".join(table.header)
