"""What every shipped kernel needs of each architecture: registers within its launch bound, no local memory.

A stack frame or a spill shows in no result, only in time. Nearly all of the time here goes into lowering, so
kernels that differ in the launch bound alone are lowered once, and on each architecture only the tightest are
looked at. A kernel is left out where another one bounds it: one that differs only in having more columns or
right-hand sides in registers, and whose launch bound there is no looser. All architectures that have a kernel
among their tightest assemble it; kernels without register columns are tightest everywhere. What `fitting` has
on record is not compiled again, but for a sample.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from batchlas_py.ops.catalogue import catalogue
from batchlas_py.problem import RECORDED

from . import fitting
from .fitting import Code, misfits, shipped, tightest

RECORDED_LINES = fitting.recorded()


def new() -> list[Code]:
    """The codes that are not on record for this compiler, and the sample."""
    unknown = [code for line, code in fitting.lines().items() if line not in RECORDED_LINES]
    return list({str(code): code for code in (*unknown, *fitting.sample())}.values())


@pytest.mark.parametrize("code", new(), ids=str)
def test_every_kernel_lives_in_registers(code: Code) -> None:
    """Assembled for every architecture that has it, the code needs no local memory and fits its bound."""
    assert not list(misfits(code))


def test_the_record_is_complete_and_holds_nothing_else() -> None:
    """``python -m tests.kernels.fitting`` brings it up to date."""
    assert {line[:2] for line in RECORDED_LINES} == {line[:2] for line in fitting.lines()}


def test_another_source_or_compiler_is_not_on_record(monkeypatch: pytest.MonkeyPatch) -> None:
    line, code = next(iter(fitting.lines().items()))
    assert fitting._line(replace(code, bounds=dict.fromkeys(code.bounds, 7))).digest != line.digest
    fitting.tools.cache_clear()
    with monkeypatch.context() as patch:
        patch.setattr(fitting, "toolchain", lambda: (("numba-cuda", "0"),))
        assert fitting._line(code).tools != line.tools
    fitting.tools.cache_clear()


def test_every_kernel_is_listed() -> None:
    every = {source for arch in RECORDED for family in catalogue(arch).values() for source in family}
    assert {code.source(arch) for code in shipped() for arch in code.bounds} == every


def test_what_is_left_out_is_bounded_by_what_is_not() -> None:
    listed = {code.any_bound: code for code in tightest()}
    for code in shipped():
        for arch in code.bounds:
            here = code.any_bound in listed and arch in listed[code.any_bound].bounds
            assert here or any(
                code.family() == other.family() and code.is_bounded_by(other, arch)
                for other in listed.values()
            ), f"{code} on {arch}"


def test_a_launch_bound_that_does_not_fit_is_noticed() -> None:
    code = next(code for code in shipped() if str(code) == "getrf_tiny-complex64-16-16-False-0")
    (fault,) = misfits(replace(code, bounds={"sm_90": 32}))
    assert fault.startswith("sm_90: ") and "spill" in fault
