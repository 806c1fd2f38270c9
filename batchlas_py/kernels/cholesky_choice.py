"""Which specialisation of the kernels of potrf and posv serves a problem."""

from __future__ import annotations

from typing import Final

from ..dtypes import DTYPES
from .cholesky_specs import SpdTinySpec

__all__ = ["SPD_RHS", "spd_tiny_max_n", "spd_tiny_spec", "spd_tiny_specs"]

SPD_RHS: Final = (1, 4)
COLUMNS: Final = (4, 8, 12, 16, 24, 32)


def spd_tiny_max_n(op: str, dtype: str, arch: str) -> int:
    """Largest order that the tiny family of ``potrf`` or ``posv`` has a kernel for."""
    return COLUMNS[-1]


def spd_tiny_spec(dtype: str, n: int, staged: bool, nrhs: int = 0, arch: str = "sm_90") -> SpdTinySpec:
    """The kernel for matrices of order ``n`` and ``nrhs`` right-hand sides."""
    columns = next(size for size in COLUMNS if n <= size)
    lanes = max(4, 1 << (columns - 1).bit_length())
    rhs = min(size for size in (0, *SPD_RHS) if nrhs <= size)
    return SpdTinySpec(dtype, lanes, columns, staged, rhs)


def spd_tiny_specs(op: str, arch: str = "sm_90") -> tuple[SpdTinySpec, ...]:
    """Every kernel of the tiny family of ``potrf`` or ``posv``."""
    every = (
        spd_tiny_spec(dtype, n, staged, rhs, arch)
        for dtype in DTYPES
        for rhs in (SPD_RHS if op == "posv" else (0,))
        for n in COLUMNS
        for staged in (False, True)
    )
    return tuple(dict.fromkeys(every))
