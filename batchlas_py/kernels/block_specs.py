"""Compile-time constants of the kernels that use whole thread blocks.

Like `specs`, plain data without Numba; extents are run-time numbers unless registers demand otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from ..dtypes import itemsize

__all__ = [
    "GemmSpec",
    "GetrfCtaSpec",
    "GetrsCtaSpec",
    "LaswpSpec",
    "PanelSpec",
    "TrsmSpec",
    "UpdateSpec",
    "ZeroPivotSpec",
]


WARP: Final = 32
INDEX_BYTES: Final = 4
ORDER: Final = 32  # of the triangles and slices that block kernels work on
SLICE_BYTES: Final = 64  # of a row of factors that a lane has under way


def vector_elements(dtype: str) -> int:
    """Elements of 16 bytes, at least one: what tiles in shared memory are padded by."""
    return max(1, 16 // itemsize(dtype))


@dataclass(frozen=True, slots=True)
class PanelSpec:
    """A register panel of getrf.

    Attributes
    ----------
    dtype : str
        Element type.
    columns, rows_each : int
        Register columns, and rows of one thread.
    threads : int
        Largest block.
    """

    dtype: str
    columns: int
    rows_each: int
    threads: int
    min_blocks: int = 1


@dataclass(frozen=True, slots=True)
class UpdateSpec:
    """The update right of a panel of getrf.

    Attributes
    ----------
    dtype : str
        Element type.
    tile : int
        Columns of one block.
    depth, width : int
        Columns of L, and of the tile, that a thread holds in registers.
    """

    dtype: str
    tile: int
    depth: int
    width: int
    threads: int = 128
    min_blocks: int = 1
    dynamic_shared: ClassVar[bool] = True

    @property
    def pitch(self) -> int:
        """Elements of shared memory between the solved rows."""
        return self.tile + vector_elements(self.dtype)

    @property
    def shared_bytes(self) -> int:
        """Dynamic shared memory: the triangle, the solved rows, the first rows as they were."""
        return (ORDER * ORDER + ORDER * self.pitch + self.tile * (ORDER + 1)) * itemsize(self.dtype)


@dataclass(frozen=True, slots=True)
class GetrfCtaSpec:
    """LU of a whole matrix in shared memory, or where it lies in global memory.

    Attributes
    ----------
    dtype : str
        Element type.
    scope : {"block", "warp"}
        Who works on one matrix; a block of warps has as many matrices.
    storage : {"shared", "global"}
        Where the matrix is while it is factored.
    threads : int
        Largest block, a power of two.
    """

    dtype: str
    scope: str
    storage: str
    threads: int
    min_blocks: int = 1
    dynamic_shared: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class GemmSpec:
    """A batched product; a warp owns ``width`` columns of the tile."""

    dtype: str
    width: int = 8
    threads: int = 128
    min_blocks: int = 1

    @property
    def tile(self) -> tuple[int, int]:
        """Rows and columns of one block's tile."""
        return ORDER, self.threads // WARP * self.width


@dataclass(frozen=True, slots=True)
class TrsmSpec:
    """A batched triangular solve; a warp owns ``columns`` right-hand sides, and takes ``width`` at a time."""

    dtype: str
    columns: int
    width: int
    threads: int
    min_blocks: int = 1
    dynamic_shared: ClassVar[bool] = True

    @property
    def tile(self) -> int:
        """Right-hand sides of one block."""
        return self.threads // WARP * self.columns

    @property
    def pitch(self) -> int:
        """Elements of shared memory between rows of a warp's part of the solution."""
        return self.columns + vector_elements(self.dtype)

    def shared_bytes(self, n: int) -> int:
        """Dynamic shared memory for order ``n``: the tile of the solution, and one of the triangle."""
        rows = -(-n // ORDER) * ORDER
        solution = self.threads // WARP * rows * self.pitch
        return (solution + ORDER * (ORDER + 1)) * itemsize(self.dtype)


@dataclass(frozen=True, slots=True)
class LaswpSpec:
    """Row interchanges.

    Attributes
    ----------
    kind : {"walk", "gather", "identity"}
        One after another by a thread a column; the rows that move through shared memory; the permutation
        matrix that they make.
    dtype : str
        Element type.
    """

    kind: str
    dtype: str
    threads: int = 256
    min_blocks: int = 1

    @property
    def dynamic_shared(self) -> bool:
        """Whether the kernel uses dynamic shared memory."""
        return self.kind == "gather"

    def shared_bytes(self, rows: int, moved: int, columns: int) -> int:
        """Dynamic shared memory to move up to ``moved`` of the rows, so many columns at a time."""
        numbers = 2 * rows + 2 * moved + self.threads // WARP
        return (moved | 1) * columns * itemsize(self.dtype) + numbers * INDEX_BYTES


@dataclass(frozen=True, slots=True)
class GetrsCtaSpec:
    """Solution by LU factors in one launch: a warp a matrix up to order 32, a block a matrix beyond.

    Attributes
    ----------
    dtype : str
        Element type.
    rhs : int
        Right-hand sides held in registers.
    threads : int
        Largest block.
    """

    dtype: str
    rhs: int
    threads: int = 256
    min_blocks: int = 1
    dynamic_shared: ClassVar[bool] = True

    @property
    def depth(self) -> int:
        """Columns of the slice of factors that a lane loads at once."""
        return SLICE_BYTES // itemsize(self.dtype)

    @property
    def pitch(self) -> int:
        """Elements of shared memory between columns of a slice: lanes store it without bank conflicts."""
        return ORDER + ORDER // self.depth

    def slices_at(self, n: int) -> int:
        """Elements of shared memory before the slices: a triangle."""
        return min(n, ORDER) * (ORDER + 1)

    def sides_at(self, n: int, slices: int) -> int:
        """Elements before the right-hand sides: what is before the slices, and so many of them."""
        return _vectors(self.slices_at(n) + slices * self.depth * self.pitch, self.dtype)

    def area(self, n: int, slices: int) -> int:
        """Elements of one matrix: what is before the sides, the sides, and a number for each row."""
        numbers = -(-n * INDEX_BYTES // itemsize(self.dtype))
        return _vectors(self.sides_at(n, slices) + n * self.rhs + numbers, self.dtype)


def _vectors(elements: int, dtype: str) -> int:
    """So many elements, in whole vectors of 16 bytes."""
    width = vector_elements(dtype)
    return -(-elements // width) * width


@dataclass(frozen=True, slots=True)
class ZeroPivotSpec:
    """The first zero on the diagonal of factors, a warp a matrix."""

    dtype: str
    threads: int = 128
    min_blocks: int = 1
