"""Which specialisation of the block kernels serves a problem."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final, NamedTuple

from ..dtypes import DTYPES
from .block_specs import ORDER, GemmSpec, GetrsCtaSpec, PanelSpec, TrsmSpec, UpdateSpec

__all__ = [
    "gemm_spec",
    "gemm_specs",
    "getrs_cta_spec",
    "getrs_cta_specs",
    "getrs_cta_warps",
    "panel_height",
    "panel_spec",
    "panel_specs",
    "potrs_cta_spec",
    "potrs_cta_specs",
    "trsm_order",
    "trsm_spec",
    "trsm_specs",
    "update_spec",
    "update_specs",
]


class _Panel(NamedTuple):
    columns: int
    rows_each: int
    threads: int
    min_blocks: int = 1


# Register panels by generation and element type, from low to high; a panel is as high as its block's rows.
HOPPER: Final = 90
BLACKWELL: Final = 100
_TALL: Final = (_Panel(16, 2, 512), _Panel(8, 4, 512))
_TALL_BEFORE: Final = (_Panel(16, 2, 256), _Panel(8, 4, 256))
PANELS: Final[dict[bool, dict[str, tuple[_Panel, ...]]]] = {
    True: {
        "float32": (_Panel(32, 1, 32, 32), _Panel(32, 1, 128, 8), _Panel(32, 1, 512), *_TALL),
        "float64": (_Panel(32, 1, 32, 16), _Panel(32, 1, 128, 5), _Panel(32, 1, 512), *_TALL),
        "complex64": (_Panel(32, 1, 32, 16), _Panel(32, 1, 128, 5), _Panel(32, 1, 512), *_TALL),
        "complex128": (
            _Panel(32, 1, 32, 10),
            _Panel(32, 1, 128, 3),
            _Panel(32, 1, 256),
            _Panel(16, 1, 512),
            _Panel(8, 2, 512),
            _Panel(4, 4, 512),
        ),
    },
    False: {
        "float32": (_Panel(32, 1, 32, 16), _Panel(32, 1, 128, 4), _Panel(32, 1, 512), *_TALL),
        "float64": (_Panel(32, 1, 32, 12), _Panel(32, 1, 128, 3), _Panel(32, 1, 256), *_TALL_BEFORE),
        "complex64": (_Panel(32, 1, 32, 12), _Panel(32, 1, 128, 3), _Panel(32, 1, 256), *_TALL_BEFORE),
        "complex128": (_Panel(16, 1, 128, 3), _Panel(16, 1, 256), _Panel(8, 2, 256), _Panel(4, 4, 256)),
    },
}
# Of the update: columns of L and of the tile in registers, and blocks per multiprocessor.
UPDATES: Final = {
    "float32": (32, 8, 5),
    "float64": (16, 8, 4),
    "complex64": (32, 4, 4),
    "complex128": (8, 8, 3),
}
# Blocks per multiprocessor.
PRODUCTS: Final = {"float32": 4, "float64": 3, "complex64": 3, "complex128": 2}
# Right-hand sides of a warp, those it takes at a time, threads; blocks per multiprocessor.
SIDES: Final = (16, 8, 64)
SOLVES: Final = {"float32": 8, "float64": 6, "complex64": 4, "complex128": 4}
# Of the fused narrow solve: blocks per multiprocessor by right-hand sides, and most warps by generation.
NARROW: Final = {
    "float32": {1: 5, 2: 5, 4: 5, 8: 5},
    "float64": {1: 5, 2: 5, 4: 5, 8: 4},
    "complex64": {1: 5, 2: 5, 4: 5, 8: 4},
    "complex128": {1: 3, 2: 4, 4: 4, 8: 3},
}
# Blocks per multiprocessor of potrs where its code takes more registers than that of getrs.
POTRS_BLOCKS: Final = {("float64", 8): 3, ("complex128", 2): 3, ("complex128", 4): 3}
NARROW_WARPS: Final = {True: 8, False: 4}
UPDATE_TILE: Final = 32
TRSM_MOST: Final = 64  # beyond it two halves and a product are faster
TRSM_STATIC: Final = 1024  # bytes of scaled pivots


def panel_height(spec: PanelSpec) -> int:
    """Most rows of a panel that a kernel takes."""
    return spec.rows_each * spec.threads


def _panels(dtype: str, arch: str) -> Iterator[PanelSpec]:
    for shape in PANELS[_hopper(arch)][dtype]:
        yield PanelSpec(dtype, *shape)


def panel_spec(dtype: str, rows: int, arch: str) -> PanelSpec | None:
    """The lowest register panel with room for ``rows`` rows; None where there is none."""
    return next((spec for spec in _panels(dtype, arch) if rows <= panel_height(spec)), None)


def panel_specs(arch: str) -> tuple[PanelSpec, ...]:
    """Every register panel."""
    return tuple(spec for dtype in DTYPES for spec in _panels(dtype, arch))


def update_spec(dtype: str) -> UpdateSpec:
    """The update behind a panel."""
    depth, width, blocks = UPDATES[dtype]
    return UpdateSpec(dtype, UPDATE_TILE, depth, width, min_blocks=blocks)


def update_specs() -> tuple[UpdateSpec, ...]:
    """Every update kernel."""
    return tuple(map(update_spec, DTYPES))


def gemm_spec(dtype: str) -> GemmSpec:
    """The product kernel."""
    return GemmSpec(dtype, min_blocks=PRODUCTS[dtype])


def gemm_specs() -> tuple[GemmSpec, ...]:
    """Every product kernel."""
    return tuple(map(gemm_spec, DTYPES))


def trsm_spec(dtype: str) -> TrsmSpec:
    """The triangular solve."""
    return TrsmSpec(dtype, *SIDES, min_blocks=SOLVES[dtype])


def trsm_specs() -> tuple[TrsmSpec, ...]:
    """Every triangular solve."""
    return tuple(map(trsm_spec, DTYPES))


def trsm_order(dtype: str, budget: int) -> int:
    """Largest order, a multiple of 32, that is solved in one launch."""
    spec, n = trsm_spec(dtype), 0
    while n < TRSM_MOST and spec.shared_bytes(n + ORDER) + TRSM_STATIC <= budget:
        n += ORDER
    return n


def getrs_cta_spec(dtype: str, nrhs: int, arch: str) -> GetrsCtaSpec | None:
    """The fused narrow solve with room for ``nrhs`` right-hand sides; None where there is none."""
    return next((spec for spec in _narrow(dtype, arch) if nrhs <= spec.rhs), None)


def potrs_cta_spec(dtype: str, nrhs: int, arch: str) -> GetrsCtaSpec | None:
    """The same for factors of potrf."""
    return next((spec for spec in potrs_cta_specs(arch) if spec.dtype == dtype and nrhs <= spec.rhs), None)


def potrs_cta_specs(arch: str) -> tuple[GetrsCtaSpec, ...]:
    """Every fused narrow solve with factors of potrf."""
    fewer = POTRS_BLOCKS if _number(arch) >= BLACKWELL else {}
    return tuple(
        replace(spec, min_blocks=fewer.get((spec.dtype, spec.rhs), spec.min_blocks))
        for spec in getrs_cta_specs(arch)
    )


def getrs_cta_specs(arch: str) -> tuple[GetrsCtaSpec, ...]:
    """Every fused narrow solve."""
    return tuple(spec for dtype in DTYPES for spec in _narrow(dtype, arch))


def getrs_cta_warps(n: int, arch: str) -> int:
    """Most warps for a matrix of order ``n``: one for 32 rows."""
    return min(-(-n // ORDER), NARROW_WARPS[_hopper(arch)])


def _narrow(dtype: str, arch: str) -> Iterator[GetrsCtaSpec]:
    for rhs, blocks in NARROW[dtype].items():
        yield GetrsCtaSpec(dtype, rhs, min_blocks=blocks if _hopper(arch) else 1)


def _hopper(arch: str) -> bool:
    """Whether an architecture is Hopper or later."""
    return _number(arch) >= HOPPER


def _number(arch: str) -> int:
    return int(arch.removeprefix("sm_"))
