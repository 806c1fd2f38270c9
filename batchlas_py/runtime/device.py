"""CUDA devices as the router sees them, and why there is none."""

from __future__ import annotations

import functools
from importlib.util import find_spec
from typing import Any

from .. import config
from ..errors import BackendUnavailable
from ..problem import DeviceInfo

__all__ = [
    "core_device",
    "cuda_unavailable",
    "current_ordinal",
    "describe_device",
    "device_count",
    "device_info",
    "ordinal_of_pointer",
    "require_cuda",
]


@functools.cache
def cuda_unavailable() -> str:
    """Why CUDA cannot be used, in one line; empty if it can."""
    try:
        from cuda.bindings import driver
    except Exception as error:
        return f"cuda-core is not installed (extras cu13, cu12): {error}"
    try:
        status, count = driver.cuInit(0)[0], driver.cuDeviceGetCount()[1]
    except Exception as error:
        return f"no NVIDIA driver: {error}"
    if int(status) != 0:
        return f"the NVIDIA driver does not start: {status.name}"
    return "" if count else "the NVIDIA driver sees no device"


def require_cuda() -> None:
    """Raise `BackendUnavailable` with the reason, unless CUDA can be used."""
    reason = cuda_unavailable()
    if reason:
        raise BackendUnavailable(f"CUDA cannot be used: {reason}")


@functools.cache
def device_count() -> int:
    """CUDA devices of this machine."""
    from cuda.bindings import driver

    return 0 if cuda_unavailable() else int(driver.cuDeviceGetCount()[1])


def ordinal_of_pointer(ptr: int) -> int:
    """Number of the device that owns an address."""
    from cuda.bindings import driver

    attribute = driver.CUpointer_attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
    status, ordinal = driver.cuPointerGetAttribute(attribute, ptr)
    if int(status) != 0:
        raise BackendUnavailable(f"address {ptr:#x} is not CUDA memory: {status.name}")
    return int(ordinal)


def current_ordinal() -> int:
    """Number of the calling thread's current device."""
    return int(_device_class()().device_id)


@functools.cache
def _device_class() -> Any:
    from cuda.core import Device

    return Device


@functools.cache
def core_device(ordinal: int) -> Any:
    """cuda.core's device, initialised."""
    from cuda.core import Device

    require_cuda()
    device = Device(ordinal)
    device.set_current()
    return device


def describe_device(ordinal: int | None = None) -> DeviceInfo:
    """Describe a CUDA device.

    Parameters
    ----------
    ordinal : int, optional
        Its number; by default the current device.

    Returns
    -------
    DeviceInfo

    Raises
    ------
    BackendUnavailable
        CUDA cannot be used; the message says why.
    """
    require_cuda()
    return device_info(current_ordinal() if ordinal is None else ordinal)


def device_info(ordinal: int) -> DeviceInfo:
    """What routing must know of a device; vendor libraries as the configuration allows them."""
    return _device_info(ordinal, config.current().vendor)


@functools.cache
def _device_info(ordinal: int, vendor_allowed: bool) -> DeviceInfo:
    device = core_device(ordinal)
    properties = device.properties
    reason = _vendor_reason(vendor_allowed)
    return DeviceInfo(
        backend="cuda",
        arch=f"sm_{device.arch}",
        name=device.name,
        multiprocessors=properties.multiprocessor_count,
        shared_budget=properties.max_shared_memory_per_block_optin,
        registers_per_sm=properties.max_registers_per_multiprocessor,
        max_threads_per_block=properties.max_threads_per_block,
        has_vendor=not reason,
        vendor_reason=reason,
        ordinal=ordinal,
    )


def _vendor_reason(allowed: bool) -> str:
    if not allowed:
        return "BATCHLAS_VENDOR is off"
    return "" if find_spec("nvmath") else "nvmath-python is not installed (extras cu13, cu12)"
