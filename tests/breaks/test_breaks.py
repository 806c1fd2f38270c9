"""Every break turns its check red, blind guards leave theirs green, and the documentation lists both."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

import pytest

from batchlas_py.runtime.emulator import EmulatorError

from .catalogue import BREAKS, Break
from .mutation import mutated

PAGE = Path(__file__).parents[2] / "docs" / "breaks.md"
RED = (AssertionError, EmulatorError)
green: set[str] = set()


def assert_green(check: partial[None]) -> None:
    """The check passes on the shipped source; each is run once."""
    if str(check) not in green:
        check()
        green.add(str(check))


def rows(heading: str) -> dict[str, list[str]]:
    """Rows of the table below a heading of the page, by first cell."""
    table = PAGE.read_text(encoding="utf-8").split(f"## {heading}\n")[1].split("\n## ")[0]
    cells = [re.split(r"\s*\|\s*", line.strip(" |")) for line in table.splitlines() if line.startswith("|")]
    return {name: rest for name, *rest in cells[2:]}


@pytest.mark.parametrize("broken", [one for one in BREAKS if not one.blind], ids=str)
def test_a_break_is_noticed(broken: Break) -> None:
    assert_green(broken.check)
    with mutated(broken.module, broken.edits), pytest.raises(RED):
        broken.check()


@pytest.mark.parametrize("broken", [one for one in BREAKS if one.blind], ids=str)
def test_a_blind_guard_is_not(broken: Break) -> None:
    with mutated(broken.module, broken.edits):
        broken.check()


def test_names_are_unique() -> None:
    names = [broken.name for broken in BREAKS]
    assert len(set(names)) == len(names)


def test_the_page_says_which_test_notices_what() -> None:
    noticed = {one.name: f"`{one.check.func.__name__}`" for one in BREAKS if not one.blind}
    assert {name: cells[-1] for name, cells in rows("Breaks and the tests that notice").items()} == noticed


def test_the_page_says_why_a_guard_is_blind() -> None:
    blind = rows("Blind guards")
    assert set(blind) == {broken.name for broken in BREAKS if broken.blind}
    assert all(all(cells) for cells in blind.values())
