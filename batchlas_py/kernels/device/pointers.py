"""Pointers that move: one 64-bit addition for a matrix, 32-bit offsets for its elements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numba import types
from numba.cuda.extending import intrinsic

from .intrinsics import TWINS

__all__ = ["TWINS", "advance"]


@intrinsic
def advance(_typing, pointer, count):
    """``(pointer, count) -> pointer``: to the element ``count`` elements on."""

    def codegen(_context, builder, _signature, values):
        return builder.gep(values[0], [values[1]])

    return pointer(pointer, types.int64), codegen


@dataclass(frozen=True, slots=True)
class _Moved:
    """What the emulator runs: the same memory, counted from another element."""

    memory: Any
    start: int

    def __getitem__(self, index: Any) -> Any:
        return self.memory[self.start + int(index)]

    def __setitem__(self, index: Any, value: Any) -> None:
        self.memory[self.start + int(index)] = value


TWINS[advance] = lambda pointer, count: _Moved(pointer, int(count))
