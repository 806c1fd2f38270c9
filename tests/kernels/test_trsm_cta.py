"""The triangular solve: both triangles, both diagonals, several block rows, what must not be read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from batchlas_py.dtypes import DTYPES
from batchlas_py.kernels.block_specs import TrsmSpec
from batchlas_py.testing import ratios
from batchlas_py.testing.ratios import THRESHOLD

from . import inputs, launching
from .inputs import each_dtype
from .launching import SEEDS

each_triangle = pytest.mark.parametrize("upper", [False, True], ids=["lower", "upper"])
each_diagonal = pytest.mark.parametrize("unit", [False, True], ids=["divided", "unit"])


def spec(dtype: str) -> TrsmSpec:
    return TrsmSpec(dtype, columns=4, width=2, threads=64)


def random_batch(m: int, n: int, dtype: str, batch: int = 2) -> np.ndarray:
    return inputs.random_batch(m, dtype, batch, n)


def triangles(n: int, dtype: str, batch: int = 2) -> np.ndarray:
    """Full matrices, whose triangles are well-conditioned with either diagonal."""
    matrices: np.ndarray = random_batch(n, n, dtype, batch) / n + np.eye(n, dtype=dtype) * 2
    return matrices


def triangle_of(a: np.ndarray, *, upper: bool = False, unit: bool = False, conj: bool = False) -> np.ndarray:
    part = np.triu(a) if upper else np.tril(a)
    if unit:
        part[:, range(a.shape[1]), range(a.shape[1])] = 1
    return part.conj() if conj else part


def judged(
    a: np.ndarray,
    b: np.ndarray,
    *,
    upper: bool = False,
    unit: bool = False,
    conj: bool = False,
    alpha: complex = 1,
    **more: Any,
) -> np.ndarray:
    x = launching.trsm(a, b, spec(a.dtype.name), upper=upper, unit=unit, conj=conj, alpha=alpha, **more)
    full, wide = triangle_of(a, upper=upper, unit=unit, conj=conj), np.result_type(a, np.float64)
    assert ratios.dget02(full, x, alpha * b.astype(wide)).worst < THRESHOLD
    return x


@each_triangle
@each_diagonal
@each_dtype
def test_every_triangle(dtype: str, unit: bool, upper: bool) -> None:
    judged(triangles(5, dtype), random_batch(5, 3, dtype), upper=upper, unit=unit, alpha=-0.5)


@each_triangle
@each_diagonal
def test_conjugates(unit: bool, upper: bool) -> None:
    for dtype in DTYPES[2:]:
        a, b = triangles(6, dtype), random_batch(6, 2, dtype)
        judged(a, b, upper=upper, unit=unit, conj=True, alpha=1 + 2j)


@pytest.mark.parametrize(("n", "nrhs"), [(1, 1), (2, 9), (31, 1), (32, 5), (33, 2), (65, 1)])
@each_triangle
def test_every_shape(n: int, nrhs: int, upper: bool) -> None:
    dtype = DTYPES[n % 2]
    judged(triangles(n, dtype, 1), random_batch(n, nrhs, dtype, 1), upper=upper, unit=n % 3 == 0)


@each_triangle
def test_on_every_schedule(upper: bool) -> None:
    """Two block rows, and more right-hand sides than a block has."""
    a, b = triangles(33, "float32", 1), random_batch(33, 5, "float32", 1)
    first, *others = (judged(a, b, upper=upper, seed=seed) for seed in SEEDS)
    for other in others:
        assert first.tobytes() == other.tobytes()


@each_triangle
@pytest.mark.parametrize(
    ("layout", "in_place"), [("F", True), ("C", False), ("C-ld", True), ("sliced", False)]
)
def test_layouts_and_in_place(layout: str, in_place: bool, upper: bool) -> None:
    a, b = triangles(6, "complex64"), random_batch(6, 5, "complex64")
    first = judged(a, b, upper=upper)
    assert judged(a, b, upper=upper, layout=layout, in_place=in_place).tobytes() == first.tobytes()


@each_triangle
@each_diagonal
@pytest.mark.parametrize("n", [6, 33])
def test_the_other_triangle_is_not_read(n: int, upper: bool, unit: bool) -> None:
    dtype = "complex64" if n < 32 else "float32"
    a, b = triangles(n, dtype, 1), random_batch(n, 2, dtype, 1)
    clean = judged(a, b, upper=upper, unit=unit)
    kept = triangle_of(np.ones_like(a), upper=upper).real != 0
    if unit:
        kept &= ~np.eye(n, dtype=bool)
    a[~kept] = np.nan
    assert launching.trsm(a, b, spec(dtype), upper=upper, unit=unit).tobytes() == clean.tobytes()


@each_dtype
def test_extreme_diagonals(dtype: str) -> None:
    """Neither a pivot near overflow nor a subnormal one loses the quotient."""
    limits = np.finfo(dtype)
    huge, least = np.ldexp(1.0, limits.maxexp - 1), limits.smallest_subnormal * 16
    a = np.array([np.diag([huge, least, 1]), np.eye(3)]).astype(dtype)
    x = launching.trsm(a, a, spec(dtype))
    np.testing.assert_array_equal(x, np.tile(np.eye(3, dtype=dtype), (2, 1, 1)))


@each_dtype
def test_a_zero_on_the_diagonal_spoils_its_item_alone(dtype: str) -> None:
    a, b = triangles(4, dtype), random_batch(4, 3, dtype)
    clean = judged(a, b)
    a[0, 1, 1] = 0
    x = launching.trsm(a, b, spec(dtype))
    assert not np.isfinite(x[0, 1:]).any()
    assert x[1].tobytes() == clean[1].tobytes()


@each_dtype
def test_nan_stays_in_its_right_hand_side(dtype: str) -> None:
    a, b = triangles(5, dtype), random_batch(5, 3, dtype)
    clean = judged(a, b)
    b[1, 0, 2] = np.nan
    x = launching.trsm(a, b, spec(dtype))
    assert np.isnan(x[1, :, 2]).all()
    x[1, :, 2] = clean[1, :, 2]
    assert x.tobytes() == clean.tobytes()


def test_shipped_width() -> None:
    a, b = triangles(7, "float32", 1), random_batch(7, 9, "float32", 1)
    assert launching.trsm(a, b, TrsmSpec("float32", 16, 8, 64)).tobytes() == judged(a, b).tobytes()
