"""The fused narrow solve of Cholesky: both triangles, both memory orders, around blocks of 32."""

from __future__ import annotations

import numpy as np
import pytest

from batchlas_py.kernels.block_choice import potrs_cta_spec
from batchlas_py.ops.getrs_cta import Plan
from batchlas_py.ops.triangles import as_lower
from batchlas_py.testing import cholesky, ratios
from batchlas_py.views import BatchView

from ..checks import embed
from . import launching
from .cholesky import random_batch, random_sides
from .inputs import each_dtype
from .launching import PAD, SEEDS, blank, launch, matrices

ARCH, BUDGET = "sm_90", 1 << 17
each_way = pytest.mark.parametrize(
    ("uplo", "layout"), [("L", "F-ld"), ("L", "C-ld"), ("U", "F-ld"), ("U", "C-ld")]
)


def problem(n: int, nrhs: int, dtype: str, uplo: str, batch: int = 1) -> tuple[np.ndarray, ...]:
    """Matrices, their factors with NaN in the other triangle, right-hand sides."""
    a = random_batch(n, dtype, batch, uplo)
    c = np.array([cholesky.potf2(item, uplo)[0] for item in a])
    other = np.triu_indices(n, 1) if uplo == "L" else np.tril_indices(n, -1)
    c[:, *other] = np.nan
    return np.array([cholesky.hermitian(item, uplo) for item in a]), c, random_sides(batch, n, nrhs, dtype)


def solved(
    c: np.ndarray,
    b: np.ndarray,
    uplo: str,
    layout: str = "F-ld",
    sides: str = "F-ld",
    to: str = "F-ld",
    *,
    budget: int = BUDGET,
    seed: int = 0,
) -> np.ndarray:
    """Solve with factors in one layout and sides in another, in place unless the solution's is given."""
    batch, n, nrhs = b.shape
    spec = potrs_cta_spec(c.dtype.name, nrhs, ARCH)
    assert spec is not None
    stored, right = embed(c, layout, PAD), embed(b, sides, PAD)
    x = blank(b.shape, b.dtype, to) if to else right
    memory, row, col, step = matrices(stored)
    lower = as_lower(BatchView(0, spec.dtype, batch, n, n, step, row, col), uplo)
    plan = Plan.within(spec, n, ARCH, budget, turned=True)
    launch(
        "potrs_cta", spec, -(-batch // plan.members), memory, lower.row_stride, lower.col_stride, step,
        *matrices(right, written=not to), *matrices(x, written=True),
        abs(lower.row_stride) > abs(lower.col_stride), uplo == "U", n, nrhs, *plan.places, batch, seed=seed,
        threads=plan.threads, shared=plan.shared,
    )  # fmt: skip
    launching._assert_kept(c, stored, stored)
    launching._assert_kept(b, right, x)
    return x.view


@each_way
@each_dtype
def test_solutions_on_every_schedule(dtype: str, uplo: str, layout: str) -> None:
    """A block a matrix: two warps, two triangles on the diagonal; nothing of the other triangle counts."""
    a, c, b = problem(35, 2, dtype, uplo)
    x = solved(c, b, uplo, layout)
    assert ratios.dget02(a, x, b).passes()
    for seed in SEEDS[1:]:
        assert solved(c, b, uplo, layout, seed=seed).tobytes() == x.tobytes()


@each_way
@each_dtype
def test_a_warp_a_matrix(dtype: str, uplo: str, layout: str) -> None:
    """Five matrices are two blocks, the second with three warps to spare."""
    a, c, b = problem(7, 3, dtype, uplo, batch=5)
    x = solved(c, b, uplo, layout)
    assert ratios.dget02(a, x, b).passes()
    assert solved(c, b, uplo, layout, seed=1).tobytes() == x.tobytes()


@each_way
@pytest.mark.parametrize("n", [1, 2, 31, 32, 33, 64, 65])
def test_around_the_edges_of_blocks(n: int, uplo: str, layout: str) -> None:
    a, c, b = problem(n, 1, "float32", uplo)
    assert ratios.dget02(a, solved(c, b, uplo, layout), b).passes()


@each_way
@pytest.mark.parametrize(("sides", "to"), [("C-ld", "F-ld"), ("F-ld", "C-ld"), ("C-ld", "")])
def test_sides_in_any_layout(sides: str, to: str, uplo: str, layout: str) -> None:
    a, c, b = problem(9, 4, "complex64", uplo)
    assert solved(c, b, uplo, layout, sides, to).tobytes() == solved(c, b, uplo, layout).tobytes()
    assert ratios.dget02(a, solved(c, b, uplo, layout), b).passes()


@pytest.mark.parametrize("uplo", ["L", "U"])
def test_fewer_warps_give_the_same_bits(uplo: str) -> None:
    _, c, b = problem(97, 2, "float32", uplo)
    spec = potrs_cta_spec("float32", 2, ARCH)
    assert spec is not None
    least = Plan(spec, 97, turned=True).shared
    few, many = (solved(c, b, uplo, budget=budget) for budget in (least, BUDGET))
    assert few.tobytes() == many.tobytes()
