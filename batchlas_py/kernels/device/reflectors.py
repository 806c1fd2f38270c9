"""Householder reflectors where each lane holds a column: no sum ever runs over lanes.

The lane of a column publishes it in shared memory; every lane forms the scalar product with a column of its
own, and so has, for itself, what the reflector subtracts. The vector is published as it is, LAPACK's
``v = s x`` scaled by no one: the factor goes into the scalars, and into the vector when it is stored.

All columns are brought near one by powers of two first, which commutes with reflectors on their left: no
scalar product then overflows, and none underflows that counts. A column whose squares still vanish is scaled
again by itself, in the mailbox alone.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import cuda

from ...dtypes import REAL_OF, is_complex
from .arithmetic import arithmetic
from .jit import device, select, static_for
from .norm_root import rooted

__all__ = [
    "BACK",
    "LEAST",
    "PULL",
    "VECTOR",
    "WEIGHT",
    "Field",
    "field",
    "largest_key",
    "power_inverse",
    "products",
    "publishing",
    "reflected",
    "reflector",
    "scaling",
    "subtracting",
]

uint32, int32 = np.uint32, np.int32
LEAST = {"float32": 2.0**-80, "float64": 2.0**-600}  # squares below are not trusted
VECTOR, WEIGHT = range(2)  # of what a lane knows of its column: the vector's factor, and tau
BACK, PULL = range(2)  # what undoes the column's scaling, and the second scaling of its vector


class Field(NamedTuple):
    """Device functions that hide whether elements are complex.

    Attributes
    ----------
    real_part, conjugate : device function
        Of an element.
    has_imaginary : device function
        Whether the imaginary part is not zero.
    multiply_add : device function
        ``(sum, x, a) -> sum + conj(x) a`` in fused operations.
    shuffle : device function
        ``(z, lane) -> z`` of another lane of the warp.
    """

    real_part: Any
    conjugate: Any
    has_imaginary: Any
    multiply_add: Any


def field(dtype: str) -> Field:
    """The functions of one element type."""
    return _complex_field(arithmetic(dtype).element) if is_complex(dtype) else _real_field()


def _real_field() -> Field:

    @device
    def same(z):
        return z

    @device
    def never(z):
        return False

    @device
    def multiply_add(total, x, a):
        return cuda.fma(x, a, total)

    return Field(same, same, never, multiply_add)


def _complex_field(element: Any) -> Field:

    @device
    def real_part(z):
        return z.real

    @device
    def conjugate(z):
        return element(complex(z.real, -z.imag))

    @device
    def has_imaginary(z):
        return z.imag != 0

    @device
    def multiply_add(total, x, a):
        re = cuda.fma(x.imag, a.imag, cuda.fma(x.real, a.real, total.real))
        im = cuda.fma(-x.imag, a.real, cuda.fma(x.real, a.imag, total.imag))
        return element(complex(re, im))

    return Field(real_part, conjugate, has_imaginary, multiply_add)


def reflector(dtype: str) -> Any:
    """LAPACK's larfg, of numbers that neither overflow nor underflow when squared.

    Returns
    -------
    device function
        ``(alpha, below, exists) -> (beta, tau, s)``: ``alpha`` is the leading element, ``below`` the sum of
        the squares below it. beta is real and has the sign that ``alpha``'s real part has not; the vector is
        ``s`` times the column. Unless ``exists``, tau is zero and the column stays.
    """
    arith, real, norm = arithmetic(dtype), arithmetic(REAL_OF[dtype]), rooted(dtype)
    invert, none, nothing = real.reciprocal, arith.element(0), real.element(0)

    @device
    def quotient(x, beta, inverse):
        # The remainder makes up for what the reciprocal is off by.
        first = x * inverse
        return cuda.fma(cuda.fma(-first, beta, x), inverse, first)

    @device
    def settled(alpha, exists, beta, tau, s):
        return select(exists, beta, alpha), select(exists, tau, none), select(exists, s, none)

    @device
    def of_real(alpha, below, exists):
        size, inverse = norm(cuda.fma(alpha, alpha, below))
        beta = -math.copysign(size, alpha)
        u = alpha - beta
        return settled(alpha, exists, beta, quotient(-u, beta, -math.copysign(inverse, alpha)), invert(u))

    if not is_complex(dtype):
        return of_real
    join, reciprocal = arith.element, arith.reciprocal

    @device
    def of_complex(alpha, below, exists):
        squares = cuda.fma(alpha.real, alpha.real, cuda.fma(alpha.imag, alpha.imag, below))
        size, inverse = norm(squares)
        beta, inverse = -math.copysign(size, alpha.real), -math.copysign(inverse, alpha.real)
        u = join(complex(alpha.real - beta, alpha.imag))
        tau = join(complex(quotient(-u.real, beta, inverse), quotient(-u.imag, beta, inverse)))
        leading, weight, factor = settled(alpha, exists, join(complex(beta, nothing)), tau, reciprocal(u))
        return leading.real, weight, factor

    return of_complex


def publishing(rows: int) -> Any:
    """``(first, a, mailbox, at)``: rows from ``first``, a constant, on go to ``mailbox[at + row]``."""

    @device
    def put(i, first, a, mailbox, at):
        if i >= first:
            mailbox[at + uint32(i)] = a[i]

    return static_for(put, range(rows), "first, a, mailbox, at")


def products(dtype: str, rows: int) -> Any:
    """``(above, a, mailbox, at) -> sum``: of conj(x) a over the rows below ``above``, a constant."""
    multiply_add, zero = field(dtype).multiply_add, arithmetic(dtype).element(0)
    parts = min(rows, 2 if is_complex(dtype) else 4)

    @device
    def term(i, above, sums, a, mailbox, at):
        if i > above:
            part = i % int32(parts)
            sums[part] = multiply_add(sums[part], mailbox[at + uint32(i)], a[i])

    @device
    def clear(k, sums):
        sums[k] = zero

    @device
    def fold(k, sums):
        sums[0] = sums[0] + sums[k]

    terms = static_for(term, range(rows), "above, sums, a, mailbox, at")
    clear_all, fold_all = static_for(clear, range(parts), "sums"), static_for(fold, range(1, parts), "sums")
    element = arithmetic(dtype).element

    @device
    def sum_up(above, a, mailbox, at):
        sums = cuda.local.array(parts, element)
        clear_all(sums)
        terms(above, sums, a, mailbox, at)
        fold_all(sums)
        return sums[0]

    return sum_up


def subtracting(dtype: str, rows: int) -> Any:
    """``(above, a, factor, mailbox, at)``: a -= factor x in the rows below ``above``, a constant."""
    multiply_subtract = arithmetic(dtype).multiply_subtract

    @device
    def one(i, above, a, factor, mailbox, at):
        if i > above:
            a[i] = multiply_subtract(a[i], factor, mailbox[at + uint32(i)])

    return static_for(one, range(rows), "above, a, factor, mailbox, at")


def largest_key(dtype: str, rows: int) -> Any:
    """``(a, keys)``: ``keys[0]`` becomes the largest magnitude, as `arithmetic`'s key orders them."""
    key = arithmetic(dtype).key

    @device
    def larger(i, a, keys):
        high, _ = key(a[i], True)
        keys[0] = max(keys[0], high)

    return static_for(larger, range(rows), "a, keys")


def scaling(dtype: str, rows: int) -> Any:
    """``(a, factor)``: all registers times a real number."""
    times_real = arithmetic(dtype).times_real

    @device
    def scale(i, a, factor):
        a[i] = times_real(a[i], factor)

    return static_for(scale, range(rows), "a, factor")


def power_inverse(dtype: str) -> Any:
    """``power -> 1 / power``, exact for the powers of two that `arithmetic`'s scale gives."""
    real = arithmetic(REAL_OF[dtype])
    key, scale = real.key, real.scale

    @device
    def inverse(power):
        high, _ = key(power, True)
        return scale(high)

    return inverse


def reflected(dtype: str) -> Any:
    """What a lane stores: ``(i, a, own, scales, diagonal) -> element``, R above, the vector below."""
    arith = arithmetic(dtype)
    times_real, multiply = arith.times_real, arith.multiply

    @device
    def value(i, a, own, scales, diagonal):
        vector = multiply(times_real(a[i], scales[PULL]), own[VECTOR])
        return select(i > diagonal, vector, times_real(a[i], scales[BACK]))

    return value
