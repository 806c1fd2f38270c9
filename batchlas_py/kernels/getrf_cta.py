"""LU with partial pivoting of a whole m x n matrix, or of a panel of one, in shared or global memory.

Mapping: a block a matrix, or, in scope ``"warp"``, a warp a matrix (`device.lu_block`). In shared storage
the matrix lies column-major with an odd leading dimension, so that walks along rows and along columns both
meet every bank; it is read once and written once, whole lines at a time in either memory order. In global
storage the matrix is factored where it lies.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda

from ..dtypes import itemsize
from .block_specs import GetrfCtaSpec
from .device.arithmetic import arithmetic
from .device.jit import device
from .device.lu_block import WARP, area_elements, barrier, elimination
from .device.signature import COUNT, INDEX, INTS, matrix
from .device.transfer import fetch, flush

__all__ = ["make_kernel", "signature"]

uint32, int32, int64 = np.uint32, np.int32, np.int64


def signature(spec: GetrfCtaSpec) -> tuple[Any, ...]:
    """``(a, lu, ipiv, ipiv_stride, info, base, rows, cols, batch)``, each matrix with its strides."""
    return (*matrix(spec.dtype), *matrix(spec.dtype), INTS, COUNT, INTS, INDEX, INDEX, INDEX, COUNT)


def _roles(scope: str) -> Any:
    """``thread -> ((lane, warp, warps), member, members)``: its part in a matrix, the matrix in the block."""
    warp_size, zero, one = uint32(WARP), uint32(0), uint32(1)

    @device
    def of_block(thread):
        warps = uint32(uint32(cuda.blockDim.x) // warp_size)
        return (uint32(thread % warp_size), uint32(thread // warp_size), warps), zero, one

    @device
    def of_warp(thread):
        members = uint32(uint32(cuda.blockDim.x) // warp_size)
        return (uint32(thread % warp_size), zero, one), uint32(thread // warp_size), members

    return of_block if scope == "block" else of_warp


def _factoring(spec: GetrfCtaSpec) -> Any:
    """``(a, source, lu, target, memory, words, member, who, m, n, ipiv, pivot_at, base) -> info``.

    ``source`` and ``target`` are the index of the first element, and the row and column strides.
    """
    dtype, words_each = spec.dtype, uint32(itemsize(spec.dtype) // 4)
    eliminate, area = elimination(dtype, spec.scope, spec.storage), uint32(area_elements(dtype))
    load, store, meet = fetch(dtype), flush, barrier(spec.scope)
    one = uint32(1)

    @device
    def through_shared(a, source, lu, target, memory, words, member, who, m, n, ipiv, pivot_at, base):
        ld = uint32(m | one)
        at = uint32(member * uint32(area + uint32(ld * n)))
        tile = uint32(at + area), one, ld
        load(a, source, memory, tile, m, n, who)
        meet()
        areas = at, uint32(at * words_each)
        info = eliminate(memory, tile, m, n, memory, words, areas, who, ipiv, pivot_at, base)
        store(lu, target, memory, tile, m, n, who)
        return info

    @device
    def in_place(a, source, lu, target, memory, words, member, who, m, n, ipiv, pivot_at, base):
        at = uint32(member * area)
        areas = at, uint32(at * words_each)
        return eliminate(lu, target, m, n, memory, words, areas, who, ipiv, pivot_at, base)

    return through_shared if spec.storage == "shared" else in_place


def make_kernel(spec: GetrfCtaSpec) -> Any:
    """The kernel ``getrf_cta(a, strides, lu, strides, ipiv, ipiv_stride, info, base, rows, cols, batch)``.

    Strides (row, column, matrix) count elements. The pivots of an item lie from ``ipiv[item ipiv_stride]``
    on and are rows counted from ``base``, 1-based. With ``base`` 0 the kernel writes ``info``; otherwise it
    adds ``base`` to the first zero pivot it finds, and keeps what is there if that is not 0. A block has a
    power of two of warps, and dynamic shared memory of `capability.getrf_bytes` for each of its matrices,
    or of `capability.reduction_bytes`. Global storage works on ``lu``, which holds the matrix, and reads no
    ``a``.
    """
    element = arithmetic(spec.dtype).element
    roles, factor = _roles(spec.scope), _factoring(spec)
    zero, none = uint32(0), int32(0)

    @cuda.jit
    def getrf_cta(
        a, a_row, a_col, a_batch, lu, lu_row, lu_col, lu_batch, ipiv, ipiv_stride, info, base, rows, cols,
        batch,
    ):  # fmt: skip
        who, member, members = roles(uint32(cuda.threadIdx.x))
        item = int64(cuda.blockIdx.x) * int64(members) + int64(member)
        memory, words = cuda.shared.array(0, element), cuda.shared.array(0, np.uint32)
        if item < batch:
            source, target = (item * a_batch, a_row, a_col), (item * lu_batch, lu_row, lu_col)
            m, n, pivot_at = uint32(rows), uint32(cols), item * ipiv_stride
            first_zero = factor(
                a, source, lu, target, memory, words, member, who, m, n, ipiv, pivot_at, base
            )  # fmt: skip
            lane, warp, _ = who
            if lane == zero and warp == zero:
                if base == none:
                    info[item] = int32(first_zero)
                elif first_zero != zero and info[item] == none:
                    info[item] = int32(uint32(first_zero) + uint32(base))

    return getrf_cta
