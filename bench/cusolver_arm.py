"""cuSOLVER's batched Cholesky as it is: it writes to the other triangle, which `vendor` avoids at a price.

CuPy's arrays are handed over where they lie; the arrays of pointers are made once for each.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from importlib.util import find_spec
from typing import Any, Final

from batchlas_py.errors import BackendUnavailable, UnsupportedProblem
from batchlas_py.vendor import cusolver

from .setups import Arrays, Setup

__all__ = ["NAME", "OPS", "cusolver_call"]

NAME: Final = "cusolver"
LOWER: Final = "L"


def cusolver_call() -> Callable[[Setup, Arrays], object]:
    """How the arm runs a setup; without CuPy it raises `BackendUnavailable`."""
    if not find_spec("cupy"):
        raise BackendUnavailable(f"arms: got {NAME}, which needs CuPy; it is not installed")
    return lambda setup, arrays: OPS[setup.op](arrays)


def _potrf(x: Arrays) -> None:
    a, where = x["a"], _where()
    cusolver.potrf_batched(
        a.dtype.name, *where, LOWER, a.shape[1], (_pointers(a), _ld(a)), x["info"].data.ptr, len(a)
    )


def _posv(x: Arrays) -> None:
    a, b = x["a"], x["b"]
    if b.shape[2] != 1:
        raise UnsupportedProblem("cuSOLVER's batched solve takes one right-hand side")
    _potrf(x)
    shape, factors, sides = (a.shape[1], 1), (_pointers(a), _ld(a)), (_pointers(b), b.shape[1])
    status = _status().data.ptr
    cusolver.potrs_batched(a.dtype.name, *_where(), LOWER, shape, factors, sides, status, len(a))


def _where() -> tuple[int, int]:
    """Device and stream of CuPy's work."""
    import cupy

    return cupy.cuda.runtime.getDevice(), cupy.cuda.get_current_stream().ptr


def _ld(a: Any) -> int:
    rows, columns = a.strides[1] // a.itemsize, a.strides[2] // a.itemsize
    if rows != 1:
        raise UnsupportedProblem("cuSOLVER takes column-major matrices")
    return int(columns)


def _pointers(array: Any) -> int:
    """Device array of the addresses of a batch's matrices."""
    return int(_table(array.data.ptr, array.strides[0], len(array)).data.ptr)


@lru_cache(maxsize=256)
def _table(first: int, step: int, count: int) -> Any:
    import cupy

    return cupy.arange(count, dtype="int64") * step + first


@lru_cache(maxsize=1)
def _status() -> Any:
    import cupy

    return cupy.zeros(1, "int32")


OPS: Final[Mapping[str, Callable[[Arrays], None]]] = {"potrf": _potrf, "posv": _posv}
