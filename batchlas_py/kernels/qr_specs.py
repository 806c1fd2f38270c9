"""Compile-time constants of the QR kernels; extents are run-time numbers where registers allow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from ..dtypes import itemsize

__all__ = ["ApplySpec", "QrPanelSpec", "QrTinySpec", "UpperSpec", "mailbox_pitch"]

SLICE: Final = 8
MAGNITUDE_BYTES: Final = 4
WARP: Final = 32


def mailbox_pitch(dtype: str, rows: int) -> int:
    """Elements between two columns in a mailbox: whole vectors of 16 bytes."""
    vector = max(1, 16 // itemsize(dtype))
    return -(-rows // vector) * vector


def _stacked(m: int, rows: int, lanes: int) -> int:
    """Groups over m rows: as many as fill warps."""
    together = max(1, WARP // lanes)
    return -(-m // (rows * together)) * together


def _vectors(elements: int, dtype: str) -> int:
    return mailbox_pitch(dtype, elements)


@dataclass(frozen=True, slots=True)
class QrTinySpec:
    """A register-resident kernel of geqrf, orgqr or both.

    Attributes
    ----------
    dtype : str
        Element type.
    rows : int
        Registers of a lane, for so many rows.
    lanes : int
        Lanes of one matrix, for so many columns.
    threads : int
        Block size.
    """

    dtype: str
    rows: int
    lanes: int
    min_blocks: int = 1
    threads: int = 64

    @property
    def per_block(self) -> int:
        """Matrices of one block."""
        return self.threads // self.lanes


@dataclass(frozen=True, slots=True)
class QrPanelSpec:
    """QR of a panel, or of a whole matrix, by a block: groups of lanes stacked over the rows.

    Attributes
    ----------
    dtype : str
        Element type.
    rows, lanes : int
        Rows of one group, a register of each lane; its columns.
    wide : bool
        Whether groups stand side by side too, for more columns than a group has.
    threads : int
        Largest block.
    """

    dtype: str
    rows: int
    lanes: int
    wide: bool
    threads: int
    min_blocks: int = 1
    dynamic_shared: ClassVar[bool] = True

    @property
    def most_groups(self) -> int:
        """Groups of the largest block."""
        return self.threads // self.lanes

    @property
    def static_bytes(self) -> int:
        """Static shared memory: a magnitude of each lane's part."""
        return self.threads * MAGNITUDE_BYTES

    def groups(self, m: int, n: int) -> tuple[int, int]:
        """Groups over the rows and over the columns of a matrix, in whole warps."""
        return _stacked(m, self.rows, self.lanes), -(-n // self.lanes)

    def fits(self, m: int, n: int) -> bool:
        """Whether a block holds a matrix."""
        over, beside = self.groups(m, n)
        return over * beside <= self.most_groups and (self.wide or beside == 1)

    def shared_bytes(self, m: int, n: int) -> int:
        """Dynamic shared memory: two sets of mailboxes, or the tiles, and behind them two sets of sums."""
        over, beside = self.groups(m, n)
        sums = 2 * (over + 1) * beside * self.lanes
        return (self.sums_at(over, beside) + sums) * itemsize(self.dtype)

    def sums_at(self, over: int, beside: int) -> int:
        """Elements before the partial sums."""
        mailboxes = 2 * over * mailbox_pitch(self.dtype, self.rows)
        tiles = over * beside * self.lanes * (SLICE + 1)
        return _vectors(max(mailboxes, tiles), self.dtype)


@dataclass(frozen=True, slots=True)
class ApplySpec:
    """Reflectors applied to a tile of columns held in registers, groups of lanes stacked over the rows.

    Attributes
    ----------
    dtype : str
        Element type.
    rows, lanes : int
        As of `QrPanelSpec`; ``lanes`` is the width of the tile.
    threads : int
        Largest block.
    """

    dtype: str
    rows: int
    lanes: int
    threads: int
    min_blocks: int = 1
    dynamic_shared: ClassVar[bool] = True

    @property
    def most_rows(self) -> int:
        """Most rows that a block holds."""
        return self.threads // self.lanes * self.rows

    def groups(self, m: int) -> int:
        """Groups over the rows of a matrix, in whole warps."""
        return _stacked(m, self.rows, self.lanes)

    def shared_bytes(self, m: int) -> int:
        """Dynamic shared memory, as of `QrPanelSpec`."""
        over = self.groups(m)
        return (self.sums_at(over) + 2 * over * self.lanes) * itemsize(self.dtype)

    def sums_at(self, over: int) -> int:
        """Elements before the partial sums."""
        area = max(2 * mailbox_pitch(self.dtype, self.rows), self.lanes * (SLICE + 1))
        return _vectors(over * area, self.dtype)


@dataclass(frozen=True, slots=True)
class UpperSpec:
    """Copy of an upper triangle, zeros below it."""

    dtype: str
    threads: int = 256
    min_blocks: int = 1
