"""The comment-density check bites, and its self-test passes."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[1] / "tools" / "check_comment_density.py"
DENSE = "# one\n# two\n# three\na = 1\n"


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(TOOL), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    if shutil.which("git") is None:
        pytest.skip("needs git")
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    (tmp_path / "tools").mkdir()
    (tmp_path / "plain.py").write_text("a = 1\n")
    return tmp_path


def test_self_test_passes_with_its_cases() -> None:
    done = run("--self-test")
    assert done.returncode == 0, done.stdout
    assert int(done.stdout.split()[-3]) >= 16


def test_self_test_fails_when_the_check_is_broken(tmp_path: Path) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text(TOOL.read_text().replace("found.share > LIMIT", "found.share > 1"))
    done = subprocess.run(
        [sys.executable, broken, "--self-test"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "one line over the limit" in done.stdout


def test_a_dense_file_fails_the_checkout(checkout: Path) -> None:
    assert run("--root", checkout).returncode == 0
    (checkout / "dense.py").write_text(DENSE)
    done = run("--root", checkout)
    assert done.returncode == 1
    assert done.stdout == "dense.py: 3 comment lines of 4 are 75.0%, at most 18%\n"


def test_ignored_files_are_not_looked_at(checkout: Path) -> None:
    (checkout / "dense.py").write_text(DENSE)
    (checkout / ".gitignore").write_text("dense.py\n")
    assert run("--root", checkout).returncode == 0


def test_waivers_are_read_and_must_be_needed(checkout: Path) -> None:
    (checkout / "dense.py").write_text(DENSE)
    waivers = checkout / "tools" / "comment_density_waivers.txt"
    waivers.write_text("dense.py  # a table of constants\n")
    assert run("--root", checkout).returncode == 0
    waivers.write_text("dense.py\ngone.py\n")
    done = run("--root", checkout)
    assert done.returncode == 1
    assert done.stdout.startswith("gone.py: waiver for no file")
