"""What every shipped kernel needs of each architecture: registers within its launch bound, no local memory.

A stack frame or a spill shows in no result, only in time. Nearly all of the time here goes into lowering, so
kernels that differ in the launch bound alone are lowered once, and on each architecture only the tightest are
looked at. A kernel is left out where another one bounds it: one that differs only in having more columns or
right-hand sides in registers, and whose launch bound there is no looser. All architectures that have a kernel
among their tightest assemble it; kernels without register columns are tightest everywhere.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import asdict, dataclass, replace

import pytest

from batchlas_py.capability import sm89_max_work_group
from batchlas_py.ops.catalogue import catalogue
from batchlas_py.problem import RECORDED
from batchlas_py.runtime.compiler import assemble, lower
from batchlas_py.runtime.registry import KernelSource

LAUNCH = ("slack", "min_blocks", "threads")
GROWING = ("columns", "rhs")  # what takes registers


@dataclass(frozen=True)
class Code:
    """Kernels of one source that differ in nothing but the launch bound, by architecture."""

    any_bound: KernelSource
    bounds: dict[str, int]

    def __str__(self) -> str:
        fields = asdict(self.any_bound.spec)
        return "-".join([self.any_bound.name, *(str(fields[key]) for key in fields if key not in LAUNCH)])

    def family(self) -> tuple[object, ...]:
        """What it shares with all that bound it, and that it bounds."""
        fields = asdict(self.any_bound.spec)
        return self.any_bound.name, *((key, fields[key]) for key in fields if key not in GROWING)

    def is_bounded_by(self, other: Code, arch: str) -> bool:
        """Whether another code of the family needs no fewer registers, and is left no more."""
        if other is self or arch not in other.bounds or other.bounds[arch] < self.bounds[arch]:
            return False
        mine, theirs = self.any_bound.spec, other.any_bound.spec
        return all(getattr(theirs, key, 0) >= getattr(mine, key, 0) for key in GROWING)

    def source(self, arch: str) -> KernelSource:
        """The kernel that the package ships for an architecture."""
        return _bounded(self.any_bound, self.bounds[arch])


def _bounded(source: KernelSource, blocks: int) -> KernelSource:
    return replace(source, spec=replace(source.spec, min_blocks=blocks))


def shipped() -> list[Code]:
    """All codes, the largest first, so that parallel workers end together."""
    found: dict[KernelSource, dict[str, int]] = defaultdict(dict)
    for arch in RECORDED:
        for source in (source for family in catalogue(arch).values() for source in family):
            found[_bounded(source, 1)][arch] = source.spec.min_blocks
    codes = [Code(source, bounds) for source, bounds in found.items()]
    return sorted(codes, key=lambda code: -getattr(code.any_bound.spec, "columns", 0))


def tightest() -> list[Code]:
    """The codes that no other one bounds, with the architectures on which that is so."""
    families: dict[tuple[object, ...], list[Code]] = defaultdict(list)
    codes = shipped()
    for code in codes:
        families[code.family()].append(code)
    bounds = (
        {
            arch: blocks
            for arch, blocks in code.bounds.items()
            if not any(code.is_bounded_by(other, arch) for other in families[code.family()])
        }
        for code in codes
    )
    return [replace(code, bounds=own) for code, own in zip(codes, bounds, strict=True) if own]


@pytest.mark.parametrize("code", tightest(), ids=str)
def test_every_kernel_lives_in_registers(code: Code) -> None:
    """Assembled for every architecture that has it, the code needs no local memory and fits its bound."""
    ptx = lower(code.any_bound)
    for arch, blocks in code.bounds.items():
        need = assemble(ptx, arch, blocks).resources
        local = need.stack_frame, need.spill_stores, need.spill_loads
        assert local == (0, 0, 0), f"{arch}: {local} bytes of stack frame, spill stores and spill loads"
        threads = blocks * code.any_bound.spec.threads
        fit = sm89_max_work_group(need.registers)
        assert threads <= fit, f"{arch}: {need.registers} registers leave room for {fit} threads of {threads}"


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
    with pytest.raises(AssertionError, match=r"sm_90: .* spill"):
        test_every_kernel_lives_in_registers(replace(code, bounds={"sm_90": 32}))
