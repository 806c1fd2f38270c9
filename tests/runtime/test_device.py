"""What the router learns of a device, and the one line that says why there is none."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from enum import IntEnum
from types import SimpleNamespace
from typing import Any

import pytest

from batchlas_py import config
from batchlas_py.errors import BackendUnavailable
from batchlas_py.problem import DeviceInfo
from batchlas_py.runtime import device

bindings = pytest.importorskip("cuda.bindings")
core = pytest.importorskip("cuda.core")


class Status(IntEnum):
    CUDA_SUCCESS = 0
    CUDA_ERROR_INVALID_VALUE = 1
    CUDA_ERROR_NO_DEVICE = 100


class Driver:
    """In the place of ``cuda.bindings.driver``."""

    CUpointer_attribute = SimpleNamespace(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL=9)

    def __init__(self, count: int = 1, start: Status = Status.CUDA_SUCCESS) -> None:
        self.count, self.start = count, start
        self.owners = {0x1000: 1}

    def cuInit(self, flags: int) -> tuple[Status]:
        return (self.start,)

    def cuDeviceGetCount(self) -> tuple[Status, int]:
        return self.start, self.count

    def cuPointerGetAttribute(self, attribute: int, ptr: int) -> tuple[Status, int]:
        assert attribute == 9
        if ptr not in self.owners:
            return Status.CUDA_ERROR_INVALID_VALUE, 0
        return Status.CUDA_SUCCESS, self.owners[ptr]


class Absent:
    """A driver library that cannot be loaded."""

    def cuInit(self, flags: int) -> tuple[Status]:
        raise RuntimeError("Failed to dlopen libcuda.so.1")


class Card:
    """In the place of `cuda.core.Device`."""

    current = 0

    def __init__(self, ordinal: int | None = None) -> None:
        self.device_id = Card.current if ordinal is None else ordinal
        self.arch, self.name = "90", f"card {self.device_id}"
        self.properties = SimpleNamespace(
            multiprocessor_count=132,
            max_shared_memory_per_block_optin=232_448,
            max_registers_per_multiprocessor=65_536,
            max_threads_per_block=1024,
        )

    def set_current(self) -> None:
        Card.current = self.device_id


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """A machine with one card; tests take parts away."""
    forget()
    monkeypatch.setattr(bindings, "driver", Driver(), raising=False)
    monkeypatch.setattr(core, "Device", Card)
    monkeypatch.setattr(Card, "current", 0)
    yield monkeypatch
    monkeypatch.undo()
    forget()


def forget() -> None:
    """Ask the machine again."""
    config.refresh()
    for cached in (device.cuda_unavailable, device.device_count, device.core_device, device._device_info):
        cached.cache_clear()


def test_a_machine_with_a_card_can_be_used(machine: pytest.MonkeyPatch) -> None:
    assert device.cuda_unavailable() == ""
    assert device.device_count() == 1
    device.require_cuda()


@pytest.mark.parametrize(
    ("driver", "reason"),
    [
        (Absent(), "no NVIDIA driver: Failed to dlopen libcuda.so.1"),
        (Driver(start=Status.CUDA_ERROR_NO_DEVICE), "the NVIDIA driver does not start: CUDA_ERROR_NO_DEVICE"),
        (Driver(count=0), "the NVIDIA driver sees no device"),
    ],
    ids=["no library", "no start", "no device"],
)
def test_the_reason_for_no_cuda(machine: pytest.MonkeyPatch, driver: Any, reason: str) -> None:
    machine.setattr(bindings, "driver", driver)
    assert device.cuda_unavailable() == reason
    assert device.device_count() == 0
    with pytest.raises(BackendUnavailable, match=f"CUDA cannot be used: {reason}"):
        device.describe_device()


def test_without_the_bindings_the_reason_names_the_extras(machine: pytest.MonkeyPatch) -> None:
    machine.setitem(sys.modules, "cuda.bindings", None)
    assert device.cuda_unavailable().startswith("cuda-core is not installed (extras cu13, cu12): ")


def test_the_real_reason_is_one_line() -> None:
    forget()
    assert "\n" not in device.cuda_unavailable()


def test_a_device_is_described_for_the_router(machine: pytest.MonkeyPatch) -> None:
    machine.setattr(device, "find_spec", lambda name: object())
    assert device.describe_device(1) == DeviceInfo(
        backend="cuda",
        arch="sm_90",
        name="card 1",
        multiprocessors=132,
        shared_budget=232_448,
        registers_per_sm=65_536,
        max_threads_per_block=1024,
        ordinal=1,
    )


def test_the_current_device_is_the_default(machine: pytest.MonkeyPatch) -> None:
    machine.setattr(Card, "current", 3)
    assert device.describe_device().ordinal == 3


def test_the_vendor_library_is_missing(machine: pytest.MonkeyPatch) -> None:
    machine.setattr(device, "find_spec", lambda name: None)
    found = device.describe_device(0)
    assert not found.has_vendor
    assert found.vendor_reason == "nvmath-python is not installed (extras cu13, cu12)"


def test_the_vendor_library_is_switched_off(machine: pytest.MonkeyPatch) -> None:
    machine.setattr(device, "find_spec", lambda name: object())
    assert device.describe_device(0).has_vendor
    machine.setenv("BATCHLAS_VENDOR", "off")
    config.refresh()
    found = device.describe_device(0)
    assert (found.has_vendor, found.vendor_reason) == (False, "BATCHLAS_VENDOR is off")


def test_a_pointer_belongs_to_a_device(machine: pytest.MonkeyPatch) -> None:
    assert device.ordinal_of_pointer(0x1000) == 1
    with pytest.raises(
        BackendUnavailable, match="address 0x2000 is not CUDA memory: CUDA_ERROR_INVALID_VALUE"
    ):
        device.ordinal_of_pointer(0x2000)
