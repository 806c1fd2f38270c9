"""A number whose origin the optimiser does not see: what a loop makes of it is made in the loop."""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.cuda.extending import intrinsic

from .pointers import TWINS

__all__ = ["TWINS", "opaque"]


@intrinsic
def opaque(_typing, value):
    """``int32 -> int32``, the same; multiples of a stride would otherwise fill registers all the while."""

    def codegen(_context, builder, _signature, values):
        word = ir.IntType(32)
        same = ir.InlineAsm(ir.FunctionType(word, [word]), "mov.b32 $0, $1;", "=r,r", side_effect=True)
        return builder.call(same, list(values))

    return types.int32(types.int32), codegen


TWINS[opaque] = lambda value: value
