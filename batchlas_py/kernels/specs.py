"""Compile-time constants of every kernel, and the choices made for each problem size.

Plain data without Numba, so a kernel that is already on disk is found without importing a compiler.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ..problem import DTYPES

__all__ = ["RHS_BUCKETS", "RelayoutSpec", "TinySpec", "ToolSpec", "tiny_max_n", "tiny_spec", "tiny_specs"]

TINY_THREADS: Final = 64
RHS_BUCKETS: Final = (1, 2, 4)
SLACK: Final = {"getrf": 2, "gesv": 4}
OLDEST, NEWEST = 80, 90  # compute capabilities from which on a set of launch bounds holds

# Blocks of a direct and of a staged kernel that must fit on a multiprocessor, by register columns up to;
# None where the staged kernel would spill and the direct one stands in. The same code takes more registers before sm_90. How the numbers were found:
# docs/perf/lu.md.
Bounds = dict[int, tuple[int, int | None]]
MIN_BLOCKS: Final[dict[tuple[str, int], dict[str, Bounds]]] = {
    ("getrf", NEWEST): {
        "float32": {8: (24, 24), 16: (24, 24), 24: (20, 18), 32: (16, 10)},
        "float64": {8: (24, 24), 16: (14, 14), 24: (12, 10), 32: (8, 8)},
        "complex64": {8: (20, 20), 16: (14, 14), 24: (12, 12), 32: (10, 10)},
        "complex128": {8: (12, 12), 16: (8, 8), 24: (6, 6), 32: (4, 4)},
    },
    ("gesv", NEWEST): {
        "float32": {8: (24, 24), 16: (18, 18), 24: (12, 12), 32: (10, 10)},
        "float64": {8: (16, 16), 16: (8, 8), 24: (6, 6), 32: (4, 4)},
        "complex64": {8: (18, 18), 16: (14, 14), 24: (10, 10), 32: (6, 6)},
        "complex128": {8: (8, 8), 16: (4, 4), 24: (4, 4), 32: (1, None)},
    },
    ("getrf", OLDEST): {
        "float32": {8: (24, 24), 16: (18, 18), 24: (12, 12), 32: (10, 10)},
        "float64": {8: (16, 16), 16: (8, 8), 24: (8, 8), 32: (6, 6)},
        "complex64": {8: (18, 18), 16: (10, 10), 24: (8, 8), 32: (6, 6)},
        "complex128": {8: (8, 8), 16: (4, 4)},
    },
    ("gesv", OLDEST): {
        "float32": {8: (18, 18), 16: (14, 14), 24: (10, 10), 32: (8, 8)},
        "float64": {8: (10, 10), 16: (8, 8), 24: (6, 6), 32: (4, 4)},
        "complex64": {8: (10, 10), 16: (8, 8), 24: (6, 6), 32: (4, 4)},
        "complex128": {8: (6, 6), 16: (4, 4)},
    },
}


@dataclass(frozen=True, slots=True)
class TinySpec:
    """One register-resident kernel of getrf or gesv.

    Attributes
    ----------
    dtype : str
        Element type.
    lanes, columns, slack : int
        Lanes of one matrix; register columns, for n in ``columns - slack + 1 .. columns``.
    staged : bool
        Row-major data, transposed through shared memory; otherwise any strides.
    rhs : int
        Right-hand sides held in registers; 0 in getrf.
    min_blocks : int
        Blocks per multiprocessor that the register budget must allow.
    threads : int
        Block size.
    """

    dtype: str
    lanes: int
    columns: int
    slack: int
    staged: bool
    rhs: int = 0
    min_blocks: int = 1
    threads: int = TINY_THREADS

    @property
    def per_block(self) -> int:
        """Matrices of one block."""
        return self.threads // self.lanes


@dataclass(frozen=True, slots=True)
class RelayoutSpec:
    """Copy between layouts; the flags say whether a side has its unit stride down a column."""

    dtype: str
    read_columns: bool
    write_columns: bool
    threads: int = 256
    min_blocks: int = 1


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A small helper kernel by name; ``"pointers"`` has no element type of its own."""

    tool: str
    dtype: str = "uint64"
    threads: int = 256
    min_blocks: int = 1


def _bounds(op: str, dtype: str, arch: str) -> Bounds:
    capability = int(arch.removeprefix("sm_"))
    if capability < OLDEST:
        return {}
    return MIN_BLOCKS[op, NEWEST if capability >= NEWEST else OLDEST][dtype]


def tiny_max_n(op: str, dtype: str, arch: str) -> int:
    """Largest order that the tiny family of ``getrf`` or ``gesv`` has a kernel for; 0 if none."""
    return max(_bounds(op, dtype, arch), default=0)


def tiny_spec(dtype: str, n: int, staged: bool, nrhs: int = 0, arch: str = "sm_90") -> TinySpec:
    """The kernel for matrices of order ``n`` <= `tiny_max_n` and ``nrhs`` <= 4 right-hand sides."""
    op = "gesv" if nrhs else "getrf"
    columns = -(-n // SLACK[op]) * SLACK[op]
    lanes = max(4, 1 << (n - 1).bit_length())
    bounds = _bounds(op, dtype, arch)
    direct_blocks, staged_blocks = bounds[min(limit for limit in bounds if columns <= limit)]
    rhs = min(size for size in (0, *RHS_BUCKETS) if nrhs <= size)
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
