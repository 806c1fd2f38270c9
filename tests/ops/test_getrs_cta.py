"""Launches of the fused narrow solve: what is chosen, what is refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from batchlas_py.dtypes import DTYPES
from batchlas_py.kernels.block_choice import getrs_cta_spec, getrs_cta_specs
from batchlas_py.ops.getrs_cta import FAMILY, Plan, lower_factors
from batchlas_py.problem import RECORDED, Problem
from batchlas_py.views import BatchView

H200 = RECORDED["sm_90"]


def plan(n: int, dtype: str = "float32", nrhs: int = 1, arch: str = "sm_90", *, turned: bool = True) -> Plan:
    spec = getrs_cta_spec(dtype, nrhs, arch)
    assert spec is not None
    return Plan.within(spec, n, arch, RECORDED[arch].shared_budget, turned=turned)


def problem(n: int, nrhs: int, dtype: str = "float32", m: int = 0) -> Problem:
    return Problem("getrs", dtype, m or n, n, 10, nrhs, trans="N")


@pytest.mark.parametrize(("nrhs", "rhs"), [(1, 1), (2, 2), (3, 4), (4, 4), (5, 8), (8, 8)])
def test_the_kernel_for_a_number_of_sides(nrhs: int, rhs: int) -> None:
    spec = getrs_cta_spec("float64", nrhs, "sm_89")
    assert spec is not None
    assert spec.rhs == rhs
    assert spec in getrs_cta_specs("sm_89")


@pytest.mark.parametrize(
    ("n", "arch", "members", "warps"),
    [
        (1, "sm_90", 4, 1),
        (32, "sm_90", 4, 1),
        (33, "sm_90", 1, 2),
        (64, "sm_90", 1, 2),
        (65, "sm_90", 1, 3),
        (5000, "sm_90", 1, 8),
        (5000, "sm_89", 1, 4),
    ],
)
def test_who_works_on_a_matrix(n: int, arch: str, members: int, warps: int) -> None:
    chosen = plan(n, arch=arch)
    assert (chosen.members, chosen.warps) == (members, warps)
    assert chosen.threads == 32 * members * warps <= chosen.spec.threads


@pytest.mark.parametrize("arch", RECORDED)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [1, 32, 33, 400, 700])
def test_a_plan_fits(n: int, dtype: str, arch: str) -> None:
    chosen = plan(n, dtype, 8, arch)
    assert FAMILY.can_run(problem(n, 8, dtype), RECORDED[arch]).ok == (
        chosen.shared <= RECORDED[arch].shared_budget
    )


def test_what_does_not_fit_at_once_has_fewer_warps() -> None:
    chosen = plan(1500, "complex128", 8, turned=True)
    more = replace(chosen, warps=chosen.warps + 1)
    assert 1 <= chosen.warps < 8
    assert chosen.shared <= H200.shared_budget < more.shared


def test_slices_only_for_contiguous_rows() -> None:
    before = {turned: plan(100, turned=turned).places[1] for turned in (False, True)}
    assert before[False] < before[True]
    assert plan(32, turned=True).places == plan(32, turned=False).places


def test_a_transpose_has_its_strides_interchanged() -> None:
    lu = BatchView(0, "float32", 1, 3, 3, 12, 1, 4)
    assert lower_factors(lu, "N") == (lu, False)
    for trans in "TC":
        factors, turned = lower_factors(lu, trans)
        assert (factors.row_stride, factors.col_stride, turned) == (4, 1, True)


@pytest.mark.parametrize(
    ("refused", "reason"),
    [
        (problem(5, 9), "nrhs = 9 is above 8"),
        (problem(5, 1, m=6), "needs square matrices, got 6 x 5"),
        (
            problem(7000, 8),
            "n = 7000 with nrhs = 8 needs 258,400 B of shared memory, a block has 232,448 B",
        ),
    ],
)
def test_refusals_name_what_is_short(refused: Problem, reason: str) -> None:
    assert FAMILY.can_run(refused, H200) == (False, reason)
