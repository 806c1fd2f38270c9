"""The family cta of getrf: a whole matrix in shared memory, and the same kernel for panels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ..capability import MIN_BLOCKS_PER_SM, getrf_bytes, reduction_bytes
from ..dtypes import DTYPES
from ..family import YES, Call, Enqueue, Family, Verdict, no
from ..kernels.block_specs import GetrfCtaSpec
from ..problem import DeviceInfo, Problem
from ..runtime.launch import kernel
from ..runtime.registry import KernelSource
from ..views import BatchView
from .common import kernel_matrix, needs_gpu

__all__ = ["FAMILY", "can_run", "launch_slm_leaf", "specs"]

WARP: Final = 32
FEWEST_THREADS: Final = 64
SPECS: Final = {
    ("warp", "shared"): 128,
    ("block", "shared"): 512,
    ("block", "global"): 512,
}
int32 = np.int32


def specs() -> tuple[GetrfCtaSpec, ...]:
    """Every kernel of the family."""
    return tuple(GetrfCtaSpec(dtype, *kind, threads) for dtype in DTYPES for kind, threads in SPECS.items())


def can_run(problem: Problem, device: DeviceInfo) -> Verdict:
    """Whether `MIN_BLOCKS_PER_SM` matrices fit into the shared memory that a block can use."""
    verdict = needs_gpu(device)
    if not verdict.ok:
        return verdict
    need, share = getrf_bytes(problem.dtype, problem.m, problem.n), device.shared_budget // MIN_BLOCKS_PER_SM
    if need <= share:
        return YES
    size = f"n = {problem.n}" if problem.m == problem.n else f"{problem.m} x {problem.n}"
    return no(
        f"{size} needs {need:,} B of shared memory, "
        f"a block's share for {MIN_BLOCKS_PER_SM} blocks per multiprocessor is {share:,} B"
    )


@dataclass(frozen=True, slots=True)
class _Plan:
    """How a batch is launched: the kernel, blocks, threads and bytes of dynamic shared memory of a block."""

    spec: GetrfCtaSpec
    blocks: int
    threads: int
    shared: int

    def enqueue(self, stream: int, ordinal: int, *arguments: Any) -> None:
        code = kernel(KernelSource("getrf_cta", self.spec), ordinal)
        code.launch(stream, self.blocks, *arguments, threads=self.threads, shared=self.shared)


def _plan(matrix: BatchView, budget: int) -> _Plan:
    """Several matrices a block if a warp is enough for each; global memory if shared memory is too small."""
    dtype, rows, cols, batch = matrix.dtype, matrix.rows, matrix.cols, matrix.batch
    need = getrf_bytes(dtype, rows, cols)
    if max(rows, cols) <= WARP:
        threads = SPECS["warp", "shared"]
        members = threads // WARP
        spec = GetrfCtaSpec(dtype, "warp", "shared", threads)
        return _Plan(spec, -(-batch // members), threads, members * need)
    storage, shared = ("shared", need) if need <= budget else ("global", reduction_bytes(dtype))
    spec = GetrfCtaSpec(dtype, "block", storage, SPECS["block", storage])
    return _Plan(spec, batch, _threads(rows, cols, spec.threads), shared)


def _threads(rows: int, cols: int, most: int) -> int:
    """A power of two near two threads a column, or one for two rows of a tall panel."""
    wanted = max(2 * cols, rows // 2, FEWEST_THREADS)
    return min(1 << (wanted.bit_length() - 1), most)


def _prepare(call: Call) -> Enqueue:
    """Everything of a launch but the stream and the addresses."""
    a, lu = call.operands["a"], call.operands["lu"]
    plan, ordinal = _plan(lu, call.device.shared_budget), call.device.ordinal
    read, written = kernel_matrix(a)[1:], kernel_matrix(lu)[1:]
    sizes = int32(0), int32(lu.rows), int32(lu.cols), lu.batch
    names = list(call.operands)

    def enqueue(stream: int, addresses: Sequence[int]) -> None:
        at = dict(zip(names, addresses, strict=True))
        pivots = at["ipiv"], min(lu.rows, lu.cols)
        plan.enqueue(stream, ordinal, at["a"], *read, at["lu"], *written, *pivots, at["info"], *sizes)

    return enqueue


def _launch(call: Call) -> None:
    _prepare(call)(call.stream, [view.ptr for view in call.operands.values()])


def launch_slm_leaf(
    panel: BatchView, ipiv_ptr: int, ipiv_stride: int, info_ptr: int, base: int, call: Call
) -> None:
    """Factor a panel in place.

    Parameters
    ----------
    panel : BatchView
        The panel; beyond the shared memory of a block it is factored in global memory.
    ipiv_ptr, ipiv_stride : int
        Address of the panel's first pivot, and the distance to that of the next item.
    info_ptr : int
        Address of one int32 an item, which keeps the first zero pivot of all panels.
    base : int
        Rows of the whole matrix above the panel; 0 starts ``info`` afresh.
    call : Call
        The call whose stream and device it runs on.
    """
    plan = _plan(panel, call.device.shared_budget)
    sizes = int32(base), int32(panel.rows), int32(panel.cols), panel.batch
    matrix = kernel_matrix(panel)
    plan.enqueue(call.stream, call.device.ordinal, *matrix, *matrix, ipiv_ptr, ipiv_stride, info_ptr, *sizes)


FAMILY: Final = Family("getrf", "cta", can_run, _launch, _prepare)
