"""Which arms there are, and torch's on a stand-in for torch."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from batchlas_py import config, lapack, linalg
from batchlas_py._resources import bench_module
from batchlas_py.errors import ArgumentError, BackendUnavailable, UnsupportedProblem
from batchlas_py.problem import Problem

arms, arrays, setups, torch_arms, work = (
    bench_module(name) for name in ("arms", "arrays", "setups", "torch_arms", "work")
)


class Tensor(np.ndarray):
    """An array with the methods of a tensor that the arms use."""

    def copy_(self, other: np.ndarray) -> None:
        self[...] = other

    def zero_(self) -> None:
        self[...] = 0


class Torch(SimpleNamespace):
    """torch by this package's host backend; notes the library that it is told to use."""

    def __init__(self, *, magma: bool = True) -> None:
        def lu_factor_ex(a: Tensor, out: tuple[Tensor, ...]) -> None:
            results = np.asarray(out[0]), np.asarray(out[1]), np.asarray(out[2])
            lapack.getrf(np.asarray(a), out=results, route="vendor")

        def lu_solve(lu: Tensor, pivots: Tensor, b: Tensor, out: Tensor) -> None:
            given = np.asarray(lu), np.asarray(pivots), np.asarray(b)
            lapack.getrs(*given, out=np.asarray(out), route="vendor")

        def cholesky_ex(a: Tensor, out: tuple[Tensor, ...]) -> None:
            results = np.asarray(out[0]), np.asarray(out[1])
            lapack.potrf(np.asarray(a), out=results, route="vendor")

        def cholesky_solve(b: Tensor, c: Tensor, out: Tensor) -> None:
            lapack.potrs(np.asarray(c), np.asarray(b), out=np.asarray(out), route="vendor")

        def geqrf(a: Tensor, out: tuple[Tensor, ...]) -> None:
            lapack.geqrf(np.asarray(a), out=(np.asarray(out[0]), np.asarray(out[1])), route="vendor")

        def householder_product(qr: Tensor, tau: Tensor, out: Tensor) -> None:
            lapack.orgqr(np.asarray(qr), np.asarray(tau), out=np.asarray(out), route="vendor")

        def ormqr(qr: Tensor, tau: Tensor, c: Tensor, out: Tensor) -> None:
            given = np.asarray(qr), np.asarray(tau), np.asarray(c)
            lapack.ormqr(*given, out=np.asarray(out), route="vendor")

        def qr(a: Tensor, out: tuple[Tensor, ...]) -> None:
            linalg.qr(np.asarray(a), out=tuple(map(np.asarray, out)), route="vendor")

        self.told: list[str] = []
        super().__init__(
            linalg=SimpleNamespace(
                lu_factor_ex=lu_factor_ex,
                lu_solve=lu_solve,
                cholesky_ex=cholesky_ex,
                householder_product=householder_product,
                qr=qr,
            ),
            cholesky_solve=cholesky_solve,
            geqrf=geqrf,
            ormqr=ormqr,
            cuda=SimpleNamespace(has_magma=magma),
            backends=SimpleNamespace(cuda=SimpleNamespace(preferred_linalg_library=self.told.append)),
            as_tensor=lambda array, device: array.view(Tensor),
            eye=lambda n, dtype, device: np.eye(n, dtype=dtype),
        )


@pytest.fixture
def torch(monkeypatch: pytest.MonkeyPatch) -> Torch:
    one = Torch()
    monkeypatch.setattr(torch_arms, "find_spec", lambda name: one)
    monkeypatch.setattr(torch_arms, "_torch", lambda: one)
    return one


@pytest.mark.parametrize("layout", ["F", "C"])
@pytest.mark.parametrize("op", torch_arms.OPS)
def test_torch_leaves_results_that_can_be_judged(torch: Torch, op: str, layout: Any) -> None:
    setup = setups.SETUPS[op]
    problem = Problem(op, "complex64", 5, 5, 4, 2 if setup.has_rhs else 0, layout=layout)
    cell = work.Work(arrays.LIBRARIES["numpy"](), setup, problem, 2, 1)
    cell.restore()
    for index, arm in enumerate(arms.parse_arms("torch,torch-magma", op)):
        arm.call(setup, cell.arrays(index))
        assert not cell.check(index).fault
    assert torch.told == ["default", "magma"]


def test_a_torch_without_magma_refuses_that_arm(monkeypatch: pytest.MonkeyPatch, torch: Torch) -> None:
    torch.cuda.has_magma = False
    (arm,) = arms.parse_arms("torch-magma", "getrf")
    with pytest.raises(UnsupportedProblem, match="no MAGMA"):
        arm.call(setups.SETUPS["getrf"], {})


def test_without_torch_its_arms_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch_arms, "find_spec", lambda name: None)
    with pytest.raises(BackendUnavailable, match="arms: got torch, which needs torch; it is not installed"):
        arms.parse_arms("vendor,torch", "getrf")


@pytest.mark.parametrize(
    ("op", "name", "message"),
    [
        (
            "getrf",
            "tini",
            "^arms: got 'tini' for getrf, accepted are auto, .*; of other libraries torch, torch-magma$",
        ),
        ("gemm", "torch", "^arms: got 'torch' for gemm, accepted are auto, vendor, cta$"),
        ("getrf", "blocked/leaf=x", "^arms: 'blocked/leaf=x': leaf: got 'x', accepted are auto, reg, slm"),
    ],
)
def test_unknown_arms(op: str, name: str, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        arms.parse_arms(f"vendor,{name}", op)


def test_arms_spell_variants() -> None:
    names = ("blocked", "blocked/leaf=slm", "vendor/loop", config.AUTO)
    assert [arm.name for arm in arms.parse_arms(",".join(names), "getrf")] == list(names)
