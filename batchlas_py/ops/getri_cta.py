"""The family cta of getri: permutation and both triangles in one launch, whatever the order."""

from __future__ import annotations

from typing import Final

import numpy as np

from ..family import Call, Family
from ..kernels.block_specs import WARP
from ..kernels.inverse_specs import GetriSpec, getri_spec
from ..runtime.launch import kernel
from ..runtime.registry import KernelSource
from .common import kernel_matrix, native

__all__ = ["FAMILY"]

int32 = np.int32


def _threads(spec: GetriSpec, n: int) -> int:
    """Threads of a block: as many matrices as fit, or a thread a column."""
    return spec.threads if spec.packed else min(spec.threads, -(-n // WARP) * WARP)


def _launch(call: Call) -> None:
    problem, ops = call.problem, call.operands
    spec, inverse = getri_spec(problem.dtype, problem.n, call.device.arch), ops["inv"]
    threads = _threads(spec, problem.n)
    groups = 1 if spec.packed else -(-problem.n // threads)
    blocks = -(-problem.batch // spec.members(threads)) * groups
    by_rows = abs(inverse.row_stride) <= abs(inverse.col_stride)
    kernel(KernelSource("getri_cta", spec), call.device.ordinal).launch(
        call.stream, blocks, *kernel_matrix(ops["lu"]), ops["ipiv"].ptr, *kernel_matrix(inverse),
        ops["info"].ptr,        *map(int32, (problem.n, by_rows, groups)), problem.batch,
        threads=threads, shared=spec.shared_bytes(problem.n, threads),
    )  # fmt: skip


FAMILY: Final = Family("getri", "cta", native, _launch)
