"""getri on every backend that has it."""

from __future__ import annotations

import numpy as np
import pytest

from batchlas_py.testing import matgen

from .. import checks
from .calls import assert_same, factors, getri, judge_getri, random_batch
from .devices import SOLVING, Device, each_dtype, each_order, on, on_each_layout, on_each_size


@on_each_size("getri", SOLVING)
@each_order
def test_every_order(device: Device, n: int, dtype: str, layout: str) -> None:
    a = random_batch(min(device.batch(n), 33), n, n, dtype, seed=n)
    inv, info = getri(device, *factors(a), layout)
    judge_getri(a, inv, info)
    assert info.dtype == np.int32
    assert not info.any()


@on_each_layout(SOLVING)
@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_every_layout(device: Device, layout: str, dtype: str) -> None:
    a = random_batch(3, 7, 7, dtype)
    inv, info = getri(device, *factors(a), layout)
    judge_getri(a, inv, info)
    assert_same(device, [inv], getri(device, *factors(a))[:1])


@on(*SOLVING)
@each_dtype
def test_lapack_types(device: Device, dtype: str) -> None:
    """The inverse of a singular item is NaN, the others' are right, and info says which is which."""
    n, rng = 6, np.random.default_rng(3)
    types = [imat for imat in matgen.DGE_TYPES if imat < 10]
    a = np.array([matgen.dge(imat, n, n, dtype, rng) for imat in types])
    inv, info = getri(device, *factors(a))
    judge_getri(a, inv, info)
    np.testing.assert_array_equal(info, [matgen.dge_info(imat, n, n) for imat in types])


@on(*SOLVING)
@pytest.mark.parametrize(("lu", "inverse"), [("F", "F-ld"), ("F-ld", "C"), ("sliced", "F"), ("C", "F-ld")])
def test_every_operand_has_a_layout_of_its_own(device: Device, lu: str, inverse: str) -> None:
    a = random_batch(3, 5, 5, "float64")
    layouts = {"lu": lu, "inv": inverse}
    judge_getri(a, *getri(device, *factors(a), layouts))


@on(*SOLVING)
@each_dtype
def test_exact_inverse(device: Device, dtype: str) -> None:
    """Twice the identity, its rows rotated: nothing rounds, and an unchanged input would show."""
    a = (2 * np.eye(4)[[3, 0, 1, 2]])[None].astype(dtype)
    inv, info = getri(device, *factors(a))
    np.testing.assert_array_equal(inv[0], 0.5 * np.eye(4)[[1, 2, 3, 0]])
    assert info[0] == 0


@on(*SOLVING)
def test_a_singular_item_leaves_its_neighbours_alone(device: Device) -> None:
    clean = random_batch(4, 5, 5, "float64")
    spoiled = clean.copy()
    spoiled[2, :, 1] = 0
    checks.check_neighbours(lambda a: getri(device, *factors(a)), clean, spoiled)
