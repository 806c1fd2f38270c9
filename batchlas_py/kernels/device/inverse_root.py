"""Roots of pivots: the square root, and its inverse, without a slow path.

The inverse starts from the hardware's approximation, which flushes subnormal numbers, so that small pivots are
brought up by an even power of two first. One step of the iteration of third order follows.
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
rsqrt_f32 = _unary("rsqrt.approx.ftz.f32 $0, $1;", "=f,f", *F32, lambda v: np.float32(1) / np.sqrt(v))
rsqrt_f64 = _unary("rsqrt.approx.ftz.f64 $0, $1;", "=d,d", *F64, lambda v: np.float64(1) / np.sqrt(v))
sqrt_f32 = _unary("sqrt.rn.f32 $0, $1;", "=f,f", *F32, np.sqrt)
sqrt_f64 = _unary("sqrt.rn.f64 $0, $1;", "=d,d", *F64, np.sqrt)

BY_TYPE = {"float32": (rsqrt_f32, sqrt_f32, -60), "float64": (rsqrt_f64, sqrt_f64, -960)}
LIFT = 32  # exponent by which the roots of small pivots are brought up


class Roots(NamedTuple):
    """Device functions of a real type: ``p -> sqrt(p)`` and ``p -> 1 / sqrt(p)``, NaN for negative ``p``."""

    root: Any
    inverse: Any


@functools.cache
def roots(dtype: str) -> Roots:
    """Roots for the real part of an element type."""
    real = np.dtype(REAL_OF[dtype]).type
    approximate, root, least = BY_TYPE[REAL_OF[dtype]]
    small, lift, square = real(2.0**least), real(2.0**LIFT), real(4.0**LIFT)
    one, zero, half, third, infinity = real(1), real(0), real(0.5), real(0.375), real(np.inf)

    @device
    def inverse(p):
        scaled = p * select(p < small, square, one)
        y = approximate(scaled)
        error = cuda.fma(-(scaled * y), y, one)
        error = select(scaled < infinity, error, zero)
        y = cuda.fma(y * error, cuda.fma(error, third, half), y)
        return y * select(p < small, lift, one)

    return Roots(root, inverse)
