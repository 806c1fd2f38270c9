"""Sweep the launch bound of the tiny kernels: ``kernels/launch_bounds.py`` rests on this.

``python -m bench.launch_bounds build FOLDER sm_90`` needs no GPU: each kernel is lowered once and assembled
for each bound; bounds that give the same registers, or spills, are dropped. ``python -m bench.launch_bounds
time FOLDER OUT.csv`` runs on a GPU host with CuPy: variants are timed out of place, interleaved, and must
agree to the last bit.
"""

from __future__ import annotations

import csv
import lzma
import os
import pickle
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from batchlas_py.kernels.choice import tiny_specs
from batchlas_py.kernels.specs import TinySpec
from batchlas_py.runtime.compiler import Compiled, assemble, lower
from batchlas_py.runtime.device import describe_device
from batchlas_py.runtime.launch import Kernel
from batchlas_py.runtime.registry import KernelSource

BOUNDS = (1, 6, 8, 10, 12, 14, 16, 18, 20, 24, 32)
ROUNDS = 9
BATCH = 131072
COLUMNS = (
    "op",
    "dtype",
    "columns",
    "staged",
    "rhs",
    "min_blocks",
    "registers",
    "median_us",
    "rel_sd",
    "best",
    "device",
)


@dataclass(frozen=True)
class Variant:
    """One kernel under one bound."""

    op: str
    spec: TinySpec
    code: Compiled


def variants(op: str, spec: TinySpec, arch: str) -> list[Variant]:
    """Assemble one kernel under every bound that changes its registers and does not spill."""
    kept: dict[int, Variant] = {}
    ptx = lower(KernelSource(f"{op}_tiny", spec))
    for bound in BOUNDS:
        code = assemble(ptx, arch, bound)
        need = code.resources
        if need.stack_frame == need.spill_stores == 0:
            kept.setdefault(need.registers, Variant(op, replace(spec, min_blocks=bound), code))
    return list(kept.values())


class Bed:
    """Device arrays for one kernel, and calls of its variants."""

    def __init__(self, spec: TinySpec) -> None:
        import cupy

        self.n, self.nrhs, self.cupy = spec.columns, spec.rhs, cupy
        self.batch = BATCH // 2 if spec.dtype == "complex128" else BATCH
        self.a, self.b = self._random(spec.dtype, self.n), self._random(spec.dtype, max(self.nrhs, 1))
        self.lu, self.x = cupy.empty_like(self.a), cupy.empty_like(self.b)
        self.ipiv = cupy.empty((self.batch, self.n), np.int32)
        self.info = cupy.empty(self.batch, np.int32)
        self.strides = (self.n, 1) if spec.staged else (1, self.n)

    def _random(self, dtype: str, columns: int) -> Any:
        generator = self.cupy.random.default_rng(0)
        shape = (self.batch, self.n * columns)
        real = np.dtype(dtype).type(0).real.dtype
        values = generator.random(shape, real) - real.type(0.5)
        if np.dtype(dtype).kind == "c":
            values = values + np.dtype(dtype).type(1j) * (generator.random(shape, real) - real.type(0.5))
        return values

    def arguments(self) -> list[Any]:
        """Arguments of the kernel of either op."""
        int32 = np.int32

        def matrix(array: Any, row: int, col: int) -> tuple[Any, ...]:
            return array.data.ptr, int32(row), int32(col), array.shape[1]

        a, lu = matrix(self.a, *self.strides), matrix(self.lu, *self.strides)
        tail = (self.ipiv.data.ptr, self.info.data.ptr, int32(self.n))
        if not self.nrhs:
            return [*a, *lu, *tail, self.batch]
        b, x = matrix(self.b, 1, self.n), matrix(self.x, 1, self.n)
        return [*a, *b, *x, *lu, *tail, int32(self.nrhs), self.batch]

    def results(self) -> bytes:
        """What the first and last items hold."""
        arrays = (self.lu, self.ipiv, self.info, self.x) if self.nrhs else (self.lu, self.ipiv, self.info)
        return b"".join(self.cupy.asnumpy(array[edge]).tobytes() for array in arrays for edge in (0, -1))


def load(variant: Variant) -> Kernel:
    """Put a variant on the device."""
    from cuda.core import ObjectCode

    module = ObjectCode.from_cubin(variant.code.cubin)
    return Kernel(module.get_kernel(variant.code.entry), variant.spec.threads, 0)


def times(bed: Bed, kernels: list[Kernel], per_block: int) -> np.ndarray:
    """Microseconds, shape (rounds, kernels), interleaved."""
    cupy, arguments, blocks = bed.cupy, bed.arguments(), -(-bed.batch // per_block)
    found = np.empty((ROUNDS + 1, len(kernels)))
    for round_ in range(ROUNDS + 1):
        for column, kernel in enumerate(kernels):
            start, end = cupy.cuda.Event(), cupy.cuda.Event()
            start.record()
            kernel.launch(0, blocks, *arguments)
            end.record()
            end.synchronize()
            found[round_, column] = 1e3 * cupy.cuda.get_elapsed_time(start, end)
    return found[1:]


def check_agreement(bed: Bed, kernels: list[Kernel], per_block: int) -> None:
    """Every variant computes the same bits, and no pivot is zero."""
    seen = set()
    for kernel in kernels:
        bed.lu.fill(np.nan)
        kernel.launch(0, -(-bed.batch // per_block), *bed.arguments())
        seen.add(bed.results())
        if int(abs(bed.info).max()):
            raise AssertionError("a random matrix has a zero pivot")
    if len(seen) != 1:
        raise AssertionError("variants of one kernel disagree")


def chosen(op: str, spec: TinySpec) -> bool:
    """Every size of the direct kernels with few right-hand sides; a sample of the others."""
    usual = not spec.staged and spec.rhs <= 1
    return usual or (spec.columns % 8 == 0 and spec.rhs != 2 and (spec.rhs == 0 or not spec.staged))


def build(folder: str, arch: str) -> None:
    """Assemble the variants of every chosen kernel, one file each."""
    jobs = [(op, spec) for op in ("getrf", "gesv") for spec in tiny_specs(op) if chosen(op, spec)]
    Path(folder).mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn")) as pool:
        waiting = [pool.submit(variants, op, spec, arch) for op, spec in jobs]
        for number, job in enumerate(waiting):
            (Path(folder) / f"{number:03}.xz").write_bytes(lzma.compress(pickle.dumps(job.result())))


def time_all(folder: str, out: str) -> None:
    """Time what `build` left; write a CSV row for each kernel and bound."""
    device = describe_device()
    with open(out, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for path in sorted(Path(folder).glob("*.xz")):
            found: list[Variant] = pickle.loads(lzma.decompress(path.read_bytes()))
            writer.writerows([*row, device.name] for row in rows(found))
            file.flush()


def rows(found: list[Variant]) -> Iterator[list[Any]]:
    """Rows of the variants of one kernel."""
    spec = found[0].spec
    bed, kernels = Bed(spec), [load(variant) for variant in found]
    check_agreement(bed, kernels, spec.per_block)
    table = times(bed, kernels, spec.per_block)
    median = np.median(table, axis=0)
    for variant, middle, spread in zip(found, median, table.std(axis=0), strict=True):
        facts = asdict(variant.spec)
        yield [
            variant.op,
            *(facts[key] for key in ("dtype", "columns", "staged", "rhs", "min_blocks")),
            variant.code.resources.registers,
            f"{middle:.2f}",
            f"{spread / middle:.4f}",
            int(middle == median.min()),
        ]


if __name__ == "__main__":
    {"build": build, "time": time_all}[sys.argv[1]](*sys.argv[2:])
