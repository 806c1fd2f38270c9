"""Kernels on a device: one compilation whoever asks, the caller's stream, the device left as it was."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from batchlas_py import config
from batchlas_py.errors import BackendUnavailable
from batchlas_py.kernels.specs import ToolSpec
from batchlas_py.runtime import launch
from batchlas_py.runtime.cache import CubinCache
from batchlas_py.runtime.compiler import Compiled, Resources
from batchlas_py.runtime.registry import KernelSource

core = pytest.importorskip("cuda.core")
POINTERS = KernelSource("batch_tools", ToolSpec("pointers"))
INVALIDATE = KernelSource("batch_tools", ToolSpec("invalidate", "float32"))


class Desk:
    """Stands for the driver: notes what is asked of it.

    Attributes
    ----------
    compiled : list of (KernelSource, str)
        What went to the compiler.
    current : int
        The current device.
    """

    def __init__(self) -> None:
        self.compiled: list[tuple[KernelSource, str]] = []
        self.failures = 0
        self.current = 0

    def compile_kernel(self, source: KernelSource, arch: str) -> Compiled:
        self.compiled.append((source, arch))
        time.sleep(0.02)
        if self.failures:
            self.failures -= 1
            raise BackendUnavailable("no compiler today")
        return Compiled(b"code", "entry", Resources(1, 0, 0, 0, 0), 0.0)

    def core_device(self, ordinal: int) -> Any:
        return SimpleNamespace(arch=str(80 + 10 * ordinal))

    def make_current(self, ordinal: int) -> None:
        self.current = ordinal

    def device(self, ordinal: int) -> Any:
        return SimpleNamespace(set_current=lambda: self.make_current(ordinal))


class LoadedCode:
    """In the place of `cuda.core.ObjectCode`."""

    def __init__(self, cubin: bytes) -> None:
        self.cubin = cubin

    @classmethod
    def from_cubin(cls, cubin: bytes) -> LoadedCode:
        return cls(cubin)

    def get_kernel(self, entry: str) -> tuple[bytes, str]:
        return self.cubin, entry


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    desk = Desk()
    monkeypatch.setenv("BATCHLAS_CACHE_DIR", str(tmp_path))
    config.refresh()
    monkeypatch.setattr(launch, "_loaded", {})
    monkeypatch.setattr(launch, "compile_kernel", desk.compile_kernel)
    monkeypatch.setattr(launch, "core_device", desk.core_device)
    monkeypatch.setattr(launch, "current_ordinal", lambda: desk.current)
    monkeypatch.setattr(core, "ObjectCode", LoadedCode)
    monkeypatch.setattr(core, "Device", desk.device)
    yield desk
    monkeypatch.undo()
    config.refresh()


def test_eight_threads_that_ask_at_once_get_one_compilation(desk: Desk) -> None:
    together = threading.Barrier(8)

    def ask(_number: int) -> launch.Kernel:
        together.wait()
        return launch.kernel(POINTERS, 0)

    with ThreadPoolExecutor(8) as pool:
        kernels = list(pool.map(ask, range(8)))
    assert desk.compiled == [(POINTERS, "sm_80")]
    assert all(kernel is kernels[0] for kernel in kernels)
    assert kernels[0].handle == (b"code", "entry")
    assert kernels[0].threads == POINTERS.spec.threads


def test_each_device_has_its_own_kernel(desk: Desk) -> None:
    kernels = [launch.kernel(source, ordinal) for source in (POINTERS, INVALIDATE) for ordinal in (0, 1)]
    assert [kernel.ordinal for kernel in kernels] == [0, 1, 0, 1]
    assert desk.compiled == [
        (POINTERS, "sm_80"),
        (POINTERS, "sm_90"),
        (INVALIDATE, "sm_80"),
        (INVALIDATE, "sm_90"),
    ]


def test_a_failure_is_raised_and_not_remembered(desk: Desk) -> None:
    desk.failures = 1
    with pytest.raises(BackendUnavailable, match="no compiler today"):
        launch.kernel(POINTERS, 0)
    assert launch.kernel(POINTERS, 0).handle == (b"code", "entry")


def test_a_kernel_on_disk_is_not_compiled(desk: Desk) -> None:
    first = launch.code_of(POINTERS, "sm_90")
    assert launch.code_of(POINTERS, "sm_90") == first
    assert len(desk.compiled) == 1


def test_a_damaged_kernel_on_disk_is_compiled_again(desk: Desk, tmp_path: Path) -> None:
    first = launch.code_of(POINTERS, "sm_90")
    (path,) = tmp_path.rglob("*.cubin")
    path.write_bytes(path.read_bytes()[:-1])
    assert launch.code_of(POINTERS, "sm_90") == first
    assert launch.code_of(POINTERS, "sm_90") == first
    assert len(desk.compiled) == 2


def test_a_launch_names_stream_grid_kernel_and_arguments(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[Any, ...]] = []
    monkeypatch.setattr(core, "launch", lambda *given: calls.append(given))
    monkeypatch.setattr(launch, "core_stream", lambda handle, ordinal: (handle, ordinal))
    kernel = launch.kernel(POINTERS, 1)
    kernel.launch(0x7000, 3, 0x1234, np.int32(5))
    ((stream, config_, handle, *arguments),) = calls
    assert stream == (0x7000, 1)
    assert (tuple(config_.grid), tuple(config_.block)) == ((3, 1, 1), (256, 1, 1))
    assert handle is kernel.handle
    assert arguments == [0x1234, np.int32(5)]


def test_stream_zero_is_the_legacy_default_stream(desk: Desk) -> None:
    launch.core_stream.cache_clear()
    assert launch.core_stream(0, 0) is core.LEGACY_DEFAULT_STREAM


def test_a_device_is_current_inside_the_block_alone(desk: Desk) -> None:
    desk.current = 1
    with launch.active(0):
        assert desk.current == 0
    assert desk.current == 1
    with pytest.raises(KeyError), launch.active(0):
        raise KeyError
    assert desk.current == 1


def test_a_device_that_is_current_already_is_left_alone(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(core, "Device", None)
    with launch.active(0):
        assert desk.current == 0


def test_a_cache_that_cannot_be_written_costs_no_kernel(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*_arguments: Any) -> Path:
        raise OSError("no space left on device")

    monkeypatch.setattr(CubinCache, "store", full)
    assert launch.code_of(POINTERS, "sm_90").cubin == b"code"
    assert "no space left on device" in caplog.text
    assert desk.compiled == [(POINTERS, "sm_90")]
