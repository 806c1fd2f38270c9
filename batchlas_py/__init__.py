"""Very many small dense systems at once: LAPACK, batched, on NVIDIA GPUs and on the host.

`lapack` has the LAPACK-shaped calls. `explain` says which route a problem takes and why, `pinned`
forces one, `trace` records those that ran, `device_info` describes the GPU, `free_workspace` gives
back what captured graphs hold. Importing this touches no GPU and needs no CUDA package.
"""

from __future__ import annotations

from . import lapack, linalg
from ._version import __version__
from .config import pinned
from .errors import (
    ArgumentError,
    ArgumentTypeError,
    BackendUnavailable,
    BatchlasError,
    LinAlgError,
    PinError,
    TableError,
    UnsupportedProblem,
)
from .interop.device_array import DeviceArray, to_device
from .problem import DeviceInfo, Problem
from .routing.explain import Explanation, explain
from .routing.run import trace
from .runtime.device import describe_device as device_info
from .runtime.memory import free_workspace

__all__ = [
    "ArgumentError",
    "ArgumentTypeError",
    "BackendUnavailable",
    "BatchlasError",
    "DeviceArray",
    "DeviceInfo",
    "Explanation",
    "LinAlgError",
    "PinError",
    "Problem",
    "TableError",
    "UnsupportedProblem",
    "__version__",
    "device_info",
    "explain",
    "free_workspace",
    "lapack",
    "linalg",
    "pinned",
    "to_device",
    "trace",
]
