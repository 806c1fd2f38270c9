"""Settings: what may be set, where a value comes from, and that nothing else reads the environment."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from batchlas_py import config
from batchlas_py.config import AUTO, ROUTES, SETTINGS, Choice, Folder, Setting, Switch
from batchlas_py.errors import ArgumentError, PinError

ROOT = Path(config.__file__).resolve().parents[1]
VARIABLES = {
    *(f"BATCHLAS_{op.upper()}_ROUTE" for op in ROUTES),
    "BATCHLAS_GETRF_LEAF",
    "BATCHLAS_GETRF_LASWP",
    "BATCHLAS_GETRF_RIGHT_LASWP",
    "BATCHLAS_GETRF_NB",
    "BATCHLAS_GETRS_LASWP",
    "BATCHLAS_KERNEL_TRACE",
    "BATCHLAS_VENDOR",
    "BATCHLAS_CACHE_DIR",
    "BATCHLAS_CACHE_FOREIGN",
    "BATCHLAS_TABLES",
}
CHOICES = {key: one for key, one in SETTINGS.items() if isinstance(one, Choice)}

Environment = Callable[..., None]


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> Iterator[Environment]:
    for name in [name for name in os.environ if name.startswith("BATCHLAS_")]:
        monkeypatch.delenv(name)

    def change(**variables: str) -> None:
        for name, text in variables.items():
            monkeypatch.setenv(name, text)
        config.refresh()

    config.refresh()
    yield change
    config.refresh()


def test_variables_are_the_documented_ones() -> None:
    page = (ROOT / "docs" / "routing.md").read_text("utf-8")
    assert {one.variable for one in SETTINGS.values()} == VARIABLES
    assert "`BATCHLAS_<OP>_ROUTE`" in page
    for name in VARIABLES:
        assert f"`{name}`" in page or name.endswith("_ROUTE"), name


def test_routes_are_the_documented_ones() -> None:
    page = (ROOT / "docs" / "routing.md").read_text("utf-8")
    rows = [line.strip("|").split("|") for line in page.splitlines() if line.startswith("| ")]
    documented = {op: routes.strip() for ops, routes, *_ in rows for op in ops.strip().split(", ")}
    for op, routes in ROUTES.items():
        assert documented[op] == ", ".join(f"`{route}`" for route in routes)


def test_every_setting_has_a_doc_line_and_says_what_it_accepts() -> None:
    assert all(one.doc.endswith(".") and one.accepted for one in SETTINGS.values())


def test_defaults_without_an_environment() -> None:
    now = config.current()
    assert all(now.values[key] == AUTO for key in CHOICES)
    assert now.vendor is True
    assert now.kernel_trace is False
    assert now.cache_foreign is False
    assert now.tables.name == "tables"
    assert now.tables.parent.name == now.cache_dir.name == "batchlas_py"
    assert {line.source for line in config.settings()} == {"default"}


@pytest.mark.parametrize(("key", "word"), [(key, word) for key, one in CHOICES.items() for word in one.words])
def test_choice_reads_each_of_its_words(environment: Environment, key: str, word: str) -> None:
    environment(**{SETTINGS[key].variable: word})
    assert config.current().values[key] == word
    assert config.current().sources[key] == "environment"


@pytest.mark.parametrize(("text", "value"), [("on", True), ("1", True), ("off", False), ("0", False)])
def test_switches(environment: Environment, text: str, value: bool) -> None:
    switches = {key: one for key, one in SETTINGS.items() if isinstance(one, Switch)}
    environment(**{one.variable: text for one in switches.values()})
    assert [config.current().values[key] for key in switches] == [value] * len(switches)


def test_folders_expand_home_and_need_not_exist(environment: Environment, tmp_path: Path) -> None:
    environment(BATCHLAS_CACHE_DIR="~/kernels", BATCHLAS_TABLES=str(tmp_path / "later"))
    assert config.current().cache_dir == Path.home() / "kernels"
    assert config.current().tables == tmp_path / "later"


@pytest.mark.parametrize("setting", SETTINGS.values(), ids=lambda one: str(one.variable))
def test_malformed_value_names_variable_value_and_accepted(
    environment: Environment, setting: Setting[object], tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    text = str(tmp_path / "file") if isinstance(setting, Folder) else "maybe"
    environment(**{setting.variable: text})
    with pytest.raises((ArgumentError, PinError)) as caught:
        config.current()
    assert isinstance(caught.value, PinError if isinstance(setting, Choice) else ArgumentError)
    message = str(caught.value)
    given = f"{text!r} for {setting.key}" if setting.key in ROUTES else repr(text)
    assert message == f"{setting.variable}: got {given}, accepted are {setting.accepted}"


def test_empty_variable_counts_as_unset(environment: Environment) -> None:
    environment(BATCHLAS_GETRF_ROUTE="", BATCHLAS_VENDOR="  ", BATCHLAS_TABLES="")
    assert {line.source for line in config.settings()} == {"default"}


def test_environment_is_read_again_only_after_refresh(monkeypatch: pytest.MonkeyPatch) -> None:
    before = config.current()
    monkeypatch.setenv("BATCHLAS_GETRF_ROUTE", "tiny")
    assert config.current() is before
    config.refresh()
    assert config.current().route("getrf") == "tiny"
    assert config.current().generation > before.generation


def test_import_reads_no_environment() -> None:
    environment = {"BATCHLAS_VENDOR": "maybe", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", "import batchlas_py.config"]
    subprocess.run(command, env=environment, check=True)


def test_settings_show_value_and_source(environment: Environment) -> None:
    environment(BATCHLAS_GETRF_LEAF="slm")
    with config.pinned(gesv="blocked"):
        lines = {line.variable: line for line in config.settings()}
    assert lines.keys() == VARIABLES
    assert lines["BATCHLAS_GETRF_LEAF"][2:4] == ("slm", "environment")
    assert lines["BATCHLAS_GESV_ROUTE"][2:4] == ("blocked", "pinned()")
    assert lines["BATCHLAS_GETRF_ROUTE"][2:4] == (AUTO, "default")


def test_pins_nest_and_end() -> None:
    with config.pinned(getrf="tiny", getrf_leaf="slm"):
        with config.pinned(getrf="vendor"):
            assert config.current().route("getrf") == "vendor"
            assert config.current().getrf_leaf == "slm"
        assert config.current().route("getrf") == "tiny"
    assert config.current().route("getrf") == AUTO
    assert config.current().getrf_leaf == AUTO


def test_pins_end_with_an_exception() -> None:
    with pytest.raises(KeyError), config.pinned(getrf="tiny"):
        raise KeyError
    assert config.current().route("getrf") == AUTO


def test_pin_wins_over_the_environment_and_auto_lifts_it(environment: Environment) -> None:
    environment(BATCHLAS_GETRF_ROUTE="vendor")
    with config.pinned(getrf="tiny"):
        assert config.current().route("getrf") == "tiny"
    with config.pinned(getrf=AUTO):
        assert config.current().route("getrf") == AUTO
    assert config.current().route("getrf") == "vendor"


def test_pins_stay_in_their_thread() -> None:
    seen: list[str] = []
    with config.pinned(getrf="tiny"):
        thread = threading.Thread(target=lambda: seen.append(config.current().route("getrf")))
        thread.start()
        thread.join()
    assert seen == [AUTO]


def test_equal_pins_are_one_state() -> None:
    with config.pinned(getrf="tiny", gesv="blocked"):
        first = config.current()
    with config.pinned(gesv="blocked"), config.pinned(getrf="tiny"):
        assert config.current() is first


@pytest.mark.parametrize("key", ["getfr", "vendor", "cache_dir"])
def test_unknown_pin_names_the_accepted_ones(key: str) -> None:
    with pytest.raises(PinError, match=rf"^pinned\(\): got '{key}', accepted are getrf, .*, getrs_laswp$"):
        config.pinned(**{key: "tiny"}).__enter__()


def test_unknown_route_of_a_pin_names_the_accepted_ones() -> None:
    wanted = r"^pinned\(getrf=\): got 'tyni' for getrf, accepted are auto, tiny, .*, vendor, vendor/loop$"
    with pytest.raises(PinError, match=wanted), config.pinned(getrf="tyni"):
        pass


def test_class_access_gives_the_setting() -> None:
    assert config.Config.getrf_leaf is SETTINGS["getrf_leaf"]


def reads_environment(source: str) -> bool:
    names = {node.attr for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Attribute)}
    imported = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ImportFrom)]
    names |= {alias.name for node in imported for alias in node.names}
    return bool(names & {"environ", "environb", "getenv", "getenvb"})


def test_no_other_module_reads_the_environment() -> None:
    sources = {
        path.relative_to(ROOT): path.read_text("utf-8") for path in (ROOT / "batchlas_py").rglob("*.py")
    }
    readers = {path.as_posix() for path, source in sources.items() if reads_environment(source)}
    assert readers == {"batchlas_py/config.py"}


@pytest.mark.parametrize(
    "source", ["import os\nos.getenv('A')", "from os import environ as e", "import os\nos.environ.get('A')"]
)
def test_the_search_for_readers_finds_them(source: str) -> None:
    assert reads_environment(source)
