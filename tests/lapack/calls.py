"""Public calls on NumPy values: inputs and outputs lie in poison on a device, and only outputs may change."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from batchlas_py import lapack
from batchlas_py.testing import matgen, ratios
from batchlas_py.testing.ratios import THRESHOLD, Ratios

from .. import checks
from .devices import Device

UNPACKED = ("a", "b", "c", "lu", "x", "inv", "qr", "q")
Layouts = str | Mapping[str, str]
LEFT_OVER = 77
SAMPLE = 64


def getrf(device: Device, a: np.ndarray, layout: Layouts = "F", **options: Any) -> list[np.ndarray]:
    """``lu``, ``ipiv``, ``info``."""
    batch, m, n = a.shape
    results = {"lu": empty(a), "ipiv": pivots(batch, min(m, n)), "info": pivots(batch)}
    return call(device, lapack.getrf, {"a": a}, results, layout, **options)


def getrs(
    device: Device,
    lu: np.ndarray,
    ipiv: np.ndarray,
    b: np.ndarray,
    trans: str = "N",
    layout: Layouts = "F",
    **options: Any,
) -> np.ndarray:
    """``x``."""
    arguments = {"lu": lu, "ipiv": ipiv, "b": b}
    (x,) = call(device, lapack.getrs, arguments, {"x": empty(b)}, layout, trans=trans, **options)
    return x


def getri(
    device: Device, lu: np.ndarray, ipiv: np.ndarray, layout: Layouts = "F", **options: Any
) -> list[np.ndarray]:
    """``inv``, ``info``."""
    results = {"inv": empty(lu), "info": pivots(len(lu))}
    return call(device, lapack.getri, {"lu": lu, "ipiv": ipiv}, results, layout, **options)


def gesv(
    device: Device, a: np.ndarray, b: np.ndarray, layout: Layouts = "F", **options: Any
) -> list[np.ndarray]:
    """``x``, ``lu``, ``ipiv``, ``info``."""
    batch, n, _ = a.shape
    results = {"x": empty(b), "lu": empty(a), "ipiv": pivots(batch, n), "info": pivots(batch)}
    return call(device, lapack.gesv, {"a": a, "b": b}, results, layout, **options)


def empty(values: np.ndarray) -> np.ndarray:
    """An output shaped as ``values``, full of numbers that no result has."""
    return np.full_like(values, LEFT_OVER)


def pivots(*shape: int) -> np.ndarray:
    """An int32 output, likewise."""
    return np.full(shape, -LEFT_OVER, np.int32)


def call(
    device: Device,
    function: Callable[..., Any],
    arguments: Mapping[str, np.ndarray],
    results: Mapping[str, np.ndarray],
    layout: Layouts,
    **options: Any,
) -> list[np.ndarray]:
    """Values of the results; neither arguments nor poison may change."""
    layouts = {name: layout if isinstance(layout, str) else layout.get(name, "F") for name in UNPACKED}
    inputs, outputs = (
        {name: device.place(values, layouts.get(name, "C")) for name, values in each.items()}
        for each in (arguments, results)
    )
    arrays = tuple(output.array for output in outputs.values())
    function(*(one.array for one in inputs.values()), out=arrays if len(arrays) > 1 else arrays[0], **options)
    for name, placed in (inputs | outputs).items():
        placed.assert_padding_untouched()
        if name in inputs:
            assert placed.values().tobytes() == arguments[name].tobytes(), f"{name} changed"
    return [output.values() for output in outputs.values()]


def judge_getrf(device: Device, a: np.ndarray, lu: np.ndarray, ipiv: np.ndarray, info: np.ndarray) -> None:
    """`checks.check_getrf`; of a vendor no more is asked than LAPACK's pivot rule where it is theirs.

    cuBLAS stops at a zero pivot, so the factors of its singular items are judged by their diagonal alone.
    """
    if device.careful:
        checks.check_getrf(a, lu, ipiv, info)
        return
    checks.check_pivot_range(ipiv, a.shape[1])
    checks.check_info_is_first_zero_pivot(lu, info)
    regular = info == 0
    assert ratios.dget01(a[regular], lu[regular], ipiv[regular]).passes()
    if device.by_rule(a.dtype.name):
        checks.check_getrf(a[regular], lu[regular], ipiv[regular], info[regular])


def judge_getrs(a: np.ndarray, b: np.ndarray, x: np.ndarray, trans: str = "N") -> None:
    """Solutions of ``op(A) X = B`` with regular ``a``."""

    def reference() -> Ratios:
        n, nrhs = b.shape[1:]
        more = [random_batch(SAMPLE, n, columns, a.dtype.name, seed=columns) for columns in (n, nrhs)]
        matrices, sides = (np.concatenate(pair) for pair in zip((a, b), more, strict=True))
        solved = lapack.getrs(*factors(matrices), sides, trans, route="vendor")
        return ratios.dget02(matrices, solved, sides, trans)

    judge(ratios.dget02(a, x, b, trans), reference)


def judge_getri(a: np.ndarray, inv: np.ndarray, info: np.ndarray) -> None:
    """Inverses; that of a singular item must be NaN, every element."""
    good = regular_items(a, inv, info)

    def reference() -> Ratios:
        n = a.shape[1]
        matrices = np.concatenate([a[good], random_batch(SAMPLE, n, n, a.dtype.name)])
        return ratios.dget03(matrices, lapack.getri(*factors(matrices), route="vendor").inv)

    judge(ratios.dget03(a[good], inv[good]), reference)


def judge_gesv(
    device: Device,
    a: np.ndarray,
    b: np.ndarray,
    x: np.ndarray,
    lu: np.ndarray,
    ipiv: np.ndarray,
    info: np.ndarray,
) -> None:
    """Factors and solutions; the solution of a singular item must be NaN, every element."""
    judge_getrf(device, a, lu, ipiv, info)
    good = regular_items(a, x, info)
    judge_getrs(a[good], b[good], x[good])


def regular_items(a: np.ndarray, result: np.ndarray, info: np.ndarray) -> np.ndarray:
    """Which items have a result to judge; the singular ones must have none."""
    assert checks.all_nan(result[info > 0]), "a singular item has a result that is not NaN in each part"
    good: np.ndarray = (info == 0) & np.isfinite(a).all(axis=(1, 2))
    return good


def judge(ratio: Ratios, lapacks: Callable[[], Ratios]) -> None:
    """LAPACK's gate, then the tripwire, on the worst item of the batch: of one item alone luck decides.

    ``lapacks`` gives LAPACK's ratios on the same items and on a sample of its own of the same shapes.
    """
    assert ratio.passes(), f"ratio {ratio.worst:.3g} of item {ratio.index}, accepted is below {THRESHOLD:g}"
    if ratio.worst > 1:
        theirs = lapacks().worst
        assert ratio.worst <= max(1, 4 * theirs), f"worst ratio {ratio.worst:.3g}, LAPACK has {theirs:.3g}"


def assert_same(device: Device, mine: Iterable[np.ndarray], theirs: Iterable[np.ndarray]) -> None:
    """Two ways to the same results: the same bits, or the same within rounding where a vendor is at work."""
    for one, other in zip(mine, theirs, strict=True):
        if device.careful:
            assert one.tobytes() == other.tobytes()
        else:
            eps = np.finfo(one.dtype).eps if one.dtype.kind in "fc" else 0
            np.testing.assert_allclose(one, other, rtol=1000 * eps, atol=1000 * eps)


def random_batch(batch: int, m: int, n: int, dtype: str, seed: int = 0) -> np.ndarray:
    """Standard normal matrices, shape (batch, m, n)."""
    return matgen.random_matrix(batch * m, n, dtype, np.random.default_rng(seed)).reshape(batch, m, n)


def factors(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """``lu`` and 1-based ``ipiv`` by LAPACK on the host, as inputs of getrs and getri."""
    lu, ipiv, _ = lapack.getrf(a, route="vendor")
    return lu, ipiv
