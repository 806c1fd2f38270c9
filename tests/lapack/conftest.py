"""The device of a test, and settings free of the machine's own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import batchlas_py
from batchlas_py import config
from batchlas_py.ops.catalogue import catalogue

from ..emulated_gpu import EMULATED
from .devices import RECIPES, Device

KEPT = {"cache_dir", "cache_foreign"}


@pytest.fixture(autouse=True)
def default_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Lift every setting of the environment but those of the cache of compiled kernels."""
    for key, setting in config.SETTINGS.items():
        if key not in KEPT:
            monkeypatch.delenv(setting.variable, raising=False)
    monkeypatch.setenv(config.Config.tables.variable, str(tmp_path / "tables"))
    config.refresh()
    yield
    config.refresh()


@pytest.fixture
def device(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Device]:
    """The device that the test is parametrised with, its routes pinned; it runs shipped kernels alone."""
    one = RECIPES[request.param](monkeypatch)
    with batchlas_py.pinned(**one.pins):
        yield one
    assert one.launched() <= {source for sources in catalogue(EMULATED.arch).values() for source in sources}
