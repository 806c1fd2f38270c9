"""The update behind a panel: interchange, solve and product, bit for bit what unblocked elimination gives."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from batchlas_py.dtypes import DTYPES
from batchlas_py.kernels.block_specs import PanelSpec, UpdateSpec
from batchlas_py.testing.oracle import WIDER

from . import inputs, launching
from .inputs import each_dtype
from .launching import SEEDS

THREADS = 64
DEPTHS = {"float32": 32, "float64": 16, "complex64": 32, "complex128": 8}
TILE, WIDTH = 8, 4


class Step(NamedTuple):
    """One step of blocked elimination: the whole matrix before and after, and unblocked elimination's."""

    whole: np.ndarray
    mixed: np.ndarray
    moved: np.ndarray


def spec(dtype: str, *, tile: int = TILE) -> UpdateSpec:
    return UpdateSpec(dtype, tile, DEPTHS[dtype], WIDTH, THREADS)


def panel_spec(dtype: str, rows: int, columns: int) -> PanelSpec:
    return PanelSpec(dtype, columns, 1, 32 if rows <= 32 else 128)


def step(a: np.ndarray, k: int) -> Step:
    """Factor the first ``k`` columns alone, and all columns at once."""
    dtype, (m, n) = a.dtype.name, a.shape[1:]
    kernel = panel_spec(dtype, m, n)
    panel = launching.getrf_panel(a[..., :k], kernel)
    mixed = np.concatenate([panel.lu, a[..., k:]], axis=2)
    return Step(launching.getrf_panel(a, kernel).lu, mixed, panel.moved)


def random_batch(m: int, n: int, dtype: str, batch: int = 2) -> np.ndarray:
    return inputs.random_batch(m, dtype, batch, n)


def finished(right: np.ndarray, k: int) -> np.ndarray:
    """Columns behind an update, eliminated in turn."""
    rest = right.copy()
    kernel = panel_spec(right.dtype.name, right.shape[1] - k, right.shape[2])
    rest[:, k:] = launching.getrf_panel(right[:, k:], kernel).lu
    return rest


@pytest.mark.parametrize(("m", "n", "k", "batch"), [(6, 7, 3, 2), (40, 7, 4, 1), (5, 14, 5, 1)])
@each_dtype
def test_the_bits_of_unblocked_elimination(dtype: str, m: int, n: int, k: int, batch: int) -> None:
    """The columns right of a panel; below an update rows move once more."""
    a = random_batch(m, n, dtype, batch)
    state = step(a, k)
    right = launching.lu_update(state.mixed, k, state.moved, spec(dtype))
    assert (finished(right, k) if m > k else right).tobytes() == state.whole[..., k:].tobytes()


def test_on_every_schedule() -> None:
    state = step(random_batch(35, 7, "float32", batch=1), 3)
    first, *others = (
        launching.lu_update(state.mixed, 3, state.moved, spec("float32"), seed=seed) for seed in SEEDS
    )
    for other in others:
        assert first.tobytes() == other.tobytes()


def judged(a: np.ndarray, k: int, layout: str = "F-ld", *, tile: int = TILE) -> np.ndarray:
    """An update, compared with the same in more digits."""
    dtype, wide = a.dtype.name, WIDER[a.dtype.name]
    panel = launching.getrf_panel(a[..., :k], panel_spec(dtype, a.shape[1], k))
    mixed = np.concatenate([panel.lu, a[..., k:]], axis=2)
    right = launching.lu_update(mixed, k, panel.moved, spec(dtype, tile=tile), layout)
    lower, scale = np.tril(panel.lu, -1).astype(wide), np.abs(a).max() * a.shape[1]
    for item, result in enumerate(right):
        expected = a[item, panel.moved[item], k:].astype(wide)
        for j in range(k):
            expected[j + 1 :] -= np.outer(lower[item, j + 1 :, j], expected[j])
        assert np.abs(result - expected).max() <= 4 * k * np.finfo(dtype).eps * scale
    return right


@pytest.mark.parametrize(
    ("m", "k", "columns"),
    [(33, 32, 3), (32, 32, 5), (40, 8, 1), (70, 5, 9), (9, 1, 8), (1, 1, 4), (12, 9, 7), (97, 2, 17)],
)
def test_every_shape(m: int, k: int, columns: int) -> None:
    judged(random_batch(m, k + columns, DTYPES[m % 4], batch=1), k)


@pytest.mark.parametrize("layout", ["F", "C", "C-ld", "sliced"])
def test_other_strides(layout: str) -> None:
    a = random_batch(8, 7, "complex64")
    assert judged(a, 3, layout).tobytes() == judged(a, 3).tobytes()


def test_the_tile_leaves_no_trace() -> None:
    a = random_batch(35, 15, "float32", batch=1)
    assert judged(a, 4, tile=16).tobytes() == judged(a, 4).tobytes()


@each_dtype
def test_what_is_no_multiplier_is_not_used(dtype: str) -> None:
    """U11 lies in the panel too; NaN there must not show, nor in another column or item."""
    a = random_batch(7, 6, dtype)
    state = step(a, 3)
    clean = launching.lu_update(state.mixed, 3, state.moved, spec(dtype))
    for j in range(3):
        state.mixed[:, : j + 1, j] = np.nan
    state.mixed[1, :, 5] = np.nan
    dirty = launching.lu_update(state.mixed, 3, state.moved, spec(dtype))
    assert np.isnan(dirty[1, :, 2]).all()
    dirty[1, :, 2] = clean[1, :, 2]
    assert dirty.tobytes() == clean.tobytes()


def test_rows_change_places_alone_where_there_are_no_multipliers() -> None:
    """A permutation of few and of many rows, first ones among themselves and from below."""
    a = random_batch(36, 9, "float64", batch=3)
    a[..., :4] = 0
    moved = np.tile(np.arange(36, dtype=np.int32), (3, 1))
    moved[0, [0, 35, 1, 2]] = [35, 0, 2, 1]
    moved[1, [0, 3, 9]] = [9, 0, 3]
    right = launching.lu_update(a, 4, moved, spec("float64"))
    for item in range(3):
        np.testing.assert_array_equal(right[item], a[item, moved[item], 4:])
