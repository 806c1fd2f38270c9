"""Compile-time constants of every kernel.

Plain data without Numba, so a kernel that is already on disk is found without importing a compiler.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["RelayoutSpec", "TinySpec", "ToolSpec"]


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
    threads: int = 64

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
