"""Every kernel that the package ships, by family."""

from __future__ import annotations

from ..dtypes import DTYPES
from ..kernels.block_choice import (
    gemm_specs,
    getrs_cta_specs,
    panel_specs,
    potrs_cta_specs,
    trsm_specs,
    update_specs,
)
from ..kernels.block_specs import LaswpSpec, ZeroPivotSpec
from ..kernels.choice import tiny_specs
from ..kernels.cholesky_choice import lpanel_specs, potrf_cta_specs, spd_tiny_specs, triangle_specs
from ..kernels.inverse_specs import getri_specs
from ..kernels.qr_choice import apply_specs, whole_specs
from ..kernels.qr_choice import panel_specs as qr_panel_specs
from ..kernels.qr_choice import tiny_specs as qr_tiny_specs
from ..kernels.qr_specs import UpperSpec
from ..kernels.specs import RelayoutSpec, ToolSpec
from ..runtime.registry import KernelSource
from . import getrf_cta

__all__ = ["catalogue"]

SWAPS = ("walk", "gather", "identity")


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
        "getrf cta": tuple(KernelSource("getrf_cta", spec) for spec in getrf_cta.specs()),
        "getrf blocked": (
            *(KernelSource("getrf_panel", spec) for spec in panel_specs(arch)),
            *(KernelSource("lu_update", spec) for spec in update_specs()),
        ),
        "gemm cta": tuple(KernelSource("gemm_cta", spec) for spec in gemm_specs()),
        "trsm cta": tuple(KernelSource("trsm_cta", spec) for spec in trsm_specs()),
        "laswp": tuple(KernelSource("laswp", LaswpSpec(kind, dtype)) for kind in SWAPS for dtype in DTYPES),
        "getrs cta": tuple(KernelSource("getrs_cta", spec) for spec in getrs_cta_specs(arch)),
        "getri cta": tuple(KernelSource("getri_cta", spec) for spec in getri_specs(arch)),
        "gesv tiny": tuple(KernelSource("gesv_tiny", spec) for spec in tiny_specs("gesv", arch)),
        "potrf tiny": tuple(KernelSource("potrf_tiny", spec) for spec in spd_tiny_specs("potrf", arch)),
        "potrf cta": tuple(KernelSource("potrf_cta", spec) for spec in potrf_cta_specs(arch)),
        "potrf lpanel": tuple(KernelSource("potrf_lpanel", spec) for spec in lpanel_specs()),
        "potrs cta": tuple(KernelSource("potrs_cta", spec) for spec in potrs_cta_specs(arch)),
        "posv tiny": tuple(KernelSource("posv_tiny", spec) for spec in spd_tiny_specs("posv", arch)),
        **{
            f"{op} tiny": tuple(KernelSource(f"{op}_tiny", spec) for spec in qr_tiny_specs(op, arch))
            for op in ("geqrf", "orgqr", "qr")
        },
        "geqrf cta": tuple(KernelSource("geqrf_panel", spec) for spec in whole_specs(arch)),
        "geqrf blocked": tuple(KernelSource("geqrf_panel", spec) for spec in qr_panel_specs(arch)),
        "ormqr blocked": tuple(KernelSource("qr_apply", spec) for spec in apply_specs(arch)),
        "helpers": (
            *(KernelSource("relayout", spec) for spec in relayouts),
            *(KernelSource("batch_tools", spec) for spec in tools),
            *(KernelSource("zero_pivots", ZeroPivotSpec(dtype)) for dtype in DTYPES),
            *(KernelSource("triangles", spec) for spec in triangle_specs()),
            *(KernelSource("upper", UpperSpec(dtype)) for dtype in DTYPES),
        ),
    }
