"""Row interchanges: three kernels, the list in either direction, entries that are no rows."""

from __future__ import annotations

import numpy as np
import pytest

from batchlas_py.kernels.block_specs import LaswpSpec, ZeroPivotSpec
from batchlas_py.testing import matgen

from ..checks import embed
from . import launching
from .inputs import each_dtype
from .launching import PAD, SEEDS, blank, launch, matrices

KINDS = ("walk", "gather")
each_kind = pytest.mark.parametrize("kind", KINDS)
each_direction = pytest.mark.parametrize("backward", [False, True], ids=["forward", "backward"])


def random_batch(m: int, n: int, dtype: str, batch: int = 2) -> np.ndarray:
    flat = matgen.random_matrix(batch * m, n, dtype, np.random.default_rng(100 * m + n))
    return flat.reshape(batch, m, n)


def random_list(m: int, count: int, batch: int = 2, first: int = 0, *, lapack: bool = False) -> np.ndarray:
    """1-based rows, any of the matrix's or, as getrf gives them, none above the entry's own."""
    rng = np.random.default_rng(m + count)
    least = np.arange(first, first + count) if lapack else 0
    return rng.integers(least, m, (batch, count)).astype(np.int32) + 1


def expected(
    a: np.ndarray, ipiv: np.ndarray, first: int = 0, *, backward: bool = False, skip: int = 0
) -> np.ndarray:
    """One interchange after another; entries that are no rows are left out."""
    x, m, count = a.copy(), a.shape[1], ipiv.shape[1]
    for item in range(len(x)):
        for column in range(a.shape[2]):
            entries = range((column // skip + 1) * skip if skip else 0, count)
            for e in reversed(entries) if backward else entries:
                own, other = first + e, ipiv[item, e] - 1
                if 0 <= other < m:
                    x[item, [own, other], column] = x[item, [other, own], column]
    return x


def swapped(
    a: np.ndarray,
    ipiv: np.ndarray,
    kind: str,
    layout: str = "F-ld",
    to: str = "",
    *,
    first: int = 0,
    backward: bool = False,
    skip: int = 0,
    tile: int = 4,
    chunk: int = 2,
    threads: int = 64,
    seed: int = 0,
) -> np.ndarray:
    """Interchange rows in place, or into a batch with the layout ``to``."""
    batch, m, n = a.shape
    spec, source = LaswpSpec(kind, a.dtype.name), embed(a, layout, PAD)
    target = blank(a.shape, a.dtype, to) if to else source
    count = ipiv.shape[1]
    pivots = embed(ipiv[..., None], "F-ld", PAD)
    entries, _, _, stride = matrices(pivots)
    common = (
        *matrices(source, written=not to), *matrices(target, written=True), entries, stride,
        first, count, skip, backward, bool(to), m, n,
    )  # fmt: skip
    if kind == "walk":
        launch("laswp", spec, -(-batch * n // spec.threads), *common, batch, seed=seed)
    else:
        most, tiles = m if to else min(m, 2 * count), -(-n // tile)
        launch(
            "laswp", spec, batch * tiles, *common, most, tile, chunk, tiles, seed=seed, threads=threads,
            shared=spec.shared_bytes(m, most, chunk),
        )  # fmt: skip
    launching._assert_kept(a, source, target)
    return target.view


def assert_same_bits(one: np.ndarray, other: np.ndarray) -> None:
    assert one.tobytes() == other.tobytes()


@each_kind
@each_direction
@each_dtype
def test_the_list_on_every_schedule(dtype: str, backward: bool, kind: str) -> None:
    a, ipiv = random_batch(9, 5, dtype), random_list(9, 6)
    for seed in SEEDS:
        x = swapped(a, ipiv, kind, backward=backward, seed=seed)
        assert_same_bits(x, expected(a, ipiv, backward=backward))


@each_direction
@pytest.mark.parametrize(
    ("m", "count", "threads"),
    [(31, 31, 32), (32, 32, 64), (33, 33, 64), (65, 65, 64), (70, 70, 32), (130, 100, 64)],
)
@pytest.mark.parametrize("lapack", [False, True])
def test_long_lists(m: int, count: int, threads: int, lapack: bool, backward: bool) -> None:
    """Groups of 32 entries, their order, and lists with rows that many entries name."""
    a, ipiv = random_batch(m, 2, "float32", 1), random_list(m, count, 1, lapack=lapack)
    ipiv[0, ::5] = m
    x = swapped(a, ipiv, "gather", threads=threads, backward=backward)
    assert_same_bits(x, expected(a, ipiv, backward=backward))


@each_kind
@each_direction
@pytest.mark.parametrize("to", ["F-ld", "C-ld"])
@pytest.mark.parametrize("layout", ["F-ld", "C-ld", "sliced"])
def test_from_one_batch_to_another(layout: str, to: str, backward: bool, kind: str) -> None:
    a, ipiv = random_batch(7, 5, "complex64"), random_list(7, 4)
    assert_same_bits(
        swapped(a, ipiv, kind, layout, to, backward=backward), expected(a, ipiv, backward=backward)
    )


@each_kind
@pytest.mark.parametrize("layout", ["F", "C", "sliced", "C-ld"])
def test_in_place_in_every_layout(layout: str, kind: str) -> None:
    a, ipiv = random_batch(8, 7, "float64"), random_list(8, 8)
    assert_same_bits(swapped(a, ipiv, kind, layout), expected(a, ipiv))


@each_kind
@each_direction
def test_a_list_of_a_panel(kind: str, backward: bool) -> None:
    """Entries count from the panel's first row, their values from the matrix's."""
    a, ipiv = random_batch(40, 3, "float32"), random_list(40, 4, first=5, lapack=True)
    x = swapped(a, ipiv, kind, first=5, backward=backward)
    assert_same_bits(x, expected(a, ipiv, 5, backward=backward))


@each_kind
def test_rows_that_do_not_move_are_not_written(kind: str) -> None:
    """They belong to others meanwhile: NaN with a payload would be lost on the way through a register."""
    a = random_batch(6, 2, "float32")
    a[:, 3:] = np.array(0x7FA00001, np.uint32).view(np.float32)
    ipiv = np.array([[2, 2, 3], [3, 3, 3]], np.int32)
    assert_same_bits(swapped(a, ipiv, kind), expected(a, ipiv))


@each_kind
@pytest.mark.parametrize("wild", [0, -1, 9, -(2**31), 2**31 - 1])
def test_an_entry_that_is_no_row_is_not_followed(kind: str, wild: int) -> None:
    a, ipiv = random_batch(8, 3, "float64"), random_list(8, 6)
    ipiv[0, 2] = ipiv[1, 5] = wild
    assert_same_bits(swapped(a, ipiv, kind), expected(a, ipiv))


@each_kind
@pytest.mark.parametrize(("skip", "tile"), [(2, 2), (4, 2), (4, 4), (8, 4)])
def test_each_block_of_columns_leaves_out_its_own_entries(kind: str, skip: int, tile: int) -> None:
    a, ipiv = random_batch(11, 11, "float32"), random_list(11, 11, lapack=True)
    x = swapped(a, ipiv, kind, skip=skip, tile=tile, chunk=1)
    assert_same_bits(x, expected(a, ipiv, skip=skip))


def permutation(ipiv: np.ndarray, n: int, layout: str, dtype: str = "float32", seed: int = 0) -> np.ndarray:
    """The matrix that interchanges rows as the list does."""
    batch = len(ipiv)
    spec, target = LaswpSpec("identity", dtype), blank((batch, n, n), dtype, layout)
    blocks, entries = -(-batch * n // spec.threads), ipiv.reshape(-1)
    launch("laswp", spec, blocks, *matrices(target, written=True), entries, n, n, batch, seed=seed)
    target.assert_padding_untouched()
    return target.view


@pytest.mark.parametrize("layout", ["F-ld", "C-ld"])
@each_dtype
def test_the_permutation_matrix(dtype: str, layout: str) -> None:
    n, ipiv = 7, random_list(7, 7, 3)
    ipiv[2, 3] = 0
    eye = np.broadcast_to(np.eye(n, dtype=dtype), (3, n, n))
    assert_same_bits(permutation(ipiv, n, layout, dtype), expected(eye, ipiv))


@pytest.mark.parametrize("n", [1, 5, 33])
@each_dtype
def test_the_first_zero_pivot(dtype: str, n: int) -> None:
    lu = random_batch(n, n, dtype, 6)
    zeros: list[tuple[int, ...]] = [(), (0,), (n - 1,), (n // 2, n - 1), (), (0, n // 2)]
    for item, places in enumerate(zeros):
        lu[item, places, places] = 0
    lu[4, 0, 0] = np.nan
    spec, info = ZeroPivotSpec(dtype), np.full(6, -7, np.int32)
    launch("zero_pivots", spec, 2, *matrices(embed(lu, "C-ld", PAD)), info, n, 6)
    np.testing.assert_array_equal(info, [min(places, default=-1) + 1 for places in zeros])
