"""Every setting of the package; no other module reads the environment.

The environment is read once, at the first use, and again after `refresh`; an empty variable counts
as unset. Inside `pinned` the pinned values win over it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from itertools import count
from pathlib import Path
from typing import Any, Final, Generic, Literal, NamedTuple, Self, TypeVar, overload

from platformdirs import user_cache_path, user_config_path

from .errors import ArgumentError, BatchlasError, PinError

__all__ = [
    "AUTO",
    "ROUTES",
    "Config",
    "SettingValue",
    "Spelling",
    "current",
    "pinned",
    "refresh",
    "settings",
    "spelling",
]

AUTO: Final = "auto"
VARIED: Final = "blocked"  # the family that variants belong to

ROUTES: Final[Mapping[str, tuple[str, ...]]] = {
    "getrf": ("tiny", "cta", "blocked", "vendor", "vendor/loop"),
    "getrs": ("cta", "blocked", "vendor"),
    "getri": ("cta", "blocked", "vendor"),
    "gesv": ("tiny", "blocked", "vendor"),
    "gemm": ("vendor", "cta"),
    "trsm": ("cta", "vendor"),
    "laswp": ("gather", "walk", "vendor"),
    "potrf": ("tiny", "cta", "lpanel:panel=8", "lpanel:panel=16", "blocked", "vendor"),
    "potrs": ("cta", "blocked", "vendor"),
    "posv": ("tiny", "blocked", "vendor"),
    "geqrf": ("tiny", "cta", "blocked", "vendor"),
    "orgqr": ("tiny", "blocked", "vendor"),
    "ormqr": ("blocked", "vendor"),
    "qr": ("tiny", "blocked", "vendor"),
}

Source = Literal["default", "environment", "pinned()"]
T = TypeVar("T")


class Setting(Generic[T]):
    """One setting: its variable, what its text may say, and its value without any.

    As an attribute of `Config` it reads the value in force.
    """

    error: type[BatchlasError] = ArgumentError
    key: str

    def __init__(self, variable: str, accepted: str, default: Callable[[], T], doc: str) -> None:
        self.variable = variable
        self.accepted = accepted
        self.default = default
        self.doc = doc

    def __set_name__(self, owner: type[Config], name: str) -> None:
        self.key = name

    @overload
    def __get__(self, instance: None, owner: type[Config]) -> Self: ...
    @overload
    def __get__(self, instance: Config, owner: type[Config]) -> T: ...
    def __get__(self, instance: Config | None, owner: type[Config]) -> Self | T:
        if instance is None:
            return self
        value: T = instance.values[self.key]
        return value

    def parse(self, text: str, where: str) -> T:
        """Value of ``text``, which came from ``where``."""
        raise NotImplementedError

    def malformed(self, text: object, where: str) -> BatchlasError:
        """Error for a text that is not accepted."""
        return self.error(f"{where}: got {text!r}, accepted are {self.accepted}")


class Choice(Setting[str]):
    """One of a few words; what `pinned` takes."""

    error = PinError

    def __init__(self, variable: str, words: tuple[str, ...], doc: str) -> None:
        self.words = (AUTO, *words)
        super().__init__(variable, ", ".join(self.words), lambda: AUTO, doc)

    def parse(self, text: str, where: str) -> str:
        """One of the words, spelled exactly."""
        if text not in self.words:
            raise self.malformed(text, where)
        return text


class Spelling(NamedTuple):
    """A route as it is written: the family, then ``/key=value`` for each variant, as in ``blocked/leaf=slm``.

    Attributes
    ----------
    text : str
        The whole.
    family : str
        Name of the family, or ``"auto"``.
    variants : tuple of (str, str)
        Variant settings by key, and their words.
    """

    text: str
    family: str
    variants: tuple[tuple[str, str], ...] = ()


class Route(Choice):
    """A family of an op; the one that has variants may be followed by some of them."""

    def __init__(self, op: str) -> None:
        super().__init__(f"BATCHLAS_{op.upper()}_ROUTE", ROUTES[op], f"Route of {op}.")
        self.key = op

    def parse(self, text: str, where: str) -> str:
        """The text, if it spells a route."""
        return self.spelling(text, where).text

    def spelling(self, text: str, where: str) -> Spelling:
        """The parts of a text, which came from ``where``."""
        if text in self.words:
            return Spelling(text, text)
        family, *parts = text.split("/")
        if family != VARIED or VARIED not in self.words:
            raise self.malformed(text, where)
        variants = tuple(self._variant(part, text, where) for part in parts)
        if len(dict(variants)) < len(variants):
            raise PinError(f"{where}: got {text!r} for {self.key}, accepted is each variant once")
        return Spelling(text, family, variants)

    def malformed(self, text: object, where: str) -> BatchlasError:
        """Error for a text that spells no route."""
        return PinError(f"{where}: got {text!r} for {self.key}, accepted are {self.accepted}")

    def _variant(self, part: str, text: str, where: str) -> tuple[str, str]:
        key, _, word = part.partition("=")
        setting = SETTINGS.get(f"{self.key}_{key}")
        if not isinstance(setting, Choice):
            names = ", ".join(self._variant_keys()) or "none"
            raise PinError(f"{where}: got {text!r}, accepted variants of {self.key} are {names}")
        return setting.key, setting.parse(word, f"{where}: {text!r}: {key}")

    def _variant_keys(self) -> Iterator[str]:
        prefix = f"{self.key}_"
        for name, setting in SETTINGS.items():
            if name.startswith(prefix) and isinstance(setting, Choice):
                yield name.removeprefix(prefix)


class Switch(Setting[bool]):
    """On or off."""

    meaning: Final = {"on": True, "1": True, "off": False, "0": False}

    def __init__(self, variable: str, default: bool, doc: str) -> None:
        super().__init__(variable, ", ".join(self.meaning), lambda: default, doc)

    def parse(self, text: str, where: str) -> bool:
        """Truth of ``on``, ``1``, ``off`` or ``0``."""
        if text not in self.meaning:
            raise self.malformed(text, where)
        return self.meaning[text]


class Folder(Setting[Path]):
    """A folder, which need not exist."""

    def __init__(self, variable: str, default: Callable[[], Path], doc: str) -> None:
        super().__init__(variable, "paths of folders, existing or not", default, doc)

    def parse(self, text: str, where: str) -> Path:
        """Path, with ``~`` expanded."""
        path = Path(text).expanduser()
        if path.exists() and not path.is_dir():
            raise self.malformed(text, where)
        return path


@dataclass(frozen=True, eq=False)
class Config:
    """The settings in force; one object per distinct state, so it may key a cache.

    Attributes
    ----------
    values, sources : mapping of str
        Value and source of every setting, by key: an op's name for its route, else the attribute's.
    generation : int
        Grows with every `refresh`.
    """

    values: Mapping[str, Any]
    sources: Mapping[str, Source]
    generation: int

    getrf_leaf = Choice("BATCHLAS_GETRF_LEAF", ("reg", "slm"), "Panel kernel of blocked getrf.")
    getrf_laswp = Choice(
        "BATCHLAS_GETRF_LASWP",
        ("inloop", "defer_walk", "defer_gather"),
        "Row interchange left of blocked getrf's panel.",
    )
    getrf_right_laswp = Choice(
        "BATCHLAS_GETRF_RIGHT_LASWP",
        ("walk", "gather", "fused"),
        "Row interchange right of blocked getrf's panel; fused is one kernel with the solve and the update.",
    )
    getrf_nb = Choice("BATCHLAS_GETRF_NB", ("32", "64", "128", "256"), "Panel width of blocked getrf.")
    getrs_laswp = Choice("BATCHLAS_GETRS_LASWP", ("walk", "gather"), "Row interchange of blocked getrs.")
    vendor = Switch("BATCHLAS_VENDOR", True, "Whether CUDA problems may use the vendor's libraries.")
    kernel_trace = Switch("BATCHLAS_KERNEL_TRACE", False, "Whether every run logs its route to stderr.")
    cache_dir = Folder(
        "BATCHLAS_CACHE_DIR",
        lambda: user_cache_path("batchlas_py", False),
        "Where compiled kernels are kept.",
    )
    cache_foreign = Switch(
        "BATCHLAS_CACHE_FOREIGN", False, "Whether kernels that other versions of the compiler made may run."
    )
    tables = Folder(
        "BATCHLAS_TABLES",
        lambda: user_config_path("batchlas_py", False) / "tables",
        "Where the user's routing tables are; they win over the shipped ones.",
    )

    def route(self, op: str) -> str:
        """Route pinned for ``op``, or ``"auto"``."""
        value: str = self.values[op]
        return value


SETTINGS: Final[Mapping[str, Setting[Any]]] = {
    **{op: Route(op) for op in ROUTES},
    **{key: value for key, value in vars(Config).items() if isinstance(value, Setting)},
}


class SettingValue(NamedTuple):
    """One line of `settings`."""

    key: str
    variable: str
    value: Any
    source: Source
    accepted: str
    doc: str


Pins = tuple[tuple[str, str], ...]
_pins: ContextVar[Pins] = ContextVar("batchlas_py_pins", default=())
_generations = count(1)


def current() -> Config:
    """Return what is in force here: what `pinned` says, then the environment, then the defaults."""
    return _merge(_environment(), _pins.get())


def refresh() -> None:
    """Forget the environment as it was read; the next use reads it again."""
    _environment.cache_clear()


def settings() -> tuple[SettingValue, ...]:
    """Every setting with its value and where that came from."""
    now = current()
    return tuple(
        SettingValue(key, one.variable, now.values[key], now.sources[key], one.accepted, one.doc)
        for key, one in SETTINGS.items()
    )


def spelling(op: str, text: str, where: str) -> Spelling:
    """Parts of a route of ``op``; a text that spells none raises `PinError`, with ``where`` it came from."""
    route: Route = SETTINGS[op]  # type: ignore[assignment]
    return route.spelling(text, where)


@contextmanager
def pinned(**pins: str) -> Iterator[None]:
    """Pin routes, or variants inside a family, within a ``with`` block of this thread or task.

    Parameters
    ----------
    **pins : str
        By op (``getrf="tiny"``, ``getrf="blocked/leaf=slm"``) or by variant (``getrf_leaf="slm"``).
        ``"auto"`` lifts a pin that the environment or an outer block has set.

    Raises
    ------
    PinError
        An unknown op, variant or route. A pin that cannot run raises at the call that meets it.
    """
    for key, value in pins.items():
        _pinnable(key).parse(value, f"pinned({key}=)")
    token = _pins.set(tuple(sorted((dict(_pins.get()) | pins).items())))
    try:
        yield
    finally:
        _pins.reset(token)


def _pinnable(key: str) -> Choice:
    setting = SETTINGS.get(key)
    if not isinstance(setting, Choice):
        names = ", ".join(name for name, one in SETTINGS.items() if isinstance(one, Choice))
        raise PinError(f"pinned(): got {key!r}, accepted are {names}")
    return setting


@lru_cache(maxsize=1)
def _environment() -> Config:
    texts = {key: text for key, one in SETTINGS.items() if (text := os.environ.get(one.variable, "").strip())}
    values = {
        key: one.parse(texts[key], one.variable) if key in texts else one.default()
        for key, one in SETTINGS.items()
    }
    sources: dict[str, Source] = {key: "environment" if key in texts else "default" for key in SETTINGS}
    return Config(values, sources, next(_generations))


@lru_cache(maxsize=256)
def _merge(base: Config, pins: Pins) -> Config:
    sources: dict[str, Source] = {key: "pinned()" for key, _ in pins}
    return Config({**base.values, **dict(pins)}, {**base.sources, **sources}, base.generation)
