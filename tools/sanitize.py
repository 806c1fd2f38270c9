"""Small problems for compute-sanitizer, every bucket and layout of the tiny kernels, every block kernel.

Run ``compute-sanitizer --tool memcheck python tools/sanitize.py``, and the same with ``racecheck``. Batches
end inside a block, matrices have padding, and each result is checked, so a silent failure shows too.
"""

from __future__ import annotations

import itertools

import cupy
import numpy as np

from batchlas_py import lapack, pinned
from batchlas_py.dtypes import DTYPES
from batchlas_py.testing.ratios import dget01, dget02, dget03

ORDERS = (3, 7, 13, 32)
BATCH = 11


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
    generator = np.random.default_rng(n)
    shape = (BATCH, n, n + nrhs)
    values = (generator.standard_normal(shape) + 1j * generator.standard_normal(shape)).astype("complex128")
    values = (values if np.dtype(dtype).kind == "c" else values.real).astype(dtype)
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
    generator = np.random.default_rng(n)
    values = generator.standard_normal((3, n, n)) + 1j * generator.standard_normal((3, n, n))
    a = (values if np.dtype(dtype).kind == "c" else values.real).astype(dtype)
    b = np.ascontiguousarray(a[..., :2])
    with pinned(trsm="cta", gemm="cta", **variants):
        for route in ("cta", "blocked"):
            lu, ipiv, _ = lapack.getrf(padded(a, order), route=route)
            assert dget01(a, cupy.asnumpy(lu), cupy.asnumpy(ipiv)).passes(), (dtype, n, order, route)
            x = lapack.getrs(lu, ipiv, padded(b, order), route=route)
            assert dget02(a, cupy.asnumpy(x), b).passes(), (dtype, n, order, route)
        inverse = lapack.getri(lu, ipiv, route="blocked").inv
        assert dget03(a, cupy.asnumpy(inverse)).passes(), (dtype, n, order)


VARIANTS: tuple[dict[str, str], ...] = (
    {},
    {"getrf_right_laswp": "gather", "getrf_laswp": "defer_gather", "getrs_laswp": "gather"},
    {"getrf_leaf": "slm", "getrf_right_laswp": "walk", "getrf_laswp": "inloop"},
)


def main() -> None:
    """Run every combination once."""
    for dtype, n, order, nrhs in itertools.product(DTYPES, ORDERS, "FC", (1, 3)):
        solve(dtype, n, order, nrhs)
    for dtype, variants in itertools.product(DTYPES, VARIANTS):
        solve_by_blocks(dtype, 45, "F", variants)
    solve_by_blocks("float32", 52, "C", {})
    print("every result is right")


if __name__ == "__main__":
    main()
