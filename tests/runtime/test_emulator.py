"""The emulator: what it computes, and what it refuses."""

from __future__ import annotations

import gc
import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from greenlet import greenlet
from numba import cuda as numba_cuda
from numba import types

from batchlas_py.errors import ArgumentError
from batchlas_py.kernels.device.intrinsics import bits_f32, f64_from_bits, redux_max, redux_min
from batchlas_py.kernels.device.jit import device
from batchlas_py.runtime.emulator import (
    DivergentBarrier,
    EmulatorError,
    OutOfBounds,
    RaceDetected,
    UninitialisedRead,
    run,
)

cuda: Any = numba_cuda
uint32, int32, float32 = np.uint32, np.int32, np.float32
FULL = uint32(0xFFFFFFFF)
SEEDS = range(8)


def per_thread(kernel: Any, threads: int, dtype: Any, **options: Any) -> np.ndarray:
    """Run one block of a kernel ``kernel(out)`` that writes one element per thread."""
    out = np.zeros(threads, dtype)
    run(kernel, 1, threads, (out,), **options)
    return out


def without_barrier(*_mask: Any) -> None:
    """What a dropped barrier does."""


# Indices.


def test_indices_count_x_first() -> None:
    def kernel(out: Any) -> None:
        x = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
        y = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
        z = cuda.blockIdx.z * cuda.blockDim.z + cuda.threadIdx.z
        width, height = cuda.gridDim.x * cuda.blockDim.x, cuda.gridDim.y * cuda.blockDim.y
        out[x + width * (y + height * z)] = 100 * z + 10 * y + x

    out = np.zeros(6 * 4 * 4, np.int32)
    run(kernel, (2, 2, 1), (3, 2, 4), (out,))
    z, y, x = np.indices((4, 4, 6))
    assert (out.reshape(4, 4, 6) == 100 * z + 10 * y + x).all()


def test_x_is_the_fastest_index_within_a_warp() -> None:
    def kernel(out: Any) -> None:
        i = cuda.threadIdx
        out[cuda.laneid] = i.x + 3 * (i.y + 2 * i.z)

    out = np.zeros(24, np.int32)
    run(kernel, 1, (3, 2, 4), (out,))
    assert (out == np.arange(24)).all()


def test_lanes_and_warps() -> None:
    def kernel(out: Any) -> None:
        out[cuda.threadIdx.x] = cuda.laneid + cuda.warpsize * (cuda.threadIdx.x // 32)

    assert (per_thread(kernel, 70, np.int32) == np.arange(70)).all()


def test_a_dispatcher_runs_like_its_function() -> None:
    @cuda.jit  # type: ignore[untyped-decorator]
    def kernel(out: Any) -> None:
        out[cuda.threadIdx.x] = cuda.threadIdx.x

    assert (per_thread(kernel, 5, np.int32) == np.arange(5)).all()


# Memory.


def reverse(out: Any) -> None:
    i, n = cuda.threadIdx.x, cuda.blockDim.x
    s = cuda.shared.array(96, np.int32)
    s[i] = i
    cuda.syncthreads()
    out[i] = s[n - 1 - i]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_block_shares_memory_across_warps(seed: int) -> None:
    assert (per_thread(reverse, 96, np.int32, seed=seed) == np.arange(96)[::-1]).all()


def test_each_block_has_shared_memory_of_its_own() -> None:
    def kernel(out: Any) -> None:
        s = cuda.shared.array(1, types.float32)
        out[cuda.blockIdx.x] = s[0]
        s[0] = float32(1)

    out = np.zeros(3, np.float32)
    run(kernel, 3, 1, (out,))
    assert np.isnan(out).all()


def shared_slot() -> Any:
    @device
    def slot() -> Any:
        return cuda.shared.array(1, np.int32)

    return slot


def test_a_function_owns_its_shared_arrays() -> None:
    first, second = shared_slot(), shared_slot()

    def kernel(out: Any) -> None:
        first()[0] = 1
        second()[0] = 2
        out[0], out[1] = first()[0], second()[0]

    out = np.zeros(2, np.int32)
    run(kernel, 1, 1, (out,))
    assert out.tolist() == [1, 2]


def test_dynamic_shared_memory_is_one_memory_for_all_types() -> None:
    def kernel(out: Any) -> None:
        doubles, tail = cuda.shared.array(0, np.float64), cuda.shared.array(0, np.uint32)[4:6]
        doubles[0], tail[1] = 1.0, uint32(7)
        words = cuda.shared.array(0, np.uint32)
        out[0], out[1], out[2] = words[0], words[1], words[5]

    out = np.zeros(3, np.uint32)
    run(kernel, 1, 1, (out,), dynamic_shared=24)
    assert out.tolist() == [0, 0x3FF00000, 7]


def test_an_argument_given_twice_is_one_memory() -> None:
    def kernel(a: Any, lu: Any) -> None:
        lu[0] = a[0] + 1
        lu[1] = a[0]

    a = np.zeros(2)
    run(kernel, 1, 1, (a, a))
    assert a.tolist() == [1, 1]


def test_unwritten_memory_reads_as_poison() -> None:
    def kernel(floats: Any, words: Any) -> None:
        floats[0] = cuda.local.array(2, np.complex64)[1]
        floats[1] = cuda.shared.array((2, 2), np.float32)[1, 1]
        floats[2] = cuda.shared.array(0, np.float32)[0]
        words[0] = cuda.local.array(1, np.uint32)[0]

    floats, words = np.zeros(3, np.complex64), np.zeros(1, np.uint32)
    run(kernel, 1, 1, (floats, words), dynamic_shared=4)
    assert np.isnan(floats).all()
    assert words[0] == 0xABABABAB


def unwritten(space: str) -> Any:
    def of_local(out: Any) -> None:
        s = cuda.local.array(4, np.float64)
        s[0] = 1.0
        out[0] = s[0] + s[3]

    def of_shared(out: Any) -> None:
        s = cuda.shared.array(4, np.float64)
        s[0] = 1.0
        out[0] = s[0] + s[3]

    def of_dynamic(out: Any) -> None:
        s = cuda.shared.array(0, np.float64)
        s[0] = 1.0
        out[0] = s[0] + s[1]

    return {"local": of_local, "shared": of_shared, "dynamic": of_dynamic}[space]


@pytest.mark.parametrize(
    ("space", "element"), [("local", "3 of 8"), ("shared", "3 of 8"), ("dynamic", "2 of 4")]
)
def test_a_read_before_any_write_is_an_error_on_request(space: str, element: str) -> None:
    with pytest.raises(UninitialisedRead, match=f"{space} .*element {element} bytes.*thread 0.*of_{space}"):
        per_thread(unwritten(space), 1, np.float64, init_check=True, dynamic_shared=16)


# Bounds.


def store_past_the_end(lu: Any, ipiv: Any, n: Any) -> None:
    row = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    lu[row] = row
    if row <= n:
        ipiv[row] = row


def test_a_store_past_the_end_is_reported_with_its_argument() -> None:
    lu, ipiv = np.zeros(64), np.zeros(40, np.int32)
    run(store_past_the_end, 2, 32, (lu, ipiv, int32(39)))
    with pytest.raises(OutOfBounds) as caught:
        run(store_past_the_end, 2, 32, (lu, ipiv, int32(40)))
    for part in (
        "argument ipiv",
        "index 40",
        "size 40",
        "block 1, thread 8",
        "test_emulator.py",
        "ipiv[row] = row",
    ):
        assert part in str(caught.value)


def misplaced(name: str) -> Any:
    def negative(out: Any) -> None:
        out[cuda.threadIdx.x - 1] = 0

    def read(out: Any) -> None:
        out[0] = out[1]

    def of_shared(out: Any) -> None:
        cuda.shared.array(4, np.float32)[uint32(4)] = 0

    def of_local(out: Any) -> None:
        out[0] = cuda.local.array(4, np.float32)[4]

    def of_two_dimensions(out: Any) -> None:
        cuda.shared.array((2, 8), np.float32)[0, 8] = 0

    def of_too_few_indices(out: Any) -> None:
        cuda.shared.array((2, 8), np.float32)[3] = 0

    def of_window(out: Any) -> None:
        cuda.shared.array(8, np.float32)[2:4][2] = 0

    def of_atomic(out: Any) -> None:
        cuda.atomic.add(out, 1, 1)

    kernels = negative, read, of_shared, of_local, of_two_dimensions, of_too_few_indices, of_window, of_atomic
    return {kernel.__name__: kernel for kernel in kernels}[name]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("negative", "argument out: index -1,"),
        ("read", "argument out: index 1,"),
        ("of_shared", "shared array of float32 from of_shared, .*: index 4,"),
        ("of_local", "local array of float32 from of_local, .*: index 4,"),
        ("of_two_dimensions", r"index \(0, 8\), accepted are 0 up to size 2, 8 "),
        ("of_too_few_indices", "index 3, accepted are 2 indices"),
        ("of_window", r"\[2:4\]: index 2,"),
        ("of_atomic", "argument out: index 1,"),
    ],
)
def test_every_access_is_bounded(name: str, message: str) -> None:
    with pytest.raises(OutOfBounds, match=message):
        per_thread(misplaced(name), 1, np.float32)


# Numbers.


def test_numbers_behave_as_on_the_device() -> None:
    def kernel(kinds: Any, out: Any) -> None:
        x, z = float32(0.1), np.complex64(1 + 2j)
        values: Any = (
            uint32(0) - uint32(1),
            uint32(0xFFFFFFFF) * uint32(3),
            x * x,
            z * z,
            complex(x, x),
            math.sqrt(float32(2)),
            math.sqrt(float32(-1)),
            float32(1) / float32(0),
        )
        for k in range(8):
            kinds[k] = values[k].dtype.num
            out[k] = values[k]

    kinds, out = np.zeros(8, np.int64), np.zeros(8, np.complex128)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(kernel, 1, 1, (kinds, out))
    names = ["uint32", "uint32", "float32", "complex64", "complex64", "float32", "float32", "float32"]
    assert kinds.tolist() == [np.dtype(name).num for name in names]
    assert out[:2].tolist() == [0xFFFFFFFF, 0xFFFFFFFD]
    assert np.isnan(out[6])
    assert np.isinf(out[7])


def test_bit_functions() -> None:
    def kernel(out: Any) -> None:
        out[0], out[1], out[2] = cuda.popc(int32(-1)), cuda.ffs(uint32(40)), cuda.clz(uint32(1))
        out[3], out[4] = cuda.ffs(uint32(0)), bits_f32(float32(1))
        out[5], out[6] = f64_from_bits(np.uint64(1023 << 52)), cuda.selp(out[0] == out[1], 1, 2)

    out = np.zeros(7, np.uint32)
    run(kernel, 1, 1, (out,))
    assert out.tolist() == [32, 4, 31, 0, 0x3F800000, 1, 2]


# Collectives.

LANES = np.arange(32)
VALUES = (LANES * 7 + 3) % 32


def warp_of(call: Callable[[Any], Any]) -> np.ndarray:
    """Run ``call(value)`` on 32 lanes with the values `VALUES`."""

    def kernel(value: Any, out: Any) -> None:
        out[cuda.threadIdx.x] = call(value[cuda.threadIdx.x])

    out = np.zeros(32, np.int64)
    run(kernel, 1, 32, (VALUES.astype(np.uint32), out))
    return out


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda v: redux_max(FULL, v), 31),
        (lambda v: redux_min(FULL, v + uint32(5)), 5),
        (lambda v: cuda.shfl_sync(FULL, v, 5), VALUES[5]),
        (lambda v: cuda.shfl_sync(FULL, v, v), VALUES[VALUES]),
        (lambda v: cuda.shfl_xor_sync(FULL, v, 9), VALUES[LANES ^ 9]),
        (lambda v: cuda.shfl_up_sync(FULL, v, 3), np.where(LANES >= 3, VALUES[LANES - 3], VALUES)),
        (lambda v: cuda.shfl_down_sync(FULL, v, 3), np.where(LANES < 29, VALUES[(LANES + 3) % 32], VALUES)),
        (lambda v: cuda.any_sync(FULL, v == uint32(4)), 1),
        (lambda v: cuda.any_sync(FULL, v > uint32(31)), 0),
        (lambda v: cuda.all_sync(FULL, v < uint32(32)), 1),
        (lambda v: cuda.all_sync(FULL, v < uint32(31)), 0),
        (lambda v: cuda.eq_sync(FULL, v > uint32(31)), 1),
        (lambda v: cuda.eq_sync(FULL, v > uint32(30)), 0),
        (lambda v: cuda.ballot_sync(FULL, v < uint32(32)), -1),
        (lambda v: cuda.ballot_sync(FULL, v == uint32(10)), 1 << 1),
    ],
)
def test_warp_collectives(call: Callable[[Any], Any], expected: Any) -> None:
    assert (warp_of(device(call)) == expected).all()


def test_parts_of_a_warp_meet_on_their_own() -> None:
    def kernel(out: Any) -> None:
        i = cuda.threadIdx.x
        mask = uint32(0xFF << (i % 32 // 8 * 8))
        out[i] = redux_max(mask, uint32(i)) + 100 * (cuda.ballot_sync(mask, i % 2 == 0) & 1)

    i = np.arange(64)
    assert (per_thread(kernel, 64, np.int64) == i // 8 * 8 + 7 + 100 * (i % 32 < 8)).all()


def test_a_shuffle_from_outside_the_mask_gives_poison() -> None:
    def kernel(out: Any) -> None:
        if cuda.threadIdx.x < 8:
            out[cuda.threadIdx.x] = cuda.shfl_down_sync(0xFF, float32(cuda.threadIdx.x), 4)

    out = per_thread(kernel, 32, np.float32)
    assert out[:4].tolist() == [4, 5, 6, 7]
    assert np.isnan(out[4:8]).all()


def test_atomics_lose_nothing() -> None:
    def kernel(out: Any) -> None:
        i = cuda.threadIdx.x
        cuda.atomic.add(out, 0, 1)
        cuda.atomic.max(out, 1, i)
        cuda.atomic.min(out, 2, -i)
        if cuda.atomic.cas(out, 3, 0, i + 1) == 0:
            cuda.atomic.add(out, 4, 1)

    out = per_thread(kernel, 64, np.int32)
    assert out[[0, 1, 2, 4]].tolist() == [64, 63, -63, 1]
    assert 1 <= out[3] <= 64


# Schedules.


def arrival(out: Any) -> None:
    place = cuda.atomic.add(out, 32, 1)
    out[place] = cuda.threadIdx.x


def test_a_seed_is_a_schedule() -> None:
    def order(seed: int) -> tuple[int, ...]:
        out = np.zeros(33, np.int32)
        run(arrival, 1, 32, (out,), seed)
        return tuple(out[:32].tolist())

    assert order(1) == order(1)
    assert len({order(seed) for seed in SEEDS}) == len(SEEDS)
    assert all(sorted(order(seed)) == list(range(32)) for seed in SEEDS)


# Divergence.


def divergent(name: str) -> Any:
    def half_the_warp(out: Any) -> None:
        if cuda.laneid < 16:
            cuda.syncwarp(FULL)
        else:
            out[cuda.laneid] = redux_max(uint32(0xFFFF0000), uint32(cuda.laneid))
            cuda.syncthreads()

    def two_collectives(out: Any) -> None:
        if cuda.laneid < 16:
            redux_max(FULL, uint32(0))
        else:
            redux_min(FULL, uint32(0))

    def two_masks(out: Any) -> None:
        cuda.syncwarp(FULL if cuda.laneid < 8 else uint32(0xFFFFFF00))
        cuda.syncthreads()

    def two_lines(out: Any) -> None:
        if cuda.threadIdx.x < 7:
            cuda.syncthreads()
        else:
            cuda.syncthreads()

    def one_apart(out: Any) -> None:
        if cuda.laneid == 3:
            cuda.syncthreads()
        else:
            cuda.syncwarp()

    def not_in_its_mask(out: Any) -> None:
        cuda.syncwarp(uint32(0xFF))

    def value_of_the_exited(out: Any) -> None:
        if cuda.laneid >= 4:
            redux_max(FULL, uint32(0))

    kernels = (
        half_the_warp,
        two_collectives,
        two_masks,
        two_lines,
        one_apart,
        not_in_its_mask,
        value_of_the_exited,
    )
    return {kernel.__name__: kernel for kernel in kernels}[name]


@pytest.mark.parametrize(
    ("name", "messages"),
    [
        ("half_the_warp", ["threads 0-15 wait for threads 16-31 at syncwarp(mask 0xffffffff)", "16-31 wait"]),
        ("two_collectives", ["threads 0-15 wait for threads 16-31 at redux_max", "threads 16-31 wait"]),
        (
            "two_masks",
            ["0-7 wait for threads 8-31 at syncwarp(mask 0xff", "8-31 wait for threads 0-7 at syncthreads"],
        ),
        ("two_lines", ["threads 0-6 wait for threads 7-31 at syncthreads", "two_lines [cuda.syncthreads()]"]),
        ("one_apart", ["threads 3 wait for threads 0-2, 4-31 at syncthreads"]),
        ("not_in_its_mask", ["is not in its mask 0x000000ff"]),
        (
            "value_of_the_exited",
            ["threads 4-31 wait for threads 0-3 at redux_max", "threads 0-3 have exited"],
        ),
    ],
)
def test_a_barrier_that_not_all_reach_is_an_error(name: str, messages: list[str]) -> None:
    with pytest.raises(DivergentBarrier) as caught:
        per_thread(divergent(name), 32, np.int32)
    for message in messages:
        assert message in str(caught.value)


def test_lanes_that_the_block_does_not_have_cannot_give_values() -> None:
    def kernel(out: Any) -> None:
        out[cuda.threadIdx.x] = redux_max(FULL, uint32(1))

    with pytest.raises(DivergentBarrier, match="threads 32-39 wait for threads 40-63"):
        per_thread(kernel, 40, np.int32)


@pytest.mark.parametrize("seed", SEEDS)
def test_barriers_do_without_exited_threads(seed: int) -> None:
    def kernel(out: Any) -> None:
        i = cuda.threadIdx.x
        if i % 32 < 5 or i >= 64:
            return
        cuda.atomic.add(out, 0, 1)
        cuda.syncwarp()
        cuda.syncthreads()
        out[i] = out[0]

    out = per_thread(kernel, 96, np.int32, seed=seed)
    assert set(out[5:32]) == set(out[37:64]) == {54}


# Races.


def touching(first: str, then: str, barrier: Any) -> Any:
    """Thread 0 does ``first`` to an element, a barrier, then all threads but 0 do ``then``."""

    @device
    def write(s: Any) -> None:
        s[3] = cuda.threadIdx.x

    @device
    def read(s: Any) -> None:
        cuda.local.array(1, np.int32)[0] = s[3]

    @device
    def atomic(s: Any) -> None:
        cuda.atomic.add(s, 3, 1)

    actions = {"write": write, "read": read, "atomic": atomic}
    one, other = actions[first], actions[then]

    def kernel(last: Any) -> None:
        s = cuda.shared.array(4, np.int32)
        if cuda.threadIdx.x == 0:
            one(s)
        barrier()
        if cuda.threadIdx.x == last:
            other(s)

    return kernel


@device
def block_barrier() -> None:
    cuda.syncthreads()


@device
def warp_barrier() -> None:
    cuda.syncwarp()


@device
def vote() -> None:
    cuda.any_sync(FULL, True)


@device
def no_barrier() -> None:
    pass


CONFLICTS = [
    ("write", "read"),
    ("read", "write"),
    ("write", "write"),
    ("atomic", "read"),
    ("write", "atomic"),
]


@pytest.mark.parametrize(("first", "then"), CONFLICTS)
@pytest.mark.parametrize(("barrier", "last"), [(no_barrier, 5), (vote, 5), (warp_barrier, 40)])
def test_an_unordered_conflict_is_a_race(first: str, then: str, barrier: Any, last: int) -> None:
    for seed in SEEDS:
        with pytest.raises(RaceDetected, match=r"shared array of int32 .*element 3 .*no barrier between"):
            run(touching(first, then, barrier), 1, 64, (int32(last),), seed, race_check=True)


@pytest.mark.parametrize(("first", "then"), CONFLICTS)
@pytest.mark.parametrize(("barrier", "last"), [(warp_barrier, 5), (block_barrier, 40)])
def test_a_barrier_orders(first: str, then: str, barrier: Any, last: int) -> None:
    for seed in SEEDS:
        run(touching(first, then, barrier), 1, 64, (int32(last),), seed, race_check=True)


@pytest.mark.parametrize("kind", ["read", "atomic"])
def test_reads_and_atomics_do_not_race_among_themselves(kind: str) -> None:
    run(touching(kind, kind, no_barrier), 1, 64, (int32(5),), race_check=True)


def test_a_race_names_both_places() -> None:
    with pytest.raises(RaceDetected) as caught:
        run(touching("write", "read", no_barrier), 1, 64, (int32(5),), race_check=True)
    for part in ("thread 0", "thread 5", "in write [s[3] = cuda.threadIdx.x]", "in read ["):
        assert part in str(caught.value)


def test_overlapping_types_race_in_dynamic_memory() -> None:
    def kernel() -> None:
        if cuda.threadIdx.x == 0:
            cuda.shared.array(0, np.complex128)[0] = 1j
        else:
            cuda.shared.array(0, np.float32)[3] = 1.0

    with pytest.raises(RaceDetected, match="dynamic shared memory: element 3 of 4 bytes"):
        run(kernel, 1, 2, (), dynamic_shared=16, race_check=True)


@pytest.mark.parametrize(("element", "races"), [(2, False), (3, True)])
def test_a_window_races_with_the_whole(element: int, races: bool) -> None:
    def kernel(whole: Any) -> None:
        s = cuda.shared.array(4, np.float64)
        if cuda.threadIdx.x == 0:
            s[1:][2] = 1.0
        else:
            s[whole] = 1.0

    def detected() -> bool:
        try:
            run(kernel, 1, 2, (int32(element),), race_check=True)
        except RaceDetected:
            return True
        return False

    assert detected() is races


# A kernel in the style of the shipped ones: a row per lane, the pivot row through shared memory.

ORDER = 12


@device
def published() -> None:
    cuda.syncwarp(FULL)


@device
def consumed() -> None:
    cuda.syncwarp(FULL)


def lu_without_pivoting(a: Any, ld: Any) -> None:
    """Factor one diagonally dominant matrix; two barriers a step, since the mailbox has one slot."""
    lane = uint32(cuda.threadIdx.x)
    row = cuda.local.array(ORDER, np.float32)
    mailbox = cuda.shared.array(ORDER, np.float32)
    for k in range(ORDER):
        row[k] = a[min(lane, uint32(ORDER - 1)) + uint32(k) * ld]
    for j in range(ORDER):
        if lane == uint32(j):
            for k in range(j, ORDER):
                mailbox[k] = row[k]
        published()
        if lane > uint32(j):
            row[j] = row[j] / mailbox[j]
            for k in range(j + 1, ORDER):
                row[k] = row[k] - row[j] * mailbox[k]
        consumed()
    for k in range(ORDER):
        if lane < uint32(ORDER):
            a[lane + uint32(k) * ld] = row[k]


def factored(seed: int, **options: Any) -> tuple[np.ndarray, float]:
    """Factors, and the error of their product."""
    a = np.random.default_rng(5).random((ORDER, ORDER), np.float32) + float32(ORDER) * np.eye(
        ORDER, dtype=float32
    )
    memory = a.T.ravel().copy()
    run(lu_without_pivoting, 1, 32, (memory, uint32(ORDER)), seed, **options)
    lu = memory.reshape(ORDER, ORDER).T.astype(np.float64)
    return memory, float(abs((np.tril(lu, -1) + np.eye(ORDER)) @ np.triu(lu) - a).max())


def test_a_right_kernel_gives_the_same_bits_on_every_schedule() -> None:
    runs = [factored(seed, race_check=True, init_check=True) for seed in SEEDS]
    assert max(error for _, error in runs) < 1e-5
    assert len({memory.tobytes() for memory, _ in runs}) == 1


@pytest.mark.parametrize("barrier", [published, consumed], ids=["published", "consumed"])
def test_a_dropped_warp_barrier_shows(barrier: Any) -> None:
    dropped = {barrier: without_barrier}
    errors = [factored(seed, overrides=dropped)[1] for seed in SEEDS]
    assert not all(error < 1e-5 for error in errors)
    with pytest.raises(RaceDetected, match="lu_without_pivoting"):
        factored(0, overrides=dropped, race_check=True)


# What cannot be run.


def one_argument(out: Any) -> None:
    out[0] = 1


@pytest.mark.parametrize(
    ("grid", "block", "args", "message"),
    [
        (1, 1, (np.zeros((2, 2)),), r"^out: got an array of shape \(2, 2\)"),
        (1, 1, (np.zeros(4)[::2],), r"^out: got .* strides \(16,\), accepted are contiguous"),
        (1, 1, (np.zeros(1), 3), "^args: got 2, accepted are the 1 of one_argument"),
        (0, 1, (np.zeros(1),), "^grid: got 0"),
        ((1, 1, 1, 1), 1, (np.zeros(1),), "^grid: got"),
        (1, (64, 17), (np.zeros(1),), r"^block: got \(64, 17\), .* at most 1024"),
    ],
)
def test_arguments_are_checked(grid: Any, block: Any, args: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        run(one_argument, grid, block, args)


def uses_activemask(out: Any) -> None:
    out[0] = cuda.activemask()


def test_a_name_without_a_twin_is_an_error_unless_replaced() -> None:
    with pytest.raises(EmulatorError, match=r"activemask.*no twin in the emulator.*uses_activemask"):
        per_thread(uses_activemask, 1, np.uint32)
    assert per_thread(uses_activemask, 1, np.uint32, overrides={cuda.activemask: lambda: 9}).tolist() == [9]


def test_a_replacement_may_use_what_it_replaces() -> None:
    @device
    def doubled(mask: Any, value: Any) -> Any:
        return redux_max(mask, value) * uint32(2)

    def kernel(out: Any) -> None:
        out[cuda.threadIdx.x] = redux_max(FULL, uint32(cuda.threadIdx.x))

    assert set(per_thread(kernel, 32, np.uint32, overrides={redux_max: doubled})) == {62}


def test_an_exception_says_which_thread() -> None:
    def kernel(out: Any) -> None:
        out[0.5] = 1

    with pytest.raises(TypeError) as caught:
        per_thread(kernel, 1, np.int32)
    assert caught.value.__notes__ == ["in block 0, thread 0 of the emulated kernel"]


def test_a_failed_run_leaves_no_thread_behind() -> None:
    with pytest.raises(DivergentBarrier):
        per_thread(divergent("two_collectives"), 32, np.int32)
    gc.collect()
    others = [thing for thing in gc.get_objects() if isinstance(thing, greenlet) and thing.parent is not None]
    assert not [thread for thread in others if not thread.dead]
