"""The suite on the host: whole grids, budgets, and files to go on from."""

from __future__ import annotations

import csv
import itertools
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from batchlas_py._resources import bench_folder, bench_module
from batchlas_py.config import ROUTES
from batchlas_py.errors import ArgumentError

arms, arrays, suite = (bench_module(name) for name in ("arms", "arrays", "suite"))

FIRST = {"orgqr": "blocked", "qr": "torch", "potrf": "cusolver", "posv": "cusolver"}
QUICK: dict[str, Any] = {
    **{"n": "2,3", "batch": "4", "dtype": "float32,complex128", "arms": "vendor", "backend": "host"},
    **{"reps": 1, "max_reps": 1, "commit": "feedbeef"},
}


@pytest.fixture(autouse=True)
def small_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays.LIBRARIES["numpy"], "cache_bytes", 1 << 16)


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def cells_of(path: Path) -> list[tuple[str, ...]]:
    return [(row["dtype"], row["n"], row["nrhs"], row["batch"]) for row in rows_of(path)]


def test_a_file_for_each_op(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    suite.suite(out=tmp_path, **QUICK | {"n": "2", "nrhs": "1,2"})
    assert {path.name for path in tmp_path.glob("*")} == {f"{op}.csv" for op in suite.PARTS}
    for op in suite.PARTS:
        rows = rows_of(tmp_path / f"{op}.csv")
        assert {row["op"] for row in rows} == {op}
        assert {row["commit"] for row in rows} == {"feedbeef"}
        assert all(float(row["median_us"]) > 0 for row in rows)
        assert {row["nrhs"] for row in rows} == (
            {"1", "2"} if op in ("getrs", "gesv", "potrs", "posv") else {"0"}
        )
    assert "28 of 28 cells timed" in capsys.readouterr().out


def test_dtypes_change_fastest_so_that_a_short_budget_treats_them_alike(tmp_path: Path) -> None:
    suite.suite(out=tmp_path, only="getrf", **QUICK | {"batch": "4,1"})
    assert cells_of(tmp_path / "getrf.csv") == [
        (dtype, n, "0", batch) for batch in "41" for n in "23" for dtype in ("float32", "complex128")
    ]


def test_a_budget_ends_between_cells_and_another_run_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    with monkeypatch.context() as patch:
        ticks = itertools.count()
        patch.setattr(suite, "time", type("Clock", (), {"monotonic": lambda: next(ticks)}))
        suite.suite(out=first, only="getrf", budget=3, **QUICK)
    assert "3 of 4 cells timed" in capsys.readouterr().out
    suite.suite(out=second, only="getrf", done=first, **QUICK)
    assert "1 of 1 cells timed" in capsys.readouterr().out
    held, added = (cells_of(folder / "getrf.csv") for folder in (first, second))
    assert held + added == [(dtype, n, "0", "4") for n in "23" for dtype in ("float32", "complex128")]


def test_files_to_go_on_from_are_not_written_over(tmp_path: Path) -> None:
    suite.suite(out=tmp_path, only="getrf", **QUICK)
    before = (tmp_path / "getrf.csv").read_bytes()
    with pytest.raises(ArgumentError, match=r"done: got .*, accepted is a folder other than"):
        suite.suite(out=tmp_path, only="getrf", done=tmp_path / ".", **QUICK)
    assert (tmp_path / "getrf.csv").read_bytes() == before


def test_a_wrong_result_fails_the_suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    idle = arms.Arm("idle", lambda setup, operands: None)
    monkeypatch.setattr(suite, "parse_arms", lambda text, op: (idle,))
    with pytest.raises(SystemExit, match="4 rows have no time"):
        suite.suite(out=tmp_path, only="getri", **QUICK)


@pytest.mark.parametrize(("words", "message"), [({"only": "gemm"}, "only: got 'gemm'"), ({"n": "x"}, "n: ")])
def test_words_that_make_no_sense(tmp_path: Path, words: dict[str, str], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        suite.suite(out=tmp_path, **QUICK | words)


def test_full_batches() -> None:
    orders = (16, 17, 32, 48, 49, 64, 96, 128, 192, 256, 384, 512, 1024, 2048, 4096)
    batches = (131072, 65536, 32768, 32768, 16384, 16384, 8192, 4096, 4096, 2048, 512, 512, 128, 32, 32)
    assert tuple(map(suite.saturating, orders)) == batches


def test_a_loop_over_the_items_is_timed_at_large_orders_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def parse(text: str, op: str) -> Any:
        asked.append(text)
        return (arms.route_arm("vendor"),)

    monkeypatch.setattr(suite, "parse_arms", parse)
    words = QUICK | {"arms": "vendor,vendor/loop", "dtype": "float32", "n": "511,512", "batch": "1"}
    suite.suite(out=tmp_path, only="getrf", **words)
    assert asked == ["vendor", "vendor,vendor/loop"]


def test_arms_of_libraries_that_are_not_installed_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suite, "find_spec", lambda name: None)
    assert "torch-magma" not in suite._part("getrf", "", "", "", "").arms
    monkeypatch.setattr(suite, "find_spec", lambda name: object())
    assert "torch-magma" in suite._part("getrf", "", "", "", "").arms


@pytest.mark.parametrize("op", suite.PARTS)
def test_the_grid_of_an_op_starts_with_what_it_is_compared_to_and_names_every_native_route(op: str) -> None:
    part = suite.PARTS[op]
    native = {name for name in ROUTES[op] if name not in ("vendor", "vendor/loop")}
    below = {"tiny"} if min(part.orders) > 32 else set()
    assert part.arms[0] == FIRST.get(op, "vendor")
    assert native - below <= set(part.arms)
    assert arms.parse_arms(",".join(name for name in part.arms if name not in suite.NEEDS), op)


def test_the_command_line(tmp_path: Path) -> None:
    words = ["--only", "getrf", "--n", "2", "--batch", "2", "--dtype", "float64", "--arms", "vendor"]
    command = [sys.executable, "-m", "bench.suite", *words, "--backend", "host", "--out", str(tmp_path)]
    options: dict[str, Any] = {"capture_output": True, "text": True, "check": False}
    done = subprocess.run([*command, "--max-reps", "5"], cwd=bench_folder().parent, **options)
    assert done.returncode == 0, done.stderr
    assert cells_of(tmp_path / "getrf.csv") == [("float64", "2", "0", "2")]
    command[command.index("getrf")] = "gemm"
    wrong = subprocess.run(command, cwd=bench_folder().parent, **options)
    assert wrong.returncode == 1
    assert "suite: only: got" in wrong.stderr
