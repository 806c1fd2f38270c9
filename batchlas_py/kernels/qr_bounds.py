"""Blocks of 64 threads per multiprocessor that the tiny QR kernels must leave room for.

As in `launch_bounds`, a bound is a register budget: the tightest under which no register spills on the
architectures on record of its generation; None where there is none, and so no kernel.
"""

from __future__ import annotations

from typing import Final

__all__ = ["TINY", "tiny_bounds"]

# Rows of a lane and lanes of a matrix, the cheapest first.
TINY: Final = ((4, 4), (8, 8), (12, 16), (16, 16), (32, 8), (24, 32), (32, 32))

Row = tuple[int | None, ...]

# Whether Hopper or later, operation, element type; the bounds in the order of `TINY`.
TABLES: Final[dict[bool, dict[str, dict[str, Row]]]] = {
    False: {
        "geqrf": {
            "float32": (18, 14, 10, 8, 8, 10, 8),
            "float64": (12, 8, 8, 6, 4, 6, 4),
            "complex64": (14, 10, 8, 6, 4, 6, 4),
            "complex128": (8, 6, 4, 4, None, None, None),
        },
        "orgqr": {
            "float32": (18, 16, 10, 10, 6, 8, 6),
            "float64": (14, 12, 8, 8, 4, 4, None),
            "complex64": (18, 12, 8, 8, 4, 4, 4),
            "complex128": (12, 8, 6, 4, None, None, None),
        },
        "qr": {
            "float32": (18, 14, 10, 8, 4, 6, 6),
            "float64": (12, 8, 6, 4, None, 4, None),
            "complex64": (14, 8, 6, 4, None, 4, None),
            "complex128": (8, 4, 4, None, None, None, None),
        },
    },
    True: {
        "geqrf": {
            "float32": (18, 18, 12, 12, 8, 10, 8),
            "float64": (18, 12, 10, 8, 4, 6, 6),
            "complex64": (18, 12, 10, 8, 6, 6, 6),
            "complex128": (12, 8, 6, 4, None, 4, None),
        },
        "orgqr": {
            "float32": (18, 18, 12, 12, 8, 10, 8),
            "float64": (18, 12, 10, 8, 4, 6, 4),
            "complex64": (18, 12, 10, 8, 4, 6, 4),
            "complex128": (12, 8, 6, 6, None, 4, None),
        },
        "qr": {
            "float32": (18, 18, 12, 12, 8, 10, 8),
            "float64": (18, 12, 10, 8, 4, 6, 4),
            "complex64": (18, 12, 10, 8, 4, 6, 4),
            "complex128": (12, 8, 6, 4, None, None, None),
        },
    },
}


def tiny_bounds(op: str, dtype: str, *, hopper: bool) -> dict[tuple[int, int], int]:
    """Bounds of the kernels of geqrf, orgqr or qr that there are, by rows and lanes."""
    row = TABLES[hopper][op][dtype]
    return {bucket: blocks for bucket, blocks in zip(TINY, row, strict=True) if blocks is not None}
