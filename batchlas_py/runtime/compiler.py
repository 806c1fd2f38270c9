"""From a Numba-CUDA kernel to a cubin for any architecture, on any machine, without a GPU.

Numba lowers the kernel to PTX for the oldest architecture the package supports; nvJitLink assembles
that PTX for the target and reports what the code needs. All knowledge of numba-cuda's internals that
is not in ``kernels.device`` is here.
"""

from __future__ import annotations

import functools
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from importlib import metadata
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..errors import ArgumentError, BackendUnavailable

if TYPE_CHECKING:
    from .registry import KernelSource

__all__ = ["BASELINE", "Compiled", "Resources", "assemble", "compile_kernel", "lower", "toolchain"]

BASELINE: Final = (8, 0)
ONE_BLOCK: Final = ".minnctapersm 1\n"
TOOLS: Final = ("numba", "numba-cuda", "llvmlite", "nvidia-nvvm", "nvidia-cuda-nvcc", "nvidia-nvjitlink")


@dataclass(frozen=True, slots=True)
class Resources:
    """What the assembler says of a kernel, per thread; shared memory per block, in bytes."""

    registers: int
    stack_frame: int
    spill_stores: int
    spill_loads: int
    shared: int


@dataclass(frozen=True, slots=True)
class Compiled:
    """Machine code of one kernel and how it came to be."""

    cubin: bytes
    entry: str
    resources: Resources
    seconds: float

    def facts(self) -> dict[str, Any]:
        """Everything but the code."""
        return {"entry": self.entry, "resources": asdict(self.resources), "seconds": self.seconds}


@functools.cache
def toolchain() -> tuple[tuple[str, str], ...]:
    """Installed versions of the tools that shape a cubin."""
    found = {}
    for tool in TOOLS:
        try:
            found[tool] = metadata.version(tool)
        except metadata.PackageNotFoundError:
            continue
    return tuple(found.items())


def compile_kernel(source: KernelSource, arch: str) -> Compiled:
    """Compile one specialisation for ``arch`` (``"sm_90"``).

    Raises
    ------
    BackendUnavailable
        The compiler (numba-cuda, NVVM, nvJitLink) is not installed.
    """
    start = time.perf_counter()
    code = assemble(lower(source), arch, source.spec.min_blocks)
    return replace(code, seconds=time.perf_counter() - start)


@contextmanager
def _fixed_capability(capability: tuple[int, int]) -> Iterator[None]:
    """Answer Numba's look-up of the current device, which nested device functions make."""
    from numba.cuda import dispatcher

    class FixedDevice:
        compute_capability = capability

    original = dispatcher.get_current_device
    dispatcher.get_current_device = lambda: FixedDevice
    try:
        yield
    finally:
        dispatcher.get_current_device = original


def lower(source: KernelSource) -> str:
    """PTX of one specialisation, for every architecture from `BASELINE` on and any ``min_blocks``."""
    cuda, types = _numba()
    with _fixed_capability(BASELINE):
        ptx, _ = cuda.compile(
            source.function(),
            types.void(*source.signature()),
            cc=BASELINE,
            device=False,
            abi="numba",
            output="ptx",
            launch_bounds=(source.spec.threads, 1),
        )
    return ptx if isinstance(ptx, str) else ptx.decode()


def _numba() -> tuple[Any, Any]:
    """``numba.cuda`` and ``numba.types``, with what they load at the first compilation."""
    try:
        from numba import cuda, types
        from numba.cuda.np import arrayobj  # noqa: F401 - fails where numba-cuda does not know this NumPy
    except Exception as error:
        raise BackendUnavailable(f"numba-cuda cannot be used with NumPy {np.__version__}: {error}") from error
    return cuda, types


def assemble(ptx: str, arch: str, min_blocks: int) -> Compiled:
    """Machine code for ``arch`` that leaves room for ``min_blocks`` blocks, and what it needs."""
    start = time.perf_counter()
    cubin, log = _link(ptx.replace(ONE_BLOCK, f".minnctapersm {min_blocks}\n"), arch)
    found = re.search(r"\.entry\s+([^\s(]+)\(", ptx)
    if found is None:
        raise BackendUnavailable(f"the compiler produced no kernel entry: {ptx[:200]!r}")
    return Compiled(cubin, found[1], _resources(log), time.perf_counter() - start)


def _link(ptx: str, arch: str) -> tuple[bytes, str]:
    try:
        from cuda.bindings import nvjitlink
    except ImportError as error:
        raise BackendUnavailable(f"nvJitLink cannot be imported: {error}") from error
    options = [f"-arch={arch}", "-O3", "-verbose"]
    try:
        handle = nvjitlink.create(len(options), options)
    except nvjitlink.nvJitLinkError as error:
        raise ArgumentError(f"arch: got {arch!r}, accepted are those of this nvJitLink: {error}") from error
    try:
        code = ptx.encode()
        nvjitlink.add_data(handle, nvjitlink.InputType.PTX, code, len(code), "kernel")
        nvjitlink.complete(handle)
        cubin = bytearray(nvjitlink.get_linked_cubin_size(handle))
        nvjitlink.get_linked_cubin(handle, cubin)
        log = bytearray(nvjitlink.get_info_log_size(handle))
        nvjitlink.get_info_log(handle, log)
    finally:
        nvjitlink.destroy(handle)
    return bytes(cubin), log.decode(errors="replace")


def _resources(log: str) -> Resources:
    def number(pattern: str, *, required: bool = True) -> int:
        found = re.search(pattern, log)
        if found is None and required:
            raise BackendUnavailable(f"the assembler's report lacks {pattern!r}: {log!r}")
        return int(found[1]) if found else 0

    return Resources(
        registers=number(r"Used (\d+) registers"),
        stack_frame=number(r"(\d+) bytes stack frame"),
        spill_stores=number(r"(\d+) bytes spill stores"),
        spill_loads=number(r"(\d+) bytes spill loads"),
        shared=number(r"(\d+) bytes smem", required=False),
    )
