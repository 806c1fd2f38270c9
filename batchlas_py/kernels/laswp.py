"""Row interchanges of a batch, in place or from one batch to another, and the permutation that they are.

``walk`` has a thread for each column, which follows the list. ``gather`` has a block for each tile of
columns: it works out which row goes where, brings the rows that move to shared memory and writes each to
its place.
``identity`` writes the permutation matrix: a thread follows one row or column back through the list.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda

from .block_specs import LaswpSpec
from .device.interchanges import compact, interchanged_row, meet, partner, replay
from .device.jit import device, select, static_for
from .device.signature import COUNT, INDEX, INTS, matrix

__all__ = ["make_kernel", "signature"]

WARP = 32
ABREAST = 4  # elements that a thread reads together, to have as many loads in flight
uint32, int32, int64 = np.uint32, np.int32, np.int64


def signature(spec: LaswpSpec) -> tuple[Any, ...]:
    """Arguments of the kernels, which `make_kernel` names."""
    one, entries = matrix(spec.dtype), (INTS, COUNT)
    if spec.kind == "identity":
        return (*one, *entries, INDEX, COUNT)
    swaps = (*one, *one, *entries, INDEX, INDEX, INDEX, INDEX, INDEX, INDEX, INDEX)
    return (*swaps, COUNT) if spec.kind == "walk" else (*swaps, INDEX, INDEX, INDEX, INDEX)


def make_kernel(spec: LaswpSpec) -> Any:
    """The kernel of one kind.

    ``walk`` and ``gather`` take
    ``(a, x, ipiv, ipiv_stride, first, count, skip, backward, copying, m, cols)``: entry e of the list
    interchanges row ``first + e``. With ``skip``, columns come in blocks of so many, and block b leaves out
    the entries before ``(b + 1) skip``. ``copying`` tells that x is not a itself.
    """
    return {"walk": _walk, "gather": _gather, "identity": _identity}[spec.kind](spec)


@device
def _first_entry(column, skip):
    """The entry at which the list begins for a column."""
    if skip > int32(0):
        return int32(int32(int32(column // skip) + int32(1)) * skip)
    return int32(0)


def _walk(spec: LaswpSpec) -> Any:
    threads, one = int64(spec.threads), int32(1)

    @device
    def walk_list(x, at, row_stride, ipiv, ipiv_at, first, begin, count, backward, m):
        e = begin
        while e < count:
            entry = select(backward, int32(int32(int32(count - one) - e) + begin), e)
            own = int32(first + entry)
            other = partner(ipiv, ipiv_at + int64(entry), own, m)
            here, there = at + int64(own) * int64(row_stride), at + int64(other) * int64(row_stride)
            x[here], x[there] = x[there], x[here]
            e = int32(e + one)

    @cuda.jit
    def laswp_walk(
        a, a_row, a_col, a_batch, x, x_row, x_col, x_batch, ipiv, ipiv_stride, first, count, skip, backward,
        copying, m, cols, batch,
    ):  # fmt: skip
        number = int64(cuda.blockIdx.x) * threads + int64(cuda.threadIdx.x)
        item, column = number // int64(cols), int32(number % int64(cols))
        if item < batch:
            source, at = (
                item * a_batch + int64(column) * int64(a_col),
                item * x_batch + int64(column) * int64(x_col),
            )
            i = int32(0)
            while copying != int32(0) and i < m:
                x[at + int64(i) * int64(x_row)] = a[source + int64(i) * int64(a_row)]
                i = int32(i + one)
            begin = _first_entry(column, skip)
            walk_list(x, at, x_row, ipiv, item * ipiv_stride, first, begin, count, backward != int32(0), m)

    return laswp_walk


@device
def _lanes(fast, thread, threads):
    """Where a thread begins along a fast extent and along the slow one, and its steps: ``(f, s, df, ds)``."""
    bits = min(uint32(5), uint32(uint32(32) - uint32(cuda.clz(int32(fast - int32(1))))))
    width = int32(uint32(1) << bits)
    return (
        int32(thread & int32(width - int32(1))),
        int32(thread >> int32(bits)),
        width,
        int32(threads >> int32(bits)),
    )


def _moving(spec: LaswpSpec) -> tuple[Any, Any]:
    """Load rows to shared memory and store them from there."""
    element, abreast, one = np.dtype(spec.dtype).type, ABREAST, int32(1)

    @device
    def place(g, fast, slow, step, last, along_rows):
        """Slot and column of a thread's g-th element, the last one's past the end."""
        this = min(int32(slow + int32(int32(g) * step)), last)
        return select(along_rows, fast, this), select(along_rows, this, fast)

    @device
    def take(g, v, a, at, row_stride, col_stride, words, rows_at, fast, slow, step, last, along_rows):
        slot, column = place(g, fast, slow, step, last, along_rows)
        row = words[uint32(rows_at + uint32(slot))]
        v[g] = a[at + int64(row) * int64(row_stride) + int64(column) * int64(col_stride)]

    @device
    def put(g, v, values, pitch, fast, slow, step, last, along_rows):
        slot, column = place(g, fast, slow, step, last, along_rows)
        if int32(slow + int32(int32(g) * step)) <= last:
            values[uint32(uint32(uint32(column) * pitch) + uint32(slot))] = v[g]

    take_all = static_for(
        take,
        range(ABREAST),
        "v, a, at, row_stride, col_stride, words, rows_at, fast, slow, step, last, along_rows",
    )
    put_all = static_for(put, range(ABREAST), "v, values, pitch, fast, slow, step, last, along_rows")

    @device
    def load(values, pitch, words, rows_at, a, at, row_stride, col_stride, total, wide, thread, threads):
        along_rows = abs(row_stride) <= abs(col_stride)
        fasts, slows = select(along_rows, total, wide), select(along_rows, wide, total)
        fast0, slow0, fast_step, slow_step = _lanes(fasts, thread, threads)
        v, last, slow = cuda.local.array(abreast, element), int32(slows - one), slow0
        while slow < slows:
            fast = fast0
            while fast < fasts:
                take_all(
                    v, a, at, row_stride, col_stride, words, rows_at, fast, slow, slow_step, last, along_rows
                )
                put_all(v, values, pitch, fast, slow, slow_step, last, along_rows)
                fast = int32(fast + fast_step)
            slow = int32(slow + int32(int32(abreast) * slow_step))

    @device
    def store(
        values, pitch, words, rows_at, from_at, x, at, row_stride, col_stride, total, wide, thread, threads
    ):
        along_rows = abs(row_stride) <= abs(col_stride)
        fasts, slows = select(along_rows, total, wide), select(along_rows, wide, total)
        fast0, slow, fast_step, slow_step = _lanes(fasts, thread, threads)
        while slow < slows:
            fast = fast0
            while fast < fasts:
                slot, column = select(along_rows, fast, slow), select(along_rows, slow, fast)
                row, source = words[uint32(rows_at + uint32(slot))], words[uint32(from_at + uint32(slot))]
                value = values[uint32(uint32(uint32(column) * pitch) + uint32(source))]
                x[at + int64(row) * int64(row_stride) + int64(column) * int64(col_stride)] = value
                fast = int32(fast + fast_step)
            slow = int32(slow + slow_step)

    return load, store


@device
def _plan_moves(words, at, ipiv, ipiv_at, first, count, m, most, backward, every, who):
    """Rows that move and, for each, the slot of its new contents; returns how many, and where both begin."""
    lane, warp, warps = who
    slots, moved = uint32(at + uint32(m)), uint32(at + uint32(int32(2)) * uint32(m))
    sources = uint32(moved + uint32(most))
    replay(words, at, ipiv, ipiv_at, first, count, m, backward, who)
    total = compact(words, at, slots, moved, uint32(sources + uint32(most)), m, every, who)
    meet(warps)
    i = int32(int32(warp * int32(WARP)) + lane)
    while i < total:
        row = words[uint32(at + uint32(words[uint32(moved + uint32(i))]))]
        words[uint32(sources + uint32(i))] = words[uint32(slots + uint32(row))]
        i = int32(i + int32(warps * int32(WARP)))
    meet(warps)
    return total, moved, sources


def _gather(spec: LaswpSpec) -> Any:
    element, size = np.dtype(spec.dtype).type, uint32(np.dtype(spec.dtype).itemsize // 4)
    load, store = _moving(spec)
    warp_size, one = int32(WARP), uint32(1)

    @cuda.jit
    def laswp_gather(
        a, a_row, a_col, a_batch, x, x_row, x_col, x_batch, ipiv, ipiv_stride, first, count, skip, backward,
        copying, m, cols, most, tile, chunk, tiles,
    ):  # fmt: skip
        values, words = cuda.shared.array(0, element), cuda.shared.array(0, int32)
        thread, threads, block = int32(cuda.threadIdx.x), int32(cuda.blockDim.x), int32(cuda.blockIdx.x)
        who = int32(thread % warp_size), int32(thread // warp_size), int32(threads // warp_size)
        item, column = int64(block // tiles), int32(int32(block % tiles) * tile)
        pitch, every = uint32(uint32(most) | one), copying != int32(0)
        begin = min(_first_entry(column, skip), count)
        total, rows_at, from_at = _plan_moves(
            words, uint32(uint32(pitch * uint32(chunk)) * size), ipiv, item * ipiv_stride + int64(begin),
            int32(first + begin), int32(count - begin), m, most, backward != int32(0), every, who,
        )  # fmt: skip
        end = min(int32(column + tile), cols)
        while column < end:
            wide = min(chunk, int32(end - column))
            source, at = (
                item * a_batch + int64(column) * int64(a_col),
                item * x_batch + int64(column) * int64(x_col),
            )
            load(values, pitch, words, rows_at, a, source, a_row, a_col, total, wide, thread, threads)
            cuda.syncthreads()
            store(values, pitch, words, rows_at, from_at, x, at, x_row, x_col, total, wide, thread, threads)
            cuda.syncthreads()
            column = int32(column + chunk)

    return laswp_gather


def _identity(spec: LaswpSpec) -> Any:
    element, threads, step = np.dtype(spec.dtype).type, int64(spec.threads), int32(1)
    zero, one = element(0), element(1)

    @device
    def followed(line, ipiv, ipiv_at, n, ascending):
        """The row that the list brings to ``line`` or, ``ascending``, the one that ``line`` is brought to."""
        e = int32(0)
        while e < n:
            entry = select(ascending, e, int32(int32(n - step) - e))
            line = interchanged_row(line, entry, partner(ipiv, ipiv_at + int64(entry), entry, n))
            e = int32(e + step)
        return line

    @cuda.jit
    def laswp_identity(x, x_row, x_col, x_batch, ipiv, ipiv_stride, n, batch):
        number = int64(cuda.blockIdx.x) * threads + int64(cuda.threadIdx.x)
        item, line = number // int64(n), int32(number % int64(n))
        if item < batch:
            along_rows = abs(x_row) <= abs(x_col)
            partner_line = followed(line, ipiv, item * ipiv_stride, n, not along_rows)
            own_stride, stride = (
                select(along_rows, int64(x_row), int64(x_col)),
                select(along_rows, int64(x_col), int64(x_row)),
            )
            at, i = item * x_batch + int64(line) * own_stride, int32(0)
            while i < n:
                x[at + int64(i) * stride] = select(i == partner_line, one, zero)
                i = int32(i + step)

    return laswp_identity
