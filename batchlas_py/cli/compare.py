"""``batchlas compare``: what changed between two result files."""

from __future__ import annotations

from .._resources import bench_module

__all__ = ["compare"]

compare = bench_module("compare").compare
