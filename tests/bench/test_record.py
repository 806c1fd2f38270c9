"""Result files: exact columns, empty cells for times that do not exist, and where a row comes from."""

from __future__ import annotations

import csv
import math
import re
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from batchlas_py._resources import bench_module
from batchlas_py._version import __version__
from batchlas_py.problem import HOST, RECORDED

record = bench_module("record")

HEADER = (
    "op,dtype,m,n,nrhs,batch,layout,arm,route,median_us,rel_sd,reps,roof_us,residual_ratio,"
    "device,driver,versions,commit,date"
)
ORIGIN = {"device": "D", "driver": "1.2", "versions": "a 1; b 2", "commit": "abc", "date": "2026-11-30"}
ROW = record.Row(
    "getrf", "float32", 4, 4, 0, 10, "F", "auto", "tiny", 12.34567, 0.01234, 15, 1.5, 0.123456, **ORIGIN
)


def written(path: Path, *rows: Any) -> str:
    with record.csv_file(path) as file:
        for row in rows:
            file.add(row)
    return path.read_text()


def test_columns_are_exactly_these() -> None:
    assert ",".join(record.COLUMNS) == HEADER


def test_a_row(tmp_path: Path) -> None:
    header, row = written(tmp_path / "new" / "rows.csv", ROW).splitlines()
    assert header == HEADER
    assert (
        row
        == "getrf,float32,4,4,0,10,F,auto,tiny,12.346,0.0123,15,1.500,0.1235,D,1.2,a 1; b 2,abc,2026-11-30"
    )


def test_what_is_no_time_is_empty(tmp_path: Path) -> None:
    failed = replace(ROW, median_us=None, rel_sd=None, roof_us=None, residual_ratio=math.inf)
    text = written(tmp_path / "rows.csv", failed)
    (row,) = csv.DictReader(text.splitlines())
    assert (row["median_us"], row["rel_sd"], row["roof_us"], row["residual_ratio"]) == ("", "", "", "inf")


def test_rows_are_on_disk_before_the_file_is_closed(tmp_path: Path) -> None:
    with record.csv_file(tmp_path / "rows.csv") as file:
        file.add(ROW)
        assert len((tmp_path / "rows.csv").read_text().splitlines()) == 2


def git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.org")
    command = ["git", "-C", str(folder), *identity, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q")
    (tmp_path / "code.py").write_text("1\n")
    git(tmp_path, "add", "code.py")
    git(tmp_path, "commit", "-q", "-m", "first")
    git(tmp_path, "tag", "-a", "-m", "release", "v1")
    return tmp_path / "code.py"


def test_the_commit_of_a_checkout(checkout: Path) -> None:
    head = git(checkout.parent, "rev-parse", "--short=12", "HEAD")
    assert record.commit_of(checkout) == head
    checkout.write_text("2\n")
    assert record.commit_of(checkout) == f"{head}-dirty"


def test_another_projects_checkout_does_not_count(checkout: Path) -> None:
    installed = checkout.with_name("installed.py")
    installed.write_text("1\n")
    assert record.commit_of(installed) == __version__


def test_without_a_checkout_the_version_stands_in(tmp_path: Path) -> None:
    assert record.commit_of(tmp_path / "code.py") == __version__


def test_provenance_of_the_host() -> None:
    origin = record.provenance(HOST, None)
    assert origin.device
    assert origin.driver == ""
    assert origin.versions.startswith(f"batchlas_py {__version__}; ")
    assert re.search(r"; numpy [\d.]+; scipy [\d.]+$", origin.versions)
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", origin.date)


def test_provenance_of_a_device_without_a_driver(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    origin = record.provenance(RECORDED["sm_90"], "feedbeef")
    assert (origin.device, origin.driver, origin.commit) == ("NVIDIA H200", "unknown", "feedbeef")
