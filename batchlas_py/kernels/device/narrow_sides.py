"""Right-hand sides of narrow solves in shared memory: who works on them, how they come, turn over and go."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda

from ..block_specs import ORDER, GetrsCtaSpec
from .arithmetic import arithmetic
from .jit import device, select, static_for
from .narrow_solve import conjugated

__all__ = ["roles", "sides_io"]

WARP = 32
FULL = np.uint32(0xFFFFFFFF)
uint32, int32, int64 = np.uint32, np.int32, np.int64


@device
def roles(thread, threads, n):
    """``((lane, warp, warps), member, members)``: its part in a matrix, the matrix in the block.

    The warp's number comes by a shuffle, so that the assembler knows it to be the same in all lanes.
    """
    lane, warps = int32(thread % int32(WARP)), int32(threads // int32(WARP))
    warp = int32(cuda.shfl_sync(FULL, int32(thread // int32(WARP)), int32(0)))
    alone, zero, one = n <= int32(ORDER), int32(0), int32(1)
    who = lane, select(alone, zero, warp), select(alone, one, warps)
    return who, select(alone, warp, zero), select(alone, warps, one)


def _row_of(permuted: bool) -> Any:
    """``(rows, at, i, plain) -> row``: the entry of the permutation, or row i itself."""

    @device
    def listed(rows, at, i, plain):
        return select(plain, i, rows[at])

    @device
    def same(rows, at, i, plain):
        return i

    return listed if permuted else same


def sides_io(spec: GetrsCtaSpec, *, permuted: bool) -> tuple[Any, Any, Any]:
    """Bring the sides to shared memory, turn them upside down there, write them to memory.

    ``rows`` and ``rows_at`` are the permutation, which is followed on the way in or, if ``transposed``, out;
    unless ``permuted`` there is none. Each can conjugate on its way, as ``conj`` tells.
    """
    rhs, zero, conjugate = int32(spec.rhs), arithmetic(spec.dtype).element(0), conjugated(spec.dtype)
    warp_size, one, each = int32(WARP), int32(1), range(spec.rhs)
    middle = int32(0 if permuted else 1)

    @device
    def take(q, memory, to, b, at, col_stride, nrhs, conj):
        value = b[at + int64(min(q, int32(nrhs - one))) * int64(col_stride)]
        memory[uint32(to + q)] = select(q < nrhs, conjugate(value, conj), zero)

    @device
    def put(q, memory, of, x, at, col_stride, nrhs, conj):
        if q < nrhs:
            x[at + int64(q) * int64(col_stride)] = conjugate(memory[uint32(of + q)], conj)

    @device
    def swap(q, memory, here, there, conj):
        upper, lower = memory[uint32(here + q)], memory[uint32(there + q)]
        memory[uint32(here + q)] = conjugate(lower, conj)
        memory[uint32(there + q)] = conjugate(upper, conj)

    take_all = static_for(take, each, "memory, to, b, at, col_stride, nrhs, conj")
    put_all = static_for(put, each, "memory, of, x, at, col_stride, nrhs, conj")
    swap_all, row_of = static_for(swap, each, "memory, here, there, conj"), _row_of(permuted)

    @device
    def bring(memory, sides, rows, rows_at, b, at, row_stride, col_stride, n, nrhs, transposed, conj, who):
        lane, warp, warps = who
        i = int32(int32(warp * warp_size) + lane)
        while i < n:
            row = row_of(rows, uint32(rows_at + i), i, transposed)
            to, here = int32(sides + int32(i * rhs)), at + int64(row) * int64(row_stride)
            take_all(memory, to, b, here, col_stride, nrhs, conj)
            i = int32(i + int32(warps * warp_size))

    @device
    def write(memory, sides, rows, rows_at, x, at, row_stride, col_stride, n, nrhs, transposed, conj, who):
        lane, warp, warps = who
        i = int32(int32(warp * warp_size) + lane)
        while i < n:
            row = row_of(rows, uint32(rows_at + i), i, not transposed)
            of, here = int32(sides + int32(row * rhs)), at + int64(i) * int64(row_stride)
            put_all(memory, of, x, here, col_stride, nrhs, conj)
            i = int32(i + int32(warps * warp_size))

    @device
    def overturn(memory, sides, n, conj, who):
        lane, warp, warps = who
        i, last = int32(int32(warp * warp_size) + lane), int32(n - one)
        while i < int32(int32(n + middle) // int32(2)):
            swap_all(memory, int32(sides + int32(i * rhs)), int32(sides + int32(int32(last - i) * rhs)), conj)
            i = int32(i + int32(warps * warp_size))

    return bring, overturn, write
