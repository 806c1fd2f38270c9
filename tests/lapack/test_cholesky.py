"""potrf, potrs and posv by every family that a backend has, on both triangles."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from batchlas_py import config, lapack, linalg, pinned, trace
from batchlas_py.errors import ArgumentError, ArgumentTypeError, LinAlgError, PinError
from batchlas_py.linalg import common
from batchlas_py.ops.potrf_blocked import BLOCK
from batchlas_py.testing import cholesky
from batchlas_py.testing.ratios import Ratios

from ..kernels.cholesky import (
    assert_nan_where_failed,
    check_posv,
    check_potrf,
    check_shape,
    failing_batch,
    random_batch,
    random_sides,
)
from . import calls
from .devices import Device, each_dtype, on

NATIVE_POTRF = ("tiny", "cta", "blocked", "lpanel:panel=8", "lpanel:panel=16")
BACKENDS = ("host", "emulated", "emulated-cublas", "cuda", "cublas")
each_triangle = pytest.mark.parametrize("uplo", ["L", "U"])
each_layout = pytest.mark.parametrize("layout", ["F-ld", "C-ld", "sliced"])
each_native = pytest.mark.parametrize("route", NATIVE_POTRF)


def potrf(device: Device, a: np.ndarray, layout: str = "F", **options: Any) -> list[np.ndarray]:
    """``c``, ``info``."""
    results = {"c": calls.empty(a), "info": calls.pivots(len(a))}
    return calls.call(device, lapack.potrf, {"a": a}, results, layout, **options)


def potrs(device: Device, c: np.ndarray, b: np.ndarray, layout: str = "F", **options: Any) -> np.ndarray:
    """``x``."""
    (x,) = calls.call(device, lapack.potrs, {"c": c, "b": b}, {"x": calls.empty(b)}, layout, **options)
    return x


def posv(device: Device, a: np.ndarray, b: np.ndarray, layout: str = "F", **options: Any) -> list[np.ndarray]:
    """``x``, ``c``, ``info``."""
    results = {"x": calls.empty(b), "c": calls.empty(a), "info": calls.pivots(len(a))}
    return calls.call(device, lapack.posv, {"a": a, "b": b}, results, layout, **options)


def vendor_of(device: Device) -> str:
    """A route that every backend but the emulator alone has."""
    return "auto" if device.native and device.on_gpu else "vendor"


@on(*BACKENDS)
@each_triangle
@each_dtype
def test_factors_and_solutions(device: Device, dtype: str, uplo: str) -> None:
    route = vendor_of(device)
    for n, nrhs in ((1, 1), (6, 1), (5, 6)):
        a, b = random_batch(n, dtype, 2, uplo), random_sides(2, n, nrhs, dtype)
        c, info = potrf(device, a, uplo=uplo, route=route)
        check_potrf(a, c, info, uplo)
        check_posv(a, b, potrs(device, c, b, uplo=uplo, route=route), uplo)
        x, c, info = posv(device, a, b, uplo=uplo, route=route)
        check_potrf(a, c, info, uplo)
        check_posv(a, b, x, uplo)


@on(*BACKENDS)
@each_layout
@each_triangle
def test_layouts(device: Device, uplo: str, layout: str) -> None:
    a, b = random_batch(4, "complex64", 2, uplo), random_sides(2, 4, 2, "complex64")
    x, c, info = posv(device, a, b, layout, uplo=uplo, route=vendor_of(device))
    check_potrf(a, c, info, uplo)
    check_posv(a, b, x, uplo)
    check_posv(a, b, potrs(device, c, b, layout, uplo=uplo, route=vendor_of(device)), uplo)


@on("emulated", "cuda")
@each_native
@each_triangle
@each_dtype
def test_every_native_family(device: Device, dtype: str, uplo: str, route: str) -> None:
    n = 7 if route == "tiny" else 34
    a = random_batch(n, dtype, 1, uplo)
    for layout in ("F", "C") if n == 7 else ("C",):
        c, info = potrf(device, a, layout, uplo=uplo, route=route)
        check_potrf(a, c, info, uplo)


@on("emulated", "cuda")
@each_layout
@each_triangle
@pytest.mark.parametrize("route", ["cta", "blocked"])
def test_every_native_family_of_potrs(device: Device, route: str, uplo: str, layout: str) -> None:
    for n, dtype in ((6, "complex64"), (35, "float64")):
        a, b = random_batch(n, dtype, 2, uplo), random_sides(2, n, 3, dtype)
        c, _ = potrf(device, a, layout, uplo=uplo)
        with trace() as routes:
            check_posv(a, b, potrs(device, c, b, layout, uplo=uplo, route=route), uplo)
        assert {one.route for one in routes if one.problem.op == "potrs"} == {route}


@on("emulated", "cuda")
@each_triangle
@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_blocked_beyond_one_block(device: Device, dtype: str, uplo: str) -> None:
    n = BLOCK + 5
    a = random_batch(n, dtype, 1, uplo)
    c, info = potrf(device, a, uplo=uplo, route="blocked")
    check_potrf(a, c, info, uplo)
    a[0, n - 2, n - 2] *= -1
    c, info = potrf(device, a, uplo=uplo, route="blocked")
    np.testing.assert_array_equal(info, [n - 1])
    check_shape(a, c, info, uplo)


@on(*BACKENDS)
@each_triangle
@each_dtype
def test_failures(device: Device, dtype: str, uplo: str) -> None:
    a, expected = failing_batch(9, dtype, uplo)
    b, route = random_sides(len(a), 9, 2, dtype), vendor_of(device)
    c, info = potrf(device, a, uplo=uplo, route=route)
    np.testing.assert_array_equal(info, expected)
    check_shape(a, c, info, uplo)
    x, _, info = posv(device, a, b, uplo=uplo, route=route)
    np.testing.assert_array_equal(info, expected)
    assert_nan_where_failed(x, info)


@on("host", "emulated", "cuda")
@each_dtype
def test_nan_is_not_positive(device: Device, dtype: str) -> None:
    a = random_batch(6, dtype, 2)
    a[1, 4, 2] = np.nan
    np.testing.assert_array_equal(potrf(device, a)[1], [0, 5])


@on("host", "emulated", "cuda")
@pytest.mark.parametrize("imat", [one for one in cholesky.DPO_TYPES if one not in (3, 4, 5)])
@each_dtype
def test_lapack_types(device: Device, dtype: str, imat: int) -> None:
    for n in (2, 7):
        a = cholesky.dpo(imat, n, dtype, np.random.default_rng(n))[None]
        c, info = potrf(device, a)
        assert not info.any()
        theirs = cholesky.dpot01(a, lapack.potrf(a).c)
        calls.judge(cholesky.dpot01(a, c), partial(Ratios, theirs.values))


@on("host", "emulated", "cuda")
@pytest.mark.parametrize(("imat", "first"), [(3, 1), (4, 5), (5, 3)])
def test_zero_rows_are_found(device: Device, imat: int, first: int) -> None:
    a = cholesky.dpo(imat, 5, "float64", np.random.default_rng(0))[None]
    np.testing.assert_array_equal(potrf(device, a)[1], [first])


@on("host", "emulated", "cuda")
@each_triangle
def test_in_place_and_repeated(device: Device, uplo: str) -> None:
    a = random_batch(5, "complex64", 3, uplo)
    expected = potrf(device, a, "C", uplo=uplo)[0]
    for _ in range(3):
        mine = device.put(a)
        result = lapack.potrf(mine, uplo=uplo, overwrite_a=True)
        assert result.c is mine
        assert device.get(mine).tobytes() == expected.tobytes()
        sides = random_sides(3, 5, 2, "complex64")
        mine, b = device.put(a), device.put(sides)
        solved = lapack.posv(mine, b, uplo=uplo, overwrite_a=True, overwrite_b=True)
        assert solved.x is b and solved.c is mine
        check_posv(a, sides, device.get(b), uplo)
    kept = device.put(a)
    lapack.potrf(kept, uplo=uplo)
    assert device.get(kept).tobytes() == a.tobytes()


@on("emulated", "cuda")
def test_a_repeated_call_out_of_place_starts_from_a(device: Device) -> None:
    for seed in range(3):
        a = random_batch(5 + 0 * seed, "float32", 2) * (seed + 1)
        x, c = device.put(a), device.put(np.zeros_like(a))
        info = device.put(np.zeros(2, np.int32))
        lapack.potrf(x, out=(c, info))
        check_potrf(a, device.get(c), device.get(info))


@on("emulated", "cuda")
@each_triangle
def test_posv_is_made_of_potrf_and_potrs(device: Device, uplo: str) -> None:
    a, b = random_batch(6, "float32", 2, uplo), random_sides(2, 6, 5, "float32")
    with trace() as routes, pinned(potrf="cta", potrs="blocked"):
        check_posv(a, b, posv(device, a, b, uplo=uplo)[0], uplo)
    assert [(one.problem.op, one.route) for one in routes][:3] == [
        ("posv", "blocked"),
        ("potrf", "cta"),
        ("potrs", "blocked"),
    ]
    assert [one.problem.trans for one in routes if one.problem.op == "trsm"] == (
        ["N", "C"] if uplo == "L" else ["C", "N"]
    )


@on("emulated", "cuda")
def test_a_pin_of_blocked_holds_for_its_parts_without_end(device: Device) -> None:
    a = random_batch(40, "float32", 1)
    with pinned(potrf="blocked"):
        c, info = potrf(device, a)
    check_potrf(a, c, info)


@on("host", "emulated", "cuda")
def test_empty_problems(device: Device) -> None:
    for shape in ((0, 3, 3), (2, 0, 0)):
        c, info = lapack.potrf(device.put(np.zeros(shape, "float32")))
        assert c.shape == shape and not device.get(info).any()
    a = random_batch(4, "float64", 2)
    x, c, info = lapack.posv(device.put(a), device.put(np.zeros((2, 4, 0))))
    assert x.shape == (2, 4, 0)
    check_potrf(a, device.get(c), device.get(info))
    assert lapack.potrs(c, device.put(np.zeros((2, 4, 0)))).shape == (2, 4, 0)


@on("host", "emulated", "cuda")
def test_arguments_are_checked(device: Device) -> None:
    a, b = (device.put(np.zeros(shape, "float32")) for shape in ((2, 4, 4), (2, 3, 1)))
    with pytest.raises(ArgumentError, match="uplo: got 'X', accepted are L, U"):
        lapack.potrf(a, uplo="X")
    with pytest.raises(ArgumentError, match="a: got 3 x 1 matrices, accepted are square ones"):
        lapack.potrf(b)
    with pytest.raises(ArgumentError, match=r"b: got shape \(2, 3, 1\), accepted is"):
        lapack.posv(a, b)
    with pytest.raises(ArgumentTypeError, match="b: got float64, accepted is c's float32"):
        lapack.potrs(a, device.put(np.zeros((2, 4, 1))))
    with pytest.raises(PinError, match="got 'tinny' for potrf, accepted are auto, tiny, cta,"):
        lapack.potrf(a, route="tinny")


@on("emulated", "cuda")
def test_environment_pins(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BATCHLAS_POTRF_ROUTE", "lpanel:panel=8")
    config.refresh()
    with trace() as routes:
        lapack.potrf(device.put(random_batch(3, "float32", 1)))
    assert routes[0].route == "lpanel:panel=8"


@on("host", "emulated", "cuda")
@pytest.mark.parametrize("upper", [False, True])
@each_dtype
def test_linalg_cholesky(device: Device, dtype: str, upper: bool) -> None:
    a = cholesky.random_spd(3, 6, dtype)
    eps = float(np.finfo(dtype).eps)
    for matrices in (a, a[0], a[None]):
        factor = device.get(linalg.cholesky(device.put(matrices), upper=upper))
        expected = np.linalg.cholesky(matrices, upper=upper)
        np.testing.assert_allclose(factor, expected, rtol=0, atol=50 * eps * abs(expected).max())
        assert not np.triu(factor, 1).any() if not upper else not np.tril(factor, -1).any()
    a[1] = cholesky.indefinite(a[1], 3)
    factor = device.get(linalg.cholesky(device.put(a), upper=upper, check=False))
    assert np.isnan(factor[1]).all() and np.isfinite(factor[[0, 2]]).all()


@on("host", "emulated", "cuda")
@each_dtype
def test_linalg_solve_spd(device: Device, dtype: str) -> None:
    a = cholesky.random_spd(3, 6, dtype)
    for matrices, b in ((a, random_sides(3, 6, 2, dtype)), (a[0], random_sides(1, 6, 1, dtype)[0, :, 0])):
        x = device.get(linalg.solve_spd(device.put(matrices), device.put(b)))
        expected = np.linalg.solve(matrices, b)
        assert x.shape == expected.shape
        atol = 100 * float(np.finfo(dtype).eps) * abs(expected).max()
        np.testing.assert_allclose(x, expected, rtol=0, atol=atol)


def test_host_broadcasts_as_numpy() -> None:
    a = cholesky.random_spd(3, 4, "float64").reshape(3, 1, 4, 4)
    for b in (np.arange(4.0), np.ones((4, 2)), np.ones((5, 4, 2))):
        np.testing.assert_allclose(linalg.solve_spd(a, b), np.linalg.solve(a, b))


def test_host_raises_unless_told_not_to() -> None:
    a = cholesky.random_spd(3, 4, "float64")
    a[1] = cholesky.indefinite(a[1], 2)
    for call in (linalg.cholesky, lambda one, **options: linalg.solve_spd(one, np.ones(4), **options)):
        with pytest.raises(LinAlgError, match="not positive definite: 1 items, the first is number 1"):
            call(a)
        assert np.isnan(call(a, check=False)[1]).all()


@on("emulated")
def test_a_gpu_raises_if_told_to(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    a = cholesky.random_spd(2, 4, "float32")
    a[1] = cholesky.indefinite(a[1], 2)
    monkeypatch.setattr(common, "fetch", lambda memory, stream, ordinal: np.array([0, 2], np.int32))
    mine = device.put(a)
    linalg.cholesky(mine)
    with pytest.raises(LinAlgError, match="the first is number 1"):
        linalg.cholesky(mine, check=True)
