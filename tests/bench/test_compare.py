"""Two result files: what moved beyond noise, and what the command says of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from batchlas_py._resources import bench_module
from batchlas_py.cli.compare import compare

changes, record = bench_module("compare").changes, bench_module("record")

ORIGIN = {"device": "d", "driver": "", "versions": "v", "commit": "c", "date": "2026-12-01"}


def written(path: Path, *rows: tuple[str, float | None, float]) -> Path:
    """A file of (arm, time, spread)."""
    with record.csv_file(path) as file:
        for arm, time, spread in rows:
            cells: tuple[Any, ...] = (
                "getrf",
                "float32",
                8,
                8,
                0,
                100,
                "F",
                arm,
                arm,
                time,
                spread,
                5,
                1.0,
                0.1,
            )
            file.add(record.Row(*cells, **ORIGIN))
    return path


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    before = written(tmp_path / "a.csv", ("tiny", 100.0, 0.001), ("cta", 100.0, 0.05), ("vendor", 100.0, 0.0))
    after = written(tmp_path / "b.csv", ("tiny", 80.0, 0.001), ("cta", 110.0, 0.01), ("vendor", 103.0, 0.0))
    return before, after


def test_what_moved(files: tuple[Path, Path]) -> None:
    found = {one.key[-1]: one for one in changes(*files)}
    assert found["tiny"].speedup == pytest.approx(1.25)
    assert {arm for arm, one in found.items() if one.moved} == {"tiny", "vendor"}
    assert found["tiny"].noise == 0.02
    assert found["cta"].noise == pytest.approx(3 * (0.05**2 + 0.01**2) ** 0.5)


def test_a_single_repetition_has_the_least_noise(tmp_path: Path) -> None:
    pair = [written(tmp_path / name, ("tiny", 100.0, float("nan"))) for name in ("a.csv", "b.csv")]
    (one,) = changes(*pair)
    assert (one.noise, one.moved) == (0.02, False)


def test_the_command(files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    compare(*files)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[-3] for line in lines[:2]] == ["0.971x", "1.250x"]
    assert "getrf float32 n=8 nrhs=0 batch=100 F vendor" in lines[0]
    assert lines[-1] == "3 cells in common: 1 slower, 1 faster"
    with pytest.raises(SystemExit, match="1 cells are slower"):
        compare(*files, strict=True)
    compare(files[0], files[0], strict=True)


def test_nothing_in_common(tmp_path: Path, files: tuple[Path, Path]) -> None:
    other = written(tmp_path / "c.csv", ("blocked", 1.0, 0.0), ("tiny", None, 0.0))
    with pytest.raises(SystemExit, match="no cell in common"):
        compare(files[0], other)
