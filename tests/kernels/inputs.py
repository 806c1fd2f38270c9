"""Batches that the kernel tests feed, and the parameters that they share."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

from batchlas_py.dtypes import DTYPES, is_complex
from batchlas_py.kernels.choice import tiny_spec
from batchlas_py.testing import matgen

ORDERS = (3, 5, 9, 17)  # in each bucket of lanes one that leaves register columns unused
LARGEST, SMALLEST = "largest", "smallest"

each_dtype = pytest.mark.parametrize("dtype", DTYPES)
each_complex_dtype = pytest.mark.parametrize("dtype", [dtype for dtype in DTYPES if is_complex(dtype)])
each_order = pytest.mark.parametrize("n", ORDERS)
each_way = pytest.mark.parametrize("layout", ["F-ld", "C-ld"], ids=["direct", "staged"])


class Exact(NamedTuple):
    """A batch that is factored without rounding, and what comes of it."""

    a: np.ndarray
    lu: np.ndarray
    ipiv: np.ndarray
    info: np.ndarray


def spilling_batch(n: int, dtype: str) -> int:
    """One matrix more than fills a block."""
    return tiny_spec(dtype, n, staged=False).per_block + 1


def random_batch(n: int, dtype: str, batch: int | None = None, columns: int | None = None) -> np.ndarray:
    """Normal entries, shape (batch, n, columns); by default square, and more than a block takes."""
    batch, columns = batch or spilling_batch(n, dtype), columns or n
    flat = matgen.random_matrix(batch * n, columns, dtype, np.random.default_rng(n * batch + columns))
    return flat.reshape(batch, n, columns)


def exact_batch(n: int, dtype: str) -> Exact:
    """Exact matrices, regular ones and some with zero pivots: the first, the last, two of them."""
    zeros: list[tuple[int, ...]] = [(), (0,), (n - 1,), (0, n - 1), (n // 2, n - 1)]
    return _stacked([matgen.exact_lu(n, dtype, np.random.default_rng(i), z) for i, z in enumerate(zeros)])


def extreme_batch(n: int, dtype: str, end: str) -> Exact:
    """Exact regular matrices, scaled by a power of two until entries overflow or lose bits next."""
    items = [matgen.exact_lu(n, dtype, np.random.default_rng(i)) for i in range(spilling_batch(n, dtype))]
    exact, limits = _stacked(items), np.finfo(dtype)
    largest = float(max(abs(exact.a.real).max(), abs(exact.a.imag).max()))
    factor = 4 * float(limits.smallest_subnormal) if end == SMALLEST else _power_below(limits.max, largest)
    upper = np.triu(np.full((n, n), factor)) + np.tril(np.ones((n, n)), -1)
    return exact._replace(a=(exact.a * factor).astype(dtype), lu=(exact.lu * upper).astype(dtype))


def _power_below(limit: Any, largest: float) -> float:
    return float(2.0 ** np.floor(np.log2(float(limit)) - np.log2(largest)))


def _stacked(items: list[matgen.ExactLU]) -> Exact:
    a, lu, ipiv, info = (np.array(column) for column in zip(*items, strict=True))
    return Exact(a, lu, ipiv, info.astype(np.int32))


def assert_exact(expected: Exact, lu: np.ndarray, ipiv: np.ndarray, info: np.ndarray) -> None:
    """Factors of an exact batch are known to the last bit."""
    np.testing.assert_array_equal(info, expected.info)
    np.testing.assert_array_equal(ipiv, expected.ipiv)
    np.testing.assert_array_equal(lu, expected.lu)


def tied_batch(n: int, dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """Matrices whose first column is a tie from some row on, and that row, 1-based."""
    rng = np.random.default_rng(n)
    units = [1, -1, 1j, -1j] if is_complex(dtype) else [1.0, -1.0]
    firsts = [0, 1, n - 1]
    a = rng.choice(units, (len(firsts), n, n)).astype(dtype)
    for item, first in enumerate(firsts):
        a[item, :first, 0] /= 2
    return a, np.array(firsts) + 1


def metric_batch(n: int, dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """Matrices whose first pivot differs between |re| + |im| and the modulus, and the pivot by the former."""
    a = np.full((2, n, n), 0.125, dtype) + np.eye(n, dtype=dtype)
    a[0, :2, 0] = 1.25, 0.75 + 0.75j
    a[1, :2, 0] = 0.75 - 0.75j, -1.25j
    return a, np.array([2, 1])


def nan_batch(n: int, dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """A clean batch, and the same with NaN in every other item, in ever other places."""
    clean = random_batch(n, dtype)
    spoiled = clean.copy()
    for item in range(0, len(clean), 2):
        spoiled[item, item % n, item // 2 % n] = np.nan
        spoiled[item, -1, item // 2 % n] = np.nan
    return clean, spoiled
