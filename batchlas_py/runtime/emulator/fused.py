"""Multiply and add with one rounding, as `fma` does it on the device."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Final

import numpy as np

SPLITTER: Final = 2.0**27 + 1
MANTISSA: Final = 2.0**53
SMALL, LARGE = 1e-130, 1e130


def fma(a: Any, b: Any, c: Any) -> Any:
    """Return ``a * b + c`` with one rounding; in float32 if all three are, else in float64."""
    x, y, z = float(a), float(b), float(c)
    if type(a) is type(b) is type(c) is np.float32:
        return np.float32(_sum_rounded_to_odd(x * y, z))
    if SMALL < abs(x) < LARGE and SMALL < abs(y) < LARGE and abs(z) < LARGE:
        return np.float64(math.fsum((x * y, _product_error(x, y), z)))
    return np.float64(_by_rationals(x, y, z))


def _sum_rounded_to_odd(x: float, y: float) -> float:
    """Add so that a second rounding, to at most half the bits, gives what one rounding would."""
    total = x + y
    rest = total - x
    error = (x - (total - rest)) + (y - rest)
    if not (error > 0 or error < 0) or int(math.frexp(total)[0] * MANTISSA) & 1:
        return total
    return math.nextafter(total, math.copysign(math.inf, error))


def _product_error(x: float, y: float) -> float:
    """Return the exact ``x y`` less the rounded one (Dekker 1971)."""
    (x_high, x_low), (y_high, y_low) = _halves(x), _halves(y)
    return ((x_high * y_high - x * y) + x_high * y_low + x_low * y_high) + x_low * y_low


def _halves(x: float) -> tuple[float, float]:
    high = SPLITTER * x - (SPLITTER * x - x)
    return high, x - high


def _by_rationals(x: float, y: float, z: float) -> float:
    """Slow, for zeros, infinities, NaN and the ends of the range."""
    rounded = float(np.float64(x) * np.float64(y) + np.float64(z))
    if not (x and y and math.isfinite(x) and math.isfinite(y) and math.isfinite(z)):
        return rounded
    try:
        return float(Fraction(x) * Fraction(y) + Fraction(z))
    except OverflowError:
        return rounded
