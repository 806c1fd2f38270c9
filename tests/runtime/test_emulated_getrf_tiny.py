"""The shipped tiny LU on the emulator: right on every schedule, and its planted faults are caught."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba import cuda as numba_cuda

from batchlas_py.kernels.choice import tiny_spec
from batchlas_py.kernels.getrf_tiny import make_kernel
from batchlas_py.kernels.specs import TinySpec
from batchlas_py.runtime.emulator import OutOfBounds, RaceDetected, run

cuda: Any = numba_cuda
int32 = np.int32
each_kernel = pytest.mark.parametrize(
    ("n", "spec"),
    [
        (5, tiny_spec("float32", 5, staged=False)),
        (10, tiny_spec("float64", 10, staged=True)),
        (17, tiny_spec("complex64", 17, staged=False)),
        (4, tiny_spec("complex128", 4, staged=True)),
    ],
    ids=lambda value: getattr(value, "dtype", value),
)


def without_barrier(_mask: Any) -> None:
    """Do what a dropped barrier does."""


def factored(n: int, spec: TinySpec, seed: int, **options: Any) -> tuple[np.ndarray, float]:
    """Factor one matrix more than fills a block; return the factors and the error of their product."""
    batch = spec.per_block + 1
    parts = np.random.default_rng(11).standard_normal((2, batch, n, n))
    a = (parts[0] + (1j * parts[1] if spec.dtype.startswith("complex") else 0)).astype(spec.dtype)
    memory = (a if spec.staged else a.transpose(0, 2, 1)).flatten()
    strides = (int32(n), int32(1)) if spec.staged else (int32(1), int32(n))
    matrices = (memory, *strides, np.int64(n * n))
    ipiv, info = np.zeros(batch * n, np.int32), np.full(batch, -1, np.int32)
    args = (*matrices, *matrices, ipiv, info, int32(n), int32(batch))
    run(make_kernel(spec), 2, spec.threads, args, seed, **options)
    lu = memory.reshape(batch, n, n)
    error = product_error(a, lu if spec.staged else lu.transpose(0, 2, 1), ipiv.reshape(batch, n))
    return memory, error if (info == 0).all() else np.inf


def product_error(a: np.ndarray, lu: np.ndarray, ipiv: np.ndarray) -> float:
    """Largest element of ``P A - L U`` over a batch."""
    permuted = a.copy()
    for item, pivots in zip(permuted, ipiv, strict=True):
        for j, pivot in enumerate(pivots - 1):
            item[[j, pivot]] = item[[pivot, j]]
    lower = np.tril(lu, -1) + np.eye(a.shape[-1])
    return float(abs(lower @ np.triu(lu) - permuted).max())


@each_kernel
def test_right_on_every_schedule(n: int, spec: TinySpec) -> None:
    runs = [factored(n, spec, seed, race_check=True, init_check=True) for seed in range(3)]
    assert max(error for _, error in runs) < 100 * float(np.finfo(spec.dtype).eps)
    assert len({memory.tobytes() for memory, _ in runs}) == 1


@each_kernel
def test_without_its_warp_barrier_wrong_on_some_schedule(n: int, spec: TinySpec) -> None:
    errors = [factored(n, spec, seed, overrides={cuda.syncwarp: without_barrier})[1] for seed in range(3)]
    assert not all(error < 1e-4 for error in errors)


@each_kernel
def test_without_its_warp_barrier_a_race(n: int, spec: TinySpec) -> None:
    with pytest.raises(RaceDetected, match="from getrf_tiny"):
        factored(n, spec, 0, overrides={cuda.syncwarp: without_barrier}, race_check=True)


def test_a_store_past_the_end_names_the_argument() -> None:
    n = 4
    a, lu = np.eye(n, dtype=np.float32).ravel(), np.zeros(n * n - 1, np.float32)
    strides = (int32(1), int32(n), np.int64(n * n))
    ipiv, info = np.zeros(n, np.int32), np.zeros(1, np.int32)
    spec = tiny_spec("float32", n, staged=False)
    with pytest.raises(OutOfBounds, match="argument lu: index 15, accepted are 0 up to size 15"):
        run(make_kernel(spec), 1, spec.threads, (a, *strides, lu, *strides, ipiv, info, int32(n), int32(1)))
