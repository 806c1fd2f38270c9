"""The tiny QR kernels themselves: every bucket, both memory orders, every schedule, hard inputs."""

from __future__ import annotations

import numpy as np
import pytest

from batchlas_py.dtypes import DTYPES, is_complex
from batchlas_py.kernels.qr_bounds import TINY
from batchlas_py.kernels.qr_choice import tiny_limit, tiny_spec
from batchlas_py.testing import matgen, qr_oracle, ratios

from ..checks import check_neighbours
from ..qr_checks import check_geqrf, check_like_lapack, check_qr, conditioned, explicit_q
from . import inputs
from .inputs import each_complex_dtype, each_dtype
from .launching import SEEDS
from .qr_launching import Factors, geqrf_tiny, orgqr_tiny, qr_tiny

SHAPES = [(3, 3), (4, 2), (2, 4), (7, 6), (5, 8), (11, 13), (17, 5)]
each_shape = pytest.mark.parametrize("shape", SHAPES, ids=str)
# All shapes column-major, and a tall and a wide one row-major.
PLACED = [*((shape, "F-ld") for shape in SHAPES), ((7, 6), "C-ld"), ((5, 8), "C-ld")]
each_placed = pytest.mark.parametrize(("shape", "layout"), PLACED, ids=str)
each_layout = pytest.mark.parametrize("layout", ["F-ld", "C-ld"])


def random_batch(m: int, n: int, dtype: str, batch: int = 0) -> np.ndarray:
    """More matrices than a block takes, unless said otherwise."""
    return inputs.random_batch(m, dtype, batch or tiny_spec("geqrf", dtype, m, n).per_block + 1, n)


def factor(a: np.ndarray, layout: str = "F-ld", seed: int = 0) -> Factors:
    return geqrf_tiny(a, tiny_spec("geqrf", a.dtype.name, *a.shape[1:]), layout, seed=seed)


@each_placed
@each_dtype
def test_factors_on_every_schedule(dtype: str, shape: tuple[int, int], layout: str) -> None:
    a = random_batch(*shape, dtype)
    first, *others = (factor(a, layout, seed) for seed in SEEDS[:2])
    check_geqrf(a, *first)
    for other in others:
        assert all(x.tobytes() == y.tobytes() for x, y in zip(first, other, strict=True))


@each_layout
@pytest.mark.parametrize(("rows", "lanes"), TINY)
def test_every_bucket(rows: int, lanes: int, layout: str) -> None:
    """The whole bucket, and with registers to spare."""
    dtype = DTYPES[(rows + lanes) // 4 % 4]
    for m, n in ((rows, lanes), (rows - 1, lanes - 1), (1, 1), (rows, 1)):
        n = min(n, tiny_limit("geqrf", dtype, "sm_90"))
        a = random_batch(m, n, dtype, 2)
        check_geqrf(a, *factor(a, layout))


@each_shape
@each_dtype
def test_reflectors_are_those_of_lapack(dtype: str, shape: tuple[int, int]) -> None:
    a = conditioned(2, *shape, dtype)
    check_like_lapack(a, *factor(a))


@pytest.mark.parametrize("layout", ["sliced", "F", "C"])
def test_other_strides(layout: str) -> None:
    a = random_batch(6, 5, "complex64", 3)
    check_geqrf(a, *factor(a, layout))


@each_dtype
def test_a_triangle_is_its_own_factor(dtype: str) -> None:
    """Nothing below the diagonal, which is real: no reflector, and not a bit changes."""
    a = np.triu(random_batch(6, 6, dtype, 3))
    for item in a:
        np.fill_diagonal(item, item.diagonal().real)
    a[1, :, 2] = 0
    qr, tau = factor(a)
    np.testing.assert_array_equal(qr, a)
    assert not tau.any()


@each_complex_dtype
def test_a_complex_diagonal_becomes_real(dtype: str) -> None:
    """Also of one row, where there is nothing below it."""
    a = random_batch(1, 3, dtype, 4)
    qr, tau = factor(a)
    check_like_lapack(a, qr, tau)
    assert tau.all() and not qr[:, 0, 0].imag.any()


@each_dtype
def test_the_diagonal_has_the_other_sign(dtype: str) -> None:
    a = random_batch(5, 2, dtype, 6)
    qr, _ = factor(a)
    np.testing.assert_array_equal(np.sign(qr[:, 0, 0].real), -np.sign(a[:, 0, 0].real))


def integers(m: int, n: int, dtype: str, batch: int) -> np.ndarray:
    """Small whole numbers, which powers of two scale exactly."""
    rng = np.random.default_rng(m * n)
    parts = rng.integers(-7, 8, (2, batch, m, n)).astype(float)
    numbers: np.ndarray = parts[0] + 1j * parts[1] if is_complex(dtype) else parts[0]
    return numbers.astype(dtype)


@pytest.mark.parametrize("end", [inputs.LARGEST, inputs.SMALLEST])
@each_dtype
def test_powers_of_two_change_nothing(dtype: str, end: str) -> None:
    """Neither near overflow nor among subnormal numbers: same vectors and weights to the last bit."""
    a, limits = integers(6, 5, dtype, 3), np.finfo(dtype)
    power = float(limits.smallest_subnormal) if end == inputs.SMALLEST else float(limits.max) / 64
    power = 2.0 ** np.floor(np.log2(power)) if end == inputs.LARGEST else power
    plain, scaled = factor(a), factor((a * power).astype(dtype))
    assert scaled.tau.tobytes() == plain.tau.tobytes()
    np.testing.assert_array_equal(np.tril(scaled.qr, -1), np.tril(plain.qr, -1))
    error = abs(np.triu(scaled.qr).astype(np.clongdouble) / power - np.triu(plain.qr))
    assert error.max() <= (1 if end == inputs.SMALLEST else 0)


@each_dtype
def test_columns_may_be_scaled_apart(dtype: str) -> None:
    """Products of columns would overflow or vanish, and must not."""
    a = integers(6, 4, dtype, 3)
    far = float(2.0 ** (np.finfo(dtype).maxexp * 3 // 4))
    powers = np.array([far, 1 / far, far, 1 / far])
    plain, scaled = factor(a), factor((a * powers).astype(dtype))
    assert scaled.tau.tobytes() == plain.tau.tobytes()
    np.testing.assert_array_equal(np.tril(scaled.qr, -1), np.tril(plain.qr, -1))
    np.testing.assert_array_equal(np.triu(scaled.qr), np.triu(plain.qr) * powers)


@each_shape
@each_dtype
def test_squares_that_vanish(dtype: str, shape: tuple[int, int]) -> None:
    """Below the first row all is so small that its square is zero; no reflector may be left out."""
    a = random_batch(*shape, dtype, 3)
    a[:, 1:] *= np.dtype(dtype).type(float(np.finfo(dtype).tiny) ** 0.75)
    qr, tau = factor(a)
    check_geqrf(a, qr, tau)
    for i in range(3):
        expected = qr_oracle.geqr2(a[i])
        np.testing.assert_array_equal(tau[i] == 0, expected.tau == 0)
        np.testing.assert_allclose(tau[i, 0], expected.tau[0], rtol=1e-4)


@each_dtype
def test_lapack_types(dtype: str) -> None:
    rng = np.random.default_rng(3)
    for m, n in ((7, 7), (8, 5)):
        a = np.array([matgen.dge(imat, m, n, dtype, rng) for imat in matgen.DGE_TYPES])
        check_geqrf(a, *factor(a))


@each_dtype
def test_rank_deficient(dtype: str) -> None:
    a = random_batch(8, 6, dtype, 3)
    a[0, :, 3] = a[0, :, 1]
    a[1, :, 2:] = 0
    a[2] = np.outer(np.arange(8), np.arange(6))
    check_geqrf(a, *factor(a))


@each_dtype
def test_nan_stays_in_its_item_and_right_of_its_column(dtype: str) -> None:
    clean = random_batch(6, 6, dtype)
    spoiled = clean.copy()
    spoiled[::2, 4, 3] = np.nan
    check_neighbours(factor, clean, spoiled)
    qr, tau = factor(spoiled)
    assert np.isnan(qr[::2, :, 3]).all() and np.isnan(tau[::2, 3:5]).all()
    np.testing.assert_array_equal(qr[::2, :, :3], factor(clean).qr[::2, :, :3])


@each_dtype
def test_a_hard_item_leaves_its_neighbours_alone(dtype: str) -> None:
    """Items of one warp take the way of tiny columns together."""
    clean = random_batch(4, 4, dtype)
    spoiled = clean.copy()
    spoiled[1] = np.triu(spoiled[1])
    check_neighbours(factor, clean, spoiled)


@each_layout
def test_spare_members_store_nothing(layout: str) -> None:
    a = random_batch(6, 6, "float32", 1)
    for seed in SEEDS:
        spec = tiny_spec("geqrf", "float32", 6, 6)
        check_geqrf(a, *geqrf_tiny(a, spec, layout, in_place=True, spare_blocks=1, seed=seed))


@each_placed
@each_dtype
def test_columns_of_q(dtype: str, shape: tuple[int, int], layout: str) -> None:
    a = random_batch(*shape, dtype, 3)
    qr, tau = factor(a)
    m, k = shape[0], tau.shape[1]
    for columns in {k, min(m, k + 2)}:
        spec = tiny_spec("orgqr", dtype, m, columns)
        first, other = (orgqr_tiny(qr[..., :k], tau, columns, spec, layout, seed=seed) for seed in SEEDS[:2])
        assert first.tobytes() == other.tobytes()
        assert ratios.dqrt11(first).passes()
        assert abs(first - explicit_q(qr, tau)[..., :columns]).max() < 30 * m * np.finfo(dtype).eps


@pytest.mark.parametrize(("shape", "layout"), [one for one in PLACED if max(one[0]) <= 16], ids=str)
@each_dtype
def test_q_and_r_in_one_launch(dtype: str, shape: tuple[int, int], layout: str) -> None:
    a, spec = random_batch(*shape, dtype), tiny_spec("qr", dtype, *shape)
    (q, r), other = (qr_tiny(a, spec, layout, seed=seed) for seed in SEEDS[:2])
    check_qr(a, q, r)
    assert (q.tobytes(), r.tobytes()) == tuple(x.tobytes() for x in other)
    qr, _ = factor(a)
    np.testing.assert_array_equal(r, np.triu(qr)[:, : r.shape[1]])


@each_dtype
def test_q_and_r_of_hard_matrices(dtype: str) -> None:
    rng = np.random.default_rng(5)
    a = np.array([matgen.dge(imat, 6, 6, dtype, rng) for imat in matgen.DGE_TYPES])
    check_qr(a, *qr_tiny(a, tiny_spec("qr", dtype, 6, 6)))
