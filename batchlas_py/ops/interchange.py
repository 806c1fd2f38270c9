"""Row interchanges as parts of other ops: which kernel follows the list, and how it is launched.

``walk`` follows the list column by column; ``gather`` works out the permutation once a tile and moves each
row to its place. Both give the same bits.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from ..dtypes import itemsize
from ..family import Call
from ..kernels.block_specs import LaswpSpec, ZeroPivotSpec
from ..runtime.launch import kernel
from ..runtime.registry import KernelSource
from ..views import BatchView
from .common import kernel_matrix

__all__ = [
    "Interchanges",
    "gather_columns",
    "permutation_matrix",
    "right_kind",
    "swap_rows",
    "zero_pivots",
]

int32 = np.int32
TILE: Final = 32
WARP: Final = 32
RIGHT_GATHER_MOST_ROWS: Final = {"float32": 1024, "float64": 768, "complex64": 768, "complex128": 384}


class Interchanges(NamedTuple):
    """A list of interchanges for each item.

    Attributes
    ----------
    ipiv, stride : int
        Address of the first entry, 1-based rows, and the distance to the next item's in elements.
    first, entries : int
        Row, from 0, that the first entry interchanges, and number of entries.
    skip : int
        With ``skip``, columns come in blocks of so many, and block b leaves out the entries before
        ``(b + 1) skip``.
    """

    ipiv: int
    stride: int
    first: int
    entries: int
    skip: int = 0


def right_kind(dtype: str, rows: int, wanted: str) -> str:
    """Spelling of the interchange right of a panel with ``rows`` rows, unless the setting asks for one."""
    if wanted in ("walk", "gather"):
        return wanted
    return "gather" if rows <= RIGHT_GATHER_MOST_ROWS[dtype] else "walk"


def gather_columns(dtype: str, rows: int, moved: int, budget: int) -> int:
    """Columns that fit in half of a block's shared memory, up to a tile; at least one, 0 if not even that."""
    spec = LaswpSpec("gather", dtype)
    numbers = spec.shared_bytes(rows, moved, 0)
    fitting = (budget // 2 - numbers) // ((moved | 1) * itemsize(dtype))
    return min(max(fitting, 1), TILE) if spec.shared_bytes(rows, moved, 1) <= budget else 0


def swap_rows(
    source: BatchView, target: BatchView, swaps: Interchanges, call: Call, *, kind: str, forward: bool = True
) -> None:
    """Interchange rows of ``source`` into ``target``, which may be the same."""
    if not (target.cols and swaps.entries):
        return
    most = min(target.rows, 2 * swaps.entries) if source is target else target.rows
    columns = gather_columns(target.dtype, target.rows, most, call.device.shared_budget)
    launch = _gather if kind == "gather" and columns else _walk
    sizes = (
        swaps.first,
        swaps.entries,
        swaps.skip,
        not forward,
        source is not target,
        target.rows,
        target.cols,
    )
    arguments = [*kernel_matrix(source), *kernel_matrix(target), swaps.ipiv, swaps.stride, *map(int32, sizes)]
    launch(target, swaps.skip, (most, columns), arguments, call)


def _walk(x: BatchView, skip: int, extents: tuple[int, int], arguments: list[object], call: Call) -> None:
    spec = LaswpSpec("walk", x.dtype)
    blocks = -(-x.batch * x.cols // spec.threads)
    kernel(KernelSource("laswp", spec), call.device.ordinal).launch(call.stream, blocks, *arguments, x.batch)


def _gather(x: BatchView, skip: int, extents: tuple[int, int], arguments: list[object], call: Call) -> None:
    spec, (most, columns) = LaswpSpec("gather", x.dtype), extents
    tile = min(TILE, skip or TILE)
    chunk, tiles = min(columns, tile), -(-x.cols // tile)
    kernel(KernelSource("laswp", spec), call.device.ordinal).launch(
        call.stream, x.batch * tiles, *arguments, int32(most), int32(tile), int32(chunk), int32(tiles),
        threads=min(spec.threads, max(2 * WARP, -(-most // WARP) * WARP)),
        shared=spec.shared_bytes(x.rows, most, chunk),
    )  # fmt: skip


def permutation_matrix(x: BatchView, ipiv: BatchView, call: Call) -> None:
    """Write P, the product of all interchanges."""
    spec = LaswpSpec("identity", x.dtype)
    blocks = -(-x.batch * x.rows // spec.threads)
    kernel(KernelSource("laswp", spec), call.device.ordinal).launch(
        call.stream, blocks, *kernel_matrix(x), ipiv.ptr, ipiv.rows, int32(x.rows), x.batch
    )


def zero_pivots(lu: BatchView, info: BatchView, call: Call) -> None:
    """Write the first zero on U's diagonal, 1-based, or 0."""
    spec = ZeroPivotSpec(lu.dtype)
    blocks = -(-lu.batch * WARP // spec.threads)
    kernel(KernelSource("zero_pivots", spec), call.device.ordinal).launch(
        call.stream, blocks, *kernel_matrix(lu), info.ptr, int32(lu.rows), lu.batch
    )
