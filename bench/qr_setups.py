"""What a benchmark must know of QR: factorization, Q of min(m, n) columns, products with Q on the left."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from batchlas_py import lapack, linalg
from batchlas_py.problem import Problem
from batchlas_py.testing import qr_oracle, ratios

from .arrays import Array, ArrayLibrary
from .setup import Arrays, HostArrays, Operand, Role, Setup

__all__ = ["QR_SETUPS"]


def _k(p: Problem) -> int:
    return min(p.m, p.n)


def _tau(p: Problem, role: Role) -> Operand:
    return Operand("tau", (_k(p),), p.dtype, role)


def _geqrf_operands(p: Problem) -> Iterator[Operand]:
    yield from (Operand("a", (p.m, p.n), p.dtype, "inout"), _tau(p, "out"))


def _orgqr_operands(p: Problem) -> Iterator[Operand]:
    yield from (Operand("qr", (p.m, p.n), p.dtype, "in"), _tau(p, "in"))
    yield Operand("q", (p.m, _k(p)), p.dtype, "out")


def _ormqr_operands(p: Problem) -> Iterator[Operand]:
    yield from (Operand("qr", (p.m, p.n), p.dtype, "in"), _tau(p, "in"))
    yield Operand("c", (p.m, p.nrhs), p.dtype, "inout")


def _qr_operands(p: Problem) -> Iterator[Operand]:
    yield Operand("a", (p.m, p.n), p.dtype, "in")
    yield Operand("q", (p.m, _k(p)), p.dtype, "out")
    yield Operand("r", (_k(p), p.n), p.dtype, "out")


def _random(library: ArrayLibrary, p: Problem, seed: int) -> dict[str, Array]:
    return {"a": library.random((p.batch, p.m, p.n), p.dtype, seed)}


def _reflectors(library: ArrayLibrary, p: Problem, seed: int) -> dict[str, Array]:
    factors = lapack.geqrf(_random(library, p, seed)["a"])
    return {"qr": factors.qr, "tau": factors.tau}


def _product(library: ArrayLibrary, p: Problem, seed: int) -> dict[str, Array]:
    c = library.random((p.batch, p.m, p.nrhs), p.dtype, seed + 1)
    return _reflectors(library, p, seed) | {"c": c}


def _geqrf(x: Arrays, route: str) -> object:
    return lapack.geqrf(x["a"], out=(x["a"], x["tau"]), route=route)


def _orgqr(x: Arrays, route: str) -> object:
    return lapack.orgqr(x["qr"], x["tau"], out=x["q"], route=route)


def _ormqr(x: Arrays, route: str) -> object:
    return lapack.ormqr(x["qr"], x["tau"], x["c"], overwrite_c=True, route=route)


def _qr(x: Arrays, route: str) -> object:
    return linalg.qr(x["a"], out=(x["q"], x["r"]), route=route)


def _geqrf_operations(p: Problem) -> tuple[float, float]:
    """Of wide matrices as of tall ones with the rest updated; leading terms, as LAPACK's counts have them."""
    m, n, k = p.m, p.n, _k(p)
    both = 2 * m * n * k - (m + n) * k**2 + 2 * k**3 / 3
    return both, both


def _orgqr_operations(p: Problem) -> tuple[float, float]:
    """The same number: Q is formed of as many reflectors in the other order."""
    m, k = p.m, _k(p)
    both = 2 * m * k * k - (m + k) * k**2 + 2 * k**3 / 3
    return both, both


def _ormqr_operations(p: Problem) -> tuple[float, float]:
    both = p.nrhs * _k(p) * (2 * p.m - _k(p))
    return both, both


def _qr_operations(p: Problem) -> tuple[float, float]:
    factor, form = _geqrf_operations(p), _orgqr_operations(p)
    return factor[0] + form[0], factor[1] + form[1]


def _q_of(qr: np.ndarray, tau: np.ndarray, columns: int) -> np.ndarray:
    """Explicit columns of Q, in double precision."""
    wide = np.result_type(qr.dtype, np.float64)
    items = zip(qr.astype(wide), tau.astype(wide), strict=True)
    return np.array([qr_oracle.org2r(v[:, : len(t)], t, columns) for v, t in items])


def _pair_ratio(a: np.ndarray, q: np.ndarray, r: np.ndarray) -> float:
    """Worst of residual and loss of orthogonality."""
    rounded = q.astype(a.dtype)
    return float(np.maximum(ratios.dqrt01(a, rounded, r).worst, ratios.dqrt11(rounded).worst))


def _geqrf_ratio(before: HostArrays, after: HostArrays) -> float:
    a, k = before["a"], after["tau"].shape[-1]
    return _pair_ratio(a, _q_of(after["a"], after["tau"], k), np.triu(after["a"])[:, :k])


def _orgqr_ratio(before: HostArrays, after: HostArrays) -> float:
    q = after["q"]
    exact = _q_of(before["qr"], before["tau"], q.shape[2])
    error = abs(q - exact).sum(axis=1).max() / q.shape[1] / (np.finfo(q.dtype).eps / 2)
    return float(np.maximum(error, ratios.dqrt11(q).worst))


def _ormqr_ratio(before: HostArrays, after: HostArrays) -> float:
    q = _q_of(before["qr"], before["tau"], before["qr"].shape[1])
    return ratios.dqrt03(after["c"], q, before["c"]).worst


def _qr_ratio(before: HostArrays, after: HostArrays) -> float:
    below = np.tril(after["r"], -1).any()
    return float("inf") if below else _pair_ratio(before["a"], after["q"], after["r"])


QR_SETUPS: Final = (
    Setup("geqrf", _geqrf_operands, _random, _geqrf, _geqrf_operations, _geqrf_ratio),
    Setup("orgqr", _orgqr_operands, _reflectors, _orgqr, _orgqr_operations, _orgqr_ratio),
    Setup("ormqr", _ormqr_operands, _product, _ormqr, _ormqr_operations, _ormqr_ratio, True),
    Setup("qr", _qr_operands, _random, _qr, _qr_operations, _qr_ratio),
)
