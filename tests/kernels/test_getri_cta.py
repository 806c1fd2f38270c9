"""The inverse in one launch: every tile size and its edges, both memory orders, blocks that share an item."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from batchlas_py.kernels.inverse_specs import GetriSpec, getri_spec
from batchlas_py.testing import ratios
from batchlas_py.testing.ratios import THRESHOLD

from ..checks import embed
from . import inputs
from .inputs import LARGEST, SMALLEST, each_dtype
from .launching import PAD, SEEDS, blank, launch, matrices
from .test_getrs_cta import problem

EDGES = (1, 2, 7, 8, 9, 16, 17, 32)
WARP = 32
each_layout = pytest.mark.parametrize("to", ["F-ld", "C-ld"])


def inverse(
    lu: np.ndarray,
    ipiv: np.ndarray,
    layout: str = "F-ld",
    to: str = "F-ld",
    *,
    spec: GetriSpec | None = None,
    threads: int = 0,
    seed: int = 0,
) -> tuple[np.ndarray, np.ndarray]:
    """The inverse and info; ``threads`` below the order gives an item several blocks."""
    batch, n, _ = lu.shape
    spec = spec or getri_spec(lu.dtype.name, n)
    threads = threads or (WARP if spec.packed else -(-n // WARP) * WARP)
    groups = 1 if spec.packed else -(-n // threads)
    stored, x, info = embed(lu, layout, PAD), blank(lu.shape, lu.dtype, to), np.full(batch, -7, np.int32)
    blocks = -(-batch // spec.members(threads)) * groups
    launch(
        "getri_cta", spec, blocks, *matrices(stored), ipiv.reshape(-1), *matrices(x, written=True), info, n,
        to == "F-ld", groups, batch, seed=seed, threads=threads, shared=spec.shared_bytes(n, threads),
    )  # fmt: skip
    x.assert_padding_untouched()
    np.testing.assert_array_equal(stored.view, lu)
    return x.view, info


def narrow(dtype: str) -> GetriSpec:
    return GetriSpec(dtype, order=8, packed=False)


def judged(a: np.ndarray, lu: np.ndarray, ipiv: np.ndarray, *more: str, **rest: Any) -> np.ndarray:
    x, info = inverse(lu, ipiv, *more, **rest)
    np.testing.assert_array_equal(info, 0)
    assert ratios.dget03(a, x).worst < THRESHOLD
    return x


@each_layout
@pytest.mark.parametrize("n", EDGES)
def test_every_order(n: int, to: str) -> None:
    dtype = "float64" if n % 2 else "complex64"
    a, lu, ipiv, _ = problem(n, 1, dtype, 5 if n < 16 else 1)
    judged(a, lu, ipiv, "F-ld", to)


@each_layout
@each_dtype
def test_every_type_and_layout(dtype: str, to: str) -> None:
    a, lu, ipiv, _ = problem(11, 1, dtype, 3)
    same = judged(a, lu, ipiv, "F-ld", to)
    np.testing.assert_array_equal(same, judged(a, lu, ipiv, "C-ld", to))


@each_layout
@pytest.mark.parametrize("n", [8, 9, 17, 33])
def test_rows_of_tiles(n: int, to: str) -> None:
    """Several tiles of one matrix, as large ones have them, of an order that is quick to emulate."""
    a, lu, ipiv, _ = problem(n, 1, "float32")
    judged(a, lu, ipiv, "F-ld", to, spec=narrow("float32"))


@each_layout
@pytest.mark.parametrize("seed", SEEDS)
def test_blocks_share_an_item(seed: int, to: str) -> None:
    a, lu, ipiv, _ = problem(35, 1, "float32")
    alone = judged(a, lu, ipiv, "F-ld", to, spec=narrow("float32"), seed=seed)
    shared = judged(a, lu, ipiv, "F-ld", to, spec=narrow("float32"), threads=WARP, seed=seed + 1)
    np.testing.assert_array_equal(alone, shared)


@each_layout
@pytest.mark.parametrize(("n", "spec"), [(5, None), (13, None), (13, narrow("float64"))])
def test_zero_pivots(n: int, spec: GetriSpec | None, to: str) -> None:
    """The first zero pivot is reported, nothing plausible is left of the item; its neighbours are right."""
    exact = inputs.exact_batch(n, "float64")
    x, info = inverse(exact.lu, exact.ipiv, "F-ld", to, spec=spec)
    np.testing.assert_array_equal(info, exact.info)
    assert np.isnan(x[info != 0]).all()
    regular = info == 0
    assert ratios.dget03(exact.a[regular], x[regular]).worst < THRESHOLD


@each_layout
@pytest.mark.parametrize("end", [LARGEST, SMALLEST])
def test_ends_of_the_range(end: str, to: str) -> None:
    """Factors near overflow or underflow: what is in between leaves the range no sooner than the result."""
    n, dtype = 9, "float64"
    a = np.eye(n)[None] * (np.finfo(dtype).max / 4 if end == LARGEST else np.finfo(dtype).tiny * 4)
    x, info = inverse(a.astype(dtype), np.arange(1, n + 1, dtype=np.int32)[None], "F-ld", to)
    np.testing.assert_allclose(x, np.eye(n)[None] / a[0, 0, 0], rtol=4 * float(np.finfo(dtype).eps), atol=0)
    assert not info.any()


@each_layout
def test_wild_pivots_are_not_followed(to: str) -> None:
    _, lu, ipiv, _ = problem(5, 1, "float64")
    wild = ipiv.copy()
    wild[0, 1], wild[0, 3] = 1 << 30, -5
    own = wild.copy()
    own[0, 1], own[0, 3] = 2, 4
    np.testing.assert_array_equal(inverse(lu, wild, "F-ld", to)[0], inverse(lu, own, "F-ld", to)[0])
