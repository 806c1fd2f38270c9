"""Load a kernel module from changed source, for the duration of a block; nothing on disk changes."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec, module_from_spec
from pathlib import Path
from types import ModuleType
from typing import NamedTuple
from unittest.mock import patch

import batchlas_py.kernels
import batchlas_py.kernels.device

KERNELS = "batchlas_py.kernels"
# Plain data that checks hold on to, and what the emulator knows by identity.
DEVICE_KEPT = ("intrinsics", "inverse_root", "opaque", "pointers")
KEPT = {f"{KERNELS}.specs", *(f"{KERNELS}.device.{name}" for name in DEVICE_KEPT)}


class Edit(NamedTuple):
    """A piece of source text and what takes its place."""

    old: str
    new: str


def edited(source: str, edits: Sequence[Edit]) -> str:
    """Source after the edits, each of which must fit in exactly one place."""
    for old, new in edits:
        places = source.count(old)
        if places != 1:
            raise ValueError(f"edits: {old!r} is in the source {places} times, accepted is once")
        source = source.replace(old, new)
    return source


@contextmanager
def mutated(name: str, edits: Sequence[Edit]) -> Iterator[None]:
    """Replace the kernel module ``name`` by its edited self, for all kernels that are made in the block.

    Every other kernel module is imported anew, so that it sees the change too, and again on leaving.
    """
    if f"{KERNELS}.{name}" in KEPT:
        raise ValueError(f"name: got {name!r}, which no other module imports anew")
    attributes = [patch.dict(vars(package)) for package in (batchlas_py.kernels, batchlas_py.kernels.device)]
    with attributes[0], attributes[1]:
        before = _taken_out()
        try:
            _load(f"{KERNELS}.{name}", edits)
            yield
        finally:
            _taken_out()
            sys.modules.update(before)


def _taken_out() -> dict[str, ModuleType]:
    """Remove the kernel modules from the interpreter's table, and return them."""
    leaves = [
        name
        for name, module in sys.modules.items()
        if name.startswith(f"{KERNELS}.") and name not in KEPT and not hasattr(module, "__path__")
    ]
    return {name: sys.modules.pop(name) for name in leaves}


def _load(name: str, edits: Sequence[Edit]) -> None:
    spec = find_spec(name)
    assert spec is not None and spec.origin is not None, name
    source = edited(Path(spec.origin).read_text(encoding="utf-8"), edits)
    sys.modules[name] = module = module_from_spec(spec)
    exec(compile(source, spec.origin, "exec"), vars(module))
