"""Assertions that every backend must meet; all take NumPy arrays with the batch in front.

The arrays that a backend works on are embedded in larger buffers of poison (`embed`), so that a store
outside a matrix shows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import get_lapack_funcs

from batchlas_py.testing import oracle, ratios
from batchlas_py.testing.ratios import Ratios

POISON = 0xA5
ORACLE_ITEMS = 6


class Layout(NamedTuple):
    """Where the elements of a batch lie in a larger buffer."""

    column_major: bool
    padded: bool = False
    step: int = 1


LAYOUTS = {
    "F": Layout(column_major=True),
    "C": Layout(column_major=False),
    "F-ld": Layout(column_major=True, padded=True),
    "C-ld": Layout(column_major=False, padded=True),
    "sliced": Layout(column_major=False, step=2),
    "negative": Layout(column_major=False, step=-1),
}


@dataclass
class Embedded:
    """A batch inside a poisoned buffer.

    Attributes
    ----------
    buffer : ndarray
        The whole allocation.
    view : ndarray, shape (batch, m, n)
        The batch, a view of ``buffer``.
    pick : callable
        Takes any array of the buffer's shape to the view; slices and one ``swapaxes`` alone, so that it
        works on device arrays.
    """

    buffer: np.ndarray
    view: np.ndarray
    pick: Callable[[Any], Any]

    def assert_padding_untouched(self) -> None:
        """Every byte outside the view must still be poison."""
        inside = np.zeros(self.buffer.shape, bool)
        self.pick(inside)[...] = True
        raw = self.buffer.view(np.uint8).reshape(*self.buffer.shape, self.buffer.itemsize)
        touched = np.argwhere((raw != POISON).any(axis=-1) & ~inside)
        assert not len(touched), f"{len(touched)} elements outside the matrices changed, first {touched[0]}"


def embed(values: np.ndarray, layout: str = "F", pad: int = 1) -> Embedded:
    """Copy a batch, shape (batch, m, n), into a poisoned buffer; `pad` is what a padded layout adds to ld."""
    column_major, padded, step = LAYOUTS[layout]
    batch, rows, cols = (values.swapaxes(1, 2) if column_major else values).shape

    def pick(buffer: Any) -> Any:
        inner = buffer[1 : batch + 1, : rows * abs(step), : cols * abs(step)][:, ::step, ::step]
        return inner.swapaxes(1, 2) if column_major else inner

    shape = (batch + 2, rows * abs(step) + padded, cols * abs(step) + pad * padded)
    buffer = np.full((*shape, values.itemsize), POISON, np.uint8).view(values.dtype)[..., 0]
    view = pick(buffer)
    view[...] = values
    return Embedded(buffer, view, pick)


def check_getrf(a: np.ndarray, lu: np.ndarray, ipiv: np.ndarray, info: np.ndarray) -> None:
    """Judge factors.

    Parameters
    ----------
    a, lu : ndarray, shape (batch, m, n)
        Matrices as they were, and factors.
    ipiv : ndarray of int32, shape (batch, min(m, n))
    info : ndarray of int32, shape (batch,)
    """
    check_pivot_range(ipiv, a.shape[1])
    check_info_is_first_zero_pivot(lu, info)
    finite = np.flatnonzero(np.isfinite(a).all(axis=(1, 2)))
    judge(ratios.dget01(a[finite], lu[finite], ipiv[finite]), lambda i: _reference_dget01(a[finite[[i]]]))
    for i in _sample(finite):
        expected = oracle.getf2(a[i])
        oracle.assert_pivots_agree(ipiv[i], expected)
        oracle.assert_info_agrees(info[i], expected)


def check_pivot_range(ipiv: np.ndarray, m: int) -> None:
    """Pivots are int32 and name a row that is still to be eliminated, whatever the input."""
    assert ipiv.dtype == np.int32, f"ipiv is {ipiv.dtype}"
    lowest = np.arange(1, ipiv.shape[1] + 1)
    wrong = np.argwhere((ipiv < lowest) | (ipiv > m))
    assert not len(wrong), f"ipiv{wrong[0]} is {ipiv[tuple(wrong[0])]}, beyond {wrong[0][1] + 1} to {m}"


def check_info_is_first_zero_pivot(lu: np.ndarray, info: np.ndarray) -> None:
    """``info`` is int32 and says what the diagonal of U says."""
    assert info.dtype == np.int32, f"info is {info.dtype}"
    for i, factor in enumerate(lu):
        zeros = np.flatnonzero(factor.diagonal() == 0)
        expected = zeros[0] + 1 if len(zeros) else 0
        assert info[i] == expected, f"info[{i}] is {info[i]}, the first zero pivot is {expected}"


def check_getrs(a: np.ndarray, b: np.ndarray, x: np.ndarray, trans: str = "N") -> None:
    """Judge solutions of ``op(A) X = B``: ``a`` regular, (batch, n, n); ``b`` and ``x`` (batch, n, nrhs)."""
    judge(ratios.dget02(a, x, b, trans), lambda i: _reference_dget02(a[[i]], b[[i]], trans))


def check_getri(a: np.ndarray, inv: np.ndarray, info: np.ndarray) -> None:
    """Judge inverses; that of a singular item must be NaN, every element."""
    good = _check_nan_where_singular(a, inv, info)
    judge(ratios.dget03(a[good], inv[good]), lambda i: _reference_dget03(a[good[[i]]]))


def check_gesv(
    a: np.ndarray, b: np.ndarray, x: np.ndarray, lu: np.ndarray, ipiv: np.ndarray, info: np.ndarray
) -> None:
    """Judge factors and solutions; the solution of a singular item must be NaN, every element."""
    check_getrf(a, lu, ipiv, info)
    good = _check_nan_where_singular(a, x, info)
    check_getrs(a[good], b[good], x[good])


def _check_nan_where_singular(a: np.ndarray, result: np.ndarray, info: np.ndarray) -> np.ndarray:
    """Return the items to judge: regular and finite."""
    assert all_nan(result[info > 0]), "a singular item has a result that is not NaN in each part"
    return np.flatnonzero((info == 0) & np.isfinite(a).all(axis=(1, 2)))


def all_nan(values: np.ndarray) -> bool:
    """Whether every element is NaN, a complex one in both parts."""
    parts = (values.real, values.imag) if np.iscomplexobj(values) else (values,)
    return all(bool(np.isnan(part).all()) for part in parts)


def check_neighbours(
    run: Callable[[np.ndarray], Sequence[np.ndarray]], clean: np.ndarray, spoiled: np.ndarray
) -> None:
    """Items that are the same in two batches must get the same bits, whatever the others hold."""
    same = np.array([x.tobytes() == y.tobytes() for x, y in zip(clean, spoiled, strict=True)])
    assert same.any() and not same.all(), "nothing to compare"
    for number, (before, after) in enumerate(zip(run(clean), run(spoiled), strict=True)):
        for i in np.flatnonzero(same):
            assert before[i].tobytes() == after[i].tobytes(), f"result {number} of item {i} changed"


def judge(ratio: Ratios, reference: Callable[[int], Ratios]) -> None:
    """LAPACK's gate, then the tripwire; ``reference(i)`` is LAPACK's own ratio on item ``i``."""
    limit = f"accepted is below {ratios.THRESHOLD:g}"
    assert ratio.passes(), f"ratio {ratio.worst:.3g} of item {ratio.index}, {limit}"
    for i in np.flatnonzero(ratio.values > 1).tolist():
        mine, theirs = Ratios(ratio.values[[i]]), reference(i)
        tripped = f"ratio {mine.worst:.3g} of item {i}, LAPACK has {theirs.worst:.3g}"
        assert ratios.tripwire(mine, theirs), tripped


def _sample(items: np.ndarray) -> np.ndarray:
    """A few items over the batch, first and last among them."""
    if not len(items):
        return items
    chosen = np.linspace(0, len(items) - 1, ORACLE_ITEMS).astype(int)
    return np.asarray(items[np.unique(chosen)])


def _lapack(name: str, a: np.ndarray) -> Any:
    return get_lapack_funcs(name, dtype=a.dtype)


def _reference_dget01(a: np.ndarray) -> Ratios:
    lu, pivots, _ = _lapack("getrf", a)(a[0])
    return ratios.dget01(a, lu[None], pivots[None] + 1)


def _reference_dget02(a: np.ndarray, b: np.ndarray, trans: str) -> Ratios:
    lu, pivots, _ = _lapack("getrf", a)(a[0])
    x = _lapack("getrs", a)(lu, pivots, b[0], trans="NTC".index(trans))[0]
    return ratios.dget02(a, x[None], b, trans)


def _reference_dget03(a: np.ndarray) -> Ratios:
    lu, pivots, _ = _lapack("getrf", a)(a[0])
    return ratios.dget03(a, _lapack("getri", a)(lu, pivots)[0][None])
