"""What a batch view says of its memory order."""

from __future__ import annotations

import pytest

from batchlas_py.views import BatchView


def view(rows: int, cols: int, row_stride: int, col_stride: int) -> BatchView:
    return BatchView(0, "float32", 3, rows, cols, 1000, row_stride, col_stride)


@pytest.mark.parametrize(
    ("shape", "strides", "layout", "ld"),
    [
        ((4, 3), (1, 4), "F", 4),
        ((4, 3), (1, 7), "F", 7),
        ((4, 3), (3, 1), "C", 3),
        ((4, 3), (8, 1), "C", 8),
        ((4, 1), (1, 99), "F", 4),
        ((4, 1), (5, 99), "C", 5),
        ((1, 3), (99, 1), "F", 1),
        ((1, 3), (99, 5), "F", 5),
        ((1, 1), (99, 99), "F", 1),
        ((0, 0), (1, 1), "F", 1),
        ((0, 3), (1, 0), "F", 1),
        ((3, 0), (1, 1), "F", 3),
    ],
)
def test_dense_orders(shape: tuple[int, int], strides: tuple[int, int], layout: str, ld: int) -> None:
    """What is both counts as column-major."""
    one = view(*shape, *strides)
    assert (one.layout, one.ld) == (layout, ld)


@pytest.mark.parametrize(
    "strides",
    [(2, 8), (8, 2), (-1, 4), (1, -4), (3, -1), (0, 1), (1, 0), (0, 0), (1, 3), (2, 1)],
    ids=str,
)
def test_neither_order(strides: tuple[int, int]) -> None:
    """Gaps, reversed or shared rows and columns, and columns that overlap, are for kernels with strides."""
    assert view(4, 3, *strides).layout == "strided"
