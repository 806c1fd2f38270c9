"""Fused multiply-add: one rounding in both precisions, checked against rational arithmetic."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import cuda as numba_cuda

from batchlas_py.runtime.emulator import run
from batchlas_py.runtime.emulator.fused import fma

cuda: Any = numba_cuda
FLOAT32 = st.floats(width=32, allow_nan=False, allow_infinity=False)
FLOAT64 = st.floats(allow_nan=False, allow_infinity=False)


def is_rounded(value: Any, exact: Fraction) -> bool:
    """Whether no neighbour of ``value`` is nearer to ``exact``, nor as near with an even mantissa."""
    distance = abs(Fraction(float(value)) - exact)
    bits = value.view(f"u{value.dtype.itemsize}")
    for direction in (-np.inf, np.inf):
        other = np.nextafter(value, value.dtype.type(direction))
        further = abs(Fraction(float(other)) - exact) if np.isfinite(other) else Fraction(2) ** 2000
        if further < distance or (further == distance and bits & 1):
            return False
    return True


def check(kind: Any, *operands: float) -> None:
    a, b, c = (kind(operand) for operand in operands)
    exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
    with np.errstate(all="ignore"):
        result = fma(a, b, c)
    assert type(result) is kind
    if np.isinf(result):
        assert abs(exact) > Fraction(float(np.finfo(kind).max))
    else:
        assert is_rounded(result, exact)


@given(FLOAT32, FLOAT32, FLOAT32)
def test_one_rounding_in_float32(a: float, b: float, c: float) -> None:
    check(np.float32, a, b, c)


@given(FLOAT64, FLOAT64, FLOAT64)
def test_one_rounding_in_float64(a: float, b: float, c: float) -> None:
    check(np.float64, a, b, c)


@pytest.mark.parametrize("scale", [1.0, 1e-70, 1e-154, 1e-158, 1e-162, 1e80, 1e153])
@given(st.floats(1, 2), st.floats(1, 2))
def test_the_error_of_a_product_survives_cancellation(scale: float, a: float, b: float) -> None:
    check(np.float64, a * scale, b * scale, -(a * scale) * (b * scale))


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("last_bit", [0, 1])
def test_a_sum_next_to_a_tie_is_not_rounded_twice(sign: int, last_bit: int) -> None:
    for offset in (1, 363):
        a, b = 2.0**-12 * (1 + offset * 2.0**-23), 2.0**-12 * (1 - offset * 2.0**-23)
        for c in (1 + last_bit * 2.0**-23, -1 - last_bit * 2.0**-23):
            check(np.float32, a, sign * b, c)


@pytest.mark.parametrize(
    ("operands", "expected"),
    [
        ((np.inf, 2.0, 1.0), np.inf),
        ((np.inf, 0.0, 1.0), np.nan),
        ((1.0, 1.0, np.nan), np.nan),
        ((1e30, 1e30, -np.inf), -np.inf),
        ((-0.0, 1.0, -0.0), -0.0),
        ((-0.0, 1.0, 0.0), 0.0),
        ((1e200, 1e200, 1.0), np.inf),
        ((3e38, 3e38, 1.0), {np.float32: np.inf, np.float64: 3e38 * 3e38}),
    ],
)
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_special_values(kind: Any, operands: tuple[float, ...], expected: Any) -> None:
    with np.errstate(all="ignore"):
        result = fma(*(kind(operand) for operand in operands))
        wanted = kind(expected[kind] if isinstance(expected, dict) else expected)
    assert type(result) is kind
    assert result == pytest.approx(wanted, rel=1e-6, nan_ok=True)
    assert np.signbit(result) == np.signbit(wanted) or np.isnan(wanted)


def test_kernels_use_it() -> None:
    def kernel(x: Any, out: Any) -> None:
        out[0] = cuda.fma(x[0], x[0], -(x[0] * x[0]))

    out = np.zeros(1)
    run(kernel, 1, 1, (np.array([1 + 2.0**-30]), out))
    assert out[0] == 2.0**-60
