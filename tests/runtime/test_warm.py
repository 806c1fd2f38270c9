"""Warming the cache: every target once, a report of its cost, nothing left to do the second time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from batchlas_py import config
from batchlas_py.kernels.specs import ToolSpec
from batchlas_py.runtime.cache import CubinCache
from batchlas_py.runtime.registry import KernelSource
from batchlas_py.runtime.warm import FamilyReport, Target, warm

POINTERS = KernelSource("batch_tools", ToolSpec("pointers"))
INVALIDATE = KernelSource("batch_tools", ToolSpec("invalidate", "float32"))
FAMILIES: dict[str, list[Target]] = {
    "pointers": [(POINTERS, "sm_80"), (POINTERS, "sm_90")],
    "invalidate": [(INVALIDATE, "sm_90")],
    "nothing": [],
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty cache, for this process and those that it starts."""
    monkeypatch.setenv("BATCHLAS_CACHE_DIR", str(tmp_path))
    config.refresh()
    yield tmp_path
    monkeypatch.undo()
    config.refresh()


def test_the_cache_is_filled_and_the_second_time_nothing_is_compiled(folder: Path) -> None:
    steps: list[None] = []
    first = warm(FAMILIES, jobs=1, progress=lambda: steps.append(None))
    assert len(steps) == 3
    entries = {path: path.stat().st_ino for path in folder.rglob("*.cubin")}
    assert len(entries) == 3
    assert {name: report.kernels for name, report in first.items()} == {
        "pointers": 2,
        "invalidate": 1,
        "nothing": 0,
    }
    codes = [CubinCache(folder).load(source, arch) for source, arch in FAMILIES["pointers"]]
    report = first["pointers"]
    assert report.cubin_bytes == sum(len(code.cubin) for code in codes if code)
    assert report.longest == max(code.seconds for code in codes if code)
    assert report.seconds == pytest.approx(sum(code.seconds for code in codes if code))

    assert warm(FAMILIES, jobs=1) == first
    assert {path: path.stat().st_ino for path in folder.rglob("*.cubin")} == entries


def test_a_kernel_that_cannot_be_made_is_reported(folder: Path) -> None:
    with pytest.raises(ModuleNotFoundError, match="no_such_kernel"):
        warm({"broken": [(KernelSource("no_such_kernel", ToolSpec("pointers")), "sm_90")]}, jobs=1)


def test_a_report_adds_up() -> None:
    report = FamilyReport()
    for seconds, size in ((1.0, 10), (3.0, 20), (2.0, 30)):
        report.add(seconds, size)
    assert report == FamilyReport(3, 6.0, 3.0, 60)
