"""The QR kernels on the emulator, called as the ops call them, with every check on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from batchlas_py.kernels.qr_specs import ApplySpec, QrPanelSpec, QrTinySpec, UpperSpec

from ..checks import embed
from .launching import PAD, _assert_kept, blank, launch, matrices


class Factors(NamedTuple):
    """What geqrf gives, shapes (batch, m, n) and (batch, min(m, n))."""

    qr: np.ndarray
    tau: np.ndarray


def geqrf_tiny(
    a: np.ndarray,
    spec: QrTinySpec,
    layout: str = "F-ld",
    *,
    in_place: bool = False,
    spare_blocks: int = 0,
    seed: int = 0,
) -> Factors:
    """Factor a batch, shape (batch, m, n)."""
    batch, m, n = a.shape
    source = embed(a, layout, PAD)
    target = source if in_place else blank(a.shape, a.dtype, layout)
    tau = np.full((batch, min(m, n)), -7, a.dtype)
    launch(
        "geqrf_tiny", spec, -(-batch // spec.per_block) + spare_blocks, *matrices(source),
        *matrices(target, written=True), tau.reshape(-1), m, n, batch, seed=seed,
    )  # fmt: skip
    _assert_kept(a, source, target)
    return Factors(target.view, tau)


def geqrf_panel(
    a: np.ndarray, spec: QrPanelSpec, layout: str = "F-ld", *, in_place: bool = False, seed: int = 0
) -> Factors:
    """Factor a batch, shape (batch, m, n), with no more warps than it needs."""
    batch, m, n = a.shape
    source = embed(a, layout, PAD)
    target = source if in_place else blank(a.shape, a.dtype, layout)
    weights = blank((batch, min(m, n), 1), a.dtype, "F-ld")
    tau, _, _, tau_stride = matrices(weights)
    over, beside = spec.groups(m, n)
    launch(
        "geqrf_panel", spec, batch, *matrices(source), *matrices(target, written=True), tau, tau_stride,
        m, n, over, spec.sums_at(over, beside), seed=seed, threads=over * beside * spec.lanes,
        shared=spec.shared_bytes(m, n),
    )  # fmt: skip
    _assert_kept(a, source, target)
    weights.assert_padding_untouched()
    return Factors(target.view, weights.view[..., 0].copy())


def qr_apply(
    v: np.ndarray,
    tau: np.ndarray,
    c: np.ndarray,
    spec: ApplySpec,
    way: tuple[int, int, int],
    layout: str = "F-ld",
    *,
    unit: bool = False,
    seed: int = 0,
) -> np.ndarray:
    """All reflectors of ``v``, (batch, m, k), applied to ``c``, (batch, m, n)."""
    (batch, m, n), k = c.shape, v.shape[2]
    vectors, target = embed(v, layout, PAD), embed(c, layout, PAD)
    groups, tiles = spec.groups(m), -(-n // spec.lanes)
    launch(
        "qr_apply", spec, batch * tiles, *matrices(vectors), np.ascontiguousarray(tau).reshape(-1), k,
        *matrices(target), m, n, k, *way, unit, groups, spec.sums_at(groups), tiles, seed=seed,
        threads=groups * spec.lanes, shared=spec.shared_bytes(m),
    )  # fmt: skip
    _assert_kept(v, vectors, target)
    return target.view


def orgqr_tiny(
    v: np.ndarray, tau: np.ndarray, columns: int, spec: QrTinySpec, layout: str = "F-ld", *, seed: int = 0
) -> np.ndarray:
    """Columns of Q from the reflectors of ``v``, (batch, m, k)."""
    batch, m, k = v.shape
    source, target = embed(v, layout, PAD), blank((batch, m, columns), v.dtype, layout)
    launch(
        "orgqr_tiny", spec, -(-batch // spec.per_block), *matrices(source),
        np.ascontiguousarray(tau).reshape(-1), k, *matrices(target, written=True), m, columns, k, batch,
        seed=seed,
    )  # fmt: skip
    _assert_kept(v, source, target)
    return target.view


def qr_tiny(
    a: np.ndarray, spec: QrTinySpec, layout: str = "F-ld", *, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Q and R of a batch, shape (batch, m, n)."""
    batch, m, n = a.shape
    source, k = embed(a, layout, PAD), min(m, n)
    q, r = blank((batch, m, k), a.dtype, layout), blank((batch, k, n), a.dtype, layout)
    launch(
        "qr_tiny", spec, -(-batch // spec.per_block), *matrices(source), *matrices(q, written=True),
        *matrices(r, written=True), m, n, batch, seed=seed,
    )  # fmt: skip
    _assert_kept(a, source, q)
    r.assert_padding_untouched()
    return q.view, r.view


def upper(a: np.ndarray, rows: int, layout: str = "F-ld") -> np.ndarray:
    """The first rows of a batch, with zeros below the diagonal."""
    batch, _, n = a.shape
    spec, source, target = (
        UpperSpec(a.dtype.name),
        embed(a, "F", PAD),
        blank((batch, rows, n), a.dtype, layout),
    )
    blocks = -(-batch * rows * n // spec.threads)
    launch("upper", spec, blocks, *matrices(source), *matrices(target, written=True), rows, n, batch)
    _assert_kept(a, source, target)
    return target.view
