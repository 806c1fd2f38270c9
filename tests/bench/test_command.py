"""The command from its words to its file, on the host; and on a GPU where there is one."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from batchlas_py import config
from batchlas_py._resources import bench_module
from batchlas_py.cli.bench import bench
from batchlas_py.errors import ArgumentError, BackendUnavailable
from batchlas_py.problem import DeviceInfo

arms, arrays, command, setups = (bench_module(name) for name in ("arms", "arrays", "command", "setups"))

QUICK: dict[str, Any] = {"n": "2,3", "batch": "6", "dtype": "float32,complex128", "reps": 2, "max_reps": 2}


@pytest.fixture(autouse=True)
def small_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays.LIBRARIES["numpy"], "cache_bytes", 1 << 16)


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("op", setups.SETUPS)
def test_from_words_to_rows(op: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bench(op, **QUICK, backend="host", arms="vendor,auto", out=tmp_path / "rows.csv", commit="feedbeef")
    rows = rows_of(tmp_path / "rows.csv")
    cells = [(row["dtype"], row["n"], row["arm"]) for row in rows]
    assert cells == [
        (dtype, n, arm) for dtype in ("float32", "complex128") for n in "23" for arm in ("vendor", "auto")
    ]
    for row in rows:
        assert (row["op"], row["m"], row["batch"], row["route"]) == (op, row["n"], "6", "vendor")
        assert row["nrhs"] == ("1" if setups.SETUPS[op].has_rhs else "0")
        assert float(row["median_us"]) > 0
        assert float(row["roof_us"]) > 0
        assert 0 <= float(row["residual_ratio"]) < 30
        assert row["commit"] == "feedbeef"
    assert f"``{op}``" in (bench.__doc__ or "")
    assert "copy" in (screen := capsys.readouterr().out)
    assert len(screen.splitlines()) == 3 + len(rows)


def test_grids_of_right_hand_sides_and_of_batches_by_dtype(tmp_path: Path) -> None:
    words = QUICK | {"n": "2", "batch": "6,complex128=4"}
    bench("gesv", **words, nrhs="1,3", layout="C", backend="host", arms="vendor", out=tmp_path / "rows.csv")
    rows = rows_of(tmp_path / "rows.csv")
    assert [(row["dtype"], row["nrhs"], row["batch"], row["layout"]) for row in rows] == [
        ("float32", "1", "6", "C"),
        ("float32", "3", "6", "C"),
        ("complex128", "1", "4", "C"),
        ("complex128", "3", "4", "C"),
    ]


def test_a_wrong_result_fails_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    idle = arms.Arm("idle", lambda setup, operands: None)
    monkeypatch.setattr(command, "parse_arms", lambda text, op: (arms.route_arm("vendor"), idle))
    with pytest.raises(SystemExit, match="4 of 8 rows have no time"):
        bench("getrf", **QUICK, backend="host", out=tmp_path / "rows.csv")
    assert [row["median_us"] == "" for row in rows_of(tmp_path / "rows.csv")] == [False, True] * 4


def test_no_arm_that_can_run_fails_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="no arm can run"):
        bench("getrf", **QUICK, backend="host", arms="tiny")
    assert "cannot run: " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("op", "words", "message"),
    [
        ("getrx", {}, "op: got 'getrx', accepted are getrf, getrs, getri, gesv"),
        ("getrf", {"n": "4-8"}, "n: got '4-8'"),
        ("getrf", {"batch": "x"}, "batch: got 'x'"),
        ("getrf", {"arms": "tini"}, "arms: got 'tini'"),
        ("getrf", {"dtype": "float16"}, "dtype: got float16"),
        ("gesv", {"nrhs": "0"}, "nrhs: got '0'"),
    ],
)
def test_words_that_make_no_sense(op: str, words: dict[str, str], message: str) -> None:
    with pytest.raises(Exception, match=message) as caught:
        bench(op, backend="host", **words)
    assert caught.type.__module__ == "batchlas_py.errors"


def test_without_a_device_auto_is_the_host_and_cuda_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_device() -> DeviceInfo:
        raise BackendUnavailable("CUDA cannot be used: no NVIDIA driver")

    seen: list[str] = []

    def open_library(backend: str) -> Any:
        seen.append(backend)
        return arrays.open_library("host")

    monkeypatch.setattr(command, "device_info", no_device)
    monkeypatch.setattr(command, "open_library", open_library)
    bench("getrf", **QUICK, arms="vendor")
    assert seen == ["host"]
    with pytest.raises(BackendUnavailable, match="no NVIDIA driver"):
        bench("getrf", **QUICK, arms="vendor", backend="cuda")


def test_no_timing_under_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BATCHLAS_KERNEL_TRACE", "1")
    config.refresh()
    try:
        with pytest.raises(ArgumentError, match="BATCHLAS_KERNEL_TRACE: got on"):
            bench("getrf", **QUICK, backend="host")
    finally:
        monkeypatch.undo()
        config.refresh()


def test_the_command_line(tmp_path: Path) -> None:
    out = tmp_path / "rows.csv"
    words = [
        "getrf",
        "--n",
        "2",
        "--batch",
        "4",
        "--dtype",
        "float64",
        "--arms",
        "vendor",
        "--backend",
        "host",
    ]
    command_line = [
        sys.executable,
        "-m",
        "batchlas_py.cli",
        "bench",
        *words,
        "--max-reps",
        "10",
        "--out",
        str(out),
    ]
    done = subprocess.run(command_line, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout
    (row,) = rows_of(out)
    assert (row["op"], row["route"]) == ("getrf", "vendor")


@pytest.mark.gpu
@pytest.mark.parametrize("library", ["cupy", "torch"])
@pytest.mark.parametrize("op", ["getrf", "getrs", "getri", "gesv", "gemm", "trsm", "laswp"])
def test_on_a_device(library: str, op: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip(library)
    monkeypatch.setattr(command, "open_library", lambda backend: arrays.LIBRARIES[library]())
    for layout in ("F", "C"):
        bench(op, **QUICK, backend="cuda", arms="auto", layout=layout, out=tmp_path / "rows.csv")
        assert all(float(row["median_us"]) > 0 for row in rows_of(tmp_path / "rows.csv"))


@pytest.mark.gpu
@pytest.mark.parametrize("library", ["cupy", "torch"])
def test_the_timer_sees_the_devices_work(library: str) -> None:
    pytest.importorskip(library)
    rate = bench_module("roof").copy_rate(arrays.LIBRARIES[library](), 1 << 28)
    assert 1e11 < rate < 2e13
