"""What fits on a device: pure arithmetic, asked of the device's real budget and shared by every launcher."""

from __future__ import annotations

from functools import cache
from math import isqrt
from typing import Final

from .dtypes import REAL_OF, itemsize
from .errors import ArgumentError

REDUCTION_SLOTS: Final = 32
MIN_BLOCKS_PER_SM: Final = 4
POTRF_BLOCKS_PER_SM: Final = 2
TILE_ORDER: Final = 32

_INDEX_BYTES: Final = 4
_PARTITIONS: Final = 4
_PARTITION_REGISTERS: Final = 16_384
_REGISTER_GRANULARITY: Final = 8
_WARP: Final = 32
_VECTOR_BYTES: Final = 16


def odd_ld(n: int) -> int:
    """Smallest odd leading dimension of ``n`` rows: a row walk then meets every shared-memory bank."""
    return n | 1


def reduction_bytes(dtype: str) -> int:
    """Bytes of the pivot search's slots, a real magnitude and an index each."""
    return REDUCTION_SLOTS * (itemsize(REAL_OF[dtype]) + _INDEX_BYTES)


def getrf_bytes(dtype: str, m: int, n: int) -> int:
    """Shared memory of one whole ``m x n`` matrix under factorisation, pivot search included."""
    return odd_ld(m) * n * itemsize(dtype) + reduction_bytes(dtype)


@cache
def square_getrf_ceiling(dtype: str, budget: int, min_blocks: int = MIN_BLOCKS_PER_SM) -> int:
    """Largest order whose `getrf_bytes` fit in a block's share of the budget.

    Parameters
    ----------
    dtype : str
        Element type.
    budget : int
        Bytes of shared memory that one block can use (`DeviceInfo.shared_budget`).
    min_blocks : int
        Blocks that must be resident together; 1 gives the unscaled ceiling.

    Returns
    -------
    int
        The order, 0 where not even one element fits.
    """
    if min_blocks < 1:
        raise ArgumentError(f"min_blocks: got {min_blocks}, accepted are integers from 1")
    share = budget // min_blocks
    n = isqrt(max(share - reduction_bytes(dtype), 0) // itemsize(dtype))
    while n > 0 and getrf_bytes(dtype, n, n) > share:
        n -= 1
    return n


def sm89_max_work_group(registers: int) -> int:
    """Most threads of a block at this many registers per thread.

    The register file is four partitions and a block's warps are dealt round-robin over them, so
    what must fit is a quarter of the warps in one partition, not all threads in the whole file.
    """
    if registers < 1:
        raise ArgumentError(f"registers: got {registers}, accepted are integers from 1")
    allocated = -(-registers // _REGISTER_GRANULARITY) * _REGISTER_GRANULARITY
    warps = _PARTITION_REGISTERS // (allocated * _WARP)
    return _PARTITIONS * _WARP * warps


def potrf_bytes(dtype: str, n: int) -> int:
    """Shared memory of the lower triangle of order ``n`` in tiles, and of a tile's inverse diagonal."""
    tiles = -(-n // TILE_ORDER)
    elements = tiles * (tiles + 1) // 2 * TILE_ORDER * potrf_pitch(dtype)
    return elements * itemsize(dtype) + TILE_ORDER * itemsize(REAL_OF[dtype])


def potrf_pitch(dtype: str) -> int:
    """Elements between rows of a tile: a vector more than a row, so that reads of vectors do not collide."""
    return TILE_ORDER + max(1, _VECTOR_BYTES // itemsize(dtype))


@cache
def potrf_ceiling(dtype: str, budget: int, min_blocks: int = POTRF_BLOCKS_PER_SM) -> int:
    """Largest order, a multiple of `TILE_ORDER`, whose `potrf_bytes` fit in a block's share of the budget."""
    n = 0
    while potrf_bytes(dtype, n + TILE_ORDER) <= budget // min_blocks:
        n += TILE_ORDER
    return n
