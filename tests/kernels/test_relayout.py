"""The copy between layouts: all pairs of orientations, whole tiles and parts of them."""

from __future__ import annotations

import numpy as np
import pytest

from batchlas_py.dtypes import DTYPES

from . import inputs
from .inputs import each_dtype
from .launching import SEEDS, relayout

each_pair = pytest.mark.parametrize(
    ("read", "write"), [(r, w) for r in ("F-ld", "C-ld") for w in ("F-ld", "C-ld")]
)


@pytest.mark.parametrize("shape", [(1, 1), (31, 33), (40, 5)], ids=str)
@each_pair
def test_every_element_arrives(read: str, write: str, shape: tuple[int, int]) -> None:
    values = inputs.random_batch(shape[0], "float32", batch=2, columns=shape[1])
    np.testing.assert_array_equal(relayout(values, read, write), values)


@each_pair
def test_on_every_schedule(read: str, write: str) -> None:
    values = inputs.random_batch(3, "complex64", batch=3, columns=2)
    for seed in SEEDS:
        np.testing.assert_array_equal(relayout(values, read, write, seed), values)


@each_dtype
def test_bits_are_kept(dtype: str) -> None:
    values = inputs.random_batch(4, dtype, batch=2, columns=4)
    values[0, 0] = np.nan, -0.0, np.inf, np.finfo(dtype).smallest_subnormal
    assert relayout(values, "C", "F").tobytes() == values.tobytes()


def test_strides_with_gaps() -> None:
    values = inputs.random_batch(5, DTYPES[1], batch=2, columns=3)
    np.testing.assert_array_equal(relayout(values, "sliced", "F"), values)
