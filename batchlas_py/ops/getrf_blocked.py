"""The blocked family of getrf: right-looking over panels that a kernel keeps in registers or shared memory.

A panel of ``nb`` columns is factored, by itself in the same way where no kernel takes it whole, and what is
right of it updated: behind a register panel by one kernel (interchange, solve and product), else by laswp and
the public trsm and gemm. The interchanges left of a panel wait until all panels are done.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from ..config import AUTO, current
from ..dtypes import itemsize
from ..family import Call, Family, Verdict
from ..kernels.block_choice import panel_spec, update_spec
from ..kernels.block_specs import ORDER, PanelSpec
from ..problem import DeviceInfo, Problem
from ..runtime.launch import kernel
from ..runtime.memory import Workspace, workspace
from ..runtime.registry import KernelSource
from ..views import BatchView, block
from .common import column_major_result, kernel_matrix, needs_gpu
from .getrf_cta import launch_slm_leaf
from .interchange import Interchanges, right_kind, swap_rows

__all__ = ["FAMILY", "workspace_of"]

int32 = np.int32
WARP: Final = 32
PIVOT_BYTES: Final = 4
FEW_ENTRIES: Final = 4
NO_REGISTERS: Final = 1 << 31  # more rows than any register panel has


@dataclass(frozen=True, slots=True)
class _Plan:
    """How one call goes about it.

    Attributes
    ----------
    nb : int
        Columns of a panel.
    leaf : {"reg", "slm"}
        Where a panel is kept.
    left, right : str
        Spellings of the interchanges, as the settings have them.
    """

    nb: int
    leaf: str
    left: str
    right: str


def _plan(problem: Problem) -> _Plan:
    settings = current()
    nb = _panel_columns(problem) if settings.getrf_nb == AUTO else int(settings.getrf_nb)
    leaf = "reg" if settings.getrf_leaf == AUTO else settings.getrf_leaf
    return _Plan(nb, leaf, settings.getrf_laswp, settings.getrf_right_laswp)


def _panel_columns(problem: Problem) -> int:
    """Wide panels spare passes over the trailing matrix; narrow ones spare launches, which few wait for."""
    narrow = NARROW_UP_TO[problem.dtype] if problem.batch >= MANY else NARROW_UP_TO_IF_FEW
    return ORDER if problem.n <= narrow else WIDE


WIDE: Final = 128
MANY: Final = 64
NARROW_UP_TO: Final = {"float32": 512, "float64": 320, "complex64": 512, "complex128": 320}
NARROW_UP_TO_IF_FEW: Final = 512


def workspace_of(problem: Problem, device: DeviceInfo) -> Workspace:
    """Memory of one call: where a panel's rows came from, and the factors if they are not column-major."""
    rows = 0 if problem.layout == "F" else problem.m * problem.n * itemsize(problem.dtype)
    return Workspace.of(moved=_moved(problem), factors=problem.batch * rows)


def _moved(problem: Problem) -> int:
    return problem.batch * problem.m * PIVOT_BYTES


def _can_run(problem: Problem, device: DeviceInfo) -> Verdict:
    return needs_gpu(device)


def _launch(call: Call) -> None:
    ops, problem = call.operands, call.problem
    space = Workspace.of(moved=_moved(problem))
    with (
        column_major_result(ops["lu"], call, ops["a"]) as lu,
        workspace(space, call.stream, call.device.ordinal) as at,
    ):
        _Elimination(call, lu, _plan(problem), at["moved"]).run()


@dataclass(frozen=True, slots=True)
class _Panel:
    """Columns under elimination, from their first pivot's row down; ``base`` is that row's number."""

    view: BatchView
    base: int

    @property
    def steps(self) -> int:
        """Pivots of the panel."""
        return min(self.view.rows, self.view.cols)

    def part(self, first: int, columns: int) -> _Panel:
        """The panel of some columns, which begins at the diagonal."""
        rows, cols = slice(first, self.view.rows), slice(first, first + columns)
        return _Panel(block(self.view, rows, cols), self.base + first)


@dataclass(frozen=True, slots=True)
class _Elimination:
    """One call of the blocked driver."""

    call: Call
    lu: BatchView
    plan: _Plan
    moved: int

    def run(self) -> None:
        """Factor the whole matrix."""
        self._factor(_Panel(self.lu, 0), self.plan.nb)

    def _factor(self, panel: _Panel, columns: int) -> None:
        """Factor a panel, by panels of at most ``columns`` columns."""
        for part in self._parts(panel, columns):
            inner = self._leaf_columns(part)
            if part.view.cols <= inner:
                self._leaf(part)
            else:
                self._factor(part, inner)
            self._update(panel, part)
            if self.plan.left == "inloop":
                self._interchange_left(panel, part)
        if self.plan.left != "inloop":
            self._interchange_all_left(panel, columns)

    def _parts(self, panel: _Panel, columns: int) -> Iterator[_Panel]:
        for first in range(0, panel.steps, columns):
            yield panel.part(first, min(columns, panel.view.cols - first))

    def _leaf_columns(self, part: _Panel) -> int:
        """Columns of the widest kernel for so many rows."""
        spec = self._leaf_spec(part)
        return spec.columns if spec is not None else ORDER

    def _leaf_spec(self, part: _Panel) -> PanelSpec | None:
        """The register panel for so many rows; None where the panel goes to shared or global memory."""
        rows = part.view.rows if self.plan.leaf == "reg" else NO_REGISTERS
        return panel_spec(part.view.dtype, rows, self.call.device.arch)

    def _pivots(self, panel: _Panel) -> tuple[int, int]:
        """Address of a panel's first pivot, and the distance to the next item's."""
        ipiv = self.call.operands["ipiv"]
        return ipiv.ptr + PIVOT_BYTES * panel.base, ipiv.rows

    def _leaf(self, part: _Panel) -> None:
        spec = self._leaf_spec(part)
        ipiv, stride = self._pivots(part)
        info = self.call.operands["info"].ptr
        if spec is None:
            launch_slm_leaf(part.view, ipiv, stride, info, part.base, self.call)
            return
        sizes = map(int32, (part.base, part.view.rows, part.view.cols))
        threads = -(-part.view.rows // (spec.rows_each * WARP)) * WARP
        kernel(KernelSource("getrf_panel", spec), self.call.device.ordinal).launch(
            self.call.stream, part.view.batch, *kernel_matrix(part.view), ipiv, stride, info,
            self.moved, self.lu.rows, *sizes, threads=threads,
        )  # fmt: skip

    def _update(self, panel: _Panel, part: _Panel) -> None:
        """Interchange, solve and update the columns of ``panel`` right of ``part``."""
        right = self._columns(part.base + part.view.cols, panel.base + panel.view.cols)
        if not right.cols:
            return
        if self._fused(part):
            self._update_fused(part, block(right, slice(part.base, right.rows), slice(0, right.cols)))
        else:
            self._update_by_ops(part, right)

    def _columns(self, first: int, last: int) -> BatchView:
        """Whole columns of the matrix."""
        return block(self.lu, slice(0, self.lu.rows), slice(first, last))

    def _fused(self, part: _Panel) -> bool:
        """Whether one kernel kept the part in registers, and so knows where its rows came from."""
        spec = self._leaf_spec(part)
        return spec is not None and part.view.cols <= spec.columns and self.plan.right in (AUTO, "fused")

    def _update_fused(self, part: _Panel, right: BatchView) -> None:
        spec = update_spec(right.dtype)
        tiles = -(-right.cols // spec.tile)
        kernel(KernelSource("lu_update", spec), self.call.device.ordinal).launch(
            self.call.stream, right.batch * tiles, part.view.ptr, *kernel_matrix(right),
            self.moved, self.lu.rows, *map(int32, (right.rows, part.steps, right.cols, tiles)),
            shared=spec.shared_bytes,
        )  # fmt: skip

    def _update_by_ops(self, part: _Panel, right: BatchView) -> None:
        k, first, every = part.steps, part.base, slice(0, right.cols)
        kind = right_kind(right.dtype, right.rows - first, self.plan.right)
        swap_rows(right, right, Interchanges(*self._pivots(part), first, k), self.call, kind=kind)
        upper = block(right, slice(first, first + k), every)
        triangle = block(part.view, slice(0, k), slice(0, k))
        solve = Problem(
            "trsm", right.dtype, k, k, right.batch, nrhs=right.cols, side="L", uplo="L", trans="N", diag="U"
        )
        self.call.run(solve, {"a": triangle, "b": upper, "x": upper})
        below = part.view.rows - k
        if below:
            factor = block(part.view, slice(k, part.view.rows), slice(0, k))
            product = Problem(
                "gemm", right.dtype, below, right.cols, right.batch, k=k, trans="NN", alpha=-1, beta=1
            )
            rest = block(right, slice(first + k, right.rows), every)
            self.call.run(product, {"a": factor, "b": upper, "c": rest})

    def _interchange_left(self, panel: _Panel, part: _Panel) -> None:
        left, swaps = (
            self._columns(panel.base, part.base),
            Interchanges(*self._pivots(part), part.base, part.steps),
        )
        swap_rows(left, left, swaps, self.call, kind="gather")

    def _interchange_all_left(self, panel: _Panel, columns: int) -> None:
        """In each part what the parts right of it have interchanged, in one launch."""
        if panel.steps > columns:
            view = self._columns(panel.base, panel.base + panel.view.cols)
            swaps = Interchanges(*self._pivots(panel), panel.base, panel.steps, skip=columns)
            swap_rows(view, view, swaps, self.call, kind=self._left_kind(panel.steps - columns))

    def _left_kind(self, longest: int) -> str:
        """A list of a few entries is followed faster than it is worked out."""
        if self.plan.left == AUTO:
            return "walk" if longest <= FEW_ENTRIES else "gather"
        return self.plan.left.removeprefix("defer_")


FAMILY: Final = Family("getrf", "blocked", _can_run, _launch)
