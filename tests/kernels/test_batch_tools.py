"""The helper kernels around vendor calls."""

from __future__ import annotations

import numpy as np
import pytest

from . import inputs
from .inputs import each_dtype
from .launching import invalidated, pointers


@pytest.mark.parametrize("batch", [1, 256, 300])
def test_pointers_step_through_the_batch(batch: int) -> None:
    first, stride = 2**46 + 512, 8 * 33
    np.testing.assert_array_equal(pointers(first, stride, batch), first + stride * np.arange(batch))


def test_pointers_step_back_for_a_reversed_batch() -> None:
    np.testing.assert_array_equal(pointers(2**40, -64, 3), 2**40 - 64 * np.arange(3))


@pytest.mark.parametrize("layout", ["F-ld", "C-ld"])
@each_dtype
def test_failed_items_alone_become_nan(dtype: str, layout: str) -> None:
    x = inputs.random_batch(5, dtype, batch=6, columns=3)
    info = np.array([0, 1, 0, 0, 5, 0], np.int32)
    result = invalidated(x, info, layout)
    assert np.isnan(result[info > 0]).all()
    assert result[info == 0].tobytes() == x[info == 0].tobytes()
