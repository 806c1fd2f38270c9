"""Hypothesis strategies that draw problems, never entries; simplest first, so that failures shrink well."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from batchlas_py.dtypes import DTYPES
from batchlas_py.testing import matgen

from .checks import LAYOUTS, Embedded, embed

INPUT_LAYOUTS = (*LAYOUTS, "broadcast")


@dataclass(frozen=True)
class Case:
    """A batched problem, from which its matrices follow.

    Attributes
    ----------
    n, nrhs, batch : int
    dtype : str
    layout : str
        One of `LAYOUTS`, or ``"broadcast"``: one matrix for the whole batch, with batch stride 0.
    pad : int
        What a padded layout adds to the leading dimension.
    hardness : float
        0 for condition 1, 1 for ``0.1 / eps``, geometric between.
    zero_columns : tuple of (int, int)
        Items and columns, 0-based, that hold zeros alone.
    seed : int
    """

    n: int
    nrhs: int = 1
    batch: int = 1
    dtype: str = "float32"
    layout: str = "F"
    pad: int = 1
    hardness: float = 0.0
    zero_columns: tuple[tuple[int, int], ...] = ()
    seed: int = 0

    def matrices(self) -> np.ndarray:
        """Values of ``a``, shape (batch, n, n)."""
        rng = np.random.default_rng(self.seed)
        cond = float(0.1 / np.finfo(self.dtype).eps) ** self.hardness
        shared = self.layout == "broadcast"
        a = np.empty((self.batch, self.n, self.n), self.dtype)
        for i in range(self.batch):
            a[i] = a[0] if i and shared else matgen.with_condition(self.n, self.n, cond, self.dtype, rng)
        for i, column in self.zero_columns:
            a[slice(None) if shared else i, :, column] = 0
        return a

    def right_hand_sides(self) -> np.ndarray:
        """Values of ``b``, shape (batch, n, nrhs)."""
        rng = np.random.default_rng(self.seed + 1)
        b = matgen.random_matrix(self.batch * self.n, self.nrhs, self.dtype, rng)
        return b.reshape(self.batch, self.n, self.nrhs)

    def embed(self, values: np.ndarray) -> Embedded:
        """A batch of the case in its layout, inside poison."""
        if self.layout != "broadcast":
            return embed(values, self.layout, self.pad)
        one = embed(values[:1])
        one.view = np.broadcast_to(one.view, values.shape)
        return one


@st.composite
def cases(
    draw: st.DrawFn,
    *,
    max_n: int = 33,
    max_nrhs: int = 5,
    max_batch: int = 7,
    layouts: tuple[str, ...] = INPUT_LAYOUTS,
    singular: bool = True,
) -> Case:
    """Cases up to the given sizes; ``singular=False`` plants no zero column."""
    n, batch = draw(st.integers(1, max_n)), draw(st.integers(1, max_batch))
    planted = st.tuples(st.integers(0, batch - 1), st.integers(0, n - 1))
    return Case(
        n,
        draw(st.integers(1, max_nrhs)),
        batch,
        draw(st.sampled_from(DTYPES)),
        draw(st.sampled_from(layouts)),
        draw(st.integers(1, 5)),
        draw(st.sampled_from([0.25, 0.0, 0.5, 1.0])),
        tuple(draw(st.lists(planted, max_size=2 if singular else 0))),
        draw(st.integers(0, 2**16)),
    )
