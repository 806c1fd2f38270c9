"""Kernels on the emulator, called as the ops call them, with every check on.

Reciprocals are as coarse as the device's. The memory of an input ends with its last element, so that a
load past it is an error; that of a result goes on, and its guard bytes are looked at afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from batchlas_py.kernels.block_specs import GemmSpec, PanelSpec, TrsmSpec, UpdateSpec
from batchlas_py.kernels.choice import tiny_spec
from batchlas_py.kernels.device.intrinsics import rcp_f32, rcp_f64
from batchlas_py.kernels.device.inverse_root import rsqrt_f64
from batchlas_py.kernels.specs import RelayoutSpec, TinySpec, ToolSpec
from batchlas_py.runtime import emulator
from batchlas_py.runtime.registry import KernelSource

from ..checks import LAYOUTS, Embedded, embed

LOW_WORD = np.uint64(0xFFFFFFFF)
SEEDS = range(3)
PAD = 5


class Lu(NamedTuple):
    """What getrf gives, shapes (batch, n, n), (batch, n) and (batch,)."""

    lu: np.ndarray
    ipiv: np.ndarray
    info: np.ndarray


class Panel(NamedTuple):
    """What getrf_panel gives: ``moved``, (batch, m), is the row that each row was; others as in `Lu`."""

    lu: np.ndarray
    ipiv: np.ndarray
    info: np.ndarray
    moved: np.ndarray


class Solved(NamedTuple):
    """What gesv gives: ``x`` is (batch, n, nrhs), the others are those of `Lu`."""

    x: np.ndarray
    lu: np.ndarray
    ipiv: np.ndarray
    info: np.ndarray


def _flushed(value: Any) -> Any:
    return value if abs(value) >= np.finfo(value.dtype).tiny or np.isnan(value) else value * 0


def _coarse_f32(value: Any) -> Any:
    """What ``rcp.approx.ftz.f32`` gives, but for its last bit."""
    return _flushed(np.float32(1) / _flushed(np.float32(value)))


def _coarse_f64(value: Any) -> Any:
    """What ``rcp.approx.ftz.f64`` gives: the high word alone."""
    exact = _flushed(np.float64(1) / _flushed(np.float64(value)))
    return (exact.view(np.uint64) & ~LOW_WORD).view(np.float64)


@np.errstate(divide="ignore", invalid="ignore")
def _coarse_root(value: Any) -> Any:
    """What ``rsqrt.approx.ftz.f64`` gives, likewise."""
    exact = np.float64(1) / np.sqrt(_flushed(np.float64(value)))
    return (exact.view(np.uint64) & ~LOW_WORD).view(np.float64)


COARSE = {rcp_f32: _coarse_f32, rcp_f64: _coarse_f64, rsqrt_f64: _coarse_root}


def launch(
    name: str,
    spec: Any,
    blocks: int,
    *arguments: Any,
    seed: int = 0,
    threads: int | None = None,
    shared: int = 0,
) -> None:
    """Run one kernel; each scalar becomes what the kernel's signature says."""
    source = KernelSource(name, spec)
    values = [
        given if isinstance(given, np.ndarray) else np.dtype(str(kind)).type(given)
        for given, kind in zip(arguments, source.signature(), strict=True)
    ]
    kernel = source.module().make_kernel(spec)
    emulator.run(
        kernel,
        blocks,
        threads or spec.threads,
        values,
        seed,
        shared,
        race_check=True,
        init_check=True,
        overrides=COARSE,
    )


def matrices(batch: Embedded, *, written: bool = False) -> tuple[np.ndarray, int, int, int]:
    """A batch as kernels take it: memory from its first element on, and three strides."""
    view, size = batch.view, batch.view.itemsize
    first = (view.__array_interface__["data"][0] - batch.buffer.__array_interface__["data"][0]) // size
    step, row, column = (stride // size for stride in view.strides)
    last = first + sum((n - 1) * stride for n, stride in zip(view.shape, (step, row, column), strict=True))
    return batch.buffer.reshape(-1)[first : None if written else last + 1], row, column, step


def blank(shape: tuple[int, ...], dtype: Any, layout: str) -> Embedded:
    """A batch that nothing has written."""
    return embed(np.full(shape, -7, dtype), layout, PAD)


def kernel_for(a: np.ndarray, layout: str, nrhs: int = 0) -> TinySpec:
    """The kernel that the package picks for a batch of square matrices."""
    return tiny_spec(a.dtype.name, a.shape[1], layout in ("C", "C-ld"), nrhs)


def getrf(
    a: np.ndarray, layout: str = "F-ld", *, in_place: bool = False, spare_blocks: int = 0, seed: int = 0
) -> Lu:
    """Factor a batch, shape (batch, n, n), that lies in memory as ``layout`` says."""
    batch, n = a.shape[:2]
    source, spec = embed(a, layout, PAD), kernel_for(a, layout)
    target = source if in_place else blank(a.shape, a.dtype, layout)
    ipiv, info = np.full((batch, n), -7, np.int32), np.full(batch, -7, np.int32)
    launch(
        "getrf_tiny", spec, -(-batch // spec.per_block) + spare_blocks, *matrices(source),
        *matrices(target, written=True), ipiv.reshape(-1), info, n, batch, seed=seed,
    )  # fmt: skip
    _assert_kept(a, source, target)
    return Lu(target.view, ipiv, info)


def getrf_panel(
    a: np.ndarray,
    spec: PanelSpec,
    layout: str = "F-ld",
    *,
    base: int = 0,
    info: Any = -7,
    seed: int = 0,
) -> Panel:
    """Factor a batch, shape (batch, m, n), as a panel with ``base`` rows above it; no warp is idle."""
    batch, m, n = a.shape
    target, pivots = embed(a, layout, PAD), blank((batch, min(m, n), 1), np.int32, "F-ld")
    moved, codes = blank((batch, m, 1), np.int32, "F-ld"), np.array(np.broadcast_to(info, batch), np.int32)
    ipiv, _, _, ipiv_stride = matrices(pivots)
    rows, _, _, moved_stride = matrices(moved)
    launch(
        "getrf_panel", spec, batch, *matrices(target), ipiv, ipiv_stride, codes, rows, moved_stride,
        base, m, n, seed=seed, threads=-(-m // (32 * spec.rows_each)) * 32,
    )  # fmt: skip
    for one in (target, pivots, moved):
        one.assert_padding_untouched()
    return Panel(target.view, pivots.view[..., 0].copy(), codes, moved.view[..., 0].copy())


def lu_update(
    a: np.ndarray, k: int, moved: np.ndarray, spec: UpdateSpec, layout: str = "F-ld", *, seed: int = 0
) -> np.ndarray:
    """What is right of a panel of ``k`` columns after its steps; ``a``, (batch, m, n), holds both."""
    batch, m, n = a.shape
    target, origin = embed(a, layout, PAD), embed(moved[..., None], "F-ld", PAD)
    panel, row, column, step = matrices(target)
    rows, _, _, moved_stride = matrices(origin)
    tiles = -(-(n - k) // spec.tile)
    launch(
        "lu_update", spec, batch * tiles, panel, panel[k * column :], row, column, step, rows, moved_stride,
        m, k, n - k, tiles, seed=seed, shared=spec.shared_bytes,
    )  # fmt: skip
    target.assert_padding_untouched()
    assert target.view[..., :k].tobytes() == a[..., :k].tobytes(), "the panel changed"
    return target.view[..., k:]


def gemm(
    a: np.ndarray,
    b: np.ndarray,
    c: np.ndarray,
    spec: GemmSpec,
    *,
    trans: str = "NN",
    alpha: complex = 1,
    beta: complex = 0,
    layouts: Sequence[str] = ("F-ld",) * 3,
    seed: int = 0,
) -> np.ndarray:
    """``alpha op(a) op(b) + beta c``, each batch in a layout of its own."""
    batch, m, n = c.shape
    k = a.shape[2] if trans[0] == "N" else a.shape[1]
    left, right, target = (embed(x, layout, PAD) for x, layout in zip((a, b, c), layouts, strict=True))
    row_tiles, col_tiles = -(-m // spec.tile[0]), -(-n // spec.tile[1])
    launch(
        "gemm_cta", spec, batch * row_tiles * col_tiles,
        *_operand(left, trans[0]), *_operand(right, trans[1]), *matrices(target),
        *_parts(alpha), *_parts(beta), m, n, k, row_tiles, row_tiles * col_tiles, seed=seed,
    )  # fmt: skip
    _assert_kept(a, left, target)
    _assert_kept(b, right, target)
    return target.view


def _operand(batch: Embedded, trans: str) -> tuple[Any, ...]:
    memory, row, column, step = matrices(batch)
    return (memory, *((row, column) if trans == "N" else (column, row)), step, trans == "C")


def _parts(value: complex) -> tuple[float, float]:
    return complex(value).real, complex(value).imag


def trsm(
    a: np.ndarray,
    b: np.ndarray,
    spec: TrsmSpec,
    *,
    upper: bool = False,
    unit: bool = False,
    conj: bool = False,
    alpha: complex = 1,
    layout: str = "F-ld",
    in_place: bool = False,
    seed: int = 0,
) -> np.ndarray:
    """The solution of ``a x = alpha b`` with a triangle of ``a``; ``b`` is (batch, n, nrhs)."""
    batch, n, nrhs = b.shape
    triangle, sides = embed(a, layout, PAD), embed(b, layout, PAD)
    x = sides if in_place else blank(b.shape, b.dtype, layout)
    memory, row, column, step = matrices(triangle)
    one = (memory, -row, -column, step, (n - 1) * (row + column)) if upper else (memory, row, column, step, 0)
    tiles = -(-nrhs // spec.tile)
    launch(
        "trsm_cta", spec, batch * tiles, *one, conj, not unit, *_sides(sides, upper), *_sides(x, upper),
        *_parts(alpha), n, nrhs, tiles, seed=seed, shared=spec.shared_bytes(n),
    )  # fmt: skip
    _assert_kept(a, triangle, x)
    _assert_kept(b, sides, x)
    return x.view


def _sides(batch: Embedded, upper: bool) -> tuple[Any, ...]:
    memory, row, column, step = matrices(batch)
    last = (batch.view.shape[1] - 1) * row
    return (memory, -row, column, step, last) if upper else (memory, row, column, step, 0)


def gesv(
    a: np.ndarray,
    b: np.ndarray,
    layout: str = "F-ld",
    *,
    in_place: bool = False,
    spare_blocks: int = 0,
    seed: int = 0,
) -> Solved:
    """Solve a batch with right-hand sides of shape (batch, n, nrhs), all in the same layout."""
    batch, n, nrhs = b.shape
    source, right, spec = embed(a, layout, PAD), embed(b, layout, PAD), kernel_for(a, layout, nrhs)
    lu = source if in_place else blank(a.shape, a.dtype, layout)
    x = right if in_place else blank(b.shape, b.dtype, layout)
    ipiv, info = np.full((batch, n), -7, np.int32), np.full(batch, -7, np.int32)
    launch(
        "gesv_tiny", spec, -(-batch // spec.per_block) + spare_blocks, *matrices(source), *matrices(right),
        *matrices(x, written=True), *matrices(lu, written=True), ipiv.reshape(-1), info, n, nrhs, batch,
        seed=seed,
    )  # fmt: skip
    _assert_kept(a, source, lu)
    _assert_kept(b, right, x)
    return Solved(x.view, lu.view, ipiv, info)


def relayout(values: np.ndarray, read: str, write: str, seed: int = 0) -> np.ndarray:
    """Copy a batch, shape (batch, m, n), from layout ``read`` to layout ``write``."""
    batch, rows, cols = values.shape
    source, target = embed(values, read, 3), blank(values.shape, values.dtype, write)
    spec = RelayoutSpec(values.dtype.name, LAYOUTS[read].column_major, LAYOUTS[write].column_major)
    tile_rows, tile_cols = -(-rows // 32), -(-cols // 32)
    launch(
        "relayout", spec, batch * tile_rows * tile_cols, *matrices(source),
        *matrices(target, written=True), rows, cols, tile_rows, tile_rows * tile_cols, seed=seed,
    )  # fmt: skip
    _assert_kept(values, source, target)
    return target.view


def pointers(first: int, stride: int, batch: int) -> np.ndarray:
    """Addresses of the matrices of a batch, shape (batch,)."""
    spec, table = ToolSpec("pointers"), np.zeros(batch, np.uint64)
    launch("batch_tools", spec, -(-batch // spec.threads), table, first, stride, batch)
    return table


def invalidated(x: np.ndarray, info: np.ndarray, layout: str) -> np.ndarray:
    """A copy of a batch, shape (batch, n, nrhs), after the kernel that makes failed items NaN."""
    batch, rows, cols = x.shape
    spec, target = ToolSpec("invalidate", x.dtype.name), embed(x, layout)
    blocks = -(-batch // spec.threads)
    launch("batch_tools", spec, blocks, *matrices(target, written=True), info, rows, cols, batch)
    target.assert_padding_untouched()
    return target.view


def _assert_kept(values: np.ndarray, source: Embedded, target: Embedded) -> None:
    """Nothing outside the result may change, nor the input, unless it is the result."""
    target.assert_padding_untouched()
    source.assert_padding_untouched()
    if source is not target:
        assert source.view.tobytes() == values.tobytes(), "the input changed"
