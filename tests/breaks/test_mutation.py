"""The mechanism behind the breaks: exact edits, seen by all kernels, gone afterwards."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from batchlas_py.kernels.choice import tiny_spec
from batchlas_py.runtime.registry import KernelSource

from .mutation import KERNELS, Edit, edited, mutated

GETRF = KernelSource("getrf_tiny", tiny_spec("float32", 4, staged=False))
SLOTS = Edit("STATE = 5\n", "STATE = 6\n")


def loaded() -> dict[str, Any]:
    GETRF.module()
    return {name: module for name, module in sys.modules.items() if name.startswith(KERNELS)}


def test_an_edit_must_fit_once() -> None:
    assert edited("a b", [Edit("b", "c"), Edit("a c", "d")]) == "d"
    with pytest.raises(ValueError, match="'b' is in the source 0 times"):
        edited("a", [Edit("b", "c")])
    with pytest.raises(ValueError, match="'a' is in the source 2 times"):
        edited("aa", [Edit("a", "c")])


def test_modules_that_import_the_mutated_one_see_it() -> None:
    assert GETRF.module().STATE == 5
    with mutated("device.lu_rows", [SLOTS]):
        assert GETRF.module().STATE == 6
    assert GETRF.module().STATE == 5


def test_everything_is_as_before_even_after_an_exception() -> None:
    before = loaded()
    with pytest.raises(KeyError), mutated("device.lu_rows", [SLOTS]):
        KernelSource("relayout", None).module()
        raise KeyError
    assert loaded() == before
    assert sys.modules[KERNELS].device.lu_rows is before[f"{KERNELS}.device.lu_rows"]


def test_no_file_changes() -> None:
    path = Path(str(loaded()[f"{KERNELS}.device.lu_rows"].__file__))
    text = path.read_bytes()
    with mutated("device.lu_rows", [SLOTS]):
        GETRF.module()
    assert path.read_bytes() == text


@pytest.mark.parametrize("name", ["specs", "device.intrinsics", "device.pointers"])
def test_modules_that_others_hold_on_to_cannot_be_mutated(name: str) -> None:
    with pytest.raises(ValueError, match=name), mutated(name, []):
        pass
