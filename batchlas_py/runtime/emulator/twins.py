"""Python twins of what `numba.cuda` offers inside a kernel."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from functools import cache
from typing import Any, Final

import numpy as np
from numba import cuda as numba_cuda

from ...kernels.device.intrinsics import Collective
from ...kernels.device.inverse_root import TWINS
from .findings import site
from .fused import fma
from .memory import Memory, dtype_of, poisoned
from .threads import SYNCWARP, WARP, Extent, Thread, me

cuda: Any = numba_cuda
NAMESPACES: Final = frozenset(map(id, (cuda.shared, cuda.local, cuda.atomic)))
FULL_MASK: Final = 0xFFFFFFFF
FIVE_BITS: Final = 0x1F


class Reading:
    """A name whose value depends on the thread that asks."""

    def __init__(self, read: Callable[[Thread], Any]) -> None:
        self.read = read


class Index:
    """``threadIdx``, ``blockIdx``, ``blockDim`` or ``gridDim``."""

    def __init__(self, read: Callable[[Thread], Extent]) -> None:
        self._read = read

    def __getattr__(self, axis: str) -> np.int32:
        """Read the running thread's ``x``, ``y`` or ``z``."""
        return np.int32(self._read(me())["xyz".index(axis)])


def _coordinates(number: int, extent: Extent) -> Extent:
    x, y, _ = extent
    return number % x, number // x % y, number // (x * y)


def _shape(shape: Any) -> tuple[int, ...]:
    return tuple(int(extent) for extent in np.atleast_1d(shape))


def _name(space: str, dtype: Any) -> str:
    where = site()
    return f"{space} array of {dtype_of(dtype).name} from {where.function}, line {where.line}"


def _shared_array(shape: Any, dtype: Any, alignment: int | None = None) -> Memory:
    frame = sys._getframe(1)
    call = id(frame.f_code), frame.f_lasti
    return me().block.shared_array(call, _name("shared", dtype), _shape(shape), dtype)


def _local_array(shape: Any, dtype: Any, alignment: int | None = None) -> Memory:
    return me().block.local_array(_name("local", dtype), _shape(shape), dtype)


def _syncthreads() -> None:
    me().meet_block()


def _syncwarp(mask: int = FULL_MASK) -> None:
    me().meet_warp(SYNCWARP, int(mask) & FULL_MASK)


def _warp_call(collective: Collective) -> Callable[..., Any]:
    def call(mask: int, *operands: Any) -> Any:
        return me().meet_warp(collective, int(mask) & FULL_MASK, operands)

    return call


def _shuffle(name: str, source_of: Callable[[int, int], int]) -> Callable[..., Any]:
    """Make a shuffle: past the warp's ends a lane keeps its value, outside the mask it reads poison."""

    def combine(values: dict[int, tuple[Any, ...]], lane: int) -> Any:
        own, operand = values[lane]
        source = source_of(lane, int(operand) & FIVE_BITS)
        if not 0 <= source < WARP:
            return own
        return values[source][0] if source in values else poisoned(1, np.asarray(own).dtype)[0]

    return _warp_call(Collective(name, combine))


def _vote(name: str, count: Callable[[list[bool]], Any]) -> Callable[..., Any]:
    return _warp_call(Collective(name, lambda values, _lane: count([bool(v[0]) for v in values.values()])))


def _ballot(values: dict[int, tuple[Any, ...]], _lane: int) -> np.int32:
    return np.uint32(sum(1 << lane for lane, (predicate,) in values.items() if predicate)).view(np.int32)


def _atomic(fold: Callable[..., Any]) -> Callable[..., Any]:
    def update(memory: Memory, index: Any, *operands: Any) -> Any:
        return memory.modify(index, fold, operands)

    return update


def _bits(value: Any) -> int:
    return int.from_bytes(np.asarray(value).tobytes(), sys.byteorder)


def _first_bit(value: Any) -> np.uint32:
    return np.uint32((_bits(value) & -_bits(value)).bit_length())


def _leading_zeros(value: Any) -> np.uint32:
    return np.uint32(8 * np.asarray(value).itemsize - _bits(value).bit_length())


def _complex(*parts: Any) -> Any:
    """Call ``complex`` as Numba types it, by its parts: two float32 give a complex64."""
    return _complex_type(tuple(map(type, parts)))(complex(*parts))


@cache
def _complex_type(kinds: tuple[type, ...]) -> type[np.complexfloating]:
    found: type[np.complexfloating] = np.result_type(np.complex64, *map(np.dtype, kinds)).type
    return found


_NAMES: Final[dict[Any, Any]] = {
    **{
        getattr(math, name): getattr(np, name)
        for name in ("sqrt", "fabs", "copysign", "hypot", "isnan", "isinf")
    },
    complex: _complex,
    cuda.threadIdx: Index(lambda thread: _coordinates(thread.number, thread.block.launch.block)),
    cuda.blockIdx: Index(lambda thread: _coordinates(thread.block.number, thread.block.launch.grid)),
    cuda.blockDim: Index(lambda thread: thread.block.launch.block),
    cuda.gridDim: Index(lambda thread: thread.block.launch.grid),
    cuda.laneid: Reading(lambda thread: np.int32(thread.lane)),
    cuda.warpsize: np.int32(WARP),
    cuda.shared.array: _shared_array,
    cuda.local.array: _local_array,
    cuda.syncthreads: _syncthreads,
    cuda.syncwarp: _syncwarp,
    cuda.shfl_sync: _shuffle("shfl_sync", lambda _lane, source: source),
    cuda.shfl_xor_sync: _shuffle("shfl_xor_sync", lambda lane, bits: lane ^ bits),
    cuda.shfl_up_sync: _shuffle("shfl_up_sync", lambda lane, delta: lane - delta),
    cuda.shfl_down_sync: _shuffle("shfl_down_sync", lambda lane, delta: lane + delta),
    cuda.all_sync: _vote("all_sync", all),
    cuda.any_sync: _vote("any_sync", any),
    cuda.eq_sync: _vote("eq_sync", lambda predicates: len(set(predicates)) == 1),
    cuda.ballot_sync: _warp_call(Collective("ballot_sync", _ballot)),
    cuda.atomic.add: _atomic(lambda old, value: old + value),
    cuda.atomic.max: _atomic(max),
    cuda.atomic.min: _atomic(min),
    cuda.atomic.cas: _atomic(lambda old, expected, value: value if old == expected else old),
    cuda.fma: fma,
    cuda.selp: lambda condition, chosen, other: chosen if condition else other,
    cuda.popc: lambda value: np.uint32(_bits(value).bit_count()),
    cuda.ffs: _first_bit,
    cuda.clz: _leading_zeros,
    **{name: _warp_call(twin) if isinstance(twin, Collective) else twin for name, twin in TWINS.items()},
}
BY_IDENTITY: Final = {id(name): twin for name, twin in _NAMES.items()}
