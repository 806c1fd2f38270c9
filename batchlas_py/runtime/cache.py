"""Cubins on disk, named by what made them.

An entry is one file: a line of JSON (entry point, resources, hash of the code), then the code. Files
are written aside and renamed, so readers never see half of one; a damaged file counts as absent.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from .compiler import Compiled, Resources, toolchain
from .registry import KernelSource

__all__ = ["CubinCache"]


@dataclass(frozen=True, slots=True)
class CubinCache:
    """Cubins below one folder.

    Attributes
    ----------
    folder : Path
        Made on the first write.
    any_toolchain : bool
        Accept code that other versions of the tools made from the same source.
    """

    folder: Path
    any_toolchain: bool = False

    def path(self, source: KernelSource, arch: str) -> Path:
        """Where the entry of a specialisation lies."""
        tools = hashlib.sha256(repr(toolchain()).encode()).hexdigest()[:8]
        return self.folder / arch / f"{source.name}-{source.digest()}-{tools}.cubin"

    def load(self, source: KernelSource, arch: str) -> Compiled | None:
        """The stored code, or None."""
        exact = self.path(source, arch)
        others = exact.parent.glob(f"{source.name}-{source.digest()}-*.cubin") if self.any_toolchain else ()
        for path in (exact, *sorted(others)):
            found = _read(path)
            if found is not None:
                return found
        return None

    def store(self, source: KernelSource, arch: str, code: Compiled) -> Path:
        """Write an entry atomically; returns its path."""
        path = self.path(source, arch)
        path.parent.mkdir(parents=True, exist_ok=True)
        header = json.dumps(code.facts() | {"sha256": hashlib.sha256(code.cubin).hexdigest()})
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=path.stem, suffix=".part")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(header.encode() + b"\n" + code.cubin)
            os.replace(name, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(name)
            raise
        return path


def _read(path: Path) -> Compiled | None:
    try:
        header, _, cubin = path.read_bytes().partition(b"\n")
        facts = json.loads(header)
        if hashlib.sha256(cubin).hexdigest() != facts["sha256"]:
            return None
        return Compiled(cubin, facts["entry"], Resources(**facts["resources"]), facts["seconds"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
