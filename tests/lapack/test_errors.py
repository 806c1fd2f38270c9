"""A wrong argument raises one exception that names it, what came and what is accepted; nothing is written."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest

from batchlas_py import ArgumentError, ArgumentTypeError, trace
from batchlas_py.lapack import gesv, getrf, getri, getrs

from .calls import factors, random_batch
from .devices import NUMERIC, Device, marks, on

N, BATCH = 4, 3
Call = Callable[["Arguments"], object]
Case = tuple[str, Call, type[Exception], str]


class Arguments:
    """Good arguments on a device; a case spoils one of them."""

    def __init__(self, device: Device) -> None:
        a = random_batch(BATCH, N, N, "float64")
        lu, ipiv = factors(a)
        self.device = device
        self.values = {"a": a, "lu": lu, "ipiv": ipiv, "b": random_batch(BATCH, N, 2, "float64")}
        self.values["info"] = np.zeros(BATCH, np.int32)
        self.arrays = {name: device.put(values) for name, values in self.values.items()}

    def __getattr__(self, name: str) -> Any:
        return self.arrays[name]

    def cast(self, name: str, dtype: str) -> Any:
        """An argument in another dtype."""
        return self.device.put(self.values[name].astype(dtype))

    def part(self, name: str, index: Any) -> Any:
        """A part of an argument."""
        return self.device.put(self.values[name][index])

    def shared(self, name: str) -> Any:
        """An array shaped as an argument whose items are one."""
        values = self.values[name]
        return self.device.broadcast(self.device.put(values[:1].copy()), values.shape)

    def uneven(self) -> Any:
        """Matrices whose two leading dimensions are in the wrong order."""
        return self.device.put(np.zeros((2, 3, N, N))).swapaxes(0, 1)


E = ArgumentError
T = ArgumentTypeError
ACCEPTED = "accepted are float32, float64, complex64, complex128"
CASES: list[Case] = [
    (
        "vector",
        lambda g: getrf(g.part("a", (0, 0))),
        E,
        r"a: got shape \(4,\), accepted are 2 or more",
    ),
    ("not square", lambda g: gesv(g.part("a", np.s_[:, :3]), g.b), E, "a: got 3 x 4 .* square"),
    (
        "lu not square",
        lambda g: getri(g.part("lu", np.s_[:, :3]), g.ipiv),
        E,
        "lu: got 3 x 4 .* square",
    ),
    *(
        (
            f"a {dtype}",
            lambda g, dtype=dtype: getrf(g.cast("a", dtype)),
            T,
            f"a: got {dtype}, {ACCEPTED}",
        )
        for dtype in ("float16", "int32", "int64", "bool")
    ),
    (
        "b dtype",
        lambda g: gesv(g.a, g.cast("b", "float32")),
        T,
        "b: got float32, accepted is a's float64",
    ),
    ("b int", lambda g: gesv(g.a, g.cast("b", "int64")), T, f"b: got int64, {ACCEPTED}"),
    (
        "b for lu",
        lambda g: getrs(g.lu, g.ipiv, g.cast("b", "complex128")),
        T,
        "b: got complex128, accepted is lu's float64",
    ),
    (
        "b batch",
        lambda g: gesv(g.a, g.part("b", np.s_[:2])),
        E,
        r"b: got shape \(2, 4, 2\), accepted is \(3, 4, 'nrhs'\) for this a",
    ),
    (
        "b rows",
        lambda g: gesv(g.a, g.part("b", np.s_[:, :3])),
        E,
        r"b: got shape \(3, 3, 2\), accepted",
    ),
    (
        "b vector",
        lambda g: gesv(g.a, g.part("b", np.s_[..., 0])),
        E,
        r"b: got shape \(3, 4\), accepted",
    ),
    (
        "b one item",
        lambda g: getrs(g.lu, g.ipiv, g.part("b", 0)),
        E,
        r"b: got shape \(4, 2\), accepted",
    ),
    (
        "ipiv dtype",
        lambda g: getrs(g.lu, g.cast("ipiv", "int64"), g.b),
        T,
        "ipiv: got int64, .* int32",
    ),
    (
        "ipiv batch",
        lambda g: getrs(g.lu, g.part("ipiv", np.s_[:2]), g.b),
        E,
        r"ipiv: got shape \(2, 4\), accepted is \(3, 4\) for this lu",
    ),
    (
        "ipiv order",
        lambda g: getri(g.lu, g.part("ipiv", np.s_[:, :3])),
        E,
        r"ipiv: got shape \(3, 3\)",
    ),
    ("ipiv gaps", lambda g: getri(g.lu, g.shared("ipiv")), E, "ipiv: has gaps, accepted are C-contig"),
    ("trans", lambda g: getrs(g.lu, g.ipiv, g.b, "H"), E, "trans: got 'H', accepted are N, T, C"),
    ("trans case", lambda g: getrs(g.lu, g.ipiv, g.b, "n"), E, "trans: got 'n', accepted are N, T, C"),
    ("uneven", lambda g: getrf(g.uneven()), E, r"a: batch dimensions \(3, 2\) .* not evenly spaced"),
    ("list", lambda g: getrf([[1.0]]), T, "a: this list has no device memory"),
    ("none", lambda g: gesv(g.a, None), T, "b: this NoneType has no device memory"),
    (
        "backend",
        lambda g: getrf(g.a, backend="gpu"),
        E,
        "backend: got 'gpu', accepted is '(host|cuda)'",
    ),
    ("stream", lambda g: getrf(g.a, stream="1"), T, "stream: got str, accepted are a handle"),
    ("out type", lambda g: getrf(g.a, out=g.lu), T, "out: got .*, accepted are tuples of 3 arr"),
    ("out length", lambda g: gesv(g.a, g.b, out=cast("Any", (g.b,))), E, "out: got 1 arrays, accepted are 4"),
    ("out none", lambda g: getri(g.lu, g.ipiv, out=(None, g.info)), T, "inv: this NoneType has no"),
    (
        "out shape",
        lambda g: getrf(g.a, out=(g.part("lu", np.s_[:2]), g.ipiv, g.info)),
        E,
        r"lu: got shape \(2, 4, 4\), accepted is \(3, 4, 4\)",
    ),
    (
        "out lead",
        lambda g: getrf(g.a, out=(g.part("lu", None), g.ipiv, g.info)),
        E,
        r"lu: got shape \(1, 3, 4, 4\), accepted is \(3, 4, 4\)",
    ),
    (
        "out dtype",
        lambda g: getrs(g.lu, g.ipiv, g.b, out=g.cast("b", "float32")),
        T,
        "x: got float32, accepted are float64",
    ),
    (
        "out info",
        lambda g: getrf(g.a, out=(g.lu, g.ipiv, g.cast("info", "int64"))),
        T,
        "info: got int64, accepted are int32",
    ),
    (
        "out info shape",
        lambda g: getrf(g.a, out=(g.lu, g.ipiv, g.part("info", np.s_[:1]))),
        E,
        r"info: got shape \(1,\), accepted is \(3,\)",
    ),
    ("out is lu", lambda g: getri(g.lu, g.ipiv, out=(g.lu, g.info)), E, "out: inv is lu itself"),
]


def on_each_case(cases: list[Case]) -> pytest.MarkDecorator:
    cells = [
        pytest.param(name, *case, id=f"{name}-{what}", marks=marks(name))
        for name in NUMERIC
        for what, *case in cases
    ]
    return pytest.mark.parametrize(("device", "call", "error", "message"), cells, indirect=["device"])


def assert_refused(good: Arguments, call: Call, error: type[Exception], message: str) -> None:
    """One exception of the right kind and text; no route was taken and no argument has changed."""
    with trace() as routes, pytest.raises(error, match=message) as caught:
        call(good)
    assert type(caught.value) is error
    assert not routes
    for name, values in good.values.items():
        assert good.device.get(good.arrays[name]).tobytes() == values.tobytes(), f"{name} changed"


@on_each_case(CASES)
def test_refused(device: Device, call: Call, error: type[Exception], message: str) -> None:
    assert_refused(Arguments(device), call, error, message)


def shares_memory(name: str, g: Arguments) -> object:
    """Results written to an array of which all items are one."""
    out = {"x": g.device.put(g.values["b"]), "lu": g.lu, "ipiv": g.ipiv, "info": g.info}
    out[name] = g.shared({"x": "b"}.get(name, name))
    return gesv(g.a, g.b, out=tuple(out.values()))


@on()
@pytest.mark.parametrize("name", ["x", "lu", "ipiv", "info"])
def test_results_must_not_share_memory(device: Device, name: str) -> None:
    reason = "elements share memory" if device.on_gpu else "the array to write to is read-only"
    assert_refused(Arguments(device), lambda g: shares_memory(name, g), E, f"{name}: {reason}")


@on("emulated", "cuda", "cublas")
def test_entries_of_a_result_must_not_share_memory(device: Device) -> None:
    row = device.broadcast(device.put(np.zeros((BATCH, 1, N))), (BATCH, N, N))
    assert_refused(
        Arguments(device),
        lambda g: getrf(g.a, out=(row, g.ipiv, g.info)),
        E,
        r"lu: elements share memory \(a stride is 0\), accepted are distinct ones",
    )


@on("host")
@pytest.mark.parametrize("how", ["overwrite_a", "out"])
def test_read_only_results(device: Device, how: str) -> None:
    good = Arguments(device)
    locked = good.values["a"].copy()
    locked.flags.writeable = False
    options = {"overwrite_a": True} if how == "overwrite_a" else {"out": (locked, good.ipiv, good.info)}
    assert_refused(good, lambda g: getrf(locked, **options), E, "lu: the array to write to is read-only")
    getrf(locked)


@on("host")
@pytest.mark.parametrize("dtype", ["object", "longdouble", "clongdouble", "U4", "datetime64[s]"])
def test_dtypes_of_numpy_alone(device: Device, dtype: str) -> None:
    name = np.dtype(dtype).name
    assert_refused(
        Arguments(device),
        lambda g: getrf(np.zeros((2, 3, 3), dtype)),
        T,
        re.escape(f"a: got {name}, {ACCEPTED}"),
    )


@on("host")
def test_the_other_byte_order(device: Device) -> None:
    swapped = np.dtype("float64").newbyteorder()
    assert_refused(
        Arguments(device),
        lambda g: getrf(g.values["a"].astype(swapped)),
        T,
        f"a: got {swapped.str}, accepted is the machine's byte order",
    )


@on("host")
def test_strides_of_parts_of_an_element(device: Device) -> None:
    records = np.zeros(3, [("matrix", "f8", (2, 2)), ("tag", "i4")])
    assert_refused(
        Arguments(device),
        lambda g: getrf(records["matrix"]),
        E,
        "a: strides .* are no multiples of the 8-byte element",
    )


@on("host")
def test_interchanges_out_of_range(device: Device) -> None:
    good = Arguments(device)
    good.ipiv[1, 2] = 0
    with pytest.raises(ArgumentError, match="ipiv: got values from 0 to 4, accepted are 1 to 4"):
        getrs(good.lu, good.ipiv, good.b)


@on("emulated", "cuda", "cublas")
def test_host_and_device_do_not_mix(device: Device) -> None:
    good = Arguments(device)
    host = "lives on the host, accepted are arrays on cuda:0, as the first argument"
    assert_refused(good, lambda g: gesv(g.a, g.values["b"]), T, f"b: {host}")
    assert_refused(good, lambda g: getrs(g.lu, g.values["ipiv"], g.b), T, f"ipiv: {host}")
    assert_refused(good, lambda g: getrf(g.a, out=(g.values["lu"], g.ipiv, g.info)), T, f"lu: {host}")
    assert_refused(
        good,
        lambda g: gesv(g.values["a"], g.b),
        T,
        "b: lives on cuda:0, accepted are arrays on the host, as the first argument",
    )
    with pytest.raises(ArgumentError, match="backend: got 'cuda', accepted is 'host', where a lives"):
        getrf(good.values["a"], backend="cuda")
    with pytest.raises(ArgumentError, match="backend: got 'host', accepted is 'cuda', where a lives"):
        getrf(good.a, backend="host")


class Stranger:
    """Device memory of a library that the package does not know."""

    def __init__(self, array: Any) -> None:
        self.__cuda_array_interface__ = array.__cuda_array_interface__


@on("emulated", "cuda")
def test_a_library_that_nobody_knows(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Stranger, "__module__", "elsewhere.arrays")
    assert_refused(
        Arguments(device),
        lambda g: getrf(Stranger(g.a)),
        T,
        "a: got elsewhere.arrays.Stranger, accepted are arrays of numpy, cupy, torch, numba, batchlas_py",
    )
