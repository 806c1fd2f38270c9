"""The blocked family of potrf: left-looking by columns of blocks.

What the columns before it contribute is taken off a column of blocks by products, then its block on the
diagonal is factored in one launch, and the blocks below solved with it. A product would fill both triangles
of the block on the diagonal, so that one is worked out in memory of its own, and its triangle comes back. The
router chooses for products and solves; the block is factored by a kernel, as a pin of this family would
hold for it again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ..capability import TILE_ORDER
from ..dtypes import itemsize
from ..family import Call, Family
from ..problem import DeviceInfo, Problem
from ..runtime.memory import Workspace, workspace
from ..views import BatchView, block
from .common import copy, native
from .potrf_cta import factor
from .triangles import as_lower, merge

__all__ = ["BLOCK", "FAMILY", "workspace_of"]

BLOCK: Final = 2 * TILE_ORDER  # columns
INFO_BYTES: Final = 4


def workspace_of(problem: Problem, device: DeviceInfo) -> Workspace:
    """Memory of one call: a block on the diagonal, and its info."""
    if problem.n <= BLOCK:
        return Workspace.of()
    return Workspace.of(
        block=problem.batch * BLOCK * BLOCK * itemsize(problem.dtype), info=problem.batch * INFO_BYTES
    )


def _launch(call: Call) -> None:
    space = workspace_of(call.problem, call.device)
    lower = as_lower(call.operands["c"], call.problem.uplo)
    with workspace(space, call.stream, call.device.ordinal) as at:
        for first in range(0, lower.rows, BLOCK):
            _Column(call, lower, first, min(first + BLOCK, lower.rows)).run(at)


@dataclass(frozen=True, slots=True)
class _Column:
    """A column of blocks, from ``first`` to before ``last``."""

    call: Call
    lower: BatchView
    first: int
    last: int

    def run(self, at: dict[str, int]) -> None:
        """Finish this column, the ones before it being finished."""
        here = slice(self.first, self.last)
        diagonal = block(self.lower, here, here)
        if self.first:
            self._diagonal_apart(diagonal, at)
        else:
            factor(diagonal, self.call.operands["info"], self.call)
        below = slice(self.last, self.lower.rows)
        if below.start < below.stop:
            self._subtract(below, block(self.lower, below, here))
            self._solve(diagonal, block(self.lower, below, here))

    def _diagonal_apart(self, diagonal: BatchView, at: dict[str, int]) -> None:
        n = diagonal.rows
        work = BatchView(at["block"], diagonal.dtype, diagonal.batch, n, n, n * n, 1, n)
        info = self.call.operands["info"]._replace(ptr=at["info"])
        copy(diagonal, work, self.call)
        self._subtract(slice(self.first, self.last), work)
        factor(work, info, self.call)
        merge(work, info, diagonal, self.first, self.call)

    def _subtract(self, rows: slice, target: BatchView) -> None:
        """Take off ``rows`` of this column what the columns before it contribute."""
        if not self.first:
            return
        before = slice(0, self.first)
        product = Problem(
            "gemm", target.dtype, target.rows, target.cols, target.batch, layout=target.layout,
            k=self.first, trans="NC", alpha=-1, beta=1,
        )  # fmt: skip
        operands = {
            "a": block(self.lower, rows, before),
            "b": block(self.lower, slice(self.first, self.last), before),
            "c": target,
        }
        self.call.run(product, operands)

    def _solve(self, diagonal: BatchView, below: BatchView) -> None:
        order, rows = diagonal.rows, below.rows
        solve = Problem(
            "trsm", below.dtype, order, order, below.batch, rows, "L", "C", diagonal.layout, side="R",
            diag="N",
        )  # fmt: skip
        self.call.run(solve, {"a": diagonal, "b": below, "x": below})


FAMILY: Final = Family("potrf", "blocked", native, _launch)
