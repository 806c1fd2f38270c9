"""Which specialisation of the QR kernels serves a problem."""

from __future__ import annotations

from typing import Final

from ..dtypes import DTYPES
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

# Registers and lanes of the tiny kernels, the cheapest first.
TINY: Final = ((4, 4), (8, 8), (12, 16), (16, 16), (32, 8), (24, 32), (32, 32))
TINY_MOST: Final = {
    "geqrf": dict.fromkeys(DTYPES, 32),
    "orgqr": {**dict.fromkeys(DTYPES, 32), "complex128": 16},
    "qr": {**dict.fromkeys(DTYPES, 32), "complex128": 16},
}
# Blocks of 64 threads per multiprocessor, by the registers that the rows of a lane take.
TINY_BLOCKS: Final = {
    "geqrf": {8: 16, 16: 10, 32: 8, 64: 5, 128: 4},
    "orgqr": {8: 16, 16: 10, 32: 8, 128: 4},
    "qr": {8: 16, 16: 10, 32: 8, 128: 4},
}
REGISTERS: Final = {"float32": 1, "float64": 2, "complex64": 2, "complex128": 4}
# Rows of a lane, and threads of the largest block.
ROWS: Final = {"float32": (32, 512), "float64": (32, 384), "complex64": (32, 384), "complex128": (16, 384)}
SMALL_BLOCK: Final = 128
SMALL_BLOCKS: Final = {"float32": 4, "float64": 3, "complex64": 3, "complex128": 3}
PANEL_LANES: Final = (32, 16, 8)


def tiny_limit(op: str, dtype: str) -> int:
    """Most rows and columns of the tiny family of geqrf, orgqr or qr."""
    return TINY_MOST[op][dtype]


def tiny_spec(op: str, dtype: str, m: int, n: int) -> QrTinySpec:
    """The tiny kernel of geqrf, orgqr or qr for m x n matrices, neither above `tiny_limit`."""
    rows, lanes = next(bucket for bucket in TINY if m <= bucket[0] and n <= bucket[1])
    registers, blocks = rows * REGISTERS[dtype], TINY_BLOCKS[op]
    return QrTinySpec(dtype, rows, lanes, blocks[min(most for most in blocks if registers <= most)])


def tiny_specs(op: str) -> tuple[QrTinySpec, ...]:
    """Every kernel of the tiny family of geqrf, orgqr or qr."""
    every = (
        tiny_spec(op, dtype, m, n)
        for dtype in DTYPES
        for m in range(1, tiny_limit(op, dtype) + 1)
        for n in range(1, tiny_limit(op, dtype) + 1)
    )
    return tuple(dict.fromkeys(every))


def _panels(dtype: str, *, wide: bool) -> tuple[QrPanelSpec, ...]:
    rows, threads = ROWS[dtype]
    lanes = PANEL_LANES[:1] if wide else PANEL_LANES
    return (
        QrPanelSpec(dtype, rows, PANEL_LANES[0], wide, SMALL_BLOCK, SMALL_BLOCKS[dtype]),
        *(QrPanelSpec(dtype, rows, each, wide, threads) for each in lanes),
    )


def panel_spec(dtype: str, m: int) -> QrPanelSpec | None:
    """The panel kernel for m rows, with as many columns as it has lanes; None where there is none."""
    return next((spec for spec in _panels(dtype, wide=False) if spec.fits(m, 1)), None)


def panel_specs() -> tuple[QrPanelSpec, ...]:
    """Every panel kernel."""
    return tuple(spec for dtype in DTYPES for spec in _panels(dtype, wide=False))


def whole_spec(dtype: str, m: int, n: int) -> QrPanelSpec | None:
    """The kernel that holds a whole m x n matrix; None where there is none."""
    narrow, wide = _panels(dtype, wide=False), _panels(dtype, wide=True)
    return next((spec for spec in (*narrow[:2], *wide) if spec.fits(m, n)), None)


def whole_specs() -> tuple[QrPanelSpec, ...]:
    """Every kernel for matrices wider than a panel."""
    return tuple(spec for dtype in DTYPES for spec in _panels(dtype, wide=True))


def _applications(dtype: str) -> tuple[ApplySpec, ...]:
    rows, threads = ROWS[dtype]
    return (
        ApplySpec(dtype, rows, PANEL_LANES[0], SMALL_BLOCK, SMALL_BLOCKS[dtype]),
        *(ApplySpec(dtype, rows, lanes, threads) for lanes in PANEL_LANES),
    )


def apply_spec(dtype: str, m: int) -> ApplySpec | None:
    """The kernel that applies reflectors of m rows; None where there is none."""
    return next((spec for spec in _applications(dtype) if m <= spec.most_rows), None)


def apply_specs() -> tuple[ApplySpec, ...]:
    """Every kernel that applies reflectors."""
    return tuple(spec for dtype in DTYPES for spec in _applications(dtype))
