"""Reflectors applied to tiles: both orders, conjugated or not, parts of tiles, every schedule."""

from __future__ import annotations

import numpy as np
import pytest

from batchlas_py.dtypes import is_complex
from batchlas_py.kernels.qr_specs import ApplySpec
from batchlas_py.testing import qr_oracle

from ..qr_checks import conditioned
from . import inputs
from .inputs import each_dtype
from .launching import SEEDS
from .qr_launching import qr_apply, upper

Q, Q_ADJOINT, RIGHT_Q, RIGHT_Q_ADJOINT = (1, 0, 0), (0, 0, 1), (0, 1, 0), (1, 1, 1)
WAYS = {"L N": Q, "L C": Q_ADJOINT, "R N": RIGHT_Q, "R C": RIGHT_Q_ADJOINT}
each_way = pytest.mark.parametrize("way", WAYS)
each_layout = pytest.mark.parametrize("layout", ["F-ld", "C-ld"])


def reflectors(m: int, k: int, dtype: str, batch: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Vectors and weights of random matrices."""
    items = [qr_oracle.geqr2(a) for a in conditioned(batch, m, k, dtype)]
    return np.array([item.qr for item in items]), np.array([item.tau for item in items])


def judge(result: np.ndarray, expected: np.ndarray, m: int) -> None:
    limit = 30 * m * np.finfo(result.dtype).eps * max(float(abs(expected).max()), 1)
    assert abs(result - expected).max() < limit


def expected(v: np.ndarray, tau: np.ndarray, c: np.ndarray, way: str) -> np.ndarray:
    side, trans = way.split()
    given = c if side == "L" else c.swapaxes(1, 2)
    found = [qr_oracle.orm2r(*item, side, trans) for item in zip(v, tau, given, strict=True)]
    return np.array(found) if side == "L" else np.array(found).swapaxes(1, 2)


@each_way
@each_dtype
def test_on_every_schedule(dtype: str, way: str) -> None:
    """Several groups over the rows, and a part of a tile."""
    spec, (v, tau) = ApplySpec(dtype, 8, 8, 256), reflectors(19, 6, dtype)
    c = inputs.random_batch(19, dtype, 2, 11)
    first, *others = (qr_apply(v, tau, c, spec, WAYS[way], seed=seed) for seed in SEEDS[:2])
    judge(first, expected(v, tau, c, way), 19)
    for other in others:
        assert first.tobytes() == other.tobytes()


@each_layout
@pytest.mark.parametrize("lanes", [4, 16, 32])
def test_widths_of_tiles(lanes: int, layout: str) -> None:
    v, tau = reflectors(13, 13, "float32")
    c = inputs.random_batch(13, "float32", 2, 35)
    result = qr_apply(v, tau, c, ApplySpec("float32", 8, lanes, 256), Q, layout)
    judge(result, expected(v, tau, c, "L N"), 13)


@pytest.mark.parametrize("m", [32, 33, 65])
def test_shipped_rows(m: int) -> None:
    v, tau = reflectors(m, 3, "float64", 1)
    c = inputs.random_batch(m, "float64", 1, 5)
    judge(qr_apply(v, tau, c, ApplySpec("float64", 32, 32, 128), Q), expected(v, tau, c, "L N"), m)


@each_dtype
@pytest.mark.parametrize("columns", [7, 12, 19])
def test_from_the_identity(dtype: str, columns: int) -> None:
    """What is there is not read: it may be NaN."""
    v, tau = reflectors(19, 7, dtype)
    nothing = np.full((2, 19, columns), np.nan, dtype)
    result = qr_apply(v, tau, nothing, ApplySpec(dtype, 8, 8, 256), Q, unit=True)
    found = np.array([qr_oracle.org2r(*item, columns) for item in zip(v, tau, strict=True)])
    judge(result, found, 19)


@each_dtype
def test_what_is_above_the_vectors_is_not_read(dtype: str) -> None:
    v, tau = reflectors(12, 5, dtype)
    c = inputs.random_batch(12, dtype, 2, 4)
    spoiled = v.copy()
    spoiled[:, np.triu_indices(12, 0, 5)[0], np.triu_indices(12, 0, 5)[1]] = np.nan
    spec = ApplySpec(dtype, 8, 8, 256)
    assert qr_apply(spoiled, tau, c, spec, Q).tobytes() == qr_apply(v, tau, c, spec, Q).tobytes()


@each_dtype
def test_there_and_back(dtype: str) -> None:
    v, tau = reflectors(17, 9, dtype)
    c, spec = inputs.random_batch(17, dtype, 2, 6), ApplySpec(dtype, 8, 8, 256)
    judge(qr_apply(v, tau, qr_apply(v, tau, c, spec, Q), spec, Q_ADJOINT), c, 17)


@each_layout
@pytest.mark.parametrize("rows", [3, 5])
def test_the_upper_triangle_alone_is_copied(rows: int, layout: str) -> None:
    for dtype in ("float32", "complex128"):
        a = inputs.random_batch(6, dtype, 60, 4)
        np.testing.assert_array_equal(upper(a, rows, layout), np.triu(a)[:, :rows])
        assert is_complex(dtype) == np.iscomplexobj(upper(a, rows, layout))
