"""Which specialisation of the kernels of potrf and posv serves a problem."""

from __future__ import annotations

from typing import Final

from ..capability import TILE_ORDER
from ..dtypes import DTYPES
from .cholesky_bounds import CTA_BOUNDS, spd_bounds
from .cholesky_specs import LpanelSpec, PotrfCtaSpec, SpdTinySpec, TriangleSpec

__all__ = [
    "PANELS",
    "SPD_RHS",
    "cta_warps",
    "lpanel_spec",
    "lpanel_specs",
    "potrf_cta_spec",
    "potrf_cta_specs",
    "spd_tiny_max_n",
    "spd_tiny_spec",
    "spd_tiny_specs",
    "triangle_specs",
]

SPD_RHS: Final = (1, 4)
FEWEST_LANES: Final = 4
CTA_THREADS: Final = 128
PANELS: Final = (8, 16)
# Most rows of a panel: the registers of a block's threads hold no more of wide elements.
PANEL_THREADS: Final = {8: dict.fromkeys(DTYPES, 512), 16: dict.fromkeys(DTYPES, 512)}
PANEL_THREADS[16] |= {"float64": 256, "complex128": 256}


def _bucket(nrhs: int) -> int:
    return min(size for size in (0, *SPD_RHS) if nrhs <= size)


def spd_tiny_max_n(dtype: str, arch: str, nrhs: int = 0) -> int:
    """Largest order of a kernel for so many right-hand sides, none in potrf; 0 if there is none."""
    return max(spd_bounds(_bucket(nrhs), dtype, arch), default=0)


def spd_tiny_spec(dtype: str, n: int, staged: bool, nrhs: int = 0, arch: str = "sm_90") -> SpdTinySpec:
    """The kernel for matrices of order ``n`` <= `spd_tiny_max_n` and ``nrhs`` <= 4 right-hand sides."""
    rhs = _bucket(nrhs)
    table = spd_bounds(rhs, dtype, arch)
    columns = min(size for size in table if n <= size)
    lanes = max(FEWEST_LANES, 1 << (columns - 1).bit_length())
    direct, turned = table[columns]
    if staged and turned is not None:
        return SpdTinySpec(dtype, lanes, columns, True, rhs, turned)
    return SpdTinySpec(dtype, lanes, columns, False, rhs, direct)


def spd_tiny_specs(op: str, arch: str = "sm_90") -> tuple[SpdTinySpec, ...]:
    """Every kernel of the tiny family of ``potrf`` or ``posv``; neighbouring orders share one."""
    every = (
        spd_tiny_spec(dtype, n, staged, nrhs, arch)
        for dtype in DTYPES
        for nrhs in (SPD_RHS if op == "posv" else (0,))
        for n in range(1, spd_tiny_max_n(dtype, arch, nrhs) + 1)
        for staged in (False, True)
    )
    return tuple(dict.fromkeys(every))


def potrf_cta_spec(dtype: str, arch: str) -> PotrfCtaSpec | None:
    """The kernel that keeps a matrix in shared memory; None where its registers are too few."""
    start = max(known for known in CTA_BOUNDS if known <= int(arch.removeprefix("sm_")))
    blocks = CTA_BOUNDS[start].get(dtype)
    return PotrfCtaSpec(dtype, CTA_THREADS, blocks) if blocks else None


def potrf_cta_specs(arch: str) -> tuple[PotrfCtaSpec, ...]:
    """Every kernel that keeps a matrix in shared memory."""
    every = (potrf_cta_spec(dtype, arch) for dtype in DTYPES)
    return tuple(spec for spec in every if spec is not None)


def cta_warps(n: int, spec: PotrfCtaSpec) -> int:
    """Warps for a matrix of order ``n``: one for each tile below the first on the diagonal."""
    return max(1, min(-(-n // TILE_ORDER) - 1, spec.threads // TILE_ORDER))


def lpanel_spec(dtype: str, columns: int) -> LpanelSpec:
    """The kernel of left-looking panels."""
    return LpanelSpec(dtype, columns, PANEL_THREADS[columns][dtype])


def lpanel_specs() -> tuple[LpanelSpec, ...]:
    """Every kernel of left-looking panels."""
    return tuple(lpanel_spec(dtype, columns) for dtype in DTYPES for columns in PANELS)


def triangle_specs() -> tuple[TriangleSpec, ...]:
    """Every helper kernel on triangles."""
    return tuple(TriangleSpec(tool, dtype) for tool in ("merge", "clean") for dtype in DTYPES)
