"""Compiled kernels on a device: found or built once, then launched on the caller's stream."""

from __future__ import annotations

import functools
import importlib
import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from .. import config
from ..errors import BackendUnavailable
from .cache import CubinCache
from .compiler import Compiled, compile_kernel
from .device import core_device, current_ordinal
from .registry import KernelSource

__all__ = ["Kernel", "active", "code_of", "core_stream", "kernel"]

logger = logging.getLogger(__name__)
_loading = threading.Lock()
_loaded: dict[tuple[KernelSource, int], Kernel] = {}


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel in a device's memory."""

    handle: Any
    threads: int
    ordinal: int

    def launch(
        self, stream: int, blocks: int, *arguments: Any, threads: int | None = None, shared: int = 0
    ) -> None:
        """Enqueue ``blocks`` blocks; returns at once.

        Arguments are plain ints (pointers and 64-bit integers) or NumPy scalars of the exact type.

        Parameters
        ----------
        threads : int, optional
            Threads of a block, at most those of the specialisation, which are the default.
        shared : int
            Bytes of dynamic shared memory of a block.
        """
        grid = _grid(blocks, threads or self.threads, shared)
        _core().launch(core_stream(stream, self.ordinal), grid, self.handle, *arguments)


@functools.cache
def _core() -> Any:
    """cuda.core, imported at the first launch."""
    return importlib.import_module("cuda.core")


@functools.lru_cache(maxsize=4096)
def _grid(blocks: int, threads: int, shared: int) -> Any:
    return _core().LaunchConfig(grid=blocks, block=threads, shmem_size=shared)


@functools.lru_cache(maxsize=1024)
def core_stream(handle: int, ordinal: int) -> Any:
    """cuda.core's stream for a raw handle; 0 is the legacy default stream."""
    core_device(ordinal)
    return _core().Stream.from_handle(handle) if handle else _core().LEGACY_DEFAULT_STREAM


@contextmanager
def active(ordinal: int) -> Iterator[None]:
    """Make a device current, and the previous one again on leaving."""
    previous = current_ordinal()
    if previous == ordinal:
        yield
        return
    _core().Device(ordinal).set_current()
    try:
        yield
    finally:
        _core().Device(previous).set_current()


def kernel(source: KernelSource, ordinal: int) -> Kernel:
    """The kernel on a device, from memory, from the disk cache, or compiled now."""
    key = (source, ordinal)
    found = _loaded.get(key)
    if found is not None:
        return found
    with _loading:
        if key not in _loaded:
            _loaded[key] = _load(source, ordinal)
        return _loaded[key]


def code_of(source: KernelSource, arch: str) -> Compiled:
    """Machine code for an architecture, from the disk cache or compiled now and stored there."""
    settings = config.current()
    cache = CubinCache(settings.cache_dir, settings.cache_foreign)
    code = cache.load(source, arch)
    if code is None:
        code = compile_kernel(source, arch)
        try:
            cache.store(source, arch, code)
        except OSError as error:
            logger.warning("kernel not kept in %s: %s", cache.folder, error)
    return code


def _load(source: KernelSource, ordinal: int) -> Kernel:
    device = core_device(ordinal)
    code = code_of(source, f"sm_{device.arch}")
    handle = _core().ObjectCode.from_cubin(code.cubin).get_kernel(code.entry)
    if getattr(source.spec, "dynamic_shared", False):
        budget = device.properties.max_shared_memory_per_block_optin
        _allow_dynamic_shared(handle, budget - code.resources.shared, ordinal)
    return Kernel(handle, source.spec.threads, ordinal)


def _allow_dynamic_shared(handle: Any, most: int, ordinal: int) -> None:
    """Let a kernel ask for all the shared memory that a block can use; 48 KB is the limit otherwise."""
    from cuda.bindings import driver

    attribute = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    (status,) = driver.cuKernelSetAttribute(attribute, most, handle.handle, ordinal)
    if int(status) != 0:
        raise BackendUnavailable(f"{most} bytes of dynamic shared memory refused: {status.name}")
