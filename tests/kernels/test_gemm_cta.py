"""The product kernel: every letter, shape and layout, factors of zero, and the rounding of elimination."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from batchlas_py.dtypes import DTYPES, is_complex
from batchlas_py.kernels.block_specs import GemmSpec
from batchlas_py.testing import ratios
from batchlas_py.testing.ratios import THRESHOLD

from . import inputs, launching
from .inputs import each_dtype
from .launching import SEEDS

LETTERS = [first + second for first in "NTC" for second in "NTC"]
each_trans = pytest.mark.parametrize("trans", LETTERS)


def spec(dtype: str) -> GemmSpec:
    return GemmSpec(dtype, width=2, threads=64)


def random_batch(m: int, n: int, dtype: str, batch: int = 2) -> np.ndarray:
    return inputs.random_batch(m, dtype, batch, n)


def op(matrices: np.ndarray, trans: str) -> np.ndarray:
    turned = matrices if trans == "N" else matrices.swapaxes(1, 2)
    return turned.conj() if trans == "C" else turned


def operands(
    shape: tuple[int, int, int], trans: str, dtype: str, batch: int = 2
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Factors as they lie in memory, and the addend."""
    m, n, k = shape
    a, b = ((m, k) if trans[0] == "N" else (k, m)), ((k, n) if trans[1] == "N" else (n, k))
    return random_batch(*a, dtype, batch), random_batch(*b, dtype, batch), random_batch(m, n, dtype, batch)


def judged(
    a: np.ndarray,
    b: np.ndarray,
    c: np.ndarray,
    trans: str = "NN",
    alpha: complex = 1,
    beta: complex = 0,
    **more: Any,
) -> np.ndarray:
    result = launching.gemm(a, b, c, spec(a.dtype.name), trans=trans, alpha=alpha, beta=beta, **more)
    wide = np.result_type(a, np.float64)
    addend = beta * c.astype(wide) if beta else None
    ratio = ratios.dmmch(result, alpha * op(a.astype(wide), trans[0]), op(b.astype(wide), trans[1]), addend)
    assert ratio.worst < THRESHOLD
    return result


@each_trans
def test_every_transposition(trans: str) -> None:
    dtype = DTYPES[LETTERS.index(trans) % 2 + 2]
    judged(*operands((5, 3, 7), trans, dtype), trans, alpha=2 - 1j, beta=0.5j)


@each_dtype
def test_on_every_schedule(dtype: str) -> None:
    """Two slices along the inner extent, the second a part."""
    a, b, c = operands((3, 5, 34), "NN", dtype, batch=1)
    first, *others = (judged(a, b, c, alpha=-1, beta=1, seed=seed) for seed in SEEDS[:2])
    for other in others:
        assert first.tobytes() == other.tobytes()


@pytest.mark.parametrize(
    "shape", [(1, 1, 1), (1, 4, 3), (4, 1, 3), (32, 4, 32), (33, 3, 2), (2, 5, 65), (65, 9, 5)], ids=str
)
def test_every_shape(shape: tuple[int, int, int]) -> None:
    trans, dtype = ("NN", "TN", "NT", "TT")[sum(shape) % 4], DTYPES[sum(shape) % 2]
    judged(*operands(shape, trans, dtype, batch=1), trans, alpha=-1.5, beta=-2)


@pytest.mark.parametrize(
    "layouts",
    [("F", "C", "C"), ("C-ld", "F-ld", "F"), ("sliced", "sliced", "sliced"), ("C", "C", "C-ld")],
    ids=str,
)
def test_layouts(layouts: tuple[str, str, str]) -> None:
    a, b, c = operands((6, 5, 4), "NC", "complex64")
    first = judged(a, b, c, "NC", beta=1)
    assert judged(a, b, c, "NC", beta=1, layouts=layouts).tobytes() == first.tobytes()


@each_dtype
def test_an_addend_without_factor_is_not_read(dtype: str) -> None:
    a, b, c = operands((4, 5, 3), "NN", dtype)
    bad = np.full_like(c, np.nan)
    assert judged(a, b, bad).tobytes() == judged(a, b, c).tobytes()


@each_dtype
def test_an_empty_sum_is_the_scaled_addend(dtype: str) -> None:
    """Nothing of the factors is looked at where the inner extent is zero."""
    a, b, c = operands((4, 5, 1), "NN", dtype)
    empty = a[:, :, :0], b[:, :0]
    for beta in (0, -2):
        result = launching.gemm(*empty, c, spec(dtype), alpha=0, beta=beta)
        np.testing.assert_array_equal(result, beta * c)


@each_dtype
def test_scalars_have_two_parts(dtype: str) -> None:
    """The imaginary part of a real type's is left alone."""
    a, b, c = operands((3, 3, 2), "NN", dtype)
    given = launching.gemm(a, b, c, spec(dtype), alpha=2 + 1j, beta=-1 + 3j)
    kept = (2 + 1j, -1 + 3j) if is_complex(dtype) else (2, -1)
    wide = [x.astype(np.result_type(dtype, np.float64)) for x in (a, b, c)]
    assert ratios.dmmch(given, kept[0] * wide[0], wide[1], kept[1] * wide[2]).worst < THRESHOLD


def test_the_rounding_of_elimination() -> None:
    """C - A B takes the terms off one after another, each rounded once, over slices too."""
    a, b, c = operands((3, 2, 35), "NN", "float64", batch=1)
    expected = c.copy()
    for _, i, j in np.ndindex(expected.shape):
        for k in range(a.shape[2]):
            exact = Fraction(expected[0, i, j]) - Fraction(a[0, i, k]) * Fraction(b[0, k, j])
            expected[0, i, j] = float(exact)
    assert judged(a, b, c, alpha=-1, beta=1).tobytes() == expected.tobytes()


@each_dtype
def test_nan_stays_in_its_row_and_item(dtype: str) -> None:
    a, b, c = operands((5, 4, 3), "NN", dtype)
    clean = judged(a, b, c)
    a[1, 2, 1] = np.nan
    dirty = launching.gemm(a, b, c, spec(dtype))
    assert np.isnan(dirty[1, 2]).all()
    dirty[1, 2] = clean[1, 2]
    assert dirty.tobytes() == clean.tobytes()


def test_shipped_width() -> None:
    a, b, c = operands((9, 11, 3), "NT", "float32", batch=1)
    result = launching.gemm(a, b, c, GemmSpec("float32"), trans="NT")
    assert result.tobytes() == judged(a, b, c, "NT").tobytes()
