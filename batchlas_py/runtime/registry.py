"""Kernels by name: which module makes them, and what text their code depends on."""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec, resolve_name
from pathlib import Path
from typing import Any

__all__ = ["KernelSource"]

KERNELS = "batchlas_py.kernels"


@dataclass(frozen=True, slots=True)
class KernelSource:
    """One specialisation of a kernel, before compilation.

    Attributes
    ----------
    name : str
        Module below ``batchlas_py.kernels``; it offers ``make_kernel(spec)`` and ``signature(spec)``.
    spec : object
        Frozen dataclass of compile-time constants; its ``threads`` and ``min_blocks`` bound the launch.
    """

    name: str
    spec: Any

    def module(self) -> Any:
        """The module that makes the kernel; importing it needs numba-cuda."""
        return importlib.import_module(f"{KERNELS}.{self.name}")

    def function(self) -> Any:
        """The kernel's Python function."""
        return self.module().make_kernel(self.spec).py_func

    def signature(self) -> tuple[Any, ...]:
        """Numba types of the arguments."""
        arguments: tuple[Any, ...] = self.module().signature(self.spec)
        return arguments

    def digest(self) -> str:
        """Hash of the specialisation and of every source file that shapes its code."""
        text = f"{self.name}{self.spec!r}{source_digest(f'{KERNELS}.{self.name}')}"
        return hashlib.sha256(text.encode()).hexdigest()[:20]


@functools.cache
def source_digest(module: str) -> str:
    """Hash of a module's source and of all it imports from this package."""
    total = hashlib.sha256()
    for path in sorted(_closure(module)):
        total.update(Path(path).read_bytes())
    return total.hexdigest()


def _closure(module: str) -> set[str]:
    """Source files reached from ``module`` by relative imports."""
    seen: dict[str, str] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        spec = find_spec(name)
        if name in seen or spec is None or spec.origin is None:
            continue
        seen[name] = spec.origin
        package = name if spec.submodule_search_locations else name.rpartition(".")[0]
        waiting += _imports(Path(spec.origin).read_text(encoding="utf-8"), package)
    return set(seen.values())


def _imports(source: str, package: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = resolve_name("." * node.level + (node.module or ""), package)
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names if not node.module)
