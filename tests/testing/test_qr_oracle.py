"""The QR oracle against LAPACK and at the ends of the range of numbers; ratios of right and wrong results."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import get_lapack_funcs

from batchlas_py.dtypes import DTYPES, is_complex
from batchlas_py.testing import matgen, ratios
from batchlas_py.testing.qr_oracle import geqr2, larfg, org2r, orm2r

SHAPES = [(1, 1), (5, 5), (7, 3), (3, 7)]
each_dtype = pytest.mark.parametrize("dtype", DTYPES)


def conditioned(m: int, n: int, dtype: str) -> np.ndarray:
    return matgen.with_condition(m, n, 2.0, dtype, np.random.default_rng(m + n))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@each_dtype
def test_factors_are_lapacks(dtype: str, shape: tuple[int, int]) -> None:
    a = conditioned(*shape, dtype)
    qr, tau, *_ = get_lapack_funcs("geqrf", dtype=a.dtype)(a)
    mine, limit = geqr2(a), 50 * np.finfo(dtype).eps
    assert abs(mine.qr - qr).max() < limit and abs(mine.tau - tau).max() < limit
    assert mine.qr.dtype == mine.tau.dtype == a.dtype


@pytest.mark.parametrize("power", [1, 0.5, -0.5, -1])
@each_dtype
def test_norms_of_huge_and_of_tiny_columns(dtype: str, power: float) -> None:
    scale = float(2.0 ** int(power * (np.finfo(dtype).maxexp - 4)))
    column = np.array([3, 4, 12], dtype) * np.dtype(dtype).type(scale)
    reflector = larfg(column[0], column[1:])
    assert abs(reflector.beta / np.dtype(dtype).type(scale) + 13) < 100 * np.finfo(dtype).eps
    assert abs(reflector.tau - 16 / 13) < 10 * np.finfo(dtype).eps


@each_dtype
def test_nothing_below_a_real_element_is_no_reflector(dtype: str) -> None:
    reflector = larfg(np.dtype(dtype).type(-2), np.zeros(3, dtype))
    assert (reflector.beta, reflector.tau) == (-2, 0)
    if is_complex(dtype):
        alone = larfg(np.dtype(dtype).type(3 - 4j), np.zeros(0, dtype))
        assert abs(alone.beta + 5) < 1e-5 and abs(alone.tau - (1.6 - 0.8j)) < 1e-5


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@each_dtype
def test_q_and_products(dtype: str, shape: tuple[int, int]) -> None:
    a = conditioned(*shape, dtype)
    (qr, tau), m = geqr2(a), shape[0]
    full = org2r(qr, tau, m)
    assert ratios.dqrt11(full[None]).passes()
    assert ratios.dqrt01(a[None], full[None], np.triu(qr)[None]).passes()
    for side in "LR":
        c = conditioned(m, 4, dtype) if side == "L" else conditioned(4, m, dtype)
        for trans in "NC":
            product = orm2r(qr, tau, c, side, trans)
            assert ratios.dqrt03(product[None], full[None], c[None], side, trans).passes()


@each_dtype
def test_ratios_see_what_is_wrong(dtype: str) -> None:
    a = conditioned(6, 4, dtype)
    qr, tau = geqr2(a)
    q, r = org2r(qr, tau), np.triu(qr)[:4]
    assert ratios.dqrt01(a[None], q[None], r[None]).passes()
    assert not ratios.dqrt01(a[None], q[None], 1.001 * r[None]).passes()
    assert not ratios.dqrt01(a[None], q[None, :, ::-1], r[None]).passes()
    assert not ratios.dqrt11(1.001 * q[None]).passes()
    assert not ratios.dqrt03(a[None], org2r(qr, tau, 6)[None], a[None]).passes()
    assert ratios.dqrt01(0 * a[None], q[None], 0 * r[None]).worst == 0
    assert not ratios.dqrt01(a[None] * np.nan, q[None], r[None]).passes()


def test_empty_matrices_have_no_ratio() -> None:
    none = np.zeros((2, 0, 3)), np.zeros((2, 0, 0)), np.zeros((2, 0, 3))
    assert ratios.dqrt01(*none).worst == ratios.dqrt11(none[1]).worst == 0
    assert ratios.dqrt03(none[0], none[1], none[0]).worst == 0
