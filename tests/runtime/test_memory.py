"""Workspace: its size is known beforehand, the pool has it back, and a graph never shares it."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest

import batchlas_py
from batchlas_py.errors import BackendUnavailable
from batchlas_py.runtime import memory
from batchlas_py.runtime.memory import ALIGNMENT, Workspace, scratch, workspace

S, T, DEVICE = 11, 22, 0


class Buffer:
    def __init__(self, pool: Pool, size: int) -> None:
        self.pool, self.size, self.handle = pool, size, 0x10000 * (1 + len(pool.taken))

    def close(self, queue: Any) -> None:
        self.pool.given_back.append((self, queue))


class Pool:
    """Stands for cuda.core's device; a queue is its stream's handle."""

    def __init__(self) -> None:
        self.taken: list[tuple[int, Any]] = []
        self.given_back: list[tuple[Buffer, Any]] = []

    def allocate(self, size: int, stream: Any) -> Buffer:
        self.taken.append((size, stream))
        return Buffer(self, size)

    def set_current(self) -> None:
        pass


class Driver:
    """Stands for the driver: who captures what, and which memory exists."""

    def __init__(self) -> None:
        self.capture: dict[int, int] = {}
        self.memory: dict[int, int] = {}
        self.mode: Any = "global"
        self.calls: list[str] = []
        self.addresses = iter(range(0x7000000, 0x8000000, 0x10000))
        self.refused = ""

    def __call__(self, name: str, *arguments: Any) -> list[Any]:
        self.calls.append(name)
        if name == self.refused:
            raise BackendUnavailable(f"{name} failed")
        answer: list[Any] = getattr(self, name)(*arguments)
        return answer

    def cuStreamIsCapturing(self, stream: int) -> list[int]:
        return [int(stream in self.capture)]

    def cuStreamGetCaptureInfo(self, stream: int) -> list[Any]:
        return [1, self.capture[stream], object(), None, 0]

    def cuThreadExchangeStreamCaptureMode(self, mode: Any) -> list[Any]:
        previous, self.mode = self.mode, mode
        return [previous]

    def cuMemAlloc(self, size: int) -> list[int]:
        assert "RELAXED" in str(self.mode), "the driver refuses memory to a thread that captures"
        ptr = next(self.addresses)
        self.memory[ptr] = size
        return [ptr]

    def cuMemFree(self, ptr: int) -> list[Any]:
        assert self.calls[-2] in ("cuCtxSynchronize", "cuMemFree"), "a replay may still run"
        del self.memory[ptr]
        return []

    def cuCtxSynchronize(self) -> list[Any]:
        return []


@pytest.fixture
def pool(monkeypatch: pytest.MonkeyPatch) -> Pool:
    made = Pool()
    monkeypatch.setattr(memory, "core_device", lambda ordinal: made)
    monkeypatch.setattr(memory, "core_stream", lambda stream, ordinal: stream)
    return made


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch, pool: Pool) -> Driver:
    made = Driver()
    monkeypatch.setattr(memory, "_driver", made)
    monkeypatch.setattr(memory, "_captures", memory._Captures())
    monkeypatch.setattr(memory, "active", _active)
    return made


@contextmanager
def _active(ordinal: int) -> Iterator[None]:
    yield


def test_parts_are_aligned_and_the_size_is_known_without_a_device() -> None:
    space = Workspace.of(pointers=8 * 3, panel=ALIGNMENT, none=0, last=1)
    assert dict(space.offsets) == {"pointers": 0, "panel": 256, "none": 512, "last": 512}
    assert space.size == 768
    assert space.addresses(0x1000) == {"pointers": 0x1000, "panel": 0x1100, "none": 0x1200, "last": 0x1200}
    assert Workspace.of().size == 0


def test_a_workspace_is_one_block(driver: Driver, pool: Pool) -> None:
    space = Workspace.of(a=300, b=10)
    with workspace(space, S, DEVICE) as parts:
        assert parts["b"] - parts["a"] == 512
    assert pool.taken == [(space.size, S)]


def test_no_parts_take_nothing(driver: Driver, pool: Pool) -> None:
    with workspace(Workspace.of(a=0), S, DEVICE) as parts:
        assert list(parts) == ["a"]
    assert not pool.taken
    assert not driver.calls


def test_outside_of_a_capture_the_pool_serves_and_has_it_back_on_the_same_stream(
    driver: Driver, pool: Pool
) -> None:
    with scratch(1, S, DEVICE), scratch(1000, T, DEVICE):
        assert pool.taken == [(256, S), (1024, T)]
        assert not pool.given_back
    assert [queue for _, queue in pool.given_back] == [T, S]
    assert not driver.memory


def test_the_pool_has_it_back_even_if_the_driver_of_an_op_raises(driver: Driver, pool: Pool) -> None:
    with pytest.raises(ZeroDivisionError), scratch(8, S, DEVICE):
        raise ZeroDivisionError
    assert len(pool.given_back) == 1


def test_a_graph_gets_memory_from_outside_and_the_mode_is_restored(driver: Driver, pool: Pool) -> None:
    driver.capture[S] = 1
    with scratch(300, S, DEVICE) as ptr:
        assert driver.memory == {ptr: 512}
    assert driver.mode == "global"
    assert driver.memory == {ptr: 512}, "a replay will use it"
    assert not pool.taken


def test_a_stream_that_is_not_captured_is_not_affected_by_one_that_is(driver: Driver, pool: Pool) -> None:
    driver.capture[S] = 1
    with scratch(300, T, DEVICE):
        assert pool.taken == [(512, T)]
        assert not driver.memory


def test_requests_of_one_capture_share_blocks_one_after_another(driver: Driver) -> None:
    driver.capture[S] = 1
    with scratch(4096, S, DEVICE) as large, scratch(256, S, DEVICE) as small:
        assert large != small
    for size, expected in ((100, small), (256, small), (257, large), (4096, large)):
        with scratch(size, S, DEVICE) as ptr:
            assert ptr == expected
    with scratch(4097, S, DEVICE) as larger:
        assert larger not in (small, large)
    assert len(driver.memory) == 3


def test_nested_requests_of_a_capture_never_share(driver: Driver) -> None:
    driver.capture[S] = 1
    with scratch(256, S, DEVICE):
        pass
    with ExitStack() as stack:
        taken = [stack.enter_context(scratch(256, S, DEVICE)) for _ in range(4)]
        assert len(set(taken)) == 4


@pytest.mark.parametrize(
    ("stream", "capture", "ordinal"), [(S, 2, DEVICE), (T, 1, DEVICE), (S, 1, DEVICE + 1)]
)
def test_another_capture_stream_or_device_shares_nothing(
    driver: Driver, stream: int, capture: int, ordinal: int
) -> None:
    """Streams that one capture has forked run at the same time, and so may the graphs of two captures."""
    driver.capture[S] = 1
    with scratch(256, S, DEVICE) as first:
        pass
    driver.capture[stream] = capture
    with scratch(256, stream, ordinal) as second:
        assert second != first


def test_a_call_outside_shares_nothing_with_a_graph(driver: Driver, pool: Pool) -> None:
    driver.capture[S] = 1
    with scratch(256, S, DEVICE) as captured:
        pass
    del driver.capture[S]
    with scratch(256, S, DEVICE) as ptr:
        assert ptr != captured
        assert pool.taken == [(256, S)]


def test_a_block_comes_back_to_its_capture_if_an_op_raises(driver: Driver) -> None:
    driver.capture[S] = 1
    with pytest.raises(ZeroDivisionError), scratch(256, S, DEVICE) as first:
        raise ZeroDivisionError
    with scratch(256, S, DEVICE) as second:
        assert second == first


def test_threads_capture_side_by_side(driver: Driver) -> None:
    driver.capture.update({S: 1, T: 2})
    taken: deque[int] = deque()

    def call(stream: int) -> None:
        for _ in range(50):
            with scratch(256, stream, DEVICE) as ptr:
                taken.append(ptr)

    threads = [threading.Thread(target=call, args=(stream,)) for stream in (S, T)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(taken) == 100
    assert len(driver.memory) == len(set(taken)) == 2


def test_what_graphs_hold_is_counted_and_freed_behind_their_replays(driver: Driver) -> None:
    driver.capture[S] = 1
    with scratch(1000, S, DEVICE), scratch(256, S, DEVICE + 1):
        pass
    assert memory.kept_bytes() == 1280
    batchlas_py.free_workspace()
    assert memory.kept_bytes() == 0
    assert not driver.memory
    assert driver.calls.count("cuCtxSynchronize") == 2
    with scratch(1000, S, DEVICE) as ptr:
        assert driver.memory == {ptr: 1024}


def test_a_refusal_to_wait_frees_nothing(driver: Driver) -> None:
    driver.capture[S] = 1
    with scratch(256, S, DEVICE) as ptr:
        pass
    driver.refused = "cuCtxSynchronize"
    with pytest.raises(BackendUnavailable, match="cuCtxSynchronize"):
        batchlas_py.free_workspace()
    assert list(driver.memory) == [ptr]
    assert memory.kept_bytes() == 256


def test_the_mode_is_restored_if_there_is_no_memory(driver: Driver) -> None:
    driver.capture[S], driver.refused = 1, "cuMemAlloc"
    with pytest.raises(BackendUnavailable, match="cuMemAlloc"), scratch(256, S, DEVICE):
        pass
    assert driver.mode == "global"


def test_a_refusal_of_the_driver_names_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    bindings = pytest.importorskip("cuda.bindings.driver")
    status = bindings.CUresult.CUDA_ERROR_INVALID_VALUE
    monkeypatch.setattr(bindings, "cuMemsetD8Async", lambda *arguments: (status,))
    with pytest.raises(BackendUnavailable, match=r"cuMemsetD8Async\(4096, 0, 12, 7\) failed: CUDA_ERROR_INV"):
        memory.fill_zero(4096, 12, 7)


@pytest.mark.gpu
def test_a_device_replays_a_graph_with_its_workspace() -> None:
    cupy = pytest.importorskip("cupy")
    out, stream = cupy.full(1024, 7, "uint8"), cupy.cuda.Stream(non_blocking=True)
    held = memory.kept_bytes()
    with stream:
        stream.begin_capture()
        for _ in range(3):
            with scratch(out.nbytes, stream.ptr, out.device.id) as ptr:
                memory.fill_zero(ptr, out.nbytes, stream.ptr)
                to_device = cupy.cuda.runtime.memcpyDeviceToDevice
                cupy.cuda.runtime.memcpyAsync(out.data.ptr, ptr, out.nbytes, to_device, stream.ptr)
        graph = stream.end_capture()
        assert memory.kept_bytes() == held + out.nbytes
        for _ in range(2):
            out.fill(7)
            graph.launch(stream)
            stream.synchronize()
            assert not out.any()
    memory.free_workspace()
    assert memory.kept_bytes() == 0
