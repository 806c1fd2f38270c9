"""Fake families in the registry, and settings free of the machine's own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from batchlas_py import config
from batchlas_py.config import ROUTES
from batchlas_py.family import Family
from batchlas_py.routing import registry

from .fakes import RECORDED_RULES, Environment, Register, always, family


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Environment]:
    """Set variables; at the start there are none, and the user's folder of tables is empty."""
    for name in [name for name in os.environ if name.startswith("BATCHLAS_")]:
        monkeypatch.delenv(name)

    def change(**variables: str) -> None:
        for name, text in variables.items():
            monkeypatch.setenv(name, text)
        config.refresh()

    change(BATCHLAS_TABLES=str(tmp_path / "tables"))
    yield change
    config.refresh()


@pytest.fixture
def register(monkeypatch: pytest.MonkeyPatch, environment: Environment) -> Register:
    """Replace the families of every op: ``register(*families)``; an op without any has none."""

    def replace(*families: Family) -> None:
        def of(op: str) -> tuple[Family, ...]:
            registry.routes(op)
            return tuple(one for one in families if one.op == op)

        monkeypatch.setattr(registry, "families", of)
        config.refresh()

    return replace


@pytest.fixture
def recorded(register: Register) -> None:
    """Every route of every op, refusing what the families of the BatchLAS record refuse."""
    register(*(family(op, name, RECORDED_RULES.get(name, always)) for op in ROUTES for name in ROUTES[op]))
