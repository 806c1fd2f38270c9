"""Launches of the LU kernel in shared and in global memory: what is chosen, and panels in place."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from batchlas_py.capability import getrf_bytes, reduction_bytes
from batchlas_py.family import Call
from batchlas_py.ops import getrf_cta
from batchlas_py.problem import RECORDED, Problem
from batchlas_py.testing import matgen
from batchlas_py.views import BatchView

from .. import emulated_gpu
from ..checks import check_getrf

BUDGET = RECORDED["sm_90"].shared_budget


def view(rows: int, cols: int, dtype: str = "float32", batch: int = 10, ptr: int = 0) -> BatchView:
    """Packed column-major matrices at an address."""
    return BatchView(ptr, dtype, batch, rows, cols, rows * cols, 1, rows)


@pytest.mark.parametrize(
    ("rows", "cols", "scope", "storage"),
    [
        (1, 1, "warp", "shared"),
        (32, 32, "warp", "shared"),
        (33, 32, "block", "shared"),
        (32, 33, "block", "shared"),
        (512, 32, "block", "shared"),
        (1813, 32, "block", "shared"),
        (1814, 32, "block", "global"),
    ],
)
def test_the_kernel_for_a_size(rows: int, cols: int, scope: str, storage: str) -> None:
    plan = getrf_cta._plan(view(rows, cols), BUDGET)
    assert (plan.spec.scope, plan.spec.storage) == (scope, storage)
    assert plan.spec in getrf_cta.specs()
    assert plan.shared <= BUDGET


def test_what_a_launch_takes() -> None:
    packed = getrf_cta._plan(view(32, 32, batch=10), BUDGET)
    assert (packed.blocks, packed.threads, packed.shared) == (3, 128, 4 * getrf_bytes("float32", 32, 32))
    single = getrf_cta._plan(view(100, 7, "complex128"), BUDGET)
    assert (single.blocks, single.shared) == (10, getrf_bytes("complex128", 100, 7))
    assert getrf_cta._plan(view(9999, 32, "float64"), BUDGET).shared == reduction_bytes("float64")


@pytest.mark.parametrize("rows", [1, 33, 64, 100, 500, 1000, 4096])
@pytest.mark.parametrize("cols", [1, 32, 64, 119])
def test_blocks_are_powers_of_two_within_the_specialisation(rows: int, cols: int) -> None:
    plan = getrf_cta._plan(view(rows, cols), BUDGET)
    assert plan.threads.bit_count() == 1
    assert 32 <= plan.threads <= plan.spec.threads


@pytest.mark.parametrize("budget", [BUDGET, 1024], ids=["shared", "global"])
@pytest.mark.parametrize(("rows", "cols"), [(40, 3), (140, 2), (20, 4)])
def test_a_leaf_inside_a_matrix(monkeypatch: pytest.MonkeyPatch, rows: int, cols: int, budget: int) -> None:
    """Columns 2 and on of a matrix with two rows above them; pivots go behind two others."""
    gpu = emulated_gpu.install(monkeypatch)
    whole = gpu.allocate((2, cols + 3, rows + 2), np.float32)  # batch, columns, rows
    kept, ipiv, info = whole.copy(), gpu.allocate((2, cols + 4), np.int32), gpu.allocate((2,), np.int32)
    ipiv[...], info[...] = -7, 0
    panel = whole[:, 2 : 2 + cols, 2:].swapaxes(1, 2)
    a = matgen.random_matrix(2 * rows, cols, "float32", np.random.default_rng(1)).reshape(2, rows, cols)
    panel[...], kept[:, 2 : 2 + cols, 2:] = a, a.swapaxes(1, 2)
    problem = Problem("getrf", "float32", rows + 2, cols + 3, 2)
    call = Call(problem, replace(emulated_gpu.EMULATED, shared_budget=budget), {}, 5, lambda *_: None)
    at = panel.__array_interface__["data"][0]
    leaf = BatchView(at, "float32", 2, rows, cols, whole.strides[0] // 4, 1, rows + 2)
    where = ipiv[:, 2:].__array_interface__["data"][0], ipiv.shape[1]
    getrf_cta.launch_slm_leaf(leaf, *where, info.__array_interface__["data"][0], 2, call)
    pivots = ipiv[:, 2 : 2 + cols]
    check_getrf(a, panel, np.ascontiguousarray(pivots - 2), info)
    assert (ipiv[:, :2] == -7).all() and (ipiv[:, 2 + cols :] == -7).all()
    kept[:, 2 : 2 + cols, 2:] = panel.swapaxes(1, 2)
    assert kept.tobytes() == whole.tobytes(), "something outside the panel changed"
    assert gpu.streams == [5]
