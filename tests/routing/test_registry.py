from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from batchlas_py.config import ROUTES
from batchlas_py.errors import ArgumentError
from batchlas_py.routing import registry

ONE_FAMILY = """
from batchlas_py.family import YES, Family
FAMILIES = (Family("getrf", "cta", lambda problem, device: YES, lambda call: None),)
"""


@pytest.fixture
def ops_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand-in for `batchlas_py.ops`; modules can be written into the folder."""
    folder = tmp_path / f"ops_of_{tmp_path.name}"
    folder.mkdir()
    (folder / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(registry, "OPS_PACKAGE", folder.name)
    return folder


def test_routes_of_the_lu_family() -> None:
    assert registry.routes("getrf") == ("tiny", "cta", "blocked", "vendor", "vendor/loop")
    assert registry.routes("getrs") == ("cta", "blocked", "vendor")
    assert registry.routes("getri") == ("cta", "blocked", "vendor")
    assert registry.routes("gesv") == ("tiny", "blocked", "vendor")
    assert registry.routes("gemm") == ("vendor", "cta")
    assert registry.routes("trsm") == ("cta", "vendor")
    assert registry.routes("laswp") == ("gather", "walk", "vendor")


def test_unknown_op_names_the_known_ones() -> None:
    with pytest.raises(ArgumentError, match=r"^op: got 'getfr', accepted are getrf, getrs, getri, gesv, "):
        registry.families("getfr")


def test_families_come_from_the_module_of_the_op(ops_package: Path) -> None:
    (ops_package / "getrf.py").write_text(ONE_FAMILY)
    assert f"{ops_package.name}.getrf" not in sys.modules
    assert [family.name for family in registry.families("getrf")] == ["cta"]
    assert f"{ops_package.name}.getrf" in sys.modules


def test_op_without_a_module_has_no_families(ops_package: Path) -> None:
    assert registry.families("potrf") == ()


def test_error_inside_an_op_module_is_not_swallowed(ops_package: Path) -> None:
    (ops_package / "getri.py").write_text("import no_such_module_anywhere\n")
    with pytest.raises(ModuleNotFoundError, match="no_such_module_anywhere"):
        registry.families("getri")


@pytest.mark.parametrize("op", [op for op in ROUTES if find_spec(f"{registry.OPS_PACKAGE}.{op}")])
def test_families_present_are_routes_of_their_op(op: str) -> None:
    present = registry.families(op)
    names = [family.name for family in present]
    assert {family.op for family in present} == {op}
    assert set(names) <= set(registry.routes(op))
    assert len(set(names)) == len(names)
