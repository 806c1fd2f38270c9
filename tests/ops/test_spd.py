"""What the Cholesky families take, the words with which they refuse, and the kernels that they ship."""

from __future__ import annotations

from dataclasses import replace

import pytest

from batchlas_py.capability import POTRF_BLOCKS_PER_SM, potrf_bytes, potrf_ceiling, potrf_pitch
from batchlas_py.config import ROUTES
from batchlas_py.dtypes import DTYPES, itemsize
from batchlas_py.kernels.cholesky_choice import cta_warps, potrf_cta_spec, spd_tiny_max_n, spd_tiny_spec
from batchlas_py.ops import posv, potrf, potrs
from batchlas_py.ops.catalogue import catalogue
from batchlas_py.ops.potrf_blocked import BLOCK, workspace_of
from batchlas_py.problem import HOST, RECORDED, DeviceInfo, Problem

FAMILIES = {"potrf": potrf.FAMILIES, "potrs": potrs.FAMILIES, "posv": posv.FAMILIES}
SM_90 = RECORDED["sm_90"]


def answer(
    route: str, device: DeviceInfo = SM_90, dtype: str = "float32", n: int = 8, m: int = 0, nrhs: int = 0
) -> str:
    """What the family says of a problem: ``"yes"``, or its reason."""
    op, name = route.split()
    (family,) = [one for one in FAMILIES[op] if one.name == name]
    verdict = family.can_run(Problem(op, dtype, m or n, n, 10, nrhs, "L"), device)
    assert verdict.ok is (not verdict.reason)
    return verdict.reason or "yes"


@pytest.mark.parametrize("op", FAMILIES)
def test_every_route_is_there(op: str) -> None:
    assert {family.op for family in FAMILIES[op]} == {op}
    assert sorted(family.name for family in FAMILIES[op]) == sorted(ROUTES[op])


@pytest.mark.parametrize("arch", RECORDED)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("op", "nrhs"), [("potrf", 0), ("posv", 1), ("posv", 4)])
def test_tiny_ends_where_its_kernels_end(op: str, nrhs: int, dtype: str, arch: str) -> None:
    limit, device = spd_tiny_max_n(dtype, arch, nrhs), RECORDED[arch]
    assert limit == 32 or (dtype == "complex128" and limit >= 12)
    assert answer(f"{op} tiny", device, dtype, limit, nrhs=nrhs) == "yes"
    refusal = answer(f"{op} tiny", device, dtype, limit + 1, nrhs=nrhs)
    assert refusal == f"n = {limit + 1} is above {limit}, the most for {dtype} on {arch}"


def test_tiny_and_its_right_hand_sides() -> None:
    assert answer("posv tiny", nrhs=4) == "yes"
    assert answer("posv tiny", nrhs=5) == "nrhs = 5 is above 4"


@pytest.mark.parametrize("dtype", DTYPES)
def test_cta_ends_where_two_matrices_fill_the_shared_memory(dtype: str) -> None:
    limit = potrf_ceiling(dtype, SM_90.shared_budget)
    assert limit >= (128 if dtype != "complex128" else 64)
    assert answer("potrf cta", dtype=dtype, n=limit) == answer("potrf cta", dtype=dtype, n=1) == "yes"
    share = SM_90.shared_budget // POTRF_BLOCKS_PER_SM
    assert answer("potrf cta", dtype=dtype, n=limit + 1) == (
        f"n = {limit + 1} needs {potrf_bytes(dtype, limit + 1):,} B of shared memory, "
        f"a block's share for 2 blocks per multiprocessor is {share:,} B"
    )


def test_cta_needs_registers() -> None:
    old = RECORDED["sm_80"]
    assert answer("potrf cta", old, "complex128") == (
        "a row of a tile needs more registers than a thread has for complex128 on sm_80"
    )


@pytest.mark.parametrize("dtype", DTYPES)
def test_bytes_are_the_tiles_of_the_triangle(dtype: str) -> None:
    one = 32 * potrf_pitch(dtype) * itemsize(dtype)
    tiles = [
        round((potrf_bytes(dtype, n) - potrf_bytes(dtype, 1)) / one) + 1 for n in (1, 32, 33, 64, 65, 128)
    ]
    assert tiles == [1, 1, 3, 3, 6, 10]
    assert potrf_pitch(dtype) * itemsize(dtype) % 128 == 16, "rows of whole vectors, spread over the banks"


@pytest.mark.parametrize(("columns", "dtype", "most"), [(8, "float32", 512), (16, "float64", 256)])
def test_lpanel_ends_with_its_threads(columns: int, dtype: str, most: int) -> None:
    route = f"potrf lpanel:panel={columns}"
    assert answer(route, dtype=dtype, n=most) == "yes"
    assert answer(route, dtype=dtype, n=most + 1) == (
        f"n = {most + 1} needs {most + 1} threads, a block of this kernel has {most}"
    )


@pytest.mark.parametrize(
    "route", ["potrf tiny", "potrf cta", "potrf blocked", "potrf lpanel:panel=8", "posv tiny"]
)
def test_native_families_need_a_gpu_and_square_matrices(route: str) -> None:
    assert answer(route, HOST) == "native kernels need a CUDA device; NumPy arrays run on LAPACK"
    assert answer(route, n=4, m=3) == "needs square matrices, got 3 x 4"


@pytest.mark.parametrize("op", FAMILIES)
def test_vendor(op: str) -> None:
    alone = replace(SM_90, has_vendor=False, vendor_reason="no library here")
    assert answer(f"{op} vendor") == answer(f"{op} vendor", HOST) == "yes"
    assert answer(f"{op} vendor", alone) == "no library here"


@pytest.mark.parametrize(("n", "warps"), [(1, 1), (33, 1), (65, 2), (97, 3), (129, 4), (1000, 4)])
def test_a_warp_for_each_tile_below_the_diagonal(n: int, warps: int) -> None:
    spec = potrf_cta_spec("float32", "sm_90")
    assert spec is not None
    assert cta_warps(n, spec) == warps


@pytest.mark.parametrize("arch", RECORDED)
@pytest.mark.parametrize("dtype", DTYPES)
def test_blocks_are_factored_in_one_launch_and_described(dtype: str, arch: str) -> None:
    device = RECORDED[arch]
    assert workspace_of(Problem("potrf", dtype, BLOCK, BLOCK, 10), device).size == 0
    needed = workspace_of(Problem("potrf", dtype, BLOCK + 1, BLOCK + 1, 10), device).size
    assert needed >= 10 * (BLOCK * BLOCK * itemsize(dtype) + 4)


@pytest.mark.parametrize("arch", RECORDED)
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_problem_of_tiny_finds_its_kernel(arch: str, dtype: str) -> None:
    shipped = {(source.name, source.spec) for sources in catalogue(arch).values() for source in sources}
    for op, columns in (("potrf", (0,)), ("posv", (1, 2, 3, 4))):
        for nrhs in columns:
            for n in range(1, spd_tiny_max_n(dtype, arch, nrhs) + 1):
                for staged in (False, True):
                    spec = spd_tiny_spec(dtype, n, staged, nrhs, arch)
                    assert n <= spec.columns <= spec.lanes and nrhs <= spec.rhs
                    assert (f"{op}_tiny", spec) in shipped
