"""geqrf, orgqr, ormqr and linalg.qr on the host, on emulated kernels and around the emulated vendor."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from batchlas_py import ArgumentError, ArgumentTypeError, PinError, explain, lapack, linalg, trace
from batchlas_py.dtypes import DTYPES, is_complex
from batchlas_py.testing import ratios

from ..qr_checks import check_geqrf, check_qr, conditioned, explicit_q
from .calls import call, empty, random_batch
from .devices import Device, each_dtype, on, on_each_layout

DEVICES = ("host", "emulated-cublas", "cuda", "cublas")
HOSTED = ("host", "emulated-cublas")
ROUTES = ("tiny", "cta", "blocked", "vendor")
SHAPES = [(1, 1), (4, 4), (7, 3), (3, 7), (13, 13)]
each_shape = pytest.mark.parametrize("shape", SHAPES, ids=str)


def options(device: Device, route: str) -> dict[str, Any]:
    """The host knows one route."""
    return {"route": route if device.on_gpu else "vendor"}


def geqrf(device: Device, a: np.ndarray, layout: Any = "F", **more: Any) -> list[np.ndarray]:
    batch, m, n = a.shape
    results = {"qr": empty(a), "tau": np.full((batch, min(m, n)), 77, a.dtype)}
    return call(device, lapack.geqrf, {"a": a}, results, layout, **more)


def orgqr(
    device: Device, qr: np.ndarray, tau: np.ndarray, columns: int, layout: Any = "F", **more: Any
) -> np.ndarray:
    results = {"q": np.full((*qr.shape[:2], columns), 77, qr.dtype)}
    (q,) = call(device, lapack.orgqr, {"qr": qr, "tau": tau}, results, layout, columns=columns, **more)
    return q


def ormqr(
    device: Device, qr: np.ndarray, tau: np.ndarray, c: np.ndarray, layout: Any = "F", **more: Any
) -> np.ndarray:
    arguments = {"qr": qr, "tau": tau, "c": c}
    (x,) = call(device, lapack.ormqr, arguments, {"x": empty(c)}, layout, **more)
    return x


def factors(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """LAPACK's, on the host."""
    qr, tau = lapack.geqrf(a)
    return qr, tau


@on(*DEVICES)
@each_shape
@each_dtype
@pytest.mark.parametrize("route", ROUTES)
def test_factors(device: Device, shape: tuple[int, int], dtype: str, route: str) -> None:
    a = random_batch(3, *shape, dtype)
    for layout in ("F", "C"):
        check_geqrf(a, *geqrf(device, a, layout, **options(device, route)))


@on("emulated-cublas", "cuda")
@pytest.mark.parametrize("shape", [(40, 35), (35, 40), (33, 70), (66, 34)], ids=str)
@pytest.mark.parametrize("route", ["cta", "blocked"])
def test_several_panels(device: Device, shape: tuple[int, int], route: str) -> None:
    a = random_batch(1, *shape, DTYPES[sum(shape) % 4])
    check_geqrf(a, *geqrf(device, a, route=route))


@on_each_layout(DEVICES)
@pytest.mark.parametrize("route", ROUTES)
def test_every_layout(device: Device, layout: str, route: str) -> None:
    a = random_batch(3, 6, 5, "complex64")
    check_geqrf(a, *geqrf(device, a, layout, **options(device, route)))


@on(*DEVICES)
@each_shape
@each_dtype
@pytest.mark.parametrize("route", ["tiny", "blocked", "vendor"])
def test_columns_of_q(device: Device, shape: tuple[int, int], dtype: str, route: str) -> None:
    qr, tau = factors(random_batch(3, *shape, dtype))
    full = explicit_q(qr, tau)
    for columns in {tau.shape[1], shape[0]}:
        for layout in ("F", "C"):
            q = orgqr(device, qr, tau, columns, layout, **options(device, route))
            assert ratios.dqrt11(q).passes()
            assert ratios.dqrt03(
                q, full, np.broadcast_to(np.eye(shape[0], columns, dtype=dtype), q.shape)
            ).passes()


@on(*DEVICES)
@each_dtype
@pytest.mark.parametrize("side", ["L", "R"])
@pytest.mark.parametrize("trans", ["N", "T", "C"])
@pytest.mark.parametrize("route", ["blocked", "vendor"])
def test_products_with_q(device: Device, dtype: str, side: str, trans: str, route: str) -> None:
    if trans == "T" and is_complex(dtype):
        return
    for shape in ((7, 4), (4, 6), (5, 5)):
        qr, tau = factors(random_batch(3, *shape, dtype))
        c = random_batch(3, *((shape[0], 9) if side == "L" else (9, shape[0])), dtype, seed=1)
        for layout in ("F", "C"):
            x = ormqr(device, qr, tau, c, layout, side=side, trans=trans, **options(device, route))
            judged = ratios.dqrt03(x, explicit_q(qr, tau), c, side, "N" if trans == "N" else "C")
            assert judged.passes(), judged.worst


@on(*HOSTED)
@pytest.mark.parametrize("overwrite", [False, True])
def test_results_in_new_or_given_memory(device: Device, overwrite: bool) -> None:
    a = random_batch(2, 5, 3, "float64")
    given = device.put(a)
    qr, tau = lapack.geqrf(given, overwrite_a=overwrite)
    assert (qr is given) == overwrite
    c = device.put(random_batch(2, 5, 4, "float64"))
    before = device.get(c)
    x = lapack.ormqr(qr, tau, c, trans="T", overwrite_c=overwrite)
    assert (x is c) == overwrite
    values = [device.get(one) for one in (qr, tau, x)]
    assert ratios.dqrt03(values[2], explicit_q(*values[:2]), before, trans="C").passes()


@on(*DEVICES)
@each_dtype
@pytest.mark.parametrize("shape", [(4, 4), (7, 3), (3, 7)], ids=str)
def test_numpy_modes(device: Device, shape: tuple[int, int], dtype: str) -> None:
    a = conditioned(2, *shape, dtype)
    for mode in ("reduced", "complete"):
        q, r = (device.get(one) for one in linalg.qr(device.put(a), mode))
        expected = np.linalg.qr(a, mode)
        assert (q.shape, r.shape) == (expected.Q.shape, expected.R.shape)
        check_qr(a, q, r)
        np.testing.assert_allclose(r, expected.R, atol=1e-4)
    np.testing.assert_allclose(device.get(linalg.qr(device.put(a), "r")), np.linalg.qr(a, "r"), atol=1e-4)
    for one, other in zip(linalg.qr(device.put(a), "raw"), np.linalg.qr(a, "raw"), strict=True):
        np.testing.assert_allclose(device.get(one), other, atol=1e-4)


@on("emulated-cublas", "cuda")
@pytest.mark.parametrize("route", ["tiny", "blocked"])
def test_routes_of_q_and_r(device: Device, route: str) -> None:
    a = random_batch(3, 6, 4, "complex64")
    for put in (device.put, device.put_columns):
        check_qr(a, *(device.get(one) for one in linalg.qr(put(a), route=route)))


@on("emulated-cublas", "cuda")
def test_blocked_is_made_of_geqrf_and_orgqr(device: Device) -> None:
    with trace() as routes:
        linalg.qr(device.put(random_batch(2, 5, 4, "float32")), route="blocked")
    assert [record.problem.op for record in routes] == ["qr", "geqrf", "orgqr"]


@on(*DEVICES)
@pytest.mark.parametrize("shape", [(2, 0, 3), (2, 3, 0), (0, 3, 3), (2, 0, 0)], ids=str)
def test_empty_matrices(device: Device, shape: tuple[int, ...]) -> None:
    a = np.zeros(shape, np.float32)
    for mode in ("reduced", "complete"):
        for one, other in zip(linalg.qr(device.put(a), mode), np.linalg.qr(a, mode), strict=True):
            np.testing.assert_array_equal(device.get(one), other)
    expected = np.asarray(np.linalg.qr(a, "r"))
    assert device.get(linalg.qr(device.put(a), "r")).shape == expected.shape


@on(*HOSTED)
def test_no_reflectors_leave_the_other_factor(device: Device) -> None:
    c, none = device.put(random_batch(2, 3, 4, "float32")), np.zeros((2, 3, 0), np.float32)
    tau = np.zeros((2, 0), np.float32)
    x = lapack.ormqr(device.put(none), device.put(tau), c)
    np.testing.assert_array_equal(device.get(x), device.get(c))


@on(*HOSTED)
def test_refusals(device: Device) -> None:
    real = random_batch(2, 5, 3, "float32")
    qr, tau = (device.put(one) for one in factors(real))
    c = device.put(random_batch(2, 4, 4, "float32"))
    with pytest.raises(ArgumentError, match=r"^columns: got 2, accepted are 3 to 5"):
        lapack.orgqr(qr, tau, columns=2)
    with pytest.raises(ArgumentError, match=r"^columns: got 6"):
        lapack.orgqr(qr, tau, columns=6)
    with pytest.raises(ArgumentError, match=r"^c: got 4 rows, accepted are 5"):
        lapack.ormqr(qr, tau, c)
    with pytest.raises(ArgumentError, match=r"^c: got 4 columns, accepted are 5"):
        lapack.ormqr(qr, tau, c, side="R")
    with pytest.raises(ArgumentError, match=r"^side: got 'X'"):
        lapack.ormqr(qr, tau, c, side="X")
    with pytest.raises(ArgumentTypeError, match=r"^tau: got float64, accepted is qr's float32"):
        lapack.orgqr(qr, device.put(np.zeros((2, 3))))
    with pytest.raises(ArgumentError, match=r"^tau: got shape \(2, 4\), accepted is \(2, 'k'\), k <= 3"):
        lapack.orgqr(qr, device.put(np.zeros((2, 4), np.float32)))
    with pytest.raises(ArgumentError, match=r"^q: the result is qr itself"):
        lapack.orgqr(qr, tau, out=qr)
    with pytest.raises(ArgumentError, match=r"^mode: got 'full', accepted are reduced, complete, r, raw"):
        linalg.qr(qr, "full")
    with pytest.raises(ArgumentError, match=r"^out: got 3 arrays, accepted are 2"):
        lapack.geqrf(qr, out=(qr, tau, tau))  # type: ignore[arg-type]


@on(*HOSTED)
def test_complex_transposes_are_refused(device: Device) -> None:
    qr, tau = (device.put(one) for one in factors(random_batch(2, 4, 4, "complex64")))
    with pytest.raises(ArgumentError, match=r"^trans: got 'T', accepted are N, C"):
        lapack.ormqr(qr, tau, qr, trans="T")


@on("emulated-cublas")
def test_pins_that_cannot_run(device: Device) -> None:
    a = device.put(random_batch(1, 3, 33, "float32"))
    with pytest.raises(PinError, match=r"'tiny' cannot run geqrf .* n = 33 is above 32"):
        lapack.geqrf(a, route="tiny")
    with pytest.raises(PinError, match=r"'tiny' cannot run qr .* forms 3 columns of Q, not 0"):
        linalg.qr(device.put(random_batch(1, 3, 3, "float32")), "r", route="tiny")
    with pytest.raises(PinError, match=r"'vendor' cannot run qr .* none for batches on the GPU"):
        linalg.qr(device.put(random_batch(1, 3, 3, "float32")), route="vendor")


@pytest.mark.parametrize("dtype", DTYPES)
def test_what_the_families_take(dtype: str) -> None:
    most = {"float32": 2048, "float64": 1536, "complex64": 1536, "complex128": 768}[dtype]
    verdicts = explain("geqrf", m=most, n=40, batch=5, dtype=dtype).verdicts
    assert verdicts["blocked"].ok and not verdicts["cta"].ok
    assert (
        "rows are more than"
        in explain("geqrf", m=most + 1, n=4, batch=5, dtype=dtype).verdicts["blocked"].reason
    )
    assert explain("geqrf", n=64, batch=5, dtype=dtype).verdicts["cta"].ok
    assert explain("ormqr", m=8, n=most, k=3, side="R", batch=5, dtype=dtype).verdicts["blocked"].ok
    assert not explain("ormqr", m=8, n=most + 1, k=3, side="R", batch=5, dtype=dtype).verdicts["blocked"].ok
