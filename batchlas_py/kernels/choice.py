"""Which specialisation serves a problem: register columns, lanes, right-hand sides, launch bounds."""

from __future__ import annotations

from typing import Final

from ..dtypes import DTYPES
from .launch_bounds import bounds
from .specs import TinySpec

__all__ = ["RHS_BUCKETS", "tiny_max_n", "tiny_spec", "tiny_specs"]

RHS_BUCKETS: Final = (1, 2, 4)
SLACK: Final = {"getrf": 2, "gesv": 4}


def tiny_max_n(op: str, dtype: str, arch: str) -> int:
    """Largest order that the tiny family of ``getrf`` or ``gesv`` has a kernel for; 0 if none."""
    return max(bounds(RHS_BUCKETS[-1] if op == "gesv" else 0, dtype, arch), default=0)


def tiny_spec(dtype: str, n: int, staged: bool, nrhs: int = 0, arch: str = "sm_90") -> TinySpec:
    """The kernel for matrices of order ``n`` <= `tiny_max_n` and ``nrhs`` <= 4 right-hand sides."""
    op = "gesv" if nrhs else "getrf"
    columns = -(-n // SLACK[op]) * SLACK[op]
    lanes = max(4, 1 << (n - 1).bit_length())
    rhs = min(size for size in (0, *RHS_BUCKETS) if nrhs <= size)
    table = bounds(rhs, dtype, arch)
    direct_blocks, staged_blocks = table[min(limit for limit in table if columns <= limit)]
    if staged and staged_blocks is not None:
        return TinySpec(dtype, lanes, columns, SLACK[op], True, rhs, staged_blocks)
    return TinySpec(dtype, lanes, columns, SLACK[op], False, rhs, direct_blocks)


def tiny_specs(op: str, arch: str = "sm_90") -> tuple[TinySpec, ...]:
    """Every kernel of the tiny family of ``getrf`` or ``gesv``; neighbouring orders share one."""
    every = (
        tiny_spec(dtype, n, staged, rhs, arch)
        for dtype in DTYPES
        for rhs in (RHS_BUCKETS if op == "gesv" else (0,))
        for n in range(1, tiny_max_n(op, dtype, arch) + 1)
        for staged in (False, True)
    )
    return tuple(dict.fromkeys(every))
