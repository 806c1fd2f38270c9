"""The offline compiler: machine code and what it needs, without a GPU; one clear error without its tools."""

from __future__ import annotations

import sys
from importlib import metadata
from typing import Any

import pytest
from numba.cuda import dispatcher

from batchlas_py.errors import ArgumentError, BackendUnavailable
from batchlas_py.kernels.choice import tiny_spec
from batchlas_py.kernels.specs import RelayoutSpec, ToolSpec
from batchlas_py.runtime import compiler
from batchlas_py.runtime.compiler import BASELINE, Resources, assemble, compile_kernel, lower, toolchain
from batchlas_py.runtime.registry import KernelSource

POINTERS = KernelSource("batch_tools", ToolSpec("pointers"))
RELAYOUT = KernelSource("relayout", RelayoutSpec("float32", read_columns=True, write_columns=False))
REPORT = """ptxas info    : Compiling entry function 'k' for 'sm_90'
ptxas info    : Function properties for k
    48 bytes stack frame, 32 bytes spill stores, 20 bytes spill loads
ptxas info    : Used 168 registers, used 1 barriers, 48 bytes cumulative stack size, 3136 bytes smem
"""


@pytest.fixture
def unpatched() -> Any:
    """Numba's look-up of the current device, as the test found it."""
    return dispatcher.get_current_device


def test_a_kernel_becomes_machine_code_for_each_architecture() -> None:
    ptx = lower(RELAYOUT)
    for arch in ("sm_80", "sm_90"):
        code = assemble(ptx, arch, 1)
        assert code.cubin.startswith(b"\x7fELF")
        assert code.entry.encode() in code.cubin
        assert 0 < code.resources.registers <= 64
        assert code.seconds > 0


def test_shared_memory_is_reported() -> None:
    assert compile_kernel(RELAYOUT, "sm_80").resources.shared == 32 * 33 * 4
    assert compile_kernel(POINTERS, "sm_80").resources.shared == 0


def test_ptx_is_for_the_oldest_architecture() -> None:
    assert f".target sm_{BASELINE[0]}{BASELINE[1]}" in lower(POINTERS)


def test_a_launch_bound_limits_the_registers() -> None:
    ptx = lower(KernelSource("getrf_tiny", tiny_spec("complex64", 8, staged=False)))
    free, bound = (assemble(ptx, "sm_90", blocks).resources.registers for blocks in (1, 28))
    assert bound <= 65536 // (28 * 64) < free


def test_the_block_size_is_in_the_code() -> None:
    assert ".maxntid 256" in lower(POINTERS)


def test_the_report_is_read() -> None:
    assert compiler._resources(REPORT) == Resources(168, 48, 32, 20, 3136)
    assert compiler._resources(REPORT.replace(", 3136 bytes smem", "")).shared == 0


@pytest.mark.parametrize(
    "missing", [" registers", " bytes stack frame", " bytes spill stores", " bytes spill loads"]
)
def test_a_report_that_says_less_is_an_error(missing: str) -> None:
    with pytest.raises(BackendUnavailable, match=f"the assembler's report lacks .*{missing}"):
        compiler._resources(REPORT.replace(missing, ""))


def test_without_numba_cuda_one_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numba", None)
    with pytest.raises(BackendUnavailable, match="numba-cuda cannot be used"):
        compile_kernel(POINTERS, "sm_90")


def test_without_nvjitlink_one_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    ptx = lower(POINTERS)
    monkeypatch.setitem(sys.modules, "cuda.bindings", None)
    with pytest.raises(BackendUnavailable, match="nvJitLink cannot be imported"):
        assemble(ptx, "sm_90", 1)


def test_numba_is_told_of_a_device_only_while_it_compiles(
    unpatched: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []

    def watching(source: KernelSource) -> Any:
        seen.append(dispatcher.get_current_device().compute_capability)
        return original(source)

    original = KernelSource.function
    monkeypatch.setattr(KernelSource, "function", watching)
    lower(POINTERS)
    assert seen == [BASELINE]
    assert dispatcher.get_current_device is unpatched


def test_numba_is_as_before_after_a_kernel_that_does_not_compile(
    unpatched: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(KernelSource, "function", lambda self: lambda table: table.missing)
    with pytest.raises(Exception, match=r"missing|arguments"):
        lower(POINTERS)
    assert dispatcher.get_current_device is unpatched


def test_the_facts_are_all_but_the_code() -> None:
    code = compiler.Compiled(b"code", "entry", Resources(1, 2, 3, 4, 5), 0.5)
    facts = code.facts()
    assert (
        compiler.Compiled(b"code", facts["entry"], Resources(**facts["resources"]), facts["seconds"]) == code
    )


def test_the_toolchain_is_what_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    def version(tool: str) -> str:
        if tool != "numba-cuda":
            raise metadata.PackageNotFoundError(tool)
        return "1.2.3"

    monkeypatch.setattr(metadata, "version", version)
    toolchain.cache_clear()
    try:
        assert toolchain() == (("numba-cuda", "1.2.3"),)
    finally:
        toolchain.cache_clear()


@pytest.mark.parametrize("arch", ["sm_17", "hopper"])
def test_an_unknown_architecture_is_named(arch: str) -> None:
    with pytest.raises(ArgumentError, match=f"arch: got '{arch}'"):
        assemble(lower(POINTERS), arch, 1)
