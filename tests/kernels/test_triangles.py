"""Small kernels on triangles: a factored block to its place, and factors alone."""

from __future__ import annotations

import numpy as np
import pytest

from batchlas_py.kernels.cholesky_specs import TriangleSpec

from ..checks import embed
from .cholesky import lower_of
from .inputs import each_dtype
from .launching import PAD, launch, matrices

each_triangle = pytest.mark.parametrize("uplo", ["L", "U"])


@each_triangle
@each_dtype
def test_a_block_comes_to_its_place_and_its_info_counts_from_there(dtype: str, uplo: str) -> None:
    n = 7
    rng = np.random.default_rng(1)
    block, c = (rng.standard_normal((4, n, n)).astype(dtype) for _ in range(2))
    source, target = embed(block, "F-ld", PAD), embed(c, "C-ld", PAD)
    part, info = np.array([0, 3, 0, 2], np.int32), np.array([0, 0, 5, 5], np.int32)
    launch("triangles", TriangleSpec("merge", dtype), 4, *matrices(source), *lower_of(target, uplo), part,
           info, 64, n)  # fmt: skip
    target.assert_padding_untouched()
    np.testing.assert_array_equal(info, [0, 67, 5, 5])
    half = block if uplo == "L" else block.swapaxes(1, 2)
    mine = np.tril(np.ones((n, n), bool)) if uplo == "L" else np.triu(np.ones((n, n), bool))
    np.testing.assert_array_equal(target.view, np.where(mine, half, c))


@each_triangle
@each_dtype
def test_a_factor_alone_and_nan_where_it_failed(dtype: str, uplo: str) -> None:
    c = np.random.default_rng(1).standard_normal((2, 6, 6)).astype(dtype)
    target = embed(c, "F-ld", PAD)
    launch(
        "triangles", TriangleSpec("clean", dtype), 2, *lower_of(target, uplo), np.array([0, 2], np.int32), 6
    )
    target.assert_padding_untouched()
    np.testing.assert_array_equal(target.view[0], np.tril(c[0]) if uplo == "L" else np.triu(c[0]))
    assert np.isnan(target.view[1].real).all() and (np.isnan(target.view[1].imag).all() or dtype[0] == "f")
