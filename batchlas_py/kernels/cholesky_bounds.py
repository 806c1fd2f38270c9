"""Blocks per multiprocessor that the kernels of potrf and posv must leave room for, as in `launch_bounds`."""

from __future__ import annotations

from typing import Final

from .launch_bounds import Bounds

__all__ = ["CTA_BOUNDS", "spd_bounds"]

# Compute capability from which on an entry holds, right-hand sides, dtype; columns: (direct, staged kernel).
TABLES: Final[dict[int, dict[int, dict[str, Bounds]]]] = {
    80: {
        0: {
            "float32": {4: (24, 24), 8: (24, 24), 12: (24, 24), 16: (20, 24), 24: (16, 18), 32: (10, 18)},
            "float64": {4: (24, 24), 8: (20, 24), 12: (16, 18), 16: (12, 14), 24: (8, 14), 32: (6, 8)},
            "complex64": {4: (24, 24), 8: (20, 24), 12: (16, 20), 16: (12, 18), 24: (8, 14), 32: (6, 10)},
            "complex128": {4: (18, 24), 8: (10, 18), 12: (8, 14), 16: (6, 8), 24: (4, 6)},
        },
        1: {
            "float32": {4: (24, 24), 8: (20, 20), 12: (18, 20), 16: (16, 20), 24: (14, 14), 32: (10, 10)},
            "float64": {4: (16, 20), 8: (10, 14), 12: (10, 14), 16: (8, 8), 24: (6, 8), 32: (6, 6)},
            "complex64": {4: (18, 20), 8: (14, 18), 12: (10, 18), 16: (8, 14), 24: (6, 8), 32: (6, 4)},
            "complex128": {4: (8, 14), 8: (8, 12), 12: (6, 8), 16: (4, 8), 24: (4, None)},
        },
        4: {
            "float32": {4: (20, 24), 8: (18, 18), 12: (16, 20), 16: (14, 18), 24: (10, 14), 32: (8, 10)},
            "float64": {4: (10, 16), 8: (8, 12), 12: (8, 12), 16: (6, 8), 24: (6, 8), 32: (4, 6)},
            "complex64": {4: (12, 14), 8: (10, 12), 12: (8, 16), 16: (6, 14), 24: (6, 8), 32: (4, 6)},
            "complex128": {4: (6, 8), 8: (4, 6), 12: (4, 4)},
        },
    },
    90: {
        0: {
            "float32": {4: (24, 24), 8: (24, 24), 12: (24, 24), 16: (24, 24), 24: (20, 20), 32: (18, 16)},
            "float64": {4: (24, 24), 8: (20, 24), 12: (18, 18), 16: (16, 16), 24: (10, 12), 32: (10, 10)},
            "complex64": {4: (24, 24), 8: (24, 24), 12: (20, 20), 16: (18, 18), 24: (14, 14), 32: (10, 10)},
            "complex128": {4: (24, 24), 8: (16, 18), 12: (10, 14), 16: (10, 10), 24: (6, 6), 32: (4, 4)},
        },
        1: {
            "float32": {4: (24, 24), 8: (24, 24), 12: (20, 20), 16: (20, 18), 24: (14, 14), 32: (10, 10)},
            "float64": {4: (20, 20), 8: (16, 18), 12: (10, 10), 16: (8, 8), 24: (8, 8), 32: (6, 6)},
            "complex64": {4: (24, 24), 8: (20, 20), 12: (18, 18), 16: (14, 12), 24: (12, 10), 32: (8, 6)},
            "complex128": {4: (18, 16), 8: (12, 10), 12: (8, 8), 16: (8, 8), 24: (4, 4), 32: (4, None)},
        },
        4: {
            "float32": {4: (24, 24), 8: (24, 24), 12: (20, 20), 16: (18, 18), 24: (14, 14), 32: (10, 10)},
            "float64": {4: (20, 18), 8: (12, 18), 12: (12, 10), 16: (8, 8), 24: (8, 6), 32: (6, 6)},
            "complex64": {4: (18, 20), 8: (16, 18), 12: (14, 16), 16: (12, 14), 24: (10, 8), 32: (8, 6)},
            "complex128": {4: (10, 10), 8: (8, 6), 12: (6, 4), 16: (6, 4), 24: (4, None)},
        },
    },
}
# Of the kernel in shared memory, by capability; no entry, no kernel.
CTA_BOUNDS: Final = {
    80: {"float32": 4, "float64": 3, "complex64": 3},
    90: {"float32": 4, "float64": 3, "complex64": 3, "complex128": 2},
}


def spd_bounds(nrhs: int, dtype: str, arch: str) -> Bounds:
    """Bounds of potrf (``nrhs`` 0), or of posv for a bucket of right-hand sides, for an architecture."""
    capability = int(arch.removeprefix("sm_"))
    known = [start for start in TABLES if start <= capability]
    return TABLES[max(known)][nrhs][dtype] if known else {}
