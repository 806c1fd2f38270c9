"""The Cholesky kernels on the emulator, called as the ops call them, and what all of them must meet.

Matrices come with numbers in the triangle that is not theirs, and with imaginary parts on the diagonal: none
of it may be read, and of the other triangle none may change.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from batchlas_py.capability import potrf_bytes
from batchlas_py.kernels.cholesky_choice import cta_warps, lpanel_spec, potrf_cta_spec, spd_tiny_spec
from batchlas_py.testing import cholesky, matgen, ratios

from ..checks import LAYOUTS, Embedded, all_nan, embed
from .launching import PAD, blank, launch, matrices

ALIEN = 1e3  # what the other triangle holds
LOWER, UPPER = "L", "U"


class Factored(NamedTuple):
    """Factor, shape (batch, n, n), and status."""

    c: np.ndarray
    info: np.ndarray


class Solved(NamedTuple):
    """Solution, shape (batch, n, nrhs), and what `Factored` has."""

    x: np.ndarray
    c: np.ndarray
    info: np.ndarray


Potrf = Callable[..., Factored]


def lower_of(batch: Embedded, uplo: str) -> tuple[np.ndarray, int, int, int]:
    """Memory and strides of a batch whose lower triangle is the named one."""
    memory, row, column, step = matrices(batch, written=True)
    return (memory, column, row, step) if uplo == UPPER else (memory, row, column, step)


def _staged(layout: str, uplo: str) -> bool:
    return LAYOUTS[layout].step == 1 and LAYOUTS[layout].column_major is (uplo == UPPER)


def _factored(
    name: str, spec: Any, a: np.ndarray, layout: str, uplo: str, blocks: int, **options: Any
) -> Factored:
    batch, n = a.shape[:2]
    target, info = embed(a, layout, PAD), np.full(batch, -7, np.int32)
    sizes = (n, batch) if name == "potrf_tiny" else (n,)
    launch(name, spec, blocks, *lower_of(target, uplo), info, *sizes, **options)
    target.assert_padding_untouched()
    return Factored(target.view, info)


def tiny(
    a: np.ndarray, layout: str = "F-ld", uplo: str = LOWER, *, seed: int = 0, spare_blocks: int = 0
) -> Factored:
    """Factor a batch by the kernel in registers."""
    spec = spd_tiny_spec(a.dtype.name, a.shape[1], _staged(layout, uplo))
    blocks = -(-len(a) // spec.per_block) + spare_blocks
    return _factored("potrf_tiny", spec, a, layout, uplo, blocks, seed=seed)


def cta(a: np.ndarray, layout: str = "F-ld", uplo: str = LOWER, *, seed: int = 0, warps: int = 0) -> Factored:
    """Factor a batch by the kernel in shared memory."""
    dtype, n = a.dtype.name, a.shape[1]
    spec = potrf_cta_spec(dtype, "sm_90")
    assert spec is not None
    threads = 32 * (warps or cta_warps(n, spec))
    return _factored(
        "potrf_cta", spec, a, layout, uplo, len(a), seed=seed, threads=threads, shared=potrf_bytes(dtype, n)
    )


def lpanel(columns: int) -> Potrf:
    """How to factor a batch by the kernel of panels."""

    def potrf(a: np.ndarray, layout: str = "F-ld", uplo: str = LOWER, *, seed: int = 0) -> Factored:
        spec, threads = lpanel_spec(a.dtype.name, columns), -(-a.shape[1] // 32) * 32
        return _factored("potrf_lpanel", spec, a, layout, uplo, len(a), seed=seed, threads=threads)

    return potrf


def posv(
    a: np.ndarray,
    b: np.ndarray,
    layout: str = "F-ld",
    uplo: str = LOWER,
    *,
    seed: int = 0,
    spare_blocks: int = 0,
) -> Solved:
    """Solve a batch with right-hand sides, shape (batch, n, nrhs), all in the same layout."""
    batch, n, nrhs = b.shape
    spec = spd_tiny_spec(a.dtype.name, n, _staged(layout, uplo), nrhs)
    sides, x, c = embed(b, layout, PAD), blank(b.shape, b.dtype, layout), embed(a, layout, PAD)
    info = np.full(batch, -7, np.int32)
    launch(
        "posv_tiny", spec, -(-batch // spec.per_block) + spare_blocks, *matrices(sides),
        *matrices(x, written=True), *lower_of(c, uplo), info, uplo == UPPER, n, nrhs, batch, seed=seed,
    )  # fmt: skip
    for one in (x, c):
        one.assert_padding_untouched()
    assert sides.view.tobytes() == b.tobytes(), "b changed"
    return Solved(x.view, c.view, info)


def dressed(a: np.ndarray, uplo: str = LOWER) -> np.ndarray:
    """Hermitian matrices with aliens in the other triangle, and imaginary parts on the diagonal."""
    half = cholesky.triangle(a, uplo)
    out = np.where(_other(a.shape[1], uplo), a.dtype.type(ALIEN), half)
    if np.iscomplexobj(a):
        out = out + 1j * ALIEN * np.eye(a.shape[1])
    return out.astype(a.dtype)


def _other(n: int, uplo: str) -> np.ndarray:
    return ~cholesky.triangle(np.ones((n, n), bool), uplo)


def random_batch(n: int, dtype: str, batch: int, uplo: str = LOWER) -> np.ndarray:
    """Positive definite matrices, dressed."""
    return dressed(cholesky.random_spd(batch, n, dtype, n), uplo)


def random_sides(batch: int, n: int, nrhs: int, dtype: str) -> np.ndarray:
    """Right-hand sides."""
    flat = matgen.random_matrix(batch * n, nrhs, dtype, np.random.default_rng(n))
    return flat.reshape(batch, n, nrhs)


def failing_batch(n: int, dtype: str, uplo: str = LOWER) -> tuple[np.ndarray, np.ndarray]:
    """Matrices that are not positive definite at the first, the last, two pivots, or are; and their info."""
    a = cholesky.random_spd(4, n, dtype, n)
    steps = [(1,), (n,), (), (n // 2 + 1, n)]
    for item, failing in enumerate(steps):
        for step in failing:
            a[item] = cholesky.indefinite(a[item], step)
    return dressed(a, uplo), np.array([min(failing, default=0) for failing in steps], np.int32)


def check_potrf(a: np.ndarray, c: np.ndarray, info: np.ndarray, uplo: str = LOWER) -> None:
    """Judge factors of dressed matrices, of which none may have failed."""
    assert not info.any(), f"info is {info}"
    ratio = cholesky.dpot01(a, c, uplo)
    assert ratio.passes(), f"ratio {ratio.worst:.3g} of item {ratio.index}"
    check_shape(a, c, info, uplo)


def check_shape(a: np.ndarray, c: np.ndarray, info: np.ndarray, uplo: str = LOWER) -> None:
    """The other triangle is what it was, and the diagonal of whole factors exactly real."""
    other = _other(a.shape[1], uplo)
    assert c[:, other].tobytes() == a[:, other].tobytes(), "the other triangle changed"
    diagonal = c[info == 0].diagonal(axis1=1, axis2=2)
    assert not diagonal.imag.any(), "the diagonal is not real"


def check_failures(potrf: Potrf, n: int, dtype: str, layout: str = "F-ld", uplo: str = LOWER) -> None:
    """The first failure counts, and what comes before it is right."""
    a, expected = failing_batch(n, dtype, uplo)
    c, info = potrf(a, layout, uplo)
    np.testing.assert_array_equal(info, expected)
    check_shape(a, c, info, uplo)
    half = cholesky.triangle(c, uplo)
    for matrix, failed, factor in zip(a, info, half, strict=True):
        done = failed - 1 if failed else n
        part = factor[:done, :done]
        assert cholesky.dpot01(matrix[:done, :done][None], part[None], uplo).passes()


def check_posv(a: np.ndarray, b: np.ndarray, x: np.ndarray, uplo: str = LOWER) -> None:
    """Judge solutions with dressed matrices."""
    ratio = ratios.dget02(cholesky.hermitian(a, uplo), x, b)
    assert ratio.passes(), f"ratio {ratio.worst:.3g} of item {ratio.index}"


def check_nan_pivot(potrf: Potrf, n: int, dtype: str) -> None:
    """A NaN in row and column k makes pivot k one that is not positive, and no other item's."""
    clean = random_batch(n, dtype, 3)
    spoiled = clean.copy()
    spoiled[1, n - 1, 0] = np.nan
    before, after = potrf(clean), potrf(spoiled)
    np.testing.assert_array_equal(after.info, [0, n, 0])
    for item in (0, 2):
        assert before.c[item].tobytes() == after.c[item].tobytes(), f"item {item} changed"


def check_exact(potrf: Potrf, n: int, dtype: str) -> None:
    """Matrices whose factors are small numbers come out to the last bit."""
    exact = [cholesky.exact_cholesky(n, dtype, np.random.default_rng(i)) for i in range(2)]
    a, lower = (np.array(column) for column in zip(*exact, strict=True))
    c, info = potrf(dressed(a))
    assert not info.any()
    eps = float(np.finfo(dtype).eps)
    np.testing.assert_allclose(np.tril(c), lower, rtol=0, atol=8 * n * eps * abs(lower).max())


def check_scaling(potrf: Potrf, n: int, dtype: str) -> None:
    """Rows and columns of very different sizes: the factor is that of the unscaled matrix, scaled."""
    a, end = cholesky.random_spd(1, n, dtype, n)[0], 50 if dtype in ("float32", "complex64") else 400
    exponents = np.random.default_rng(n).integers(-end, end, n)
    plain, skewed = potrf(dressed(a[None])), potrf(dressed(cholesky.scaled(a, exponents)[None]))
    assert not skewed.info.any()
    wide = np.result_type(a.dtype, np.float64)
    back = np.tril(skewed.c[0]).astype(wide) * 2.0 ** -exponents.astype(float)[:, None]
    eps = float(np.finfo(dtype).eps)
    np.testing.assert_allclose(back, np.tril(plain.c[0]), rtol=0, atol=30 * n * eps * abs(plain.c[0]).max())


def assert_nan_where_failed(x: np.ndarray, info: np.ndarray) -> None:
    """Solutions of failed items are NaN in each part, those of others are not."""
    assert all_nan(x[info > 0])
    assert np.isfinite(x[info == 0]).all()
