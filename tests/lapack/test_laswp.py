"""laswp on the host, and what is asked of its arguments everywhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from batchlas_py import ArgumentError, ArgumentTypeError, lapack
from batchlas_py.testing import oracle

from .calls import call, empty, random_batch
from .devices import Device, each_dtype, on, on_each_layout


def pivots_for(batch: int, m: int, k: int, seed: int = 0) -> np.ndarray:
    """Any rows, with no regard to the order in which they are interchanged."""
    return np.random.default_rng(seed).integers(1, m + 1, (batch, k), np.int32)


def laswp(device: Device, a: np.ndarray, ipiv: np.ndarray, layout: Any = "F", **options: Any) -> np.ndarray:
    (x,) = call(device, lapack.laswp, {"a": a, "ipiv": ipiv}, {"x": empty(a)}, layout, **options)
    return x


@on("host")
@each_dtype
@pytest.mark.parametrize("forward", [True, False])
@pytest.mark.parametrize(("m", "n", "k"), [(1, 1, 1), (5, 3, 5), (7, 4, 3), (4, 9, 4), (33, 2, 33)])
def test_interchanges(device: Device, m: int, n: int, k: int, forward: bool, dtype: str) -> None:
    a, ipiv = random_batch(3, m, n, dtype), pivots_for(3, m, k)
    x = laswp(device, a, ipiv, forward=forward)
    for i in range(3):
        np.testing.assert_array_equal(x[i], oracle.laswp(a[i], ipiv[i], forward=forward))


@on_each_layout(["host"])
def test_every_layout(device: Device, layout: str) -> None:
    a, ipiv = random_batch(3, 6, 4, "float32"), pivots_for(3, 6, 6)
    np.testing.assert_array_equal(laswp(device, a, ipiv, layout), laswp(device, a, ipiv))


@on("host")
def test_backward_undoes_forward_in_place(device: Device) -> None:
    a, ipiv = random_batch(3, 6, 4, "float32"), pivots_for(3, 6, 6)
    there, pivots = device.put(a), device.put(ipiv)
    assert lapack.laswp(there, pivots, overwrite_a=True) is there
    assert (device.get(there) != a).any()
    lapack.laswp(there, pivots, forward=False, overwrite_a=True)
    np.testing.assert_array_equal(device.get(there), a)


@on("host")
def test_no_interchanges_copy(device: Device) -> None:
    a = random_batch(2, 3, 3, "float32")
    there = device.put(a)
    x = lapack.laswp(there, device.put(np.zeros((2, 0), np.int32)))
    assert x is not there
    np.testing.assert_array_equal(device.get(x), a)


@on("host")
def test_interchanges_of_getrf(device: Device) -> None:
    a = random_batch(4, 6, 6, "float64")
    lu, ipiv, _ = lapack.getrf(a)
    lower, upper = np.tril(lu, -1) + np.eye(6), np.triu(lu)
    np.testing.assert_allclose(lower @ upper, laswp(device, a, ipiv), atol=1e-14)


@on("host")
@pytest.mark.parametrize("wild", [0, -1, 5, 2**31 - 1])
@pytest.mark.parametrize("call", ["laswp", "getrs", "getri"])
def test_pivots_out_of_range_are_refused_on_the_host(device: Device, call: str, wild: int) -> None:
    a = device.put(random_batch(2, 4, 4, "float64"))
    ipiv = np.tile(np.arange(1, 5, dtype=np.int32), (2, 1))
    ipiv[1, 2] = wild
    arguments = {"laswp": (a, ipiv), "getrs": (a, ipiv, a), "getri": (a, ipiv)}[call]
    with pytest.raises(ArgumentError, match=rf"ipiv: got values from .*{wild}.*, accepted are 1 to 4"):
        getattr(lapack, call)(*arguments)


A = np.ones((2, 3, 4))
IPIV = np.ones((2, 3), np.int32)
WRONG: dict[str, tuple[Any, Any, type[Exception], str]] = {
    "dtype": (A, IPIV.astype(np.int64), ArgumentTypeError, "ipiv: got int64, accepted are int32"),
    "batch": (A, IPIV[:1], ArgumentError, r"ipiv: got shape \(1, 3\), accepted is \(2, 'k'\), k <= 3"),
    "k": (A, np.ones((2, 4), np.int32), ArgumentError, r"ipiv: got shape \(2, 4\), .* k <= 3"),
    "gaps": (A, np.ones((2, 6), np.int32)[:, ::2], ArgumentError, "ipiv: has gaps"),
}


@on("host", "emulated")
@pytest.mark.parametrize("what", WRONG)
def test_wrong_arguments(device: Device, what: str) -> None:
    a, ipiv, kind, message = WRONG[what]
    pivots = device.put(ipiv)
    if what == "gaps":
        pivots = device.put(np.ones((2, 6), np.int32))[:, ::2]
    with pytest.raises(kind, match=message):
        lapack.laswp(device.put(a), pivots)
