"""Roots of pivots: the square root, and its inverse, without a slow path.

The inverse starts from the hardware's approximation, and one step of Newton's iteration, or of that of third
order, makes it right but for the last bit.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import cuda, types
from numba.cuda.extending import intrinsic

from ...dtypes import REAL_OF
from .jit import device, select
from .opaque import TWINS

__all__ = ["TWINS", "Roots", "roots", "rsqrt_f32", "rsqrt_f64"]


def _unary(code: str, constraints: str, kind: Any, word: Any, twin: Callable[[Any], Any]) -> Any:
    """A function of one number by one instruction."""

    def typing(_context, value):
        def codegen(_context, builder, _signature, values):
            function = ir.FunctionType(word, [word])
            return builder.call(ir.InlineAsm(function, code, constraints, side_effect=False), list(values))

        return kind(kind), codegen

    emit = intrinsic(typing)
    TWINS[emit] = np.errstate(all="ignore")(twin)
    return emit


F32, F64 = (types.float32, ir.FloatType()), (types.float64, ir.DoubleType())
rsqrt_f32 = _unary("rsqrt.approx.f32 $0, $1;", "=f,f", *F32, lambda v: np.float32(1) / np.sqrt(v))
rsqrt_f64 = _unary("rsqrt.approx.ftz.f64 $0, $1;", "=d,d", *F64, lambda v: np.float64(1) / np.sqrt(v))
sqrt_f32 = _unary("sqrt.rn.f32 $0, $1;", "=f,f", *F32, np.sqrt)
sqrt_f64 = _unary("sqrt.rn.f64 $0, $1;", "=d,d", *F64, np.sqrt)


class Roots(NamedTuple):
    """Device functions of a real type: ``p -> sqrt(p)`` and ``p -> 1 / sqrt(p)``, NaN for negative ``p``."""

    root: Any
    inverse: Any


def _inverse_f32() -> Any:
    one, zero, half, infinity = np.float32(1), np.float32(0), np.float32(0.5), np.float32(np.inf)

    @device
    def inverse(p):
        y = rsqrt_f32(p)
        error = select(p < infinity, cuda.fma(-(p * y), y, one), zero)
        return cuda.fma(y * half, error, y)

    return inverse


def _inverse_f64() -> Any:
    """The approximation flushes subnormal numbers, so small ones are brought up by a power of four first."""
    small, lift, square = np.float64(2.0**-960), np.float64(2.0**32), np.float64(4.0**32)
    one, zero, half, third, infinity = (np.float64(value) for value in (1, 0, 0.5, 0.375, np.inf))

    @device
    def inverse(p):
        scaled = p * select(p < small, square, one)
        y = rsqrt_f64(scaled)
        error = select(scaled < infinity, cuda.fma(-(scaled * y), y, one), zero)
        y = cuda.fma(y * error, cuda.fma(error, third, half), y)
        return y * select(p < small, lift, one)

    return inverse


@functools.cache
def roots(dtype: str) -> Roots:
    """Roots for the real part of an element type."""
    if REAL_OF[dtype] == "float32":
        return Roots(sqrt_f32, _inverse_f32())
    return Roots(sqrt_f64, _inverse_f64())
