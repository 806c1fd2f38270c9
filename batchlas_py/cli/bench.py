"""``batchlas bench``: routes timed against each other and against the roof."""

from __future__ import annotations

from .._resources import bench_module

__all__ = ["bench"]

bench = bench_module("command").bench
