"""Arithmetic of one element type: pivot metric, scaled reciprocal, multiply-subtract.

A pivot is divided by as ``(a s) / (pivot s)`` with ``s`` a power of two that brings the pivot near
one. The product with the reciprocal then neither overflows nor flushes to zero, whatever the pivot,
and no slow path is needed: ``|a| <= |pivot|`` holds for every row that is divided.

Products and sums are written as fused operations, so every compiler, and the emulator, rounds alike.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np
from numba import cuda

from ...dtypes import REAL_OF, is_complex
from .intrinsics import bits_f32, bits_f64, f32_from_bits, f64_from_bits, rcp_f32, rcp_f64
from .jit import device, select

__all__ = ["Arithmetic", "arithmetic"]

uint32, int32, uint64 = np.uint32, np.int32, np.uint64


class Arithmetic(NamedTuple):
    """Device functions of one element type.

    Attributes
    ----------
    element, real : type
        NumPy scalar types of an element and of its real part.
    key : device function
        ``(z, candidate) -> (high, low)``: |re| + |im| as unsigned words that order as the numbers do, NaN
        largest; ``high`` is 0 where ``candidate`` is false.
    scale : device function
        ``high -> s``: the power of two that brings a number with this key near one.
    reciprocal : device function
        ``w -> 1 / w`` for ``w`` near one in magnitude.
    times_real, multiply : device function
        ``(z, s) -> z s`` with a real factor; ``(a, b) -> a b``.
    multiply_subtract : device function
        ``(a, l, u) -> a - l u`` in fused operations.
    """

    element: Any
    real: Any
    words: int
    key: Any
    scale: Any
    reciprocal: Any
    times_real: Any
    multiply: Any
    multiply_subtract: Any


class _Real(NamedTuple):
    words: int
    bits: Any
    scale: Any
    reciprocal: Any


def _real_f32() -> _Real:
    exponent, one_step, least = uint32(0x7F800000), int32(0x00800000), int32(0x00400000)
    nothing, zero = uint32(0), np.float32(0)

    @device
    def bits(size, candidate):
        return bits_f32(select(candidate, abs(size), zero)), nothing

    @device
    def scale(high):
        return f32_from_bits(uint32(max(int32(int32(~high & exponent) - one_step), least)))

    return _Real(1, bits, scale, rcp_f32)


def _real_f64() -> _Real:
    exponent, one_step, least = uint32(0x7FF00000), int32(0x00100000), int32(0x00080000)
    word, low, one = uint64(32), uint64(0xFFFFFFFF), np.float64(1)
    nothing = uint32(0)

    @device
    def bits(size, candidate):
        pattern = bits_f64(abs(size))
        return select(candidate, uint32(pattern >> word), nothing), uint32(pattern & low)

    @device
    def scale(high):
        top_word = uint32(max(int32(int32(~high & exponent) - one_step), least))
        return f64_from_bits(uint64(top_word) << word)

    @device
    def reciprocal(x):
        # Two Newton steps: the approximation holds 20 bits.
        y = rcp_f64(x)
        y = cuda.fma(y, cuda.fma(-x, y, one), y)
        return cuda.fma(y, cuda.fma(-x, y, one), y)

    return _Real(2, bits, scale, reciprocal)


_REALS = {"float32": _real_f32, "float64": _real_f64}


def _real_arithmetic(element: Any, real: _Real) -> Arithmetic:

    @device
    def multiply(a, b):
        return a * b

    @device
    def multiply_subtract(a, l, u):
        return cuda.fma(l, -u, a)

    return Arithmetic(
        element,
        element,
        real.words,
        real.bits,
        real.scale,
        real.reciprocal,
        multiply,
        multiply,
        multiply_subtract,
    )


def _complex_arithmetic(element: Any, part: Any, real: _Real) -> Arithmetic:
    bits, invert = real.bits, real.reciprocal

    @device
    def join(re, im):
        return element(complex(re, im))

    @device
    def key(z, candidate):
        return bits(abs(z.real) + abs(z.imag), candidate)

    @device
    def times_real(z, s):
        return join(z.real * s, z.imag * s)

    @device
    def reciprocal(z):
        s = invert(cuda.fma(z.real, z.real, z.imag * z.imag))
        return join(z.real * s, -z.imag * s)

    @device
    def multiply(a, b):
        return join(cuda.fma(a.real, b.real, -(a.imag * b.imag)), cuda.fma(a.real, b.imag, a.imag * b.real))

    @device
    def multiply_subtract(a, l, u):
        re = cuda.fma(l.imag, u.imag, cuda.fma(l.real, -u.real, a.real))
        im = cuda.fma(l.imag, -u.real, cuda.fma(l.real, -u.imag, a.imag))
        return join(re, im)

    return Arithmetic(
        element, part, real.words, key, real.scale, reciprocal, times_real, multiply, multiply_subtract
    )


@functools.cache
def arithmetic(dtype: str) -> Arithmetic:
    """Device functions for ``"float32"``, ``"float64"``, ``"complex64"`` or ``"complex128"``."""
    element, part = np.dtype(dtype).type, np.dtype(REAL_OF[dtype]).type
    real = _REALS[REAL_OF[dtype]]()
    if is_complex(dtype):
        return _complex_arithmetic(element, part, real)
    return _real_arithmetic(element, real)
