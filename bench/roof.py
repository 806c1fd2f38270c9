"""The floor under every time: bytes at the measured copy rate, operations at the device's peak."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import Final

from batchlas_py.dtypes import REAL_OF
from batchlas_py.problem import Problem

from .arrays import ArrayLibrary
from .setups import Setup

__all__ = ["PEAK_TFLOPS", "Roof", "copy_rate", "measure_roof"]

COPY_REPETITIONS: Final = 10
DEVICE_COPY_BYTES: Final = 1 << 30

# Datasheet rates of the plain (not matrix) units, in TFLOP/s.
PEAK_TFLOPS: Final = {
    "sm_80": {"float32": 19.5, "float64": 9.7},
    "sm_89": {"float32": 82.6, "float64": 1.29},
    "sm_90": {"float32": 67.0, "float64": 33.5},
    "sm_100": {"float32": 75.0, "float64": 37.0},
}


@dataclass(frozen=True, slots=True)
class Roof:
    """What a device can do at best.

    Attributes
    ----------
    copy_rate : float
        Bytes per second of a large copy, bytes read plus bytes written.
    arch : str
        Key of `PEAK_TFLOPS`; an arch that is not there has the memory roof alone.
    """

    copy_rate: float
    arch: str

    def microseconds(self, setup: Setup, problem: Problem) -> float:
        """Least time in which the problem can be done."""
        peaks = PEAK_TFLOPS.get(self.arch)
        moving = setup.traffic(problem) / self.copy_rate
        reckoning = setup.flops(problem) / (peaks[REAL_OF[problem.dtype]] * 1e12) if peaks else 0.0
        return max(moving, reckoning) * 1e6


def copy_rate(library: ArrayLibrary, nbytes: int) -> float:
    """Bytes read plus bytes written per second, of a copy of ``nbytes``: median of a few."""
    source = library.random((nbytes // 4,), "float32", seed=0)
    target = library.empty((nbytes // 4,), "float32")
    library.copy(target, source)
    marks = []
    for _ in range(COPY_REPETITIONS):
        start = library.mark()
        library.copy(target, source)
        marks.append((start, library.mark()))
    library.synchronize()
    return 2 * nbytes / (median(library.elapsed_us(*pair) for pair in marks) * 1e-6)


def measure_roof(library: ArrayLibrary, arch: str) -> Roof:
    """Roof of the device behind ``library``, with its copy rate measured now."""
    nbytes = max(DEVICE_COPY_BYTES if library.name != "numpy" else 0, 4 * library.cache_bytes)
    return Roof(copy_rate(library, nbytes), arch)
