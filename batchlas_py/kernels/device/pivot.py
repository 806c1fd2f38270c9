"""Pivot search over the lanes of one matrix: the largest key, and among ties the lowest row.

Every lane of the warp calls the search, so the mask is the constant full one and the compiler need
not guard against divergence. The integer keys are totally ordered: a NaN never makes lanes disagree.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numba import cuda

from .intrinsics import redux_max, redux_min
from .jit import device, select

__all__ = ["pivot_search"]

uint32, int32 = np.uint32, np.int32
FULL, NO_ROW, ZERO = uint32(0xFFFFFFFF), uint32(0xFFFFFFFF), uint32(0)
HALF = 16


def _redux_whole_warp() -> tuple[Any, Any]:
    full = FULL

    @device
    def largest(value, lane):
        return redux_max(full, value)

    @device
    def smallest(value, lane):
        return redux_min(full, value)

    return largest, smallest


def _redux_half_warps() -> tuple[Any, Any]:
    full, zero, none, half = FULL, ZERO, NO_ROW, uint32(HALF)

    @device
    def largest(value, lane):
        first = lane < half
        low = redux_max(full, select(first, value, zero))
        high = redux_max(full, select(first, zero, value))
        return select(first, low, high)

    @device
    def smallest(value, lane):
        first = lane < half
        low = redux_min(full, select(first, value, none))
        high = redux_min(full, select(first, none, value))
        return select(first, low, high)

    return largest, smallest


def _search_by_redux(words: int, lanes: int) -> Any:
    largest, smallest = _redux_whole_warp() if lanes == 2 * HALF else _redux_half_warps()
    none, zero = NO_ROW, ZERO

    @device
    def search_one_word(high, low, row, candidate, lane):
        best = largest(high, lane)
        mine = candidate and high == best
        return best, zero, smallest(select(mine, row, none), lane)

    @device
    def search_two_words(high, low, row, candidate, lane):
        best = largest(high, lane)
        contender = candidate and high == best
        best_low = largest(select(contender, low, zero), lane)
        mine = contender and low == best_low
        return best, best_low, smallest(select(mine, row, none), lane)

    return search_one_word if words == 1 else search_two_words


def _search_by_shuffles(words: int, lanes: int) -> Any:
    full, none, zero = FULL, NO_ROW, ZERO

    @device
    def partner(value, distance):
        return uint32(cuda.shfl_xor_sync(full, int32(value), distance))

    @device
    def exchange_one_word(distance, high, low, row):
        other, other_row = partner(high, distance), partner(row, distance)
        better = other > high or (other == high and other_row < row)
        return select(better, other, high), low, select(better, other_row, row)

    @device
    def exchange_two_words(distance, high, low, row):
        other, other_low = partner(high, distance), partner(low, distance)
        other_row = partner(row, distance)
        nearer = other_low > low or (other_low == low and other_row < row)
        better = other > high or (other == high and nearer)
        return select(better, other, high), select(better, other_low, low), select(better, other_row, row)

    exchange = exchange_one_word if words == 1 else exchange_two_words
    first, second, third = int32(1), int32(2), int32(4)

    @device
    def quartet(high, low, row):
        high, low, row = exchange(first, high, low, row)
        return exchange(second, high, low, row)

    @device
    def octet(high, low, row):
        high, low, row = quartet(high, low, row)
        return exchange(third, high, low, row)

    fold = quartet if lanes == 4 else octet

    @device
    def search(high, low, row, candidate, lane):
        return fold(high, select(candidate, low, zero), select(candidate, row, none))

    return search


@functools.cache
def pivot_search(words: int, lanes: int) -> Any:
    """Search over ``lanes`` lanes (4, 8, 16 or 32) with keys of one or two 32-bit words.

    Returns
    -------
    device function
        ``(high, low, row, candidate, lane_of_warp) -> (high, low, row)`` of the winner among the
        candidates, equal on all lanes of the matrix; without a candidate the row is ``0xffffffff``.
        ``high`` is 0 on a lane that is no candidate.
    """
    return _search_by_redux(words, lanes) if lanes >= HALF else _search_by_shuffles(words, lanes)
