"""What the ops share: kernel arguments, helper kernels, and the families that every op has."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import numpy as np

from ..dtypes import itemsize
from ..family import YES, Call, Family, Verdict, no
from ..kernels.specs import RelayoutSpec, ToolSpec
from ..problem import DeviceInfo, Problem
from ..runtime.launch import kernel
from ..runtime.memory import scratch
from ..runtime.registry import KernelSource
from ..views import BatchView, block

__all__ = [
    "clear",
    "column_major",
    "column_major_result",
    "column_major_scratch",
    "copy",
    "invalidate",
    "kernel_matrix",
    "native",
    "needs_gpu",
    "pointers",
    "relayout",
    "vendor_family",
    "vendor_present",
]

TILE: Final = 32
int32 = np.int32


def kernel_matrix(view: BatchView) -> tuple[Any, ...]:
    """A batch of matrices as kernels take it: pointer, row, column and matrix stride."""
    return view.ptr, int32(view.row_stride), int32(view.col_stride), view.batch_stride


def needs_gpu(device: DeviceInfo) -> Verdict:
    """What every native family needs: a GPU."""
    if not device.is_gpu:
        return no("native kernels need a CUDA device; NumPy arrays run on LAPACK")
    return YES


def native(problem: Problem, device: DeviceInfo) -> Verdict:
    """What most native families need: a GPU, and square matrices."""
    verdict = needs_gpu(device)
    if verdict.ok and problem.m != problem.n:
        return no(f"needs square matrices, got {problem.m} x {problem.n}")
    return verdict


def vendor_present(device: DeviceInfo) -> Verdict:
    """What every vendor family needs: its library."""
    return YES if device.has_vendor else no(device.vendor_reason or "no vendor library")


def vendor_family(
    op: str, on_gpu: Callable[[Call], None], on_host: Callable[[Call], None], *, square: bool = True
) -> Family:
    """The vendor's family of ``op``: cuBLAS, which may want square matrices, and LAPACK."""

    def can_run(problem: Problem, device: DeviceInfo) -> Verdict:
        verdict = vendor_present(device)
        if verdict.ok and square and device.is_gpu and problem.m != problem.n:
            return no(f"cuBLAS takes square matrices, got {problem.m} x {problem.n}")
        return verdict

    def launch(call: Call) -> None:
        (on_gpu if call.device.is_gpu else on_host)(call)

    return Family(op, "vendor", can_run, launch)


def copy(source: BatchView, target: BatchView, call: Call) -> None:
    """Copy a batch between any two layouts, as part of a call."""
    relayout(source, target, call.stream, call.device.ordinal)


def relayout(source: BatchView, target: BatchView, stream: int, ordinal: int) -> None:
    """Copy a batch between any two layouts."""
    tile_rows, tile_cols = -(-target.rows // TILE), -(-target.cols // TILE)
    spec = RelayoutSpec(target.dtype, source.layout != "C", target.layout != "C")
    kernel(KernelSource("relayout", spec), ordinal).launch(
        stream,
        target.batch * tile_rows * tile_cols,
        *kernel_matrix(source),
        *kernel_matrix(target),
        int32(target.rows),
        int32(target.cols),
        int32(tile_rows),
        tile_rows * tile_cols,
    )


def _tool(tool: str, dtype: str, call: Call, *arguments: Any) -> None:
    spec = ToolSpec(tool, dtype)
    blocks = -(-call.problem.batch // spec.threads)
    kernel(KernelSource("batch_tools", spec), call.device.ordinal).launch(call.stream, blocks, *arguments)


def invalidate(x: BatchView, info: BatchView, call: Call) -> None:
    """Fill the items of ``x`` whose info is positive with NaN."""
    _tool("invalidate", x.dtype, call, *kernel_matrix(x), info.ptr, int32(x.rows), int32(x.cols), x.batch)


def clear(x: BatchView, call: Call) -> None:
    """X = 0, whatever it holds: an empty product, added to nothing."""
    rows, none = slice(0, x.rows), slice(0, 0)
    product = Problem(
        "gemm", x.dtype, x.rows, x.cols, x.batch, layout=x.layout, k=0, trans="NN", alpha=0, beta=0
    )
    call.run(product, {"a": block(x, rows, none), "b": block(x, none, slice(0, x.cols)), "c": x})


@contextmanager
def pointers(view: BatchView, call: Call) -> Iterator[int]:
    """Device array of the addresses of a batch's matrices."""
    with scratch(8 * view.batch, call.stream, call.device.ordinal) as table:
        _tool(
            "pointers", "uint64", call, table, view.ptr, view.batch_stride * itemsize(view.dtype), view.batch
        )
        yield table


@contextmanager
def column_major_scratch(view: BatchView, call: Call) -> Iterator[BatchView]:
    """Memory for a batch of the same shape, columns one after another."""
    size = view.batch * view.rows * view.cols * itemsize(view.dtype)
    with scratch(size, call.stream, call.device.ordinal) as ptr:
        area = view.rows * view.cols
        yield BatchView(ptr, view.dtype, view.batch, view.rows, view.cols, area, 1, view.rows)


@contextmanager
def column_major(view: BatchView, call: Call) -> Iterator[BatchView]:
    """A column-major batch with the contents of ``view``, to be read only."""
    if view.layout == "F":
        yield view
        return
    with column_major_scratch(view, call) as work:
        copy(view, work, call)
        yield work


@contextmanager
def column_major_result(
    target: BatchView, call: Call, source: BatchView | None = None
) -> Iterator[BatchView]:
    """A column-major batch that starts with the contents of ``source`` and ends in ``target``."""
    if target.layout == "F":
        if source is not None and source != target:
            copy(source, target, call)
        yield target
        return
    with column_major_scratch(target, call) as work:
        if source is not None:
            copy(source, work, call)
        yield work
        copy(work, target, call)
