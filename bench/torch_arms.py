"""torch's LU, Cholesky and QR as competitors, by its own choice of library or by MAGMA.

The harness's arrays are handed over where they lie, and results are written where the harness looks for them,
by ``out=``. torch works in column-major order and copies other matrices there and back; its times include it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from importlib.util import find_spec
from typing import Any, Final

from batchlas_py.errors import BackendUnavailable, UnsupportedProblem

from .setups import Arrays, Setup

__all__ = ["LIBRARIES", "OPS", "torch_call"]

LIBRARIES: Final[Mapping[str, str]] = {"torch": "default", "torch-magma": "magma"}

Tensors = Mapping[str, Any]


def torch_call(name: str) -> Callable[[Setup, Arrays], object]:
    """How an arm of `LIBRARIES` runs a setup; without torch it raises `BackendUnavailable`."""
    if not find_spec("torch"):
        raise BackendUnavailable(f"arms: got {name}, which needs torch; it is not installed")
    return partial(_call, _torch(), LIBRARIES[name])


def _torch() -> Any:
    import torch

    return torch


def _call(torch: Any, library: str, setup: Setup, arrays: Arrays) -> None:
    if library == "magma" and not torch.cuda.has_magma:
        raise UnsupportedProblem("this torch has no MAGMA")
    torch.backends.cuda.preferred_linalg_library(library)
    OPS[setup.op](torch, {name: _tensor(torch, array) for name, array in arrays.items()})


def _tensor(torch: Any, array: Any) -> Any:
    on_gpu = hasattr(array, "__cuda_array_interface__")
    return torch.as_tensor(array, device="cuda" if on_gpu else "cpu")


def _getrf(torch: Any, x: Tensors) -> None:
    torch.linalg.lu_factor_ex(x["a"], out=(x["a"], x["ipiv"], x["info"]))


def _getrs(torch: Any, x: Tensors) -> None:
    torch.linalg.lu_solve(x["lu"], x["ipiv"], x["b"], out=x["b"])


def _getri(torch: Any, x: Tensors) -> None:
    """Solve for the identity: torch has no inverse from factors."""
    inverse = x["inv"]
    inverse.copy_(torch.eye(inverse.shape[-1], dtype=inverse.dtype, device=inverse.device))
    torch.linalg.lu_solve(x["lu"], x["ipiv"], inverse, out=inverse)
    x["info"].zero_()


def _gesv(torch: Any, x: Tensors) -> None:
    """Factor, then solve: torch's solver does not return the factors."""
    _getrf(torch, x)
    torch.linalg.lu_solve(x["a"], x["ipiv"], x["b"], out=x["b"])


def _potrf(torch: Any, x: Tensors) -> None:
    torch.linalg.cholesky_ex(x["a"], out=(x["a"], x["info"]))


def _potrs(torch: Any, x: Tensors) -> None:
    torch.cholesky_solve(x["b"], x["c"], out=x["b"])


def _posv(torch: Any, x: Tensors) -> None:
    """Factor, then solve: torch has no solver of positive definite systems."""
    _potrf(torch, x)
    torch.cholesky_solve(x["b"], x["a"], out=x["b"])


def _geqrf(torch: Any, x: Tensors) -> None:
    torch.geqrf(x["a"], out=(x["a"], x["tau"]))


def _orgqr(torch: Any, x: Tensors) -> None:
    """The vectors of as many columns as Q has."""
    vectors = x["qr"][..., : x["q"].shape[-1]]
    torch.linalg.householder_product(vectors, x["tau"], out=x["q"])


def _ormqr(torch: Any, x: Tensors) -> None:
    torch.ormqr(x["qr"], x["tau"], x["c"], out=x["c"])


def _qr(torch: Any, x: Tensors) -> None:
    torch.linalg.qr(x["a"], out=(x["q"], x["r"]))


OPS: Final[Mapping[str, Callable[[Any, Tensors], None]]] = {
    "getrf": _getrf,
    "getrs": _getrs,
    "getri": _getri,
    "gesv": _gesv,
    "potrf": _potrf,
    "potrs": _potrs,
    "posv": _posv,
    "geqrf": _geqrf,
    "orgqr": _orgqr,
    "ormqr": _ormqr,
    "qr": _qr,
}
