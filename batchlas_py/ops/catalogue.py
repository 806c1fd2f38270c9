"""Every kernel that the package ships, by family."""

from __future__ import annotations

from ..dtypes import DTYPES
from ..kernels.choice import tiny_specs
from ..kernels.specs import RelayoutSpec, ToolSpec
from ..runtime.registry import KernelSource

__all__ = ["catalogue"]


def catalogue(arch: str) -> dict[str, tuple[KernelSource, ...]]:
    """Kernels by family for one architecture, as ``batchlas warm`` compiles them."""
    relayouts = [
        RelayoutSpec(dtype, read, write)
        for dtype in DTYPES
        for read in (True, False)
        for write in (True, False)
    ]
    tools = [ToolSpec("pointers"), *(ToolSpec("invalidate", dtype) for dtype in DTYPES)]
    return {
        "getrf tiny": tuple(KernelSource("getrf_tiny", spec) for spec in tiny_specs("getrf", arch)),
        "gesv tiny": tuple(KernelSource("gesv_tiny", spec) for spec in tiny_specs("gesv", arch)),
        "helpers": (
            *(KernelSource("relayout", spec) for spec in relayouts),
            *(KernelSource("batch_tools", spec) for spec in tools),
        ),
    }
