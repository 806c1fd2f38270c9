"""The fused narrow solve: both triangles, the permutation on its side, blocks of 32, both memory orders."""

from __future__ import annotations

import numpy as np
import pytest

from batchlas_py.kernels.block_choice import getrs_cta_spec
from batchlas_py.ops.getrs_cta import Plan, lower_factors
from batchlas_py.testing import matgen, oracle, ratios
from batchlas_py.views import BatchView

from ..checks import embed
from . import launching
from .inputs import LARGEST, SMALLEST, each_complex_dtype, each_dtype
from .launching import PAD, SEEDS, blank, launch, matrices

ARCH, BUDGET = "sm_90", 1 << 17
each_trans = pytest.mark.parametrize("trans", ["N", "T", "C"])
each_way = pytest.mark.parametrize(
    ("trans", "layout"), [("N", "F-ld"), ("N", "C-ld"), ("T", "F-ld"), ("C", "C-ld")]
)


def problem(n: int, nrhs: int, dtype: str, batch: int = 1) -> tuple[np.ndarray, ...]:
    """Matrices, their factors and pivots, right-hand sides."""
    rng = np.random.default_rng(100 * n + nrhs)
    a = matgen.random_matrix(batch * n, n, dtype, rng).reshape(batch, n, n)
    b = matgen.random_matrix(batch * n, nrhs, dtype, rng).reshape(batch, n, nrhs)
    factored = [oracle.getf2(item) for item in a]
    return a, np.array([f.lu for f in factored]), np.array([f.ipiv for f in factored], np.int32), b


def solved(
    lu: np.ndarray,
    ipiv: np.ndarray,
    b: np.ndarray,
    trans: str = "N",
    layout: str = "F-ld",
    sides: str = "F-ld",
    to: str = "F-ld",
    *,
    budget: int = BUDGET,
    seed: int = 0,
) -> np.ndarray:
    """Solve with factors in one layout and sides in another, in place unless the solution's is given.

    ``budget`` bounds the shared memory of a block.
    """
    batch, n, nrhs = b.shape
    spec = getrs_cta_spec(lu.dtype.name, nrhs, ARCH)
    assert spec is not None
    stored, right = embed(lu, layout, PAD), embed(b, sides, PAD)
    x = blank(b.shape, b.dtype, to) if to else right
    memory, row, col, step = matrices(stored)
    factors, turned = lower_factors(BatchView(0, spec.dtype, batch, n, n, step, row, col), trans)
    plan = Plan.within(spec, n, ARCH, budget, turned=turned)
    assert plan.shared <= budget
    launch(
        "getrs_cta", spec, -(-batch // plan.members), memory, factors.row_stride, factors.col_stride, step,
        ipiv.reshape(-1), *matrices(right, written=not to), *matrices(x, written=True), turned, trans != "N",
        trans == "C", n, nrhs, *plan.places, batch, seed=seed, threads=plan.threads, shared=plan.shared,
    )  # fmt: skip
    launching._assert_kept(lu, stored, stored)
    launching._assert_kept(b, right, x)
    return x.view


@each_way
@each_dtype
def test_solutions_on_every_schedule(dtype: str, trans: str, layout: str) -> None:
    """A block a matrix: two warps, two triangles on the diagonal."""
    a, lu, ipiv, b = problem(35, 2, dtype)
    x = solved(lu, ipiv, b, trans, layout)
    assert ratios.dget02(a, x, b, trans).passes()
    for seed in SEEDS[1:]:
        assert solved(lu, ipiv, b, trans, layout, seed=seed).tobytes() == x.tobytes()


@each_way
@each_dtype
def test_a_warp_a_matrix(dtype: str, trans: str, layout: str) -> None:
    """Five matrices are two blocks, the second with three warps to spare."""
    a, lu, ipiv, b = problem(7, 3, dtype, batch=5)
    x = solved(lu, ipiv, b, trans, layout)
    assert ratios.dget02(a, x, b, trans).passes()
    assert solved(lu, ipiv, b, trans, layout, seed=1).tobytes() == x.tobytes()


@each_way
@pytest.mark.parametrize("n", [1, 2, 31, 32, 33, 64, 65, 97])
def test_around_the_edges_of_blocks(n: int, trans: str, layout: str) -> None:
    a, lu, ipiv, b = problem(n, 1, "float32")
    assert ratios.dget02(a, solved(lu, ipiv, b, trans, layout), b, trans).passes()


@each_trans
@pytest.mark.parametrize("layout", ["F-ld", "C-ld"])
@pytest.mark.parametrize("n", [97])
def test_fewer_warps_give_the_same_bits(n: int, layout: str, trans: str) -> None:
    """A warp for 32 rows, or as many as fit into shared memory: one."""
    _, lu, ipiv, b = problem(n, 2, "float32")
    spec = getrs_cta_spec("float32", 2, ARCH)
    assert spec is not None
    least = Plan(spec, n, turned=True).shared
    few, many = (solved(lu, ipiv, b, trans, layout, budget=budget) for budget in (least, BUDGET))
    assert few.tobytes() == many.tobytes()


@each_dtype
@pytest.mark.parametrize("nrhs", [2, 3, 5, 8])
def test_any_number_of_sides(nrhs: int, dtype: str) -> None:
    """Each is solved as if it were alone."""
    _, lu, ipiv, b = problem(4, nrhs, dtype)
    x = solved(lu, ipiv, b, "N")
    for q in range(nrhs):
        assert solved(lu, ipiv, b[:, :, [q]], "N").tobytes() == x[:, :, [q]].tobytes()


@each_trans
@pytest.mark.parametrize(("sides", "to"), [("C-ld", "F-ld"), ("F-ld", "C-ld"), ("sliced", ""), ("C-ld", "")])
def test_sides_in_any_order_and_in_place(sides: str, to: str, trans: str) -> None:
    _, lu, ipiv, b = problem(6, 3, "complex64", batch=2)
    assert solved(lu, ipiv, b, trans, "F-ld", sides, to).tobytes() == solved(lu, ipiv, b, trans).tobytes()


@each_trans
@each_dtype
@pytest.mark.parametrize("n", [9, 34])
def test_exact_solutions(n: int, dtype: str, trans: str) -> None:
    """Interchanges are applied on the right side and in the right direction, seen without any rounding."""
    item = matgen.exact_lu(n, dtype, np.random.default_rng(n))
    x = np.random.default_rng(1).integers(-2, 3, (n, 2)).astype(dtype)
    op = {"N": item.a, "T": item.a.T, "C": item.a.conj().T}[trans]
    got = solved(item.lu[None], np.array([item.ipiv], np.int32), (op @ x)[None], trans)
    np.testing.assert_array_equal(got[0], x)


@each_complex_dtype
@pytest.mark.parametrize(("trans", "expected"), [("N", [4 + 1j, -1j]), ("T", [-1j, 2]), ("C", [1j, 2])])
def test_conjugation_by_hand(trans: str, expected: list[complex], dtype: str) -> None:
    """Of [[0, 2i], [1, 1]] with one interchange; each of the three answers differs."""
    lu, ipiv = np.array([[[1, 1], [0, 2j]]], dtype), np.array([[2, 2]], np.int32)
    x = solved(lu, ipiv, np.array([[[2], [4]]], dtype), trans)
    np.testing.assert_array_equal(x[0, :, 0], expected)


@each_trans
@pytest.mark.parametrize("n", [5, 34])
@pytest.mark.parametrize("wild", [0, -1, 35, -(2**31), 2**31 - 1])
def test_an_entry_that_is_no_row_is_not_followed(wild: int, n: int, trans: str) -> None:
    _, lu, ipiv, b = problem(n, 1, "float32", batch=1)
    tame = ipiv.copy()
    ipiv[0, 2], tame[0, 2] = wild, 3
    assert solved(lu, ipiv, b, trans).tobytes() == solved(lu, tame, b, trans).tobytes()


@each_dtype
@pytest.mark.parametrize("end", [LARGEST, SMALLEST])
def test_extreme_pivots(end: str, dtype: str) -> None:
    """The reciprocal of a pivot at either end of the range overflows, or is flushed to zero."""
    limits = np.finfo(dtype)
    pivot = limits.dtype.type(limits.smallest_subnormal * 8 if end == SMALLEST else limits.max / 2)
    lu, b = np.full((1, 1, 1), pivot, dtype), np.full((1, 1, 1), pivot * limits.dtype.type(1.5), dtype)
    x = solved(lu, np.ones((1, 1), np.int32), b)
    np.testing.assert_allclose(x, 1.5, rtol=float(4 * limits.eps))


@each_trans
def test_a_zero_pivot_stays_in_its_item(trans: str) -> None:
    _, lu, ipiv, b = problem(5, 2, "float32", batch=3)
    expected = solved(lu, ipiv, b, trans)
    lu[1, 4, 4] = 0
    x = solved(lu, ipiv, b, trans)
    assert not np.isfinite(x[1]).all()
    assert x[[0, 2]].tobytes() == expected[[0, 2]].tobytes()
