"""What is asked (`Problem`) and what it runs on (`DeviceInfo`): plain values, no GPU needed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Literal

Layout = Literal["F", "C", "strided"]
Backend = Literal["cuda", "host"]


@dataclass(frozen=True, slots=True)
class Problem:
    """One batched LAPACK call, without its data.

    Attributes
    ----------
    op : str
        LAPACK name without the type letter: ``"getrf"``, ``"gesv"``, ...
    dtype : str
        ``"float32"``, ``"float64"``, ``"complex64"`` or ``"complex128"``.
    m, n : int
        Rows and columns of one matrix.
    batch : int
        Number of matrices.
    nrhs : int
        Columns of the right-hand side; 0 where the op has none.
    k : int
        Inner extent of a product, or number of interchanges; 0 where the op has none.
    uplo, trans, side, diag : str
        LAPACK characters, ``""`` where the op has none; a product has one of ``trans`` for each factor.
    alpha, beta : complex
        Factors of a product or solve, as BLAS has them.
    layout : {"F", "C", "strided"}
        ``"F"``: unit stride down a column. ``"C"``: unit stride along a row. ``"strided"``: neither.
    """

    op: str
    dtype: str
    m: int
    n: int
    batch: int
    nrhs: int = 0
    uplo: str = ""
    trans: str = ""
    layout: Layout = "F"
    k: int = 0
    side: str = ""
    diag: str = ""
    alpha: complex = 1
    beta: complex = 0

    def child(self, op: str, **changes: object) -> Problem:
        """The problem of another op on the same matrices."""
        return replace(self, op=op, **changes)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class DeviceInfo:
    """What routing must know of a device.

    Attributes
    ----------
    backend : {"cuda", "host"}
        ``"host"`` is LAPACK on NumPy arrays.
    arch : str
        ``"sm_90"``, or ``"host"``.
    multiprocessors : int
        Streaming multiprocessors.
    shared_budget : int
        Bytes of shared memory that one block can use.
    registers_per_sm, max_threads_per_block : int
        Register file of a multiprocessor, in 32-bit registers; block size limit, in threads.
    has_vendor : bool
        Whether the vendor's library (cuBLAS; LAPACK on the host) can be used.
    vendor_reason : str
        Why it cannot.
    ordinal : int
        CUDA device number.
    """

    backend: Backend
    arch: str
    name: str = ""
    multiprocessors: int = 0
    shared_budget: int = 0
    registers_per_sm: int = 65536
    max_threads_per_block: int = 1024
    has_vendor: bool = True
    vendor_reason: str = ""
    ordinal: int = 0

    @property
    def is_gpu(self) -> bool:
        """Whether kernels can run here."""
        return self.backend == "cuda"


HOST: Final = DeviceInfo("host", "host", "LAPACK through SciPy")

RECORDED: Final = {
    "sm_80": DeviceInfo("cuda", "sm_80", "NVIDIA A100", 108, 166_912),
    "sm_89": DeviceInfo("cuda", "sm_89", "NVIDIA GeForce RTX 4090", 128, 97_280),
    "sm_90": DeviceInfo("cuda", "sm_90", "NVIDIA H200", 132, 232_448),
    "sm_100": DeviceInfo("cuda", "sm_100", "NVIDIA B200", 148, 232_448),
}
