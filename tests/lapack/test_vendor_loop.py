"""getrf item by item on side streams, with the oracle in the place of cuSOLVER; on a GPU with cuSOLVER."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from batchlas_py import PinError, config, explain, lapack
from batchlas_py.dtypes import DTYPES
from batchlas_py.ops import vendor_loop
from batchlas_py.testing import matgen, ratios

from .. import checks, emulated_gpu
from .calls import getrf, random_batch
from .devices import Device, each_dtype, on, on_each_layout

LOOP = "vendor/loop"
DEVICES = ("emulated-cublas", "cublas")


def judge(a: np.ndarray, lu: np.ndarray, ipiv: np.ndarray, info: np.ndarray) -> None:
    """cuSOLVER has a pivot metric of its own for complex matrices, so pivots are judged by their factors."""
    checks.check_pivot_range(ipiv, a.shape[1])
    checks.check_info_is_first_zero_pivot(lu, info)
    assert ratios.dget01(a, lu, ipiv).passes()


@on(*DEVICES)
@each_dtype
@pytest.mark.parametrize("shape", [(1, 5, 5), (3, 7, 4), (4, 4, 7), (9, 6, 6)])
def test_every_item_of_a_batch(device: Device, shape: tuple[int, int, int], dtype: str) -> None:
    a = random_batch(*shape, dtype)
    for layout in ("F", "C"):
        judge(a, *getrf(device, a, layout, route=LOOP))


@on_each_layout(DEVICES)
def test_every_layout(device: Device, layout: str) -> None:
    a = random_batch(5, 6, 6, "complex64")
    judge(a, *getrf(device, a, layout, route=LOOP))


@on("cublas")
@each_dtype
def test_large_items(device: Device, dtype: str) -> None:
    a = random_batch(6, 700, 700, dtype)
    for _ in range(3):
        judge(a, *getrf(device, a, route=LOOP))


@on("cublas")
def test_capture_in_a_graph(device: Any) -> None:
    """The side streams are captured with the caller's, and every replay reads the matrices anew."""
    batches = [random_batch(9, 40, 40, "float64", seed) for seed in range(3)]
    a, ipiv, info = (
        device.put(values) for values in (batches[0], np.zeros((9, 40), np.int32), np.zeros(9, np.int32))
    )
    lu, stream = device.put_columns(batches[0]), device.cupy.cuda.Stream(non_blocking=True)
    with stream:
        lapack.getrf(a, out=(lu, ipiv, info), route=LOOP)
        stream.synchronize()
        stream.begin_capture()
        lapack.getrf(a, out=(lu, ipiv, info), route=LOOP)
        graph = stream.end_capture()
        for batch in batches:
            a.set(batch)
            graph.launch(stream)
            stream.synchronize()
            judge(batch, *map(device.get, (lu, ipiv, info)))


@on(*DEVICES)
def test_a_singular_item(device: Device) -> None:
    a = random_batch(6, 5, 5, "float64")
    a[2, :, 3] = a[2, :, 1]
    a[4] = 0
    exact = matgen.exact_lu(5, "float64", np.random.default_rng(0))
    a[0] = exact.a
    _, ipiv, info = getrf(device, a, route=LOOP)
    np.testing.assert_array_equal(ipiv[0], exact.ipiv)
    assert info[4] == 1
    assert not info[[0, 1, 3, 5]].any()


@on("emulated-cublas")
@pytest.mark.parametrize("batch", [1, 3, 9])
def test_items_take_turns_on_the_streams(device: Any, batch: int) -> None:
    """A stream never shares its workspace with another."""
    loop: Any = vars(vendor_loop)["cusolver"]
    columns = device.put_columns(random_batch(batch, 4, 4, "float32"))
    lapack.getrf(columns, route=LOOP, stream=7, overwrite_a=True)
    sides = emulated_gpu.SIDE_STREAMS[:batch]
    assert device.gpu.streams == [sides[i % len(sides)] for i in range(batch)]
    (spaces,) = zip(*(loop.workspaces[stream] for stream in sides), strict=True)
    gaps = np.diff(sorted(spaces))
    assert len(set(spaces)) == len(sides)
    assert not len(gaps) or min(gaps) >= loop.BYTES


def test_where_it_does_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(PinError, match=r"'vendor/loop' cannot run getrf .* on host: runs on a CUDA device"):
        lapack.getrf(np.ones((1, 2, 2)), route=LOOP)
    monkeypatch.setenv("BATCHLAS_VENDOR", "off")
    config.refresh()
    why = explain("getrf", n=512, batch=4, dtype=DTYPES[0])
    assert why.verdicts[LOOP].reason == "BATCHLAS_VENDOR=off"
