"""cuSOLVER as a competitor: what it refuses, and its results on a GPU."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from batchlas_py._resources import bench_module
from batchlas_py.cli.bench import bench
from batchlas_py.errors import ArgumentError, BackendUnavailable, UnsupportedProblem

from .test_command import rows_of

arms, cusolver_arm = bench_module("arms"), bench_module("cusolver_arm")


def test_it_needs_cupy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cusolver_arm, "find_spec", lambda name: None)
    with pytest.raises(BackendUnavailable, match="got cusolver, which needs CuPy"):
        arms.parse_arms("cusolver", "potrf")


def test_it_has_cholesky_alone() -> None:
    with pytest.raises(ArgumentError, match="arms: got 'cusolver'"):
        arms.parse_arms("cusolver", "getrf")


def test_it_takes_column_major_matrices_and_one_side() -> None:
    rows = np.zeros((2, 3, 3))
    assert cusolver_arm._ld(rows.swapaxes(1, 2)) == 3
    with pytest.raises(UnsupportedProblem, match="column-major"):
        cusolver_arm._ld(rows)
    with pytest.raises(UnsupportedProblem, match="one right-hand side"):
        cusolver_arm._posv({"a": rows, "b": rows})


@pytest.mark.gpu
@pytest.mark.parametrize("op", ["potrf", "posv"])
def test_its_results_are_right(op: str, tmp_path: Path) -> None:
    bench(op, n="5,33", batch="100", arms="cusolver,vendor", out=tmp_path / "rows.csv", reps=2, max_reps=2)
    rows = rows_of(tmp_path / "rows.csv")
    assert [row["arm"] for row in rows] == ["cusolver", "vendor"] * 8
    assert all(row["median_us"] for row in rows)
