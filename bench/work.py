"""The memory of one benchmark cell: operand sets, their restoration, and the check of a result."""

from __future__ import annotations

from math import nan
from typing import Final, NamedTuple

import numpy as np

from batchlas_py.problem import Problem
from batchlas_py.testing import ratios

from .arrays import Array, ArrayLibrary
from .setups import Arrays, Operand, Setup

__all__ = ["Check", "Work", "sample_items"]

SAMPLE_ITEMS: Final = 64
SAMPLE_ELEMENTS: Final = 1 << 21
POISON: Final = {"i": -1, "f": float("nan"), "c": float("nan")}


class Check(NamedTuple):
    """Verdict on a result: the worst test ratio of a sample, and what is wrong, if anything is."""

    ratio: float
    fault: str = ""


def sample_items(problem: Problem) -> list[int]:
    """Items to check on the host: the first, the last, and some evenly between, fewer of larger ones."""
    count = min(SAMPLE_ITEMS, max(2, SAMPLE_ELEMENTS // problem.n**2))
    return sorted({int(item) for item in np.linspace(0, problem.batch - 1, count)})


class Work:
    """Several sets of operands of one problem, all holding the same data at different addresses.

    Parameters
    ----------
    library : ArrayLibrary
        Where the arrays live.
    setup : Setup
        The op.
    problem : Problem
        What to run.
    count : int
        Number of sets.
    seed : int
        Of the random inputs.
    """

    def __init__(self, library: ArrayLibrary, setup: Setup, problem: Problem, count: int, seed: int) -> None:
        self.library, self.setup, self.problem, self.count = library, setup, problem, count
        self.operands = tuple(setup.operands(problem))
        self.sample = sample_items(problem)
        inputs = setup.inputs(library, problem, seed)
        self._before = {name: library.host(array, self.sample) for name, array in inputs.items()}
        self._pristine = {o.name: self._filled(o, inputs[o.name]) for o in self.operands if o.role != "out"}
        self._stacks = {o.name: self._empty(o, count) for o in self.operands}

    def restore(self) -> None:
        """Put the inputs back in every set and poison the outputs; the largest last, to displace the rest."""
        for operand in sorted(self.operands, key=lambda operand: operand.nbytes):
            stack = self._stacks[operand.name]
            if operand.role == "out":
                self.library.fill(stack, POISON[np.dtype(operand.dtype).kind])
            else:
                self.library.copy(stack, self._pristine[operand.name])

    def arrays(self, index: int) -> Arrays:
        """Operands of one set, by name, each of shape ``(batch, ...)``."""
        return {o.name: self._as_seen(o, self._stacks[o.name][index]) for o in self.operands}

    def check(self, index: int) -> Check:
        """Judge what a call left in one set: every element's range, and the ratio of a sample."""
        arrays = self.arrays(index)
        faults = (self._fault(operand, arrays[operand.name]) for operand in self.operands)
        if fault := next(filter(None, faults), ""):
            return Check(nan, fault)
        after = {name: self.library.host(array, self.sample) for name, array in arrays.items()}
        ratio = self.setup.residual(self._before, after)
        if ratio < ratios.THRESHOLD:
            return Check(ratio)
        return Check(ratio, f"residual ratio is {ratio:.3g}, accepted is < {ratios.THRESHOLD:g}")

    def _fault(self, operand: Operand, array: Array) -> str:
        if operand.limits is None:
            return "" if self.library.finite(array) else f"{operand.name} is not finite everywhere"
        low, high = self.library.extent(array)
        if operand.limits[0] <= low and high <= operand.limits[1]:
            return ""
        return f"{operand.name} is in {low}..{high}, expected {operand.limits[0]}..{operand.limits[1]}"

    def _column_major(self, operand: Operand) -> bool:
        return len(operand.shape) == 2 and self.problem.layout == "F"

    def _empty(self, operand: Operand, *leading: int) -> Array:
        shape = operand.shape[::-1] if self._column_major(operand) else operand.shape
        return self.library.empty((*leading, self.problem.batch, *shape), operand.dtype)

    def _filled(self, operand: Operand, values: Array) -> Array:
        stored = self._empty(operand)
        self.library.copy(self._as_seen(operand, stored), values)
        return stored

    def _as_seen(self, operand: Operand, stored: Array) -> Array:
        return stored.swapaxes(-1, -2) if self._column_major(operand) else stored
