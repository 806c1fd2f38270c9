"""``batchlas info``: what runs on this machine, and with which settings."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

import batchlas_py

from .. import config
from .._version import __version__
from ..errors import BackendUnavailable
from ..kernels.specs import ToolSpec
from ..problem import HOST, DeviceInfo
from ..routing.explain import DEFAULT_ARCH
from ..runtime.compiler import compile_kernel
from ..runtime.registry import KernelSource

__all__ = ["info"]

PACKAGES = ("numpy", "scipy", "numba", "numba-cuda", "cuda-core", "cuda-bindings", "nvmath-python")
SMALLEST_KERNEL = KernelSource("batch_tools", ToolSpec("pointers"))


def info() -> None:
    """Print versions, devices and settings; where CUDA or its compiler cannot be used, one line says why."""
    console = Console(highlight=False, markup=False)
    console.print(f"batchlas_py {__version__}, Python {platform.python_version()}")
    for line in (f"Packages: {', '.join(installed())}", cuda_line(), compiler_line(), f"Host: {HOST.name}"):
        console.print(line, soft_wrap=True)
    console.print(settings_table())


def installed() -> Iterator[str]:
    """Name and version of each package that matters here and is installed."""
    for package in PACKAGES:
        try:
            yield f"{package} {version(package)}"
        except PackageNotFoundError:
            continue


def cuda_line() -> str:
    """Describe the current device, or say why there is none."""
    try:
        return f"CUDA: {device_facts(batchlas_py.device_info())}"
    except BackendUnavailable as reason:
        return one_line(str(reason))


def device_facts(device: DeviceInfo) -> str:
    """One device in one line."""
    vendor = "cuBLAS usable" if device.has_vendor else f"no cuBLAS: {device.vendor_reason}"
    shared = f"{device.shared_budget} B of shared memory a block"
    sizes = f"{device.multiprocessors} multiprocessors, {shared}"
    return f"{device.name} (device {device.ordinal}, {device.arch}), {sizes}, {vendor}"


def compiler_line() -> str:
    """Compile the smallest kernel: only that shows whether the tools fit each other, and NumPy."""
    try:
        code = compile_kernel(SMALLEST_KERNEL, DEFAULT_ARCH)
    except Exception as reason:
        return f"Compiler cannot be used: {one_line(str(reason))}"
    return f"Compiler: usable, {len(code.cubin)} B of {DEFAULT_ARCH} code for the smallest kernel"


def one_line(text: str) -> str:
    """Text without its line breaks."""
    return " ".join(text.split())


def settings_table() -> Table:
    """Every setting, with its value and where that came from."""
    table = Table("setting", "value", "from", "meaning", box=SIMPLE_HEAD)
    table.columns[0].no_wrap = True
    table.columns[1].overflow = "fold"
    for one in config.settings():
        table.add_row(one.variable, str(one.value), one.source, one.doc)
    return table
