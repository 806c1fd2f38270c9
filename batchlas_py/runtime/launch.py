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

    def launch(self, stream: int, blocks: int, *arguments: Any) -> None:
        """Enqueue ``blocks`` blocks; returns at once.

        Arguments are plain ints (pointers and 64-bit integers) or NumPy scalars of the exact type.
        """
        _core().launch(
            core_stream(stream, self.ordinal), _grid(blocks, self.threads), self.handle, *arguments
        )


@functools.cache
def _core() -> Any:
    """cuda.core, imported at the first launch."""
    return importlib.import_module("cuda.core")


@functools.lru_cache(maxsize=4096)
def _grid(blocks: int, threads: int) -> Any:
    return _core().LaunchConfig(grid=blocks, block=threads)


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
    module = _core().ObjectCode.from_cubin(code.cubin)
    return Kernel(module.get_kernel(code.entry), source.spec.threads, ordinal)
