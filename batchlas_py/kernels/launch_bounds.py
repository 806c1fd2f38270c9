"""Blocks of 64 threads per multiprocessor that the tiny kernels must leave room for.

A bound is a register budget: too loose and few warps hide the latency, too tight and registers spill. Each
entry reads ``columns up to: (direct kernel, staged kernel)``. No entry, no kernel: it would spill under any
bound. None for the staged kernel: that one alone would spill, and the direct one stands in. The same code
takes more registers before sm_90. ``bench/launch_bounds.py`` finds the numbers, `docs/perf/lu.md` has them,
and a test compiles every kernel for every architecture.
"""

from __future__ import annotations

from typing import Final

__all__ = ["Bounds", "bounds"]

Bounds = dict[int, tuple[int, int | None]]

GETRF, GESV_ONE, GESV_MANY = "getrf", "gesv, one right-hand side", "gesv, several"

# Compute capability from which on an entry holds, kernel, dtype.
TABLES: Final[dict[int, dict[str, dict[str, Bounds]]]] = {
    80: {
        GETRF: {
            "float32": {8: (24, 18), 16: (18, 18), 24: (12, 12), 32: (10, 10)},
            "float64": {8: (16, 16), 16: (8, 8), 24: (8, 6), 32: (6, 6)},
            "complex64": {8: (18, 18), 16: (10, 8), 24: (8, 6), 32: (6, 6)},
            "complex128": {8: (8, 8), 16: (4, 4)},
        },
        GESV_MANY: {
            "float32": {8: (18, 18), 16: (14, 14), 24: (10, 10), 32: (8, 8)},
            "float64": {8: (10, 10), 16: (8, 8), 24: (6, 6), 32: (4, 4)},
            "complex64": {8: (10, 10), 16: (8, 8), 24: (6, 6), 32: (4, 4)},
            "complex128": {8: (6, 6), 16: (4, 4)},
        },
    },
    90: {
        GETRF: {
            "float32": {16: (24, 24), 24: (24, 18), 30: (18, 10), 32: (16, 10)},
            "float64": {8: (24, 20), 16: (18, 14), 24: (14, 10), 28: (12, 6), 32: (10, 8)},
            "complex64": {8: (20, 20), 16: (16, 14), 20: (14, 10), 24: (14, 12), 30: (12, 6), 32: (10, 10)},
            "complex128": {
                8: (18, 12),
                12: (14, 8),
                14: (10, 8),
                16: (8, 8),
                20: (8, 6),
                24: (6, 6),
                28: (6, 4),
                32: (4, 4),
            },
        },
        GESV_ONE: {
            "float32": {8: (24, 24), 16: (20, 18), 24: (20, 14), 32: (18, 10)},
            "float64": {
                8: (20, 16),
                12: (16, 8),
                16: (12, 8),
                20: (6, 6),
                24: (8, 6),
                28: (10, 4),
                32: (6, 4),
            },
            "complex64": {8: (16, 16), 16: (14, 14), 20: (16, 8), 24: (14, 8), 28: (12, 6), 32: (8, 6)},
            "complex128": {8: (14, 8), 16: (10, 4), 24: (4, 4), 32: (1, None)},
        },
        GESV_MANY: {
            "float32": {8: (24, 24), 16: (18, 18), 24: (16, 12), 32: (12, 10)},
            "float64": {8: (16, 14), 16: (8, 8), 24: (6, 6), 32: (6, 4)},
            "complex64": {8: (14, 14), 16: (14, 14), 20: (8, 8), 24: (10, 8), 32: (6, 6)},
            "complex128": {8: (8, 8), 16: (4, 4), 24: (4, 4), 32: (1, None)},
        },
    },
    100: {
        GETRF: {
            "float32": {16: (24, 24), 24: (20, 18), 32: (16, 10)},
            "float64": {8: (20, 20), 16: (14, 14), 24: (10, 10), 26: (8, 8), 28: (6, 6), 32: (8, 8)},
            "complex64": {8: (20, 20), 16: (14, 14), 22: (12, 10), 26: (8, 8), 30: (10, 6), 32: (10, 10)},
            "complex128": {8: (12, 12), 16: (8, 8), 24: (6, 6), 32: (4, 4)},
        },
        GESV_MANY: {
            "float32": {8: (24, 24), 16: (18, 18), 24: (12, 12), 28: (10, 8), 32: (10, 10)},
            "float64": {8: (16, 14), 16: (8, 8), 24: (6, 6), 32: (4, 4)},
            "complex64": {8: (14, 14), 16: (14, 14), 20: (8, 8), 24: (10, 8), 32: (6, 6)},
            "complex128": {8: (8, 8), 16: (4, 4), 24: (4, 4), 32: (1, None)},
        },
    },
}


def bounds(nrhs: int, dtype: str, arch: str) -> Bounds:
    """Bounds of getrf (``nrhs`` 0) or gesv for an architecture; empty if there is no kernel at all."""
    capability = int(arch.removeprefix("sm_"))
    known = [start for start in TABLES if start <= capability]
    if not known:
        return {}
    table = TABLES[max(known)]
    kernel = GETRF if nrhs == 0 else GESV_ONE if nrhs == 1 and GESV_ONE in table else GESV_MANY
    return table[kernel][dtype]
