"""The command line as a whole: its commands, its errors, and what it imports."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest

from batchlas_py.cli import app as command_line
from batchlas_py.config import ROUTES

GETRF = ("explain", "getrf", "--n", "32", "--batch", "8192", "--dtype", "float32")


@pytest.fixture
def batchlas(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Run the command in this process; what it prints."""

    def run(*arguments: str) -> str:
        try:
            command_line.main(arguments)
        except SystemExit as status:
            if status.code:
                raise
        return capsys.readouterr().out

    return run


def test_help_lists_every_command(batchlas: Callable[..., str]) -> None:
    printed = batchlas("--help")
    assert all(name in printed for name in command_line.COMMANDS)


@pytest.mark.parametrize("command", command_line.COMMANDS)
def test_every_command_is_there_and_has_help(command: str, batchlas: Callable[..., str]) -> None:
    assert f"batchlas {command}" in batchlas(command, "--help")


def test_help_imports_no_command() -> None:
    code = """
import sys
from batchlas_py.cli.app import COMMANDS, app
app(["--help"], result_action="return_value")
print([name for name in COMMANDS if f"batchlas_py.cli.{name}" in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(("arch", "route"), [("sm_90", "tiny"), ("host", "vendor")])
def test_explain_prints_verdicts_and_the_route(arch: str, route: str, batchlas: Callable[..., str]) -> None:
    lines = [line.split() for line in batchlas(*GETRF, "--arch", arch).splitlines()]
    assert ["route", route] in lines
    assert set(ROUTES["getrf"]) <= {words[0] for words in lines}


def test_explain_passes_every_argument_on(batchlas: Callable[..., str]) -> None:
    options = ("--m", "40", "--layout", "C", "--route", "vendor", "--arch", "host")
    printed = batchlas(*GETRF, *options)
    assert "40" in printed.splitlines()[0]
    assert "layout=C" in printed.splitlines()[0]
    assert "argument" in printed


def test_an_error_of_the_package_is_one_line(batchlas: Callable[..., str]) -> None:
    with pytest.raises(SystemExit) as status:
        batchlas(*GETRF, "--arch", "sm_1")
    assert str(status.value.code).startswith("batchlas: arch: got 'sm_1', accepted are ")
    assert "\n" not in str(status.value.code)


def test_info_prints_every_setting(batchlas: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    from batchlas_py import config

    monkeypatch.setenv("COLUMNS", "200")
    printed = batchlas("info")
    assert all(setting.variable in printed for setting in config.settings())
