"""Which kernels to look at for the registers they need, and a record of those that were found to fit.

Compiling them all takes long. The record, ``fits.csv``, names by hash of source and compiler what has been
compiled and fits; only what it does not name is compiled again. ``python -m tests.kernels.fitting`` compiles
what is new and writes the record.
"""

from __future__ import annotations

import csv
import functools
import hashlib
import sys
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import NamedTuple

from batchlas_py.capability import sm89_max_work_group
from batchlas_py.ops.catalogue import catalogue
from batchlas_py.problem import RECORDED
from batchlas_py.runtime.compiler import assemble, lower, toolchain
from batchlas_py.runtime.registry import KernelSource

__all__ = ["Code", "Line", "lines", "misfits", "recorded", "sample", "shipped", "tightest", "tools"]

RECORD = Path(__file__).with_name("fits.csv")
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


def misfits(code: Code) -> Iterator[str]:
    """What is wrong with the code, assembled for every architecture that has it."""
    ptx = lower(code.any_bound)
    for arch, blocks in code.bounds.items():
        need = assemble(ptx, arch, blocks).resources
        local = need.stack_frame, need.spill_stores, need.spill_loads
        if local != (0, 0, 0):
            yield f"{arch}: {local} bytes of stack frame, spill stores and spill loads"
        threads, fit = blocks * code.any_bound.spec.threads, sm89_max_work_group(need.registers)
        if threads > fit:
            yield f"{arch}: {need.registers} registers leave room for {fit} threads of {threads}"


class Line(NamedTuple):
    """A code that fits: its hash on all its architectures, and that of the compiler."""

    code: str
    digest: str
    tools: str


@functools.cache
def tools() -> str:
    """Hash of the compiler."""
    return hashlib.sha256(repr(toolchain()).encode()).hexdigest()[:8]


def _line(code: Code) -> Line:
    parts = [f"{arch} {code.source(arch).digest()}" for arch in sorted(code.bounds)]
    return Line(str(code), hashlib.sha256(repr(parts).encode()).hexdigest()[:16], tools())


def lines() -> dict[Line, Code]:
    """What a complete record holds."""
    return {_line(code): code for code in tightest()}


def recorded() -> set[Line]:
    """What the record holds."""
    with RECORD.open(encoding="utf-8", newline="") as file:
        return {Line(*row) for row in csv.reader(file)}


def sample() -> list[Code]:
    """The smallest code of each kernel, which is looked at in any case."""
    return list({code.any_bound.name: code for code in tightest()}.values())


def _found(line: Line, code: Code) -> tuple[Line, list[str]]:
    return line, list(misfits(code))


def main() -> None:
    """Compile what the record lacks, and write it anew; complain of what does not fit."""
    every, known = lines(), recorded() if RECORD.exists() else set()
    new = [line for line in every if line not in known]
    with ProcessPoolExecutor() as pool:
        found = dict(pool.map(_found, new, [every[line] for line in new]))
    bad = {line: faults for line, faults in found.items() if faults}
    with RECORD.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(sorted(set(every) - set(bad)))
    print(f"{len(new)} compiled, {len(bad)} do not fit")
    sys.exit("\n".join(f"{line.code}: {', '.join(faults)}" for line, faults in bad.items()))


if __name__ == "__main__":
    main()
