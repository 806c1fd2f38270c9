"""Which specialisation of the QR kernels serves a problem."""

from __future__ import annotations

from typing import Final, NamedTuple

from ..dtypes import DTYPES
from .qr_bounds import tiny_bounds
from .qr_specs import ApplySpec, QrPanelSpec, QrTinySpec

__all__ = [
    "apply_spec",
    "apply_specs",
    "panel_spec",
    "panel_specs",
    "tiny_limit",
    "tiny_spec",
    "tiny_specs",
    "whole_spec",
    "whole_specs",
]

HOPPER: Final = 90
PANEL_LANES: Final = (32, 16, 8)
SMALL_BLOCK: Final = 128


class _Block(NamedTuple):
    """Rows of a lane, threads of the largest block, blocks of `SMALL_BLOCK` threads per multiprocessor."""

    rows: int
    threads: int
    small_blocks: int


# By generation and element type; the same code takes more registers before Hopper.
BLOCKS: Final[dict[bool, dict[str, _Block]]] = {
    True: {
        "float32": _Block(32, 512, 4),
        "float64": _Block(32, 384, 3),
        "complex64": _Block(32, 384, 4),
        "complex128": _Block(16, 384, 3),
    },
    False: {
        "float32": _Block(32, 384, 3),
        "float64": _Block(32, 256, 2),
        "complex64": _Block(32, 256, 2),
        "complex128": _Block(16, 256, 2),
    },
}


def tiny_limit(op: str, dtype: str, arch: str) -> int:
    """Most rows and columns of the tiny family of geqrf, orgqr or qr."""
    return max(min(bucket) for bucket in tiny_bounds(op, dtype, hopper=_hopper(arch)))


def tiny_spec(op: str, dtype: str, m: int, n: int, arch: str = "sm_90") -> QrTinySpec:
    """The tiny kernel of geqrf, orgqr or qr for m x n matrices, neither above `tiny_limit`."""
    bounds = tiny_bounds(op, dtype, hopper=_hopper(arch))
    rows, lanes = next(bucket for bucket in bounds if m <= bucket[0] and n <= bucket[1])
    return QrTinySpec(dtype, rows, lanes, bounds[rows, lanes])


def tiny_specs(op: str, arch: str = "sm_90") -> tuple[QrTinySpec, ...]:
    """Every kernel of the tiny family of geqrf, orgqr or qr."""
    every = (
        tiny_spec(op, dtype, m, n, arch)
        for dtype in DTYPES
        for m in range(1, tiny_limit(op, dtype, arch) + 1)
        for n in range(1, tiny_limit(op, dtype, arch) + 1)
    )
    return tuple(dict.fromkeys(every))


def _panels(dtype: str, arch: str, *, wide: bool) -> tuple[QrPanelSpec, ...]:
    block, whole = BLOCKS[_hopper(arch)][dtype], PANEL_LANES[0]
    return (
        QrPanelSpec(dtype, block.rows, whole, wide, SMALL_BLOCK, block.small_blocks),
        *(
            QrPanelSpec(dtype, block.rows, lanes, wide, block.threads)
            for lanes in ((whole,) if wide else PANEL_LANES)
        ),
    )


def panel_spec(dtype: str, m: int, arch: str) -> QrPanelSpec | None:
    """The panel kernel for m rows, with as many columns as it has lanes; None where there is none."""
    return next((spec for spec in _panels(dtype, arch, wide=False) if spec.fits(m, 1)), None)


def panel_specs(arch: str) -> tuple[QrPanelSpec, ...]:
    """Every panel kernel."""
    return tuple(spec for dtype in DTYPES for spec in _panels(dtype, arch, wide=False))


def whole_spec(dtype: str, m: int, n: int, arch: str) -> QrPanelSpec | None:
    """The kernel that holds a whole m x n matrix; None where there is none."""
    narrow, wide = _panels(dtype, arch, wide=False), _panels(dtype, arch, wide=True)
    return next((spec for spec in (*narrow[:2], *wide) if spec.fits(m, n)), None)


def whole_specs(arch: str) -> tuple[QrPanelSpec, ...]:
    """Every kernel for matrices wider than a panel."""
    return tuple(spec for dtype in DTYPES for spec in _panels(dtype, arch, wide=True))


def _applications(dtype: str, arch: str) -> tuple[ApplySpec, ...]:
    block = BLOCKS[_hopper(arch)][dtype]
    return (
        ApplySpec(dtype, block.rows, PANEL_LANES[0], SMALL_BLOCK, block.small_blocks),
        *(ApplySpec(dtype, block.rows, lanes, block.threads) for lanes in PANEL_LANES),
    )


def apply_spec(dtype: str, m: int, arch: str) -> ApplySpec | None:
    """The kernel that applies reflectors of m rows; None where there is none."""
    return next((spec for spec in _applications(dtype, arch) if m <= spec.most_rows), None)


def apply_specs(arch: str) -> tuple[ApplySpec, ...]:
    """Every kernel that applies reflectors."""
    return tuple(spec for dtype in DTYPES for spec in _applications(dtype, arch))


def _hopper(arch: str) -> bool:
    """Whether an architecture is Hopper or later."""
    return int(arch.removeprefix("sm_")) >= HOPPER
