"""The cubin cache: what is stored comes back, what is damaged or half written does not."""

from __future__ import annotations

import json
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from batchlas_py.kernels.choice import tiny_spec
from batchlas_py.runtime import cache as cache_module
from batchlas_py.runtime.cache import CubinCache
from batchlas_py.runtime.compiler import Compiled, Resources
from batchlas_py.runtime.registry import KernelSource

SOURCE = KernelSource("getrf_tiny", tiny_spec("float32", 8, staged=False))
ARCH = "sm_90"


def compiled(fill: int = 7, size: int = 4096) -> Compiled:
    return Compiled(bytes([fill, 10]) * size, f"entry_{fill}", Resources(40, 0, 0, 0, 512), 1.5)


@pytest.fixture
def cache(tmp_path: Path) -> CubinCache:
    return CubinCache(tmp_path / "not" / "there" / "yet")


def as_if_by_other_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache_module, "toolchain", lambda: (("numba-cuda", "99.0"),))


def test_nothing_is_found_in_an_empty_cache(cache: CubinCache) -> None:
    assert cache.load(SOURCE, ARCH) is None
    assert not cache.folder.exists()


def test_what_is_stored_comes_back(cache: CubinCache) -> None:
    path = cache.store(SOURCE, ARCH, compiled())
    assert path == cache.path(SOURCE, ARCH)
    assert cache.load(SOURCE, ARCH) == compiled()


def test_entries_are_apart_by_specialisation_and_architecture(cache: CubinCache) -> None:
    cache.store(SOURCE, ARCH, compiled())
    other = KernelSource("getrf_tiny", tiny_spec("float32", 8, staged=True))
    assert cache.load(SOURCE, "sm_80") is None
    assert cache.load(other, ARCH) is None


@pytest.mark.parametrize("share", [0.0, 0.005, 0.5, 0.999])
def test_a_truncated_entry_counts_as_absent(cache: CubinCache, share: float) -> None:
    path = cache.store(SOURCE, ARCH, compiled())
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])
    assert cache.load(SOURCE, ARCH) is None


def test_a_flipped_bit_counts_as_absent(cache: CubinCache) -> None:
    path = cache.store(SOURCE, ARCH, compiled())
    content = bytearray(path.read_bytes())
    content[-100] ^= 1
    path.write_bytes(content)
    assert cache.load(SOURCE, ARCH) is None


def test_a_wrong_hash_counts_as_absent(cache: CubinCache) -> None:
    path = cache.store(SOURCE, ARCH, compiled())
    header, code = path.read_bytes().split(b"\n", 1)
    path.write_bytes(json.dumps(json.loads(header) | {"sha256": "0" * 64}).encode() + b"\n" + code)
    assert cache.load(SOURCE, ARCH) is None


@pytest.mark.parametrize("missing", ["entry", "resources", "seconds", "sha256"])
def test_a_header_that_lacks_a_field_counts_as_absent(cache: CubinCache, missing: str) -> None:
    path = cache.store(SOURCE, ARCH, compiled())
    header, code = path.read_bytes().split(b"\n", 1)
    facts = {key: value for key, value in json.loads(header).items() if key != missing}
    path.write_bytes(json.dumps(facts).encode() + b"\n" + code)
    assert cache.load(SOURCE, ARCH) is None


@pytest.mark.parametrize("header", [b"[]", b"null", b'"text"', b"\xff\xfe", b"{"])
def test_a_header_of_another_kind_counts_as_absent(cache: CubinCache, header: bytes) -> None:
    path = cache.store(SOURCE, ARCH, compiled())
    path.write_bytes(header + b"\n" + compiled().cubin)
    assert cache.load(SOURCE, ARCH) is None


def test_a_damaged_entry_is_replaced_by_the_next_store(cache: CubinCache) -> None:
    cache.store(SOURCE, ARCH, compiled()).write_bytes(b"")
    cache.store(SOURCE, ARCH, compiled(8))
    assert cache.load(SOURCE, ARCH) == compiled(8)


def test_code_of_other_tools_is_taken_only_on_request(
    cache: CubinCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache.store(SOURCE, ARCH, compiled())
    as_if_by_other_tools(monkeypatch)
    assert cache.load(SOURCE, ARCH) is None
    assert CubinCache(cache.folder, any_toolchain=True).load(SOURCE, ARCH) == compiled()


def test_code_of_these_tools_goes_first(cache: CubinCache, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        as_if_by_other_tools(patch)
        cache.store(SOURCE, ARCH, compiled(1))
    path = cache.store(SOURCE, ARCH, compiled(2))
    either = CubinCache(cache.folder, any_toolchain=True)
    assert either.load(SOURCE, ARCH) == compiled(2)
    path.write_bytes(b"damaged")
    assert either.load(SOURCE, ARCH) == compiled(1)


def test_readers_never_see_an_entry_in_the_making(cache: CubinCache, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.store(SOURCE, ARCH, compiled(1))
    seen = []
    replace = os.replace

    def watching(source: str, target: Path) -> None:
        seen.append(cache.load(SOURCE, ARCH))
        replace(source, target)

    monkeypatch.setattr(os, "replace", watching)
    cache.store(SOURCE, ARCH, compiled(2))
    assert seen == [compiled(1)]
    assert cache.load(SOURCE, ARCH) == compiled(2)


def test_a_failed_write_leaves_the_old_entry_and_no_rubbish(
    cache: CubinCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = cache.store(SOURCE, ARCH, compiled(1))

    def full(_source: str, _target: Path) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="no space left"):
        cache.store(SOURCE, ARCH, compiled(2))
    assert list(path.parent.iterdir()) == [path]
    assert cache.load(SOURCE, ARCH) == compiled(1)


def test_writers_and_readers_at_once(cache: CubinCache) -> None:
    versions = [compiled(fill, size=20_000) for fill in range(1, 9)]
    cache.store(SOURCE, ARCH, versions[0])
    together = threading.Barrier(8)

    def work(number: int) -> list[Compiled | None]:
        together.wait()
        seen = []
        for _ in range(20):
            cache.store(SOURCE, ARCH, versions[number])
            seen.append(cache.load(SOURCE, ARCH))
        return seen

    with ThreadPoolExecutor(8) as pool:
        seen = [found for batch in pool.map(work, range(8)) for found in batch]
    assert all(found in versions for found in seen)
    assert list(cache.path(SOURCE, ARCH).parent.iterdir()) == [cache.path(SOURCE, ARCH)]
