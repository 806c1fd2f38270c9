"""PTX instructions that Numba-CUDA has no name for, each with a twin that the emulator runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.cuda.extending import intrinsic

__all__ = [
    "TWINS",
    "Collective",
    "bits_f32",
    "bits_f64",
    "f32_from_bits",
    "f64_from_bits",
    "rcp_f32",
    "rcp_f64",
    "redux_max",
    "redux_min",
]

I32, I64, F32, F64 = ir.IntType(32), ir.IntType(64), ir.FloatType(), ir.DoubleType()


@dataclass(frozen=True)
class Collective:
    """A warp collective: every thread of ``mask`` calls it, and each gets ``combine(values, lane)``.

    ``combine`` takes the values by lane (a dict from lane to tuple of operands) and the calling lane.
    """

    name: str
    combine: Callable[[dict[int, tuple[Any, ...]], int], Any]


TWINS: dict[Any, Callable[..., Any] | Collective] = {}


def _assembly(code: str, constraints: str, signature: Any, llvm: list[Any], *, volatile: bool = False) -> Any:
    """An intrinsic of one inline-assembly statement; ``llvm`` lists the result type, then the operands'."""
    result, *operands = llvm

    def codegen(_context, builder, _signature, values):
        function = ir.FunctionType(result, operands)
        call = ir.InlineAsm(function, code, constraints, side_effect=volatile)
        return builder.call(call, list(values))

    def unary(_typing, value):
        return signature, codegen

    def binary(_typing, left, right):
        return signature, codegen

    return intrinsic(unary if len(operands) == 1 else binary)


def _redux(kind: str, fold: Callable[..., Any]) -> Any:
    code = f"redux.sync.{kind}.u32 $0, $2, $1;"
    signature = types.uint32(types.uint32, types.uint32)
    emit = _assembly(code, "=r,r,r", signature, [I32, I32, I32], volatile=True)
    TWINS[emit] = Collective(
        f"redux_{kind}", lambda values, _lane: np.uint32(fold(v[0] for v in values.values()))
    )
    return emit


def _function(
    code: str, constraints: str, signature: Any, llvm: list[Any], twin: Callable[[Any], Any]
) -> Any:
    emit = _assembly(code, constraints, signature, llvm)
    TWINS[emit] = twin
    return emit


redux_max = _redux("max", max)  # (mask, value) -> largest value of the mask's lanes; needs sm_80
redux_min = _redux("min", min)

bits_f32 = _function(
    "mov.b32 $0, $1;",
    "=r,f",
    types.uint32(types.float32),
    [I32, F32],
    lambda v: np.float32(v).view(np.uint32),
)
bits_f64 = _function(
    "mov.b64 $0, $1;",
    "=l,d",
    types.uint64(types.float64),
    [I64, F64],
    lambda v: np.float64(v).view(np.uint64),
)
f32_from_bits = _function(
    "mov.b32 $0, $1;",
    "=f,r",
    types.float32(types.uint32),
    [F32, I32],
    lambda v: np.uint32(v).view(np.float32),
)
f64_from_bits = _function(
    "mov.b64 $0, $1;",
    "=d,l",
    types.float64(types.uint64),
    [F64, I64],
    lambda v: np.uint64(v).view(np.float64),
)
rcp_f32 = _function(
    "rcp.approx.ftz.f32 $0, $1;",
    "=f,f",
    types.float32(types.float32),
    [F32, F32],
    lambda v: np.float32(1) / v,
)
rcp_f64 = _function(
    "rcp.approx.ftz.f64 $0, $1;",
    "=d,d",
    types.float64(types.float64),
    [F64, F64],
    lambda v: np.float64(1) / v,
)
