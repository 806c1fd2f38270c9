"""Prints the extra whose CUDA libraries fit the NVIDIA driver of this machine; nothing without one."""

from __future__ import annotations

import ctypes
import sys

NEWEST, OLDEST = 13, 12


def driver_cuda_major(library: str = "libcuda.so.1") -> int | None:
    """CUDA major version that the driver supports, or None where there is no driver."""
    version = ctypes.c_int()
    try:
        status = ctypes.CDLL(library).cuDriverGetVersion(ctypes.byref(version))
    except (AttributeError, OSError):
        return None
    return None if status else version.value // 1000


def extra_for(major: int | None) -> str:
    """Extra for a driver: the newest one it can run, or none."""
    if major is None or major < OLDEST:
        return ""
    return f"cu{min(major, NEWEST)}"


if __name__ == "__main__":
    found = driver_cuda_major()
    if found is not None and not extra_for(found):
        print(f"NVIDIA driver supports CUDA {found}, at least {OLDEST} is needed: no GPU", file=sys.stderr)
    print(extra_for(found))
