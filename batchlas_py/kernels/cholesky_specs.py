"""Compile-time constants of the kernels of potrf and posv: plain data without Numba, like `specs`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

__all__ = ["LpanelSpec", "PotrfCtaSpec", "SpdTinySpec", "TriangleSpec"]

SLICE: Final = 32  # earlier columns that a panel takes off at a time


@dataclass(frozen=True, slots=True)
class SpdTinySpec:
    """One register-resident kernel of potrf or posv.

    Attributes
    ----------
    dtype : str
        Element type.
    lanes, columns : int
        Lanes of one matrix; register columns.
    staged : bool
        Row-major data, transposed through shared memory; otherwise any strides.
    rhs : int
        Right-hand sides held in registers; 0 in potrf.
    """

    dtype: str
    lanes: int
    columns: int
    staged: bool
    rhs: int = 0
    min_blocks: int = 1
    threads: int = 64

    @property
    def per_block(self) -> int:
        """Matrices of one block."""
        return self.threads // self.lanes


@dataclass(frozen=True, slots=True)
class PotrfCtaSpec:
    """Cholesky of a whole matrix in shared memory, by tiles; ``threads`` is the largest block."""

    dtype: str
    threads: int
    min_blocks: int = 1
    dynamic_shared: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class LpanelSpec:
    """Left-looking Cholesky by panels of ``columns`` columns, which threads hold in registers, a row each."""

    dtype: str
    columns: int
    threads: int
    min_blocks: int = 1


@dataclass(frozen=True, slots=True)
class TriangleSpec:
    """Small kernels on triangles of batches.

    Attributes
    ----------
    tool : {"merge", "clean"}
        Copy a factored block to its place and merge its ``info``; or leave the triangle alone of a factor.
    """

    tool: str
    dtype: str
    threads: int = 256
    min_blocks: int = 1
