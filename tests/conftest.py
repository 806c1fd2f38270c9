"""Markers, the one reason for which GPU tests are skipped, and hypothesis profiles."""

from __future__ import annotations

import ctypes
from functools import cache

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "ci",
    max_examples=40,
    derandomize=True,
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("thorough", max_examples=1000, deadline=None, print_blob=True)


@cache
def why_no_gpu() -> str:
    """Why no CUDA device can be used, asked of the driver alone; empty if one can."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return "no CUDA driver (libcuda.so.1)"
    count = ctypes.c_int()
    status = driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count))
    if status:
        return f"the CUDA driver answers with error {status}"
    return "" if count.value else "no CUDA device"


def pytest_configure(config: pytest.Config) -> None:
    """Declare the markers; load the deterministic profile unless another is asked for."""
    config.addinivalue_line("markers", "gpu: needs a CUDA device")
    config.addinivalue_line("markers", "slow: takes more than a few seconds")
    if not config.getoption("--hypothesis-profile", None):
        settings.load_profile("ci")


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip GPU tests from this one line, so that the report counts them under one reason."""
    if item.get_closest_marker("gpu") and why_no_gpu():
        pytest.skip(f"GPU tests: {why_no_gpu()}")
