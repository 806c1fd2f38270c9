"""Blocked getrf: what it launches on which columns, and that every spelling gives the same bits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from batchlas_py import config, lapack, pinned
from batchlas_py.family import Call
from batchlas_py.kernels.block_choice import panel_spec
from batchlas_py.kernels.block_specs import ORDER
from batchlas_py.ops import getrf_blocked, getrf_cta, interchange
from batchlas_py.problem import Problem
from batchlas_py.runtime.registry import KernelSource
from batchlas_py.testing import matgen
from batchlas_py.views import BatchView

from .. import emulated_gpu
from ..checks import check_getrf
from ..emulated_gpu import EMULATED, EmulatedGPU

SPELLINGS = (
    ("inloop", "walk", "reg"),
    ("defer_walk", "gather", "reg"),
    ("defer_gather", "fused", "reg"),
    ("inloop", "fused", "reg"),
    ("defer_walk", "walk", "slm"),
)


@pytest.fixture(autouse=True)
def free_settings(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("nb", "leaf", "laswp", "right_laswp"):
        monkeypatch.delenv(f"BATCHLAS_GETRF_{name.upper()}", raising=False)
    config.refresh()
    yield
    config.refresh()


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> EmulatedGPU:
    one = emulated_gpu.install(monkeypatch)
    one.options.clear()
    return one


def random_batch(m: int, n: int, dtype: str, batch: int = 1) -> np.ndarray:
    flat = matgen.random_matrix(batch * m, n, dtype, np.random.default_rng(100 * m + n))
    return flat.reshape(batch, m, n)


def factored(gpu: EmulatedGPU, a: np.ndarray, route: str = "blocked", **pins: str) -> list[np.ndarray]:
    """Factors, pivots and info with panels of 32 columns, unless another width is pinned."""
    with pinned(**({"getrf_nb": "32"} | pins)):
        results = lapack.getrf(gpu.array(a), route=route)
    return [one.host for one in results]


def assert_same_bits(one: list[np.ndarray], other: list[np.ndarray]) -> None:
    for name, x, y in zip(("lu", "ipiv", "info"), one, other, strict=True):
        assert x.tobytes() == y.tobytes(), f"{name} differs"


@pytest.mark.parametrize(
    ("dtype", "m", "n"), [("float32", 40, 40), ("complex64", 36, 35), ("float64", 35, 38)], ids=str
)
def test_spellings_agree_bit_for_bit(gpu: EmulatedGPU, dtype: str, m: int, n: int) -> None:
    """With one another, and with the kernel that takes the whole matrix."""
    a = random_batch(m, n, dtype)
    whole = factored(gpu, a, "cta")
    check_getrf(a, *whole)
    for left, right, leaf in SPELLINGS:
        pins = {"getrf_laswp": left, "getrf_right_laswp": right, "getrf_leaf": leaf}
        assert_same_bits(factored(gpu, a, **pins), whole)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize(
    ("dtype", "m", "n"),
    [
        ("float32", 33, 33),
        ("float64", 64, 64),
        ("complex64", 70, 34),
        ("complex128", 34, 40),
        ("float32", 5, 40),
    ],
    ids=str,
)
def test_factors(gpu: EmulatedGPU, dtype: str, m: int, n: int, order: str) -> None:
    a = random_batch(m, n, dtype, batch=2 if dtype == "float32" else 1)
    given = a if order == "C" else np.ascontiguousarray(a.swapaxes(1, 2)).swapaxes(1, 2)
    check_getrf(a, *factored(gpu, given))


@pytest.mark.parametrize("leaf", ["reg", "slm"])
def test_panels_of_panels(gpu: EmulatedGPU, leaf: str) -> None:
    a = random_batch(70, 68, "float32")
    wide = factored(gpu, a, getrf_nb="64", getrf_leaf=leaf)
    check_getrf(a, *wide)
    assert_same_bits(factored(gpu, a), wide)


def test_zero_pivots_count_from_the_top(gpu: EmulatedGPU) -> None:
    a = random_batch(36, 36, "float32", batch=3)
    a[1, :, 34] = a[2, :, [3, 34]] = 0
    results = factored(gpu, a)
    np.testing.assert_array_equal(results[2], [0, 35, 4])
    check_getrf(a, *results)


class Recorder:
    """Launches and child calls, in order; nothing runs."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.seen: list[tuple[str, Any]] = []
        self.launches: list[tuple[KernelSource, tuple[Any, ...], dict[str, Any]]] = []
        for module in (getrf_blocked, getrf_cta, interchange):
            monkeypatch.setattr(module, "kernel", lambda source, ordinal: _Recorded(self, source))
        monkeypatch.setattr(getrf_blocked, "workspace", _NoWorkspace)

    def run(self, problem: Problem, operands: Any) -> None:
        self.seen.append((problem.op, (problem.m, problem.n, problem.nrhs, problem.k)))

    def factor(self, m: int, n: int, dtype: str = "float32", **pins: str) -> list[str]:
        """Names of what one call does."""
        problem = Problem("getrf", dtype, m, n, 7)
        matrix = BatchView(1 << 20, dtype, 7, m, n, m * n, 1, m)
        pivots = BatchView(1 << 10, "int32", 7, min(m, n), 1, min(m, n), 1, 1)
        operands = {"a": matrix, "lu": matrix, "ipiv": pivots, "info": pivots}
        with pinned(**pins):
            getrf_blocked.FAMILY.launch(Call(problem, EMULATED, operands, 5, self.run))
        return [name for name, _ in self.seen]


class _Recorded:
    def __init__(self, recorder: Recorder, source: KernelSource) -> None:
        self.recorder, self.source = recorder, source

    def launch(self, stream: int, blocks: int, *arguments: Any, **more: Any) -> None:
        assert stream == 5
        self.recorder.seen.append((self.source.name, blocks))
        self.recorder.launches.append((self.source, arguments, more))


class _NoWorkspace:
    def __init__(self, space: Any, stream: int, ordinal: int) -> None:
        self.space = space

    def __enter__(self) -> dict[str, int]:
        return {"moved": 1 << 12}

    def __exit__(self, *_: object) -> None:
        pass


@pytest.fixture
def recorder(monkeypatch: pytest.MonkeyPatch) -> Recorder:
    return Recorder(monkeypatch)


def test_panels_and_updates_take_turns(recorder: Recorder) -> None:
    """One interchange for all columns left of panels, at the end."""
    names = recorder.factor(100, 100, getrf_nb="32")
    assert names == ["getrf_panel", "lu_update"] * 3 + ["getrf_panel", "laswp"]
    heights = [launch[1][10] for launch in recorder.launches if launch[0].name == "getrf_panel"]
    assert heights == [100, 68, 36, 4]
    for source, _, more in recorder.launches:
        if source.name == "getrf_panel":
            assert more["threads"] <= source.spec.threads


def test_interchanges_inside_the_loop(recorder: Recorder) -> None:
    names = recorder.factor(70, 70, getrf_nb="32", getrf_laswp="inloop")
    assert names == ["getrf_panel", "lu_update", "getrf_panel", "lu_update", "laswp", "getrf_panel", "laswp"]


@pytest.mark.parametrize(
    ("kind", "leaf"), [("walk", "reg"), ("gather", "reg"), ("auto", "slm"), ("fused", "slm")]
)
def test_a_composed_update(recorder: Recorder, kind: str, leaf: str) -> None:
    """Interchange, solve and product; the last panel has nothing on its right."""
    names = recorder.factor(64, 64, getrf_nb="32", getrf_right_laswp=kind, getrf_leaf=leaf)
    panel = {"reg": "getrf_panel", "slm": "getrf_cta"}[leaf]
    assert names == [panel, "laswp", "trsm", "gemm", panel, "laswp"]
    extents = dict(recorder.seen)
    assert extents["trsm"] == (32, 32, 32, 0) and extents["gemm"] == (32, 32, 0, 32)
    wanted = kind if kind in ("walk", "gather") else "gather"
    right = next(source for source, *_ in recorder.launches if source.name == "laswp")
    assert right.spec.kind == wanted


def test_a_wide_matrix_has_a_solve_and_no_product(recorder: Recorder) -> None:
    assert recorder.factor(32, 50, getrf_nb="32", getrf_right_laswp="walk") == [
        "getrf_panel",
        "laswp",
        "trsm",
    ]


def test_wide_panels_are_made_of_narrow_ones(recorder: Recorder) -> None:
    """Inside a panel of 64 columns behind each of 32, then the rest of the matrix at once."""
    names = recorder.factor(128, 128, getrf_nb="64")
    inner = ["getrf_panel", "lu_update", "getrf_panel", "laswp"]
    assert names == [*inner, "laswp", "trsm", "gemm", *inner, "laswp"]


@pytest.mark.parametrize("dtype", ["float32", "complex128"])
@pytest.mark.parametrize("rows", [32, 33, 200, 600, 1500])
def test_columns_of_a_leaf_follow_its_height(recorder: Recorder, dtype: str, rows: int) -> None:
    names = recorder.factor(rows, 32, dtype, getrf_nb="32")
    spec = panel_spec(dtype, rows, EMULATED.arch)
    assert spec is not None
    first = recorder.launches[0][0]
    assert first == KernelSource("getrf_panel", spec)
    assert names.count("getrf_panel") == ORDER // spec.columns


def test_what_no_register_panel_takes(recorder: Recorder) -> None:
    assert recorder.factor(5000, 32) == ["getrf_cta"]


def test_the_workspace() -> None:
    moved = 7 * 100 * 4
    columns = getrf_blocked.workspace_of(Problem("getrf", "float64", 100, 50, 7, layout="F"), EMULATED)
    rows = getrf_blocked.workspace_of(Problem("getrf", "float64", 100, 50, 7, layout="C"), EMULATED)
    assert columns.size >= moved
    assert rows.size - columns.size >= 7 * 100 * 50 * 8
