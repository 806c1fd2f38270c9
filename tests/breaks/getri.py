"""Breaks of getri's kernel: module, check, and what is changed, as `catalogue` has them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final

from ..kernels import test_getri_cta

__all__ = ["GETRI"]

BY_ROWS, BY_COLUMNS = "F-ld", "C-ld"


def _tiles(to: str = BY_ROWS) -> partial[None]:
    return partial(test_getri_cta.test_rows_of_tiles, 9, to)


def _order(n: int, to: str = BY_ROWS) -> partial[None]:
    return partial(test_getri_cta.test_every_order, n, to)


def _zeros() -> partial[None]:
    return partial(test_getri_cta.test_zero_pivots, 5, None, BY_COLUMNS)


GETRI: Final[tuple[tuple[str, partial[None], Mapping[str, tuple[str, ...]]], ...]] = (
    (
        "getri_cta",
        _tiles(),
        {
            "tile overwritten while it is read": (
                "        _meet(who, order)\n        block = advance",
                "        block = advance",
            ),
            "tile read before it is there": (
                "int32(number + int32(1)))\n        _meet(who, order)\n",
                "int32(number + int32(1)))\n",
            ),
            "first tile of a column skipped": ("if j >= skipped:", "if j > skipped:"),
            "rows of the inverse where they were solved": (
                "        if turned:\n            row = _destination",
                "        if False:\n            row = _destination",
            ),
        },
    ),
    (
        "getri_cta",
        _tiles(BY_COLUMNS),
        {
            "columns of the identity not interchanged": (
                "        if not across:\n            start",
                "        if False:\n            start",
            ),
        },
    ),
    (
        "getri_cta",
        _order(7),
        {
            "columns past the last stored": ("select(valid and column < n, n,", "select(valid, n,"),
            "inverses past the batch noted": ("if valid and column == int32(0):", "if column == int32(0):"),
        },
    ),
    (
        "getri_cta",
        _zeros(),
        {
            "inverse of a singular matrix": ("if failed:", "if False:"),
            "zero pivots of the lanes not compared": (
                "number[0] = min(number[0],",
                "number[0] = max(number[0],",
            ),
        },
    ),
    (
        "device.column_solve",
        _order(7),
        {
            "solved row off itself, downwards": ("if i > k:", "if i >= k:"),
            "solved row off itself, upwards": ("if i < k:", "if i <= k:"),
            "unit triangle divided": ("        if divide:\n", "        if True:\n"),
        },
    ),
)
