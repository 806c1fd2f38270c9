"""Where tables and benchmarks are found: inside the package, or beside it in a checkout."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from batchlas_py import _resources
from batchlas_py.errors import BatchlasError

FINDERS = {"tables": _resources.tables_folder, "bench": _resources.bench_folder}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folder that holds a package without resources."""
    package = tmp_path / "batchlas_py"
    package.mkdir()
    monkeypatch.setattr(_resources, "PACKAGE", package)
    return tmp_path


@pytest.mark.parametrize("name", FINDERS)
class TestFolder:
    def test_inside_the_package(self, root: Path, name: str) -> None:
        (root / "batchlas_py" / name).mkdir()
        (root / name).mkdir()
        (root / "pyproject.toml").touch()
        assert FINDERS[name]() == root / "batchlas_py" / name

    def test_beside_it_in_a_checkout(self, root: Path, name: str) -> None:
        (root / name).mkdir()
        (root / "pyproject.toml").touch()
        assert FINDERS[name]() == root / name

    def test_not_beside_it_in_site_packages(self, root: Path, name: str) -> None:
        (root / name).mkdir()
        with pytest.raises(BatchlasError, match=f"^no folder '{name}': looked for {root}"):
            FINDERS[name]()

    def test_of_this_installation(self, name: str) -> None:
        assert FINDERS[name]().is_dir()


@pytest.fixture
def bench(root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Package `bench` beside the package, not yet imported."""
    for name in [name for name in sys.modules if name.startswith("batchlas_py.bench")]:
        monkeypatch.delitem(sys.modules, name)
    (root / "pyproject.toml").touch()
    folder = root / "bench"
    folder.mkdir()
    (folder / "__init__.py").write_text("place = __file__\n")
    (folder / "grid.py").write_text("from . import place\n")
    return folder


def forget() -> None:
    for name in [name for name in sys.modules if name.startswith("batchlas_py.bench")]:
        del sys.modules[name]


def test_bench_is_imported_under_the_package_from_its_folder(bench: Path) -> None:
    try:
        assert _resources.bench_module("grid").place == str(bench / "__init__.py")
        assert _resources.bench_module() is sys.modules["batchlas_py.bench"]
    finally:
        forget()


def test_bench_that_fails_to_import_leaves_nothing_behind(bench: Path) -> None:
    (bench / "__init__.py").write_text("raise KeyError\n")
    with pytest.raises(KeyError):
        _resources.bench_module()
    assert "batchlas_py.bench" not in sys.modules
