"""Compile-time constants of getri's kernel, without Numba."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final, NamedTuple

from ..dtypes import DTYPES, itemsize
from .block_specs import INDEX_BYTES, vector_elements

__all__ = ["GetriSpec", "getri_spec", "getri_specs"]

MOST_COLUMNS: Final = 128
MOST: Final = 1 << 30
HOPPER: Final = 90


class _Tile(NamedTuple):
    """Largest order of the matrices; order of the tile, whether a warp has several, resident blocks."""

    largest: int
    order: int
    packed: bool
    min_blocks: int


# By generation and element type; the same code takes more registers before Hopper.
_TILES: Final[dict[bool, dict[str, tuple[_Tile, ...]]]] = {
    True: {
        "float32": (
            _Tile(8, 8, True, 5),
            _Tile(16, 16, True, 4),
            _Tile(32, 32, False, 3),
            _Tile(48, 16, False, 4),
            _Tile(MOST, 32, False, 3),
        ),
        "float64": (
            _Tile(8, 8, True, 4),
            _Tile(16, 16, True, 2),
            _Tile(32, 32, False, 2),
            _Tile(48, 16, False, 3),
            _Tile(MOST, 32, False, 2),
        ),
        "complex64": (_Tile(8, 8, True, 4), _Tile(16, 16, True, 3), _Tile(MOST, 16, False, 3)),
        "complex128": (_Tile(8, 8, True, 3), _Tile(16, 16, True, 2), _Tile(MOST, 16, False, 2)),
    },
    False: {
        "float32": (
            _Tile(8, 8, True, 3),
            _Tile(16, 16, True, 3),
            _Tile(32, 32, False, 2),
            _Tile(48, 16, False, 3),
            _Tile(MOST, 32, False, 2),
        ),
        "float64": (
            _Tile(8, 8, True, 3),
            _Tile(16, 16, True, 2),
            _Tile(32, 32, False, 2),
            _Tile(48, 16, False, 2),
            _Tile(MOST, 32, False, 2),
        ),
        "complex64": (_Tile(8, 8, True, 3), _Tile(16, 16, True, 2), _Tile(MOST, 16, False, 3)),
        "complex128": (_Tile(8, 8, True, 2), _Tile(MOST, 16, False, 2)),
    },
}


@dataclass(frozen=True, slots=True)
class GetriSpec:
    """The inverse from LU factors in one launch.

    Attributes
    ----------
    dtype : str
        Element type.
    order : int
        Order of the tiles.
    packed : bool
        Whether a warp has several matrices, each a tile and with a thread a column.
    threads : int
        Largest block.
    """

    dtype: str
    order: int
    packed: bool
    threads: int = MOST_COLUMNS
    min_blocks: int = 1
    dynamic_shared: ClassVar[bool] = True

    @property
    def pitch(self) -> int:
        """Elements of shared memory between columns of the tile."""
        return self.order + vector_elements(self.dtype)

    @property
    def tile(self) -> int:
        """Elements of the tile of one matrix."""
        return self.order * self.pitch

    def members(self, threads: int) -> int:
        """Matrices of a block of so many threads."""
        return threads // self.order if self.packed else 1

    def shared_bytes(self, n: int, threads: int) -> int:
        """Dynamic shared memory of a block: for each matrix the tile, and a number for each row."""
        return self.members(threads) * (self.tile * itemsize(self.dtype) + self.numbers(n) * INDEX_BYTES)

    def numbers(self, n: int) -> int:
        """Row numbers that a matrix keeps."""
        return self.order if self.packed else n


def getri_spec(dtype: str, n: int, arch: str = "sm_90") -> GetriSpec:
    """The kernel for matrices of order ``n``."""
    return next(_spec(dtype, tile) for tile in _tiles(dtype, arch) if n <= tile.largest)


def getri_specs(arch: str = "sm_90") -> tuple[GetriSpec, ...]:
    """Every kernel of getri."""
    return tuple(dict.fromkeys(_spec(dtype, tile) for dtype in DTYPES for tile in _tiles(dtype, arch)))


def _tiles(dtype: str, arch: str) -> tuple[_Tile, ...]:
    return _TILES[int(arch.removeprefix("sm_")) >= HOPPER][dtype]


def _spec(dtype: str, tile: _Tile) -> GetriSpec:
    return GetriSpec(dtype, tile.order, tile.packed, min_blocks=tile.min_blocks)
