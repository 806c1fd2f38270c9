"""Small problems for compute-sanitizer, every bucket and layout of the tiny kernels, every block kernel.

Run ``compute-sanitizer --tool memcheck python tools/sanitize.py``, and the same with ``racecheck``; words
behind it choose among ``lu``, ``cholesky`` and ``qr``. Batches end inside a block, matrices have padding, and
each result is checked, so a silent failure shows too.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable

import cupy
import numpy as np

from batchlas_py import lapack, pinned
from batchlas_py.dtypes import DTYPES
from batchlas_py.testing.cholesky import dpot01, random_spd
from batchlas_py.testing.ratios import dget01, dget02, dget03, dqrt01, dqrt11

ORDERS = (3, 7, 13, 32)
BATCH = 11


def random(dtype: str, *shape: int) -> np.ndarray:
    """Normal numbers, the same for every dtype."""
    generator = np.random.default_rng(shape[-2])
    values = generator.standard_normal(shape) + 1j * generator.standard_normal(shape)
    return (values if np.dtype(dtype).kind == "c" else values.real).astype(dtype)


def padded(values: np.ndarray, order: str) -> cupy.ndarray:
    """Copy a batch to the device, one element of padding behind each row or column."""
    if order == "F":
        return padded(values.swapaxes(1, 2), "C").swapaxes(1, 2)
    batch, rows, cols = values.shape
    target = cupy.zeros((batch, rows, cols + 1), values.dtype)[:, :, :cols]
    target[...] = cupy.asarray(values)
    return target


def solve(dtype: str, n: int, order: str, nrhs: int) -> None:
    """Factor and solve one batch by the tiny kernels, and check both."""
    values = random(dtype, BATCH, n, n + nrhs)
    a, b = np.ascontiguousarray(values[..., :n]), np.ascontiguousarray(values[..., n:])
    factors = lapack.getrf(padded(a, order), route="tiny")
    solved = lapack.gesv(padded(a, order), padded(b, order), route="tiny")
    for lu, ipiv in ((factors.lu, factors.ipiv), (solved.lu, solved.ipiv)):
        ratio = dget01(a, cupy.asnumpy(lu), cupy.asnumpy(ipiv))
        assert ratio.passes(), (dtype, n, order, ratio.worst)
    ratio = dget02(a, cupy.asnumpy(solved.x), b)
    assert ratio.passes(), (dtype, n, order, nrhs, ratio.worst)


def solve_by_blocks(dtype: str, n: int, order: str, variants: dict[str, str]) -> None:
    """Factor, solve and invert one batch by the kernels of blocks, and check all."""
    a = random(dtype, 3, n, n)
    b = np.ascontiguousarray(a[..., :2])
    with pinned(trsm="cta", gemm="cta", **variants):
        for route in ("cta", "blocked"):
            lu, ipiv, _ = lapack.getrf(padded(a, order), route=route)
            assert dget01(a, cupy.asnumpy(lu), cupy.asnumpy(ipiv)).passes(), (dtype, n, order, route)
            x = lapack.getrs(lu, ipiv, padded(b, order), route=route)
            assert dget02(a, cupy.asnumpy(x), b).passes(), (dtype, n, order, route)
        for route in ("cta", "blocked"):
            invert(a, lu, ipiv, route)


def invert(a: np.ndarray, lu: cupy.ndarray, ipiv: cupy.ndarray, route: str) -> None:
    """Invert one batch from its factors, and check."""
    inverse = cupy.asnumpy(lapack.getri(lu, ipiv, route=route).inv)
    assert dget03(a, inverse).passes(), (a.dtype, a.shape, route)


def invert_small(dtype: str, n: int, order: str) -> None:
    """Invert one batch whose matrices share a warp."""
    a = random(dtype, BATCH, n, n)
    lu, ipiv, _ = lapack.getrf(padded(a, order))
    invert(a, lu, ipiv, "cta")


def factor_definite(dtype: str, n: int, order: str) -> None:
    """Factor one batch of definite matrices by every kernel of its order, and check."""
    a = random_spd(BATCH, n, dtype)
    b = np.ascontiguousarray(a[..., :3])
    for uplo, route in itertools.product("LU", ("tiny", *DEFINITE) if n <= 24 else DEFINITE):
        with pinned(trsm="cta", gemm="cta"):
            c = lapack.potrf(padded(a, order), uplo=uplo, route=route).c
        assert dpot01(a, cupy.asnumpy(c), uplo).passes(), (dtype, n, order, uplo, route)
        solver = "tiny" if route == "tiny" else "blocked"
        x = lapack.posv(padded(a, order), padded(b, order), uplo=uplo, route=solver).x
        assert dget02(a, cupy.asnumpy(x), b).passes(), (dtype, n, order, uplo)


def factor_orthogonal(dtype: str, m: int, n: int, order: str) -> None:
    """Factor one batch into Q and R by every kernel of its shape, form Q, and check."""
    a = random(dtype, BATCH, m, n)
    for route, form in itertools.product(ORTHOGONAL[max(m, n) > 16 :], ("tiny", "blocked")[max(m, n) > 16 :]):
        qr, tau = lapack.geqrf(padded(a, order), route=route)
        q = cupy.asnumpy(lapack.orgqr(qr, tau, route=form))
        assert dqrt11(q).passes(), (dtype, m, n, order, route, form)
        r = np.triu(cupy.asnumpy(qr))[:, : min(m, n)]
        assert dqrt01(a, q, r).passes(), (dtype, m, n, order, route, form)


VARIANTS: tuple[dict[str, str], ...] = (
    {},
    {"getrf_right_laswp": "gather", "getrf_laswp": "defer_gather", "getrs_laswp": "gather"},
    {"getrf_leaf": "slm", "getrf_right_laswp": "walk", "getrf_laswp": "inloop"},
)


DEFINITE = ("cta", "lpanel:panel=8", "lpanel:panel=16", "blocked")
ORTHOGONAL = ("tiny", "cta", "blocked")


def lu() -> None:
    """Every kernel of LU."""
    for dtype, n, order, nrhs in itertools.product(DTYPES, ORDERS, "FC", (1, 3)):
        solve(dtype, n, order, nrhs)
    for dtype, variants in itertools.product(DTYPES, VARIANTS):
        solve_by_blocks(dtype, 45, "F", variants)
    solve_by_blocks("float32", 52, "C", {})
    for dtype, n, order in itertools.product(DTYPES, ORDERS, "FC"):
        invert_small(dtype, n, order)


def cholesky() -> None:
    """Every kernel of Cholesky."""
    for dtype, n, order in itertools.product(DTYPES, (3, 13, 24, 45), "FC"):
        factor_definite(dtype, n, order)


def qr() -> None:
    """Every kernel of QR."""
    for dtype, shape, order in itertools.product(DTYPES, ((3, 3), (13, 7), (7, 16), (40, 45)), "FC"):
        factor_orthogonal(dtype, *shape, order)


FAMILIES: dict[str, Callable[[], None]] = {"lu": lu, "cholesky": cholesky, "qr": qr}


def main() -> None:
    """Run every combination once."""
    for name in sys.argv[1:] or FAMILIES:
        FAMILIES[name]()
    print("every result is right")


if __name__ == "__main__":
    main()
