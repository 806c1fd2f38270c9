"""What a benchmark must know of an op; a new op is one more `Setup`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import numpy as np

from batchlas_py import lapack
from batchlas_py.problem import Problem
from batchlas_py.testing import cholesky, oracle, ratios

from .arrays import Array, ArrayLibrary
from .qr_setups import QR_SETUPS
from .setup import Arrays, HostArrays, Operand, Role, Setup

__all__ = ["SETUPS", "Arrays", "Operand", "Setup"]


def _matrix(name: str, p: Problem, role: Role) -> Operand:
    return Operand(name, (p.m, p.n), p.dtype, role)


def _rhs(p: Problem) -> Operand:
    return Operand("b", (p.n, p.nrhs), p.dtype, "inout")


def _ipiv(p: Problem, role: Role) -> Operand:
    return Operand("ipiv", (min(p.m, p.n),), "int32", role, (1, p.m))


def _info() -> Operand:
    return Operand("info", (), "int32", "out", (0, 0))


def _getrf_operands(p: Problem) -> Iterator[Operand]:
    yield from (_matrix("a", p, "inout"), _ipiv(p, "out"), _info())


def _getrs_operands(p: Problem) -> Iterator[Operand]:
    yield from (_matrix("lu", p, "in"), _ipiv(p, "in"), _rhs(p))


def _getri_operands(p: Problem) -> Iterator[Operand]:
    yield from (_matrix("lu", p, "in"), _ipiv(p, "in"), _matrix("inv", p, "out"), _info())


def _gesv_operands(p: Problem) -> Iterator[Operand]:
    yield from (_matrix("a", p, "inout"), _rhs(p), _ipiv(p, "out"), _info())


def _gemm_operands(p: Problem) -> Iterator[Operand]:
    """The update of a factorization, C - A B; the problem's right-hand sides are the inner extent."""
    yield Operand("a", (p.m, p.nrhs), p.dtype, "in")
    yield Operand("b", (p.nrhs, p.n), p.dtype, "in")
    yield _matrix("c", p, "inout")


def _trsm_operands(p: Problem) -> Iterator[Operand]:
    """The solve of a factorization, with the unit lower triangle of factors."""
    yield from (_matrix("lu", p, "in"), _rhs(p))


def _laswp_operands(p: Problem) -> Iterator[Operand]:
    yield from (_matrix("a", p, "inout"), _ipiv(p, "in"))


def _triangle(name: str, p: Problem, role: Role) -> Operand:
    return Operand(name, (p.n, p.n), p.dtype, role, touched=p.n * (p.n + 1) // 2)


def _potrf_operands(p: Problem) -> Iterator[Operand]:
    yield from (_triangle("a", p, "inout"), _info())


def _potrs_operands(p: Problem) -> Iterator[Operand]:
    yield from (_triangle("c", p, "in"), _rhs(p))


def _posv_operands(p: Problem) -> Iterator[Operand]:
    yield from (_triangle("a", p, "inout"), _rhs(p), _info())


def _random_matrix(library: ArrayLibrary, p: Problem, seed: int) -> dict[str, Array]:
    return {"a": library.random((p.batch, p.m, p.n), p.dtype, seed)}


def _random_rhs(library: ArrayLibrary, p: Problem, seed: int) -> dict[str, Array]:
    return {"b": library.random((p.batch, p.n, p.nrhs), p.dtype, seed + 1)}


def _random_system(library: ArrayLibrary, p: Problem, seed: int) -> dict[str, Array]:
    return _random_matrix(library, p, seed) | _random_rhs(library, p, seed)


def _factored_matrix(library: ArrayLibrary, p: Problem, seed: int) -> dict[str, Array]:
    a = _random_matrix(library, p, seed)["a"]
    factors = lapack.getrf(a)
    return {"a": a, "lu": factors.lu, "ipiv": factors.ipiv}


def _factored_system(library: ArrayLibrary, p: Problem, seed: int) -> dict[str, Array]:
    return _factored_matrix(library, p, seed) | _random_rhs(library, p, seed)


def _definite_matrix(library: ArrayLibrary, p: Problem, seed: int) -> dict[str, Array]:
    """Lower triangles with a diagonal that outweighs them; what is above it no one looks at."""
    a = _random_matrix(library, p, seed)["a"]
    a.reshape(p.batch, -1)[:, :: p.n + 1] = float(p.n)
    return {"a": a}


def _definite_system(library: ArrayLibrary, p: Problem, seed: int) -> dict[str, Array]:
    return _definite_matrix(library, p, seed) | _random_rhs(library, p, seed)


def _factored_definite_system(library: ArrayLibrary, p: Problem, seed: int) -> dict[str, Array]:
    system = _definite_system(library, p, seed)
    return system | {"c": lapack.potrf(system["a"]).c}


def _random_update(library: ArrayLibrary, p: Problem, seed: int) -> dict[str, Array]:
    shapes = {"a": (p.m, p.nrhs), "b": (p.nrhs, p.n), "c": (p.m, p.n)}
    return {
        name: library.random((p.batch, *shape), p.dtype, seed + i)
        for i, (name, shape) in enumerate(shapes.items())
    }


def _getrf(x: Arrays, route: str) -> object:
    return lapack.getrf(x["a"], out=(x["a"], x["ipiv"], x["info"]), route=route)


def _getrs(x: Arrays, route: str) -> object:
    return lapack.getrs(x["lu"], x["ipiv"], x["b"], out=x["b"], route=route)


def _getri(x: Arrays, route: str) -> object:
    return lapack.getri(x["lu"], x["ipiv"], out=(x["inv"], x["info"]), route=route)


def _gesv(x: Arrays, route: str) -> object:
    out = (x["b"], x["a"], x["ipiv"], x["info"])
    return lapack.gesv(x["a"], x["b"], out=out, route=route)


def _gemm(x: Arrays, route: str) -> object:
    return lapack.gemm(x["a"], x["b"], x["c"], alpha=-1, beta=1, overwrite_c=True, route=route)


def _trsm(x: Arrays, route: str) -> object:
    return lapack.trsm(x["lu"], x["b"], diag="U", overwrite_b=True, route=route)


def _laswp(x: Arrays, route: str) -> object:
    return lapack.laswp(x["a"], x["ipiv"], overwrite_a=True, route=route)


def _potrf(x: Arrays, route: str) -> object:
    return lapack.potrf(x["a"], out=(x["a"], x["info"]), route=route)


def _potrs(x: Arrays, route: str) -> object:
    return lapack.potrs(x["c"], x["b"], out=x["b"], route=route)


def _posv(x: Arrays, route: str) -> object:
    return lapack.posv(x["a"], x["b"], out=(x["b"], x["a"], x["info"]), route=route)


def _getrf_operations(p: Problem) -> tuple[float, float]:
    n = p.n
    return n**3 / 3 + 2 * n / 3, n**3 / 3 - n**2 / 2 + n / 6


def _getrs_operations(p: Problem) -> tuple[float, float]:
    return p.nrhs * p.n**2, p.nrhs * (p.n**2 - p.n)


def _getri_operations(p: Problem) -> tuple[float, float]:
    n = p.n
    return 2 * n**3 / 3 + n**2 / 2 + 5 * n / 6, 2 * n**3 / 3 - 3 * n**2 / 2 + 5 * n / 6


def _gesv_operations(p: Problem) -> tuple[float, float]:
    factor, solve = _getrf_operations(p), _getrs_operations(p)
    return factor[0] + solve[0], factor[1] + solve[1]


def _gemm_operations(p: Problem) -> tuple[float, float]:
    return p.m * p.n * p.nrhs, p.m * p.n * p.nrhs


def _trsm_operations(p: Problem) -> tuple[float, float]:
    pairs = p.nrhs * p.n * (p.n - 1) / 2
    return pairs, pairs


def _laswp_operations(p: Problem) -> tuple[float, float]:
    return 0.0, 0.0


def _potrf_operations(p: Problem) -> tuple[float, float]:
    n = p.n
    return n**3 / 6 + n**2 / 2 + n / 3, n**3 / 6 - n / 6


def _potrs_operations(p: Problem) -> tuple[float, float]:
    return p.nrhs * (p.n**2 + p.n), p.nrhs * (p.n**2 - p.n)


def _posv_operations(p: Problem) -> tuple[float, float]:
    factor, solve = _potrf_operations(p), _potrs_operations(p)
    return factor[0] + solve[0], factor[1] + solve[1]


def _factor_ratio(before: HostArrays, after: HostArrays) -> float:
    return ratios.dget01(before["a"], after["a"], after["ipiv"]).worst


def _solve_ratio(before: HostArrays, after: HostArrays) -> float:
    return ratios.dget02(before["a"], after["b"], before["b"]).worst


def _inverse_ratio(before: HostArrays, after: HostArrays) -> float:
    return ratios.dget03(before["a"], after["inv"]).worst


def _gesv_ratio(before: HostArrays, after: HostArrays) -> float:
    return float(np.maximum(_factor_ratio(before, after), _solve_ratio(before, after)))


def _cholesky_ratio(before: HostArrays, after: HostArrays) -> float:
    return cholesky.dpot01(before["a"], after["a"]).worst


def _definite_solve_ratio(before: HostArrays, after: HostArrays) -> float:
    return ratios.dget02(cholesky.hermitian(before["a"], "L"), after["b"], before["b"]).worst


def _posv_ratio(before: HostArrays, after: HostArrays) -> float:
    return float(np.maximum(_cholesky_ratio(before, after), _definite_solve_ratio(before, after)))


def _product_ratio(before: HostArrays, after: HostArrays) -> float:
    return ratios.dmmch(after["c"], -before["a"], before["b"], before["c"]).worst


def _triangle_ratio(before: HostArrays, after: HostArrays) -> float:
    lower = np.tril(before["lu"], -1) + np.eye(before["lu"].shape[-1], dtype=before["lu"].dtype)
    return ratios.dget02(lower, after["b"], before["b"]).worst


def _interchange_ratio(before: HostArrays, after: HostArrays) -> float:
    """Zero if every row is where it belongs: nothing is rounded."""
    items = zip(before["a"], before["ipiv"], after["a"], strict=True)
    right = all(np.array_equal(oracle.laswp(a, ipiv), x) for a, ipiv, x in items)
    return 0.0 if right else np.inf


SETUPS: Final[Mapping[str, Setup]] = {
    setup.op: setup
    for setup in (
        Setup("getrf", _getrf_operands, _random_matrix, _getrf, _getrf_operations, _factor_ratio),
        Setup("getrs", _getrs_operands, _factored_system, _getrs, _getrs_operations, _solve_ratio, True),
        Setup("getri", _getri_operands, _factored_matrix, _getri, _getri_operations, _inverse_ratio),
        Setup("gesv", _gesv_operands, _random_system, _gesv, _gesv_operations, _gesv_ratio, True),
        Setup("gemm", _gemm_operands, _random_update, _gemm, _gemm_operations, _product_ratio, True),
        Setup("trsm", _trsm_operands, _factored_system, _trsm, _trsm_operations, _triangle_ratio, True),
        Setup("potrf", _potrf_operands, _definite_matrix, _potrf, _potrf_operations, _cholesky_ratio),
        Setup(
            "potrs",
            _potrs_operands,
            _factored_definite_system,
            _potrs,
            _potrs_operations,
            _definite_solve_ratio,
            True,
        ),
        Setup("posv", _posv_operands, _definite_system, _posv, _posv_operations, _posv_ratio, True),
        Setup("laswp", _laswp_operands, _factored_matrix, _laswp, _laswp_operations, _interchange_ratio),
        *QR_SETUPS,
    )
}
