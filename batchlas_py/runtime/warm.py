"""Filling the kernel cache ahead of use, on several processes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context

from .launch import code_of
from .registry import KernelSource

__all__ = ["FamilyReport", "Target", "warm"]

Target = tuple[KernelSource, str]


@dataclass(slots=True)
class FamilyReport:
    """What one family costs to compile.

    Attributes
    ----------
    kernels : int
        Specialisations, each architecture's counted.
    seconds : float
        Compile time of all of them, on one core, whenever they were compiled.
    longest : float
        Compile time of the slowest.
    cubin_bytes : int
        Size of the machine code.
    """

    kernels: int = 0
    seconds: float = 0.0
    longest: float = 0.0
    cubin_bytes: int = 0

    def add(self, seconds: float, size: int) -> None:
        """Count one kernel."""
        self.kernels += 1
        self.seconds += seconds
        self.longest = max(self.longest, seconds)
        self.cubin_bytes += size


def warm(
    families: Mapping[str, Iterable[Target]],
    *,
    jobs: int | None = None,
    progress: Callable[[], object] = lambda: None,
) -> dict[str, FamilyReport]:
    """Compile what the cache lacks.

    Parameters
    ----------
    families : mapping of str to iterable of (KernelSource, arch)
        Kernels by family.
    jobs : int, optional
        Processes; by default one a core.
    progress : callable, optional
        Called after each kernel.

    Returns
    -------
    dict of str to FamilyReport
    """
    reports = {family: FamilyReport() for family in families}
    with ProcessPoolExecutor(jobs or os.cpu_count(), mp_context=get_context("spawn")) as pool:
        waiting = {
            pool.submit(_cost, source, arch): family
            for family, targets in families.items()
            for source, arch in targets
        }
        for done in as_completed(waiting):
            reports[waiting[done]].add(*done.result())
            progress()
    return reports


def _cost(source: KernelSource, arch: str) -> tuple[float, int]:
    code = code_of(source, arch)
    return code.seconds, len(code.cubin)
