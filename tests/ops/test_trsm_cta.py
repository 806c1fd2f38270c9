"""Triangles too large for one launch: two halves with a product between, on every side."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from batchlas_py import lapack
from batchlas_py.interop import edge
from batchlas_py.kernels.block_choice import TRSM_MOST, trsm_order, trsm_spec
from batchlas_py.kernels.block_specs import ORDER
from batchlas_py.problem import RECORDED
from batchlas_py.testing import matgen, ratios
from batchlas_py.testing.ratios import THRESHOLD

from .. import emulated_gpu
from ..emulated_gpu import EMULATED, EmulatedGPU

BATCH = 2


def with_room(monkeypatch: pytest.MonkeyPatch, dtype: str) -> EmulatedGPU:
    """A device with room for 32 rows of the solution."""
    gpu = emulated_gpu.install(monkeypatch)
    gpu.options.clear()
    budget = next(bytes_ for bytes_ in range(0, 1 << 17, 512) if trsm_order(dtype, bytes_) == ORDER)
    monkeypatch.setattr(edge, "device_info", lambda ordinal: replace(EMULATED, shared_budget=budget))
    return gpu


def random_batch(m: int, n: int, dtype: str) -> np.ndarray:
    flat = matgen.random_matrix(BATCH * m, n, dtype, np.random.default_rng(m + n))
    return flat.reshape(BATCH, m, n)


def solved(gpu: EmulatedGPU, a: np.ndarray, b: np.ndarray, **options: Any) -> np.ndarray:
    gpu.launches.clear()
    sides = gpu.array(b)
    x: np.ndarray = lapack.trsm(gpu.array(a), sides, route="cta", **options).host
    assert sides.host.tobytes() == b.tobytes() or options.get("overwrite_b"), "b changed"
    return x


@pytest.mark.parametrize("letters", ["LLNN", "LLTU", "LUNU", "LUCN", "RLNN", "RLCU", "RUTN", "RUNU"])
def test_halves(monkeypatch: pytest.MonkeyPatch, letters: str) -> None:
    side, uplo, trans, diag = tuple(letters)
    n, dtype = 40, "complex64" if trans == "C" else "float32"
    gpu = with_room(monkeypatch, dtype)
    a = random_batch(n, n, dtype) / n + 2 * np.eye(n, dtype=dtype)
    b = random_batch(*((n, 3) if side == "L" else (3, n)), dtype)
    x = solved(gpu, a, b, side=side, uplo=uplo, trans=trans, diag=diag, alpha=-2, overwrite_b=diag == "U")
    names = [source.name for source in gpu.launches if source.name != "relayout"]
    assert names == ["trsm_cta", "gemm_cta", "trsm_cta"]
    full = np.tril(a) if uplo == "L" else np.triu(a)
    if diag == "U":
        full[:, range(n), range(n)] = 1
    full = full if trans == "N" else full.swapaxes(1, 2)
    full = full.conj() if trans == "C" else full
    if side == "R":
        full, x, b = (one.swapaxes(1, 2) for one in (full, x, b))
    assert ratios.dget02(full, x, -2 * b.astype(np.result_type(dtype, np.float64))).worst < THRESHOLD


def test_halves_of_halves(monkeypatch: pytest.MonkeyPatch) -> None:
    gpu, n = with_room(monkeypatch, "float32"), 70
    a = random_batch(n, n, "float32") / n + 2 * np.eye(n, dtype=np.float32)
    b = random_batch(n, 1, "float32")
    x = solved(gpu, a, b)
    names = [source.name for source in gpu.launches]
    assert names == ["relayout", *["trsm_cta", "gemm_cta"] * 2, "trsm_cta"]
    assert ratios.dget02(np.tril(a), x, b).worst < THRESHOLD


@pytest.mark.parametrize("arch", RECORDED)
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_the_largest_order_fits(arch: str, dtype: str) -> None:
    budget = RECORDED[arch].shared_budget
    order = trsm_order(dtype, budget)
    assert order % ORDER == 0 and ORDER <= order <= TRSM_MOST
    assert trsm_spec(dtype).shared_bytes(order) <= budget
