"""What an installed package holds, and what importing it needs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from batchlas_py._version import __version__

ROOT = Path(__file__).parents[1]
HEAVY = ("cuda", "cupy", "llvmlite", "numba", "nvmath", "torch")

REPORT = """
import json
import numpy as np
from pathlib import Path
import batchlas_py
from batchlas_py import _resources
data = _resources.bench_folder() / "data"
print(json.dumps({
    "package": str(Path(batchlas_py.__file__).parent),
    "tables": {file.name: file.read_text() for file in _resources.tables_folder().glob("*.txt")},
    "data": {file.name: sorted(np.load(file)) for file in data.glob("*.npz")},
    "bench": _resources.bench_module("grid").__name__,
}))
"""

BLOCK = f"""
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {HEAVY!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Blocked())
"""

NUMPY_WITHOUT_ROW_STACK = """
import numpy
del numpy.row_stack
numpy.__all__.remove("row_stack")
numpy.__version__ = "2.5.0"
"""

SOLVE_ON_THE_HOST = """
import numpy as np
from batchlas_py import lapack
x = lapack.gesv(np.array([[[2.0]], [[4.0]]]), np.array([[[2.0]], [[2.0]]])).x
assert x.ravel().tolist() == [1.0, 0.5], x
"""

INFO = """
from batchlas_py.cli.app import app
app(["info"], result_action="return_value")
"""


def python(code: str, interpreter: str | Path = sys.executable, cwd: Path = ROOT) -> str:
    """Standard output of ``code``, run by a fresh interpreter that sees no checkout by accident."""
    environment = {**os.environ, "COLUMNS": "200", "PYTHONSAFEPATH": "1"}
    environment["PYTHONPATH"] = str(ROOT) if cwd == ROOT else ""
    done = subprocess.run(
        [interpreter, "-c", code], cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


class Installed(NamedTuple):
    """An environment that holds the package."""

    interpreter: Path
    folder: Path

    def report(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(python(REPORT, self.interpreter, self.folder))
        return found


def environment_without_package(folder: Path) -> Path:
    """Make a virtual environment that borrows this one's dependencies; return its interpreter."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    borrowed = [
        entry for entry in sys.path if Path(entry).is_dir() and not (Path(entry) / "batchlas_py").exists()
    ]
    (site_packages,) = folder.glob("lib/python3*/site-packages")
    (site_packages / "borrowed.pth").write_text("\n".join(borrowed))
    return folder / "bin" / "python"


def install(folder: Path, *arguments: str) -> Installed:
    pytest.importorskip("hatchling", reason="building needs hatchling")
    interpreter = environment_without_package(folder)
    pip = [sys.executable, "-m", "pip", "--python", str(interpreter), "install", "--quiet", "--no-index"]
    options = ["--no-deps", "--no-build-isolation", "--disable-pip-version-check", *arguments]
    done = subprocess.run([*pip, *options], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return Installed(interpreter, folder)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    return install(tmp_path_factory.mktemp("wheel"), str(ROOT))


@pytest.fixture(scope="module")
def editable(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    return install(tmp_path_factory.mktemp("editable"), "--editable", str(ROOT))


def expected_tables() -> dict[str, str]:
    return {file.name: file.read_text() for file in (ROOT / "tables").glob("*.txt")}


@pytest.mark.parametrize("kind", ["wheel", "editable"])
def test_tables_data_and_benchmarks_reach_an_installation(kind: str, request: pytest.FixtureRequest) -> None:
    found = request.getfixturevalue(kind).report()
    assert expected_tables().keys() >= {"getrf.sm_89.txt", "gesv.sm_89.txt"}
    assert found["tables"] == expected_tables()
    assert found["data"].keys() == {"gri30.npz", "h2o2.npz"}
    assert all(found["data"].values())
    assert found["bench"] == "batchlas_py.bench.grid"


def test_a_wheel_stands_on_its_own(wheel: Installed) -> None:
    package = Path(wheel.report()["package"])
    assert wheel.folder in package.parents
    assert (package / "py.typed").is_file()
    assert not (package / "bench" / "results").exists()
    shipped = {file.relative_to(package) for file in package.rglob("*.py")}
    assert {
        file.relative_to(ROOT / "batchlas_py") for file in (ROOT / "batchlas_py").rglob("*.py")
    } <= shipped


def test_an_editable_installation_is_the_checkout(editable: Installed) -> None:
    assert Path(editable.report()["package"]) == ROOT / "batchlas_py"


@pytest.mark.parametrize("kind", ["wheel", "editable"])
def test_the_command_is_installed(kind: str, request: pytest.FixtureRequest) -> None:
    command = request.getfixturevalue(kind).folder / "bin" / "batchlas"
    done = subprocess.run([command, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == __version__


@pytest.mark.parametrize("prelude", ["", BLOCK], ids=["as installed", "without CUDA packages"])
def test_importing_the_package_loads_nothing_heavy(prelude: str) -> None:
    listing = f"print(sorted(set({HEAVY!r}) & set(sys.modules)))"
    assert python(f"{prelude}\nimport sys, batchlas_py\n{listing}") == "[]\n"


@pytest.mark.parametrize("prelude", [BLOCK, NUMPY_WITHOUT_ROW_STACK], ids=["no CUDA packages", "NumPy 2.5"])
def test_the_host_backend_needs_neither_cuda_nor_an_old_numpy(prelude: str) -> None:
    python(prelude + SOLVE_ON_THE_HOST)


@pytest.mark.parametrize(
    ("prelude", "line", "reason"),
    [
        (BLOCK, "CUDA cannot be used: ", "no module named 'cuda"),
        (BLOCK, "Compiler cannot be used: ", "no module named 'numba"),
        (NUMPY_WITHOUT_ROW_STACK, "Compiler cannot be used: ", "numpy"),
    ],
)
def test_info_says_in_one_line_why_cuda_cannot_be_used(prelude: str, line: str, reason: str) -> None:
    lines = [text for text in python(prelude + INFO).splitlines() if text.startswith(line)]
    assert len(lines) == 1
    assert reason in lines[0].lower()


@pytest.mark.parametrize(("major", "extra"), [(None, ""), (11, ""), (12, "cu12"), (13, "cu13"), (14, "cu13")])
def test_the_extra_follows_the_driver(major: int | None, extra: str) -> None:
    code = f"from cuda_extra import extra_for; print(extra_for({major}))"
    assert python(f"import sys; sys.path.insert(0, {str(ROOT / 'tools')!r})\n{code}") == f"{extra}\n"


def test_no_driver_means_no_extra() -> None:
    code = "from cuda_extra import driver_cuda_major; print(driver_cuda_major('libno-such-driver.so'))"
    assert python(f"import sys; sys.path.insert(0, {str(ROOT / 'tools')!r})\n{code}") == "None\n"
