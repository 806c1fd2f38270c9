"""Fails any source file in which comment lines exceed a share of the non-blank lines.

Docstrings are not comments. Neither are a shebang, an encoding line, or a pragma that a tool reads.
A waiver file lists one path a line; a waiver that matches no file, or a file within the limit, is an error.
"""

from __future__ import annotations

import argparse
import io
import re
import subprocess
import sys
import tempfile
import tokenize
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

LIMIT = 0.18
WAIVERS = Path("tools/comment_density_waivers.txt")
HASH_SUFFIXES = frozenset({".bash", ".cfg", ".ini", ".mk", ".sh", ".toml", ".yaml", ".yml"})
HASH_NAMES = frozenset({"Makefile"})
PRAGMA = re.compile(r"#\s*(type:|noqa|ruff:|mypy:|isort:|fmt:|pragma:|pylint:|shellcheck\b|-\*-|!)")


class Count(NamedTuple):
    """Comment lines and non-blank lines of one file."""

    comments: int
    lines: int

    @property
    def share(self) -> float:
        """Comment lines over non-blank lines; 0 for an empty file."""
        return self.comments / self.lines if self.lines else 0.0


def python_comments(text: str) -> Iterator[str]:
    """Comments that stand alone on their line."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and token.line.lstrip().startswith("#"):
            yield token.string


def hash_comments(text: str) -> Iterator[str]:
    """Lines that start with ``#``, for shell, make, TOML and the like."""
    return (line.strip() for line in text.splitlines() if line.lstrip().startswith("#"))


def count(text: str, *, python: bool) -> Count:
    """Count one file's text."""
    comments = python_comments(text) if python else hash_comments(text)
    prose = sum(not PRAGMA.match(comment) for comment in comments)
    return Count(prose, sum(bool(line.strip()) for line in text.splitlines()))


def is_source(path: Path) -> bool:
    """Whether the check knows how to count the file."""
    if path.suffix in HASH_SUFFIXES or path.suffix == ".py" or path.name in HASH_NAMES:
        return True
    return not path.suffix and path.read_bytes()[:2] == b"#!"


def tracked(root: Path) -> list[Path]:
    """Files that git tracks or would track, below ``root`` and relative to it."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listing = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout
    return [Path(name) for name in listing.splitlines() if (root / name).is_file()]


def read_waivers(path: Path) -> list[Path]:
    """Waived paths; ``#`` starts a remark."""
    if not path.exists():
        return []
    entries = (line.partition("#")[0].strip() for line in path.read_text().splitlines())
    return [Path(entry) for entry in entries if entry]


def check(root: Path, files: Iterable[Path], waivers: Sequence[Path]) -> list[str]:
    """One line for each file over the limit and for each waiver that is not needed."""
    counts = {
        path: count((root / path).read_text(), python=path.suffix == ".py")
        for path in files
        if is_source(root / path)
    }
    over = {path: found for path, found in counts.items() if found.share > LIMIT}
    dense = [
        f"{path}: {found.comments} comment lines of {found.lines} are {found.share:.1%}, at most {LIMIT:.0%}"
        for path, found in sorted(over.items())
        if path not in waivers
    ]
    unused = [
        f"{path}: waiver for {'a file within the limit' if path in counts else 'no file'}; delete its line"
        for path in waivers
        if path not in over
    ]
    return dense + unused


FIVE_STATEMENTS = "a = 1\nb = 2\nc = 3\nd = 4\ne = 5\n"
COUNT_CASES: tuple[tuple[str, str, str, Count], ...] = (
    ("an empty file", "x.py", "", Count(0, 0)),
    ("blank lines alone", "x.py", "\n   \n\n", Count(0, 0)),
    ("code alone", "x.py", FIVE_STATEMENTS, Count(0, 5)),
    ("a comment on its own line", "x.py", "# why\na = 1\n", Count(1, 2)),
    ("an indented comment", "x.py", "if a:\n    # why\n    b = 1\n", Count(1, 3)),
    ("a comment after code", "x.py", "a = 1  # why\n", Count(0, 1)),
    ("a hash inside a string", "x.py", 'a = "# no"\n', Count(0, 1)),
    ("a module docstring", "x.py", '"""One.\n\n# Two.\n"""\na = 1\n', Count(0, 4)),
    ("a function's docstring", "x.py", 'def f():\n    """# One."""\n', Count(0, 2)),
    ("a hash line inside a multi-line string", "x.py", 'a = """\n# no\n"""\n', Count(0, 3)),
    ("a shebang", "x.py", "#!/usr/bin/env python3\na = 1\n", Count(0, 2)),
    ("an encoding line", "x.py", "# -*- coding: utf-8 -*-\na = 1\n", Count(0, 2)),
    ("a type pragma", "x.py", "# type: ignore[attr-defined]\na = 1\n", Count(0, 2)),
    ("a lint pragma", "x.py", "# ruff: noqa: E741\n# noqa: D100\na = 1\n", Count(0, 3)),
    ("a coverage pragma", "x.py", "# pragma: no cover\na = 1\n", Count(0, 2)),
    ("a comment that only mentions a pragma", "x.py", "# the type: is not # noqa\na = 1\n", Count(1, 2)),
    ("a bare hash", "x.py", "#\na = 1\n", Count(1, 2)),
    ("shell", "x.sh", "#!/bin/sh\n# why\necho '#'\n", Count(1, 3)),
    ("a makefile", "Makefile", "# why\nall: ; @true # not here\n", Count(1, 2)),
    ("TOML", "x.toml", "# why\n[a]\nb = 1 # not here\n", Count(1, 3)),
    ("a script known by its shebang", "run", "#!/bin/bash\n# why\ntrue\n", Count(1, 3)),
)
DENSE = "# one\n# two\n" + FIVE_STATEMENTS
AT_LIMIT = "# why\n" * 9 + "a = 1\n" * 41
CHECK_CASES: tuple[tuple[str, dict[str, str], list[str], list[str]], ...] = (
    ("within the limit", {"a.py": FIVE_STATEMENTS}, [], []),
    ("at the limit", {"a.py": AT_LIMIT}, [], []),
    ("one line over the limit", {"a.py": "# why\n" + AT_LIMIT}, [], ["a.py: 10 comment lines of 51"]),
    ("each file by itself", {"a.py": DENSE, "b.py": AT_LIMIT * 9}, [], ["a.py: 2 comment lines of 7"]),
    ("data is not source", {"a.txt": DENSE, "a.md": DENSE}, [], []),
    ("a waived file", {"a.py": DENSE}, ["a.py"], []),
    ("a waiver that matches no file", {"a.py": FIVE_STATEMENTS}, ["b.py"], ["b.py: waiver for no file"]),
    ("a waiver not needed", {"a.py": FIVE_STATEMENTS}, ["a.py"], ["a.py: waiver for a file within"]),
    ("a waiver for another file", {"a.py": DENSE}, ["b.py"], ["a.py: 2 comment", "b.py: waiver for no"]),
)


def failed_counts(folder: Path) -> Iterator[str]:
    """Count cases whose outcome differs from what they state."""
    for title, name, text, expected in COUNT_CASES:
        path = folder / name
        path.write_text(text)
        found = count(text, python=path.suffix == ".py")
        if found != expected or not is_source(path):
            yield f"{title}: {found}, expected {expected}"


def failed_checks(folder: Path) -> Iterator[str]:
    """Check cases whose complaints differ from what they state."""
    for title, files, waivers, expected in CHECK_CASES:
        for name, text in files.items():
            (folder / name).write_text(text)
        found = check(folder, map(Path, files), [Path(waiver) for waiver in waivers])
        if len(found) != len(expected) or not all(map(str.startswith, found, expected)):
            yield f"{title}: {found}, expected {expected}"


def self_test() -> list[str]:
    """Every case that fails."""
    with tempfile.TemporaryDirectory() as folder:
        return [*failed_counts(Path(folder)), *failed_checks(Path(folder))]


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line; the exit status is 1 when anything is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--self-test", action="store_true", help="check the check")
    parser.add_argument("--root", type=Path, default=Path(), help="checkout to look at")
    options = parser.parse_args(arguments)
    if options.self_test:
        complaints = self_test()
        passed = f"self-test: {len(COUNT_CASES) + len(CHECK_CASES)} cases passed"
    else:
        files = tracked(options.root)
        complaints = check(options.root, files, read_waivers(options.root / WAIVERS))
        passed = f"{sum(is_source(options.root / file) for file in files)} files within {LIMIT:.0%}"
    print("\n".join(complaints) if complaints else f"comment density: {passed}")
    return int(bool(complaints))


if __name__ == "__main__":
    sys.exit(main())
