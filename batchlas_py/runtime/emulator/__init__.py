"""CUDA kernels on the CPU: the functions that are compiled, a greenlet per thread, each access checked."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from types import FunctionType
from typing import Any

import numpy as np

from ...errors import ArgumentError
from .findings import DivergentBarrier, EmulatorError, OutOfBounds, RaceDetected, UninitialisedRead
from .lifting import PLAIN, Lifter
from .memory import Memory
from .threads import Block, Extent, Launch

__all__ = ["DivergentBarrier", "EmulatorError", "OutOfBounds", "RaceDetected", "UninitialisedRead", "run"]

MAX_THREADS = 1024


def run(
    kernel: Any,
    grid: int | Sequence[int],
    block: int | Sequence[int],
    args: Sequence[Any],
    seed: int = 0,
    dynamic_shared: int = 0,
    *,
    race_check: bool = False,
    init_check: bool = False,
    overrides: Mapping[Any, Any] | None = None,
) -> None:
    """Run a kernel on the CPU as a launch would on a GPU, and raise on what a GPU would leave undefined.

    Parameters
    ----------
    kernel : `cuda.jit` dispatcher or function
        The kernel; device functions, intrinsics and `cuda` in its globals and closures get their twins.
    grid, block : int or sequence of int
        Blocks, and threads of a block, in up to three dimensions.
    args : sequence
        Contiguous one-dimensional NumPy arrays become pointers; scalars go as they are, so a NumPy
        scalar gives the type that the kernel is compiled for.
    seed : int
        Picks the order of blocks, and of threads between two collectives.
    dynamic_shared : int
        Bytes of dynamic shared memory.
    race_check : bool
        Raise `RaceDetected` when no barrier orders two conflicting accesses to shared memory.
    init_check : bool
        Raise `UninitialisedRead` when a shared or local element is read before it is written. Without
        it the read gives NaN, or 0xAB bytes; in dynamic shared memory 0xFF bytes, a NaN too.
    overrides : mapping, optional
        Objects that the kernel uses to their replacements, ``{cuda.syncwarp: lambda mask: None}``.

    Raises
    ------
    OutOfBounds, DivergentBarrier, RaceDetected, UninitialisedRead
        With the array, block, thread and source line.
    """
    function = getattr(kernel, "py_func", kernel)
    lifted = (Lifter(overrides) if overrides else PLAIN).lift(function)
    order = random.Random(seed)
    launch = Launch(
        lifted,
        _wrapped(function, args),
        _extent("grid", grid),
        _extent("block", block, MAX_THREADS),
        order,
        dynamic_shared,
        race_check,
        init_check,
    )
    blocks = math.prod(launch.grid)
    for number in order.sample(range(blocks), blocks):
        Block(launch, number).run()


def _extent(argument: str, given: int | Sequence[int], limit: float = math.inf) -> Extent:
    sizes = tuple(int(size) for size in np.atleast_1d(given))
    if not 1 <= len(sizes) <= 3 or min(sizes) < 1 or math.prod(sizes) > limit:
        raise ArgumentError(
            f"{argument}: got {given}, accepted are 1 to 3 positive sizes, product at most {limit}"
        )
    x, y, z = (*sizes, 1, 1)[:3]
    return x, y, z


def _wrapped(function: FunctionType, args: Sequence[Any]) -> tuple[Any, ...]:
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    if len(args) != len(names):
        raise ArgumentError(
            f"args: got {len(args)}, accepted are the {len(names)} of {function.__name__}: {names}"
        )
    return tuple(
        _pointer(name, arg) if isinstance(arg, np.ndarray) else arg
        for name, arg in zip(names, args, strict=True)
    )


def _pointer(name: str, array: np.ndarray) -> Memory:
    if array.ndim != 1 or not array.flags.c_contiguous:
        raise ArgumentError(
            f"{name}: got an array of shape {array.shape} and strides {array.strides}, "
            "accepted are contiguous ones of one dimension"
        )
    return Memory(f"argument {name}", array, array.shape)
