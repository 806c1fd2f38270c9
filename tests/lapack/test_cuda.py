"""What only a GPU can show: launch limits, streams, graphs, other libraries' arrays, no waiting."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import batchlas_py
from batchlas_py import lapack, pinned
from batchlas_py.testing import ratios

from .. import checks
from .calls import empty, factors, judge_gesv, judge_getrf, judge_getri, judge_getrs, pivots, random_batch
from .devices import Cuda, on

SPIN = r"""
extern "C" __global__ void spin(unsigned long long nanoseconds) {
    unsigned long long start, now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(start));
    do {
        asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    } while (now - start < nanoseconds);
}
"""
each_op = pytest.mark.parametrize("op", ["getrf", "gesv", "getrs", "getri"])


class Prepared:
    """One op with its arguments and results on the device: ``call()`` only enqueues."""

    def __init__(self, device: Cuda, op: str, n: int = 8, batch: int = 65, dtype: str = "float32") -> None:
        self.device, self.op = device, op
        a, b = random_batch(batch, n, n, dtype), random_batch(batch, n, 1, dtype, seed=1)
        lu, ipiv = factors(a)
        self.values = {"a": a, "b": b, "lu": lu, "ipiv": ipiv}
        names = {"getrf": ("a",), "gesv": ("a", "b"), "getrs": ("lu", "ipiv", "b"), "getri": ("lu", "ipiv")}[
            op
        ]
        self.arguments = {name: device.put(self.values[name]) for name in names}
        status = pivots(batch, n), pivots(batch)
        results = {
            "getrf": (empty(a), *status),
            "gesv": (empty(b), empty(a), *status),
            "getrs": (empty(b),),
            "getri": (empty(a), status[1]),
        }
        self.out = tuple(map(device.put, results[op]))

    def call(self, **options: Any) -> None:
        """Run the op into the prepared results."""
        out = self.out[0] if len(self.out) == 1 else self.out
        getattr(lapack, self.op)(*self.arguments.values(), out=out, **options)

    def spoil(self) -> dict[str, Any]:
        """Zero the matrices; return what restores them."""
        kept = {name: array.copy() for name, array in self.arguments.items() if name != "ipiv"}
        for name in kept:
            self.arguments[name][...] = 0
        for array in self.out:
            array[...] = 77
        self.device.cupy.cuda.Device().synchronize()
        return kept

    def restore(self, kept: dict[str, Any]) -> None:
        """Enqueue copies that undo `spoil`."""
        for name, array in kept.items():
            self.arguments[name][...] = array

    def judge(self) -> None:
        """The results are right."""
        found = [self.device.get(array) for array in self.out]
        a, b = self.values["a"], self.values["b"]
        if self.op == "getrf":
            judge_getrf(self.device, a, *found)
        elif self.op == "gesv":
            judge_gesv(self.device, a, b, *found)
        elif self.op == "getrs":
            judge_getrs(a, b, found[0])
        else:
            judge_getri(a, *found)


class Blocked:
    """A stream on which everything waits behind a spinning kernel."""

    def __init__(self, cupy: Any, seconds: float) -> None:
        self.stream = cupy.cuda.Stream(non_blocking=True)
        self.spin = cupy.RawKernel(SPIN, "spin")
        self.nanoseconds = np.uint64(seconds * 1e9)

    def start(self) -> None:
        """Enqueue the spinning kernel."""
        with self.stream:
            self.spin((1,), (1,), (self.nanoseconds,))


@on("cuda", "cublas")
@pytest.mark.parametrize("batch", [65535, 65536, 65537, 131073])
@pytest.mark.parametrize(("n", "dtype"), [(2, "float32"), (3, "float64"), (12, "float32")])
def test_every_item_of_a_large_batch(device: Cuda, n: int, batch: int, dtype: str) -> None:
    """Near the identity, so that no item is hard; past every 16-bit limit of a launch."""
    rng = np.random.default_rng(0)
    a = (np.eye(n) + 1e-4 * rng.standard_normal((batch, n, n))).astype(dtype)
    b = rng.standard_normal((batch, n, 1)).astype(dtype)
    there, sides = device.put(a), device.put(b)
    lu, ipiv, info = lapack.getrf(there)
    inv, inv_info = lapack.getri(lu, ipiv)
    x, *solved = lapack.gesv(there, sides)
    assert ratios.dget01(a, device.get(lu), device.get(ipiv)).passes()
    assert ratios.dget02(a, device.get(lapack.getrs(lu, ipiv, sides)), b).passes()
    assert ratios.dget02(a, device.get(x), b).passes()
    assert ratios.dget03(a, device.get(inv)).passes()
    np.testing.assert_array_equal(device.get(ipiv), np.broadcast_to(np.arange(1, n + 1), (batch, n)))
    assert not any(device.get(one).any() for one in (info, inv_info, solved[-1]))


@on("cuda", "cublas")
@each_op
def test_a_call_waits_for_its_stream_alone(device: Cuda, op: str) -> None:
    """Arguments that become right only behind the spinning kernel are seen right by a call on that stream."""
    prepared = Prepared(device, op)
    prepared.call()
    blocked = Blocked(device.cupy, 0.1)
    for how in ("argument", "object", "current"):
        kept = prepared.spoil()
        blocked.start()
        with blocked.stream:
            prepared.restore(kept)
            if how == "current":
                prepared.call()
        if how == "argument":
            prepared.call(stream=blocked.stream.ptr)
        elif how == "object":
            prepared.call(stream=Protocol(blocked.stream.ptr))
        blocked.stream.synchronize()
        prepared.judge()


class Protocol:
    """A stream of some other library."""

    def __init__(self, handle: int) -> None:
        self.handle = handle

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self.handle


@on("cuda", "cublas")
@each_op
def test_a_call_returns_before_its_work_is_done(device: Cuda, op: str) -> None:
    """The spinning kernel still runs when the call has returned: it has waited for nothing."""
    prepared = Prepared(device, op)
    blocked = Blocked(device.cupy, 2.0)
    with blocked.stream:
        prepared.call()
    blocked.stream.synchronize()
    blocked.start()
    with blocked.stream:
        prepared.call()
    assert not blocked.stream.done
    blocked.stream.synchronize()
    prepared.judge()


@on("cuda")
@pytest.mark.parametrize("op", ["getrf", "gesv"])
def test_capture_in_a_graph(device: Cuda, op: str) -> None:
    """After a warm-up a call is captured, runs nothing then, and every replay reads the arguments anew."""
    prepared = Prepared(device, op)
    stream = device.cupy.cuda.Stream(non_blocking=True)
    with stream:
        prepared.call(route="tiny")
        stream.synchronize()
        kept = prepared.spoil()
        stream.begin_capture()
        prepared.call(route="tiny")
        graph = stream.end_capture()
        assert all((device.get(array) == 77).all() for array in prepared.out)
        for _ in range(2):
            prepared.restore(kept)
            graph.launch(stream)
            stream.synchronize()
            prepared.judge()
            kept = prepared.spoil()


@on("cuda")
@pytest.mark.parametrize("dtype", ["float32", "complex128"])
@pytest.mark.parametrize(("n", "nrhs"), [(33, 1), (48, 3), (64, 1), (5, 7)])
def test_the_default_route_beyond_the_kernels(device: Cuda, n: int, nrhs: int, dtype: str) -> None:
    a, b = random_batch(101, n, n, dtype), random_batch(101, n, nrhs, dtype)
    with pinned(getrf="auto", gesv="auto"):
        for put in (device.put, device.put_columns):
            x, lu, ipiv, info = map(device.get, lapack.gesv(put(a), put(b)))
            checks.check_info_is_first_zero_pivot(lu, info)
            assert ratios.dget01(a, lu, ipiv).passes()
            judge_getrs(a, b, x)


@on("cuda")
@pytest.mark.parametrize("columns", [False, True], ids=["C", "F"])
def test_torch(device: Cuda, columns: bool) -> None:
    torch = pytest.importorskip("torch")
    a, b = random_batch(70, 6, 6, "complex64"), random_batch(70, 6, 2, "complex64")

    def put(values: np.ndarray) -> Any:
        if columns:
            return torch.as_tensor(values.swapaxes(1, 2).copy(), device="cuda").transpose(1, 2)
        return torch.as_tensor(values, device="cuda")

    result = lapack.gesv(put(a), put(b))
    assert all(isinstance(one, torch.Tensor) and one.is_cuda for one in result)
    assert (result.lu.stride(-1) == 1) is not columns
    judge_gesv(device, a, b, *(one.cpu().numpy() for one in result))
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        x = lapack.gesv(put(a), put(b)).x
    stream.synchronize()
    judge_getrs(a, b, x.cpu().numpy())


@on("cuda")
@pytest.mark.parametrize("spoil", ["requires_grad_", "conj", "cpu"])
def test_tensors_whose_memory_is_not_their_value(device: Cuda, spoil: str) -> None:
    torch = pytest.importorskip("torch")
    tensor = getattr(torch.ones(2, 3, 3, dtype=torch.complex64, device="cuda"), spoil)()
    with pytest.raises(batchlas_py.ArgumentTypeError, match="a: "):
        lapack.getrf(tensor)


@on("cuda")
def test_numba(device: Cuda) -> None:
    cuda = pytest.importorskip("numba.cuda")
    a, b = random_batch(70, 6, 6, "float64"), random_batch(70, 6, 2, "float64")
    result = lapack.gesv(cuda.to_device(a), cuda.to_device(b))
    assert all(cuda.is_cuda_array(one) and type(one).__module__.startswith("numba") for one in result)
    judge_gesv(device, a, b, *(one.copy_to_host() for one in result))


@on("cuda")
def test_numba_in_column_order(device: Cuda) -> None:
    """A view of column-major memory gets column-major factors."""
    cuda = pytest.importorskip("numba.cuda")
    a = random_batch(70, 6, 6, "float64")
    there = device.put_columns(a)
    result = lapack.getrf(cuda.as_cuda_array(there))
    assert result.lu.strides[-2:] == (8, 48)
    lu = device.get(device.cupy.asarray(result.lu))
    judge_getrf(device, a, lu, *(one.copy_to_host() for one in result[1:]))


@on("cuda")
@pytest.mark.parametrize("lead", [(), (3,)], ids=str)
def test_arrays_of_this_package(device: Cuda, lead: tuple[int, ...]) -> None:
    a, b = random_batch(3, 5, 5, "float32"), random_batch(3, 5, 2, "float32")
    shown = (a, b) if lead else (a[0], b[0])
    result = lapack.gesv(*map(batchlas_py.to_device, shown))
    assert all(isinstance(one, batchlas_py.DeviceArray) for one in result)
    found = [one.to_host().reshape(-1, *one.shape[len(lead) :]) for one in result]
    judge_gesv(device, a[: len(found[0])], b[: len(found[0])], *found)


@on("cuda")
def test_the_device_is_described(device: Cuda) -> None:
    info = batchlas_py.device_info()
    assert (info.backend, info.is_gpu, info.ordinal) == ("cuda", True, device.cupy.cuda.runtime.getDevice())
    assert info.arch == f"sm_{device.cupy.cuda.Device().compute_capability}"
    assert info.multiprocessors > 0
