"""Capacity arithmetic: the recorded ceilings, and the rules behind them counted in another way."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchlas_py.capability import getrf_bytes, odd_ld, sm89_max_work_group, square_getrf_ceiling
from batchlas_py.dtypes import DTYPES
from batchlas_py.errors import ArgumentError
from batchlas_py.problem import RECORDED

BUDGET = 97_280


def test_the_recorded_device_has_the_recorded_budget() -> None:
    assert RECORDED["sm_89"].shared_budget == BUDGET


@pytest.mark.parametrize(
    ("dtype", "scaled", "unscaled"),
    [("float32", 77, 155), ("float64", 54, 109), ("complex64", 54, 109), ("complex128", 38, 77)],
)
def test_ceilings_of_the_record(dtype: str, scaled: int, unscaled: int) -> None:
    assert square_getrf_ceiling(dtype, BUDGET) == scaled
    assert square_getrf_ceiling(dtype, BUDGET, 4) == scaled
    assert square_getrf_ceiling(dtype, BUDGET, 1) == unscaled


@pytest.mark.parametrize(
    ("dtype", "n", "expected"),
    [
        ("float32", 77, 77 * 77 * 4 + 32 * 8),
        ("float32", 78, 79 * 78 * 4 + 32 * 8),
        ("float64", 54, 55 * 54 * 8 + 32 * 12),
        ("complex64", 54, 55 * 54 * 8 + 32 * 8),
        ("complex128", 38, 39 * 38 * 16 + 32 * 12),
    ],
)
def test_footprint_by_hand(dtype: str, n: int, expected: int) -> None:
    assert getrf_bytes(dtype, n, n) == expected


@pytest.mark.parametrize(("n", "ld"), [(0, 1), (1, 1), (2, 3), (31, 31), (32, 33)])
def test_leading_dimension_is_the_next_odd_one(n: int, ld: int) -> None:
    assert odd_ld(n) == ld


@given(st.sampled_from(DTYPES), st.integers(0, 300_000), st.integers(1, 32))
def test_ceiling_fits_and_the_next_order_does_not(dtype: str, budget: int, min_blocks: int) -> None:
    n = square_getrf_ceiling(dtype, budget, min_blocks)
    assert n == 0 or getrf_bytes(dtype, n, n) * min_blocks <= budget
    assert getrf_bytes(dtype, n + 1, n + 1) * min_blocks > budget


@pytest.mark.parametrize("min_blocks", [0, -1])
def test_ceiling_needs_a_block(min_blocks: int) -> None:
    with pytest.raises(ArgumentError, match=rf"^min_blocks: got {min_blocks}, accepted"):
        square_getrf_ceiling("float32", BUDGET, min_blocks)


@pytest.mark.parametrize(
    ("registers", "threads"),
    [(64, 1024), (80, 768), (105, 512), (128, 512), (129, 384), (148, 384), (176, 256), (257, 128), (513, 0)],
)
def test_register_rule_of_the_record(registers: int, threads: int) -> None:
    assert sm89_max_work_group(registers) == threads


@pytest.mark.parametrize("registers", range(1, 256))
def test_register_rule_counts_warps_per_partition(registers: int) -> None:
    def fits(warps: int) -> bool:
        dealt = np.bincount(np.arange(warps) % 4)
        allocated = next(size for size in range(8, 264, 8) if size >= registers)
        return bool(dealt.max() * 32 * allocated <= 16_384)

    warps = sm89_max_work_group(registers) // 32
    assert fits(warps)
    assert not fits(warps + 1)


def test_register_rule_is_stricter_than_the_whole_file() -> None:
    # 176 registers: 352 threads would fit 65536 registers, one partition would hold too many warps.
    assert 176 * 352 <= 65_536
    assert sm89_max_work_group(176) < 352


def test_register_rule_needs_a_register() -> None:
    with pytest.raises(ArgumentError, match=r"^registers: got 0, accepted"):
        sm89_max_work_group(0)
