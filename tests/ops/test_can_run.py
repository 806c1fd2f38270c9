"""Which problems each family takes, and the words with which it refuses the others."""

from __future__ import annotations

from dataclasses import replace

import pytest

from batchlas_py.capability import getrf_bytes, square_getrf_ceiling
from batchlas_py.dtypes import DTYPES
from batchlas_py.kernels.choice import tiny_max_n
from batchlas_py.ops import gesv, getrf, getri, getrs
from batchlas_py.problem import HOST, RECORDED, DeviceInfo, Problem

FAMILIES = {"getrf": getrf.FAMILIES, "getrs": getrs.FAMILIES, "getri": getri.FAMILIES, "gesv": gesv.FAMILIES}
SM_90 = RECORDED["sm_90"]
OLD = replace(SM_90, arch="sm_75")
ALONE = replace(SM_90, has_vendor=False, vendor_reason="no library here")


def answer(
    route: str, device: DeviceInfo = SM_90, dtype: str = "float32", n: int = 8, m: int = 0, nrhs: int = 0
) -> str:
    """What the family says of a problem: ``"yes"``, or its reason."""
    op, name = route.split()
    (family,) = [one for one in FAMILIES[op] if one.name == name]
    verdict = family.can_run(Problem(op, dtype, m or n, n, 10, nrhs), device)
    assert verdict.ok is (not verdict.reason)
    return verdict.reason or "yes"


@pytest.mark.parametrize("op", FAMILIES)
def test_names_are_unique_and_of_the_op(op: str) -> None:
    assert {family.op for family in FAMILIES[op]} == {op}
    assert len({family.name for family in FAMILIES[op]}) == len(FAMILIES[op])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("op", "nrhs"), [("getrf", 0), ("gesv", 1), ("gesv", 4)])
def test_tiny_ends_where_its_kernels_end(op: str, nrhs: int, dtype: str) -> None:
    limit = tiny_max_n(op, dtype, "sm_90")
    assert limit >= 16
    for n in range(1, limit + 1):
        assert answer(f"{op} tiny", dtype=dtype, n=n, nrhs=nrhs) == "yes"
    refusal = answer(f"{op} tiny", dtype=dtype, n=limit + 1, nrhs=nrhs)
    assert refusal == f"n = {limit + 1} is above {limit}, the most for {dtype} on sm_90"


def test_tiny_and_its_right_hand_sides() -> None:
    assert answer("gesv tiny", nrhs=4) == "yes"
    assert answer("gesv tiny", nrhs=5) == "nrhs = 5 is above 4"


@pytest.mark.parametrize("arch", RECORDED)
def test_tiny_on_every_recorded_device(arch: str) -> None:
    assert answer("getrf tiny", RECORDED[arch]) == answer("gesv tiny", RECORDED[arch], nrhs=1) == "yes"


@pytest.mark.parametrize("arch", RECORDED)
@pytest.mark.parametrize("dtype", DTYPES)
def test_cta_ends_where_four_matrices_fill_the_shared_memory(dtype: str, arch: str) -> None:
    device = RECORDED[arch]
    limit = square_getrf_ceiling(dtype, device.shared_budget)
    assert answer("getrf cta", device, dtype, limit) == answer("getrf cta", device, dtype, 1) == "yes"
    refusal = answer("getrf cta", device, dtype, limit + 1)
    assert refusal.startswith(
        f"n = {limit + 1} needs {getrf_bytes(dtype, limit + 1, limit + 1):,} B of shared"
    )


def test_cta_says_what_is_short() -> None:
    assert answer("getrf cta", n=130) == (
        "n = 130 needs 68,376 B of shared memory, a block's share for 4 blocks per multiprocessor is 58,112 B"
    )
    assert answer("getrf cta", n=32, m=512).startswith("512 x 32 needs 65,920 B of shared memory, ")
    assert answer("getrf cta", HOST) == "native kernels need a CUDA device; NumPy arrays run on LAPACK"


@pytest.mark.parametrize(("m", "n"), [(440, 32), (32, 438), (1, 4000), (14000, 1)])
def test_cta_takes_rectangles(m: int, n: int) -> None:
    assert answer("getrf cta", m=m, n=n) == "yes"


@pytest.mark.parametrize("route", ["getrf tiny", "gesv tiny", "gesv blocked"])
def test_native_families_need_a_gpu_and_square_matrices(route: str) -> None:
    assert answer(route, HOST, nrhs=1) == "native kernels need a CUDA device; NumPy arrays run on LAPACK"
    assert answer(route, n=4, m=3, nrhs=1) == "needs square matrices, got 3 x 4"


@pytest.mark.parametrize("op", FAMILIES)
def test_vendor(op: str) -> None:
    route = f"{op} vendor"
    assert answer(route) == answer(route, n=2048) == answer(route, HOST) == "yes"
    assert answer(route, ALONE) == "no library here"
    assert answer(route, replace(ALONE, vendor_reason="")) == "no vendor library"
    assert answer(route, n=4, m=3) == "cuBLAS takes square matrices, got 3 x 4"
    assert answer(route, HOST, n=4, m=3) == "yes"


def test_blocked_gesv_needs_no_vendor() -> None:
    assert answer("gesv blocked", n=1000, nrhs=50) == answer("gesv blocked", nrhs=1) == "yes"
    assert answer("gesv blocked", ALONE, n=1000, nrhs=50) == "yes"
