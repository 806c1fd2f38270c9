"""Kernel sources: what they name, and that their hash follows all that shapes the code, and nothing else."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from batchlas_py.dtypes import DTYPES
from batchlas_py.kernels.choice import tiny_spec
from batchlas_py.kernels.specs import ToolSpec
from batchlas_py.runtime import registry
from batchlas_py.runtime.registry import KernelSource

FILES = {
    "fields/__init__.py": "",
    "fields/leaf.py": "",
    "fields/unrelated.py": "",
    "fields/kernels/__init__.py": "",
    "fields/kernels/wheat.py": "from .stem import root\nfrom . import sibling\nimport numpy\n",
    "fields/kernels/sibling.py": "",
    "fields/kernels/stem.py": "def root():\n    from ..leaf import inside\n",
    "fields/kernels/barley.py": "from .wheat import grain\n",
}


@dataclass(frozen=True)
class Spec:
    size: int


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package whose kernel ``wheat`` needs ``stem``, ``sibling`` and ``leaf``."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(registry, "KERNELS", "fields.kernels")
    yield tmp_path / "fields"
    forget()


def forget() -> None:
    """What a new process would not know."""
    registry.source_digest.cache_clear()
    for name in [name for name in sys.modules if name.startswith("fields")]:
        del sys.modules[name]


def digest(size: int = 1) -> str:
    forget()
    return KernelSource("wheat", Spec(size)).digest()


@pytest.mark.parametrize("name", ["kernels/wheat.py", "kernels/stem.py", "kernels/sibling.py", "leaf.py"])
def test_the_hash_follows_every_file_that_the_kernel_imports(package: Path, name: str) -> None:
    before = digest()
    with (package / name).open("a") as file:
        file.write("# changed\n")
    assert digest() != before


@pytest.mark.parametrize("name", ["unrelated.py", "kernels/barley.py"])
def test_the_hash_ignores_other_files(package: Path, name: str) -> None:
    before = digest()
    with (package / name).open("a") as file:
        file.write("# changed\n")
    assert digest() == before


def test_the_hash_follows_the_specialisation_and_the_name(package: Path) -> None:
    (package / "kernels" / "wheat_too.py").write_text(FILES["fields/kernels/wheat.py"])
    assert len({digest(1), digest(2), KernelSource("wheat_too", Spec(1)).digest()}) == 3


def test_the_hash_does_not_depend_on_where_the_package_lies(
    package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = digest()
    (tmp_path / "elsewhere").mkdir()
    package.rename(tmp_path / "elsewhere" / "fields")
    monkeypatch.syspath_prepend(tmp_path / "elsewhere")
    assert digest() == before


@pytest.mark.parametrize("name", ["getrf_tiny", "gesv_tiny", "relayout", "batch_tools"])
def test_shipped_kernels_depend_on_kernels_and_on_plain_data(name: str) -> None:
    package = Path(registry.__file__).parents[1]
    found = {
        Path(path).relative_to(package).with_suffix("").as_posix()
        for path in registry._closure(f"{registry.KERNELS}.{name}")
    }
    assert f"kernels/{name}" in found
    outside = {module for module in found if not module.startswith("kernels/")}
    assert outside <= {"dtypes", "errors", "nan"}


def test_the_tiny_kernels_depend_on_their_device_primitives() -> None:
    folder = Path(registry.__file__).parents[1] / "kernels" / "device"
    names = ("arithmetic", "intrinsics", "jit", "lu_rows", "pivot", "rows", "signature")
    primitives = {str(folder / f"{name}.py") for name in names}
    for name in ("getrf_tiny", "gesv_tiny"):
        assert primitives <= registry._closure(f"{registry.KERNELS}.{name}")


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_source_gives_the_function_and_as_many_types_as_it_has_arguments(dtype: str) -> None:
    sources = [
        KernelSource("getrf_tiny", tiny_spec(dtype, 5, staged=True)),
        KernelSource("gesv_tiny", tiny_spec(dtype, 5, staged=False, nrhs=1)),
        KernelSource("batch_tools", ToolSpec("invalidate", dtype)),
    ]
    for source in sources:
        assert source.function().__code__.co_argcount == len(source.signature())
