"""Finds what ships beside the code: the routing tables and the benchmarks.

A wheel holds them inside the package; in a checkout, or an editable install of one, they are
folders next to it.
"""

from __future__ import annotations

import sys
from functools import cache
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from pathlib import Path
from types import ModuleType

from .errors import BatchlasError

PACKAGE = Path(__file__).resolve().parent


def tables_folder() -> Path:
    """Folder of the shipped routing tables."""
    return _folder(PACKAGE, "tables")


def bench_folder() -> Path:
    """Folder of the benchmarks and their data."""
    return _folder(PACKAGE, "bench")


def bench_module(name: str = "") -> ModuleType:
    """Import the benchmark package, or its submodule ``name``, as ``batchlas_py.bench``."""
    package = f"{__package__}.bench"
    if package not in sys.modules:
        _import_from(bench_folder().parent, package)
    return import_module(f"{package}.{name}" if name else package)


@cache
def _folder(package: Path, name: str) -> Path:
    places = [package / name]
    # Only a checkout's siblings are ours: site-packages may hold another project's "tables".
    if (package.parent / "pyproject.toml").is_file():
        places.append(package.parent / name)
    for place in places:
        if place.is_dir():
            return place
    raise BatchlasError(f"no folder {name!r}: looked for {' and '.join(map(str, places))}")


def _import_from(folder: Path, package: str) -> None:
    spec = PathFinder.find_spec(package, [str(folder)])
    if spec is None or spec.loader is None:
        raise BatchlasError(f"{folder} holds no package for {package}")
    module = module_from_spec(spec)
    sys.modules[package] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[package]
        raise
