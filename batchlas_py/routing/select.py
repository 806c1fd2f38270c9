"""The choice of a family: a pin where there is one, else the best-ranked family that can run.

Order: argument, `batchlas_py.pinned`, environment, table, default order. Only an automatic choice falls
through to the next; a pin that cannot run raises. A pin may spell variants of its family, which are in force
for what it starts. On the host, LAPACK is the one family: the environment
and the tables speak of CUDA and are not asked, while an argument or `pinned` binds there too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, NamedTuple

from .. import config
from ..config import AUTO, Config, Spelling
from ..errors import PinError, UnsupportedProblem
from ..family import Family, Verdict, no
from ..problem import DeviceInfo, Problem
from . import registry, tables

DEFAULT_ORDER: Final = "default order"
HOST_FAMILY: Final = "vendor"

Verdicts = Mapping[str, Verdict]


@dataclass(frozen=True, slots=True)
class Selection:
    """What runs, where, and who decided.

    Attributes
    ----------
    device : DeviceInfo
        The device as the families saw it.
    source : str
        The pin, the table and its line, or the default order.
    rule : str
        The table's row, the pin, or the names of the default order.
    verdicts : mapping of str to Verdict
        Of every route of the op, whether it can run, or why not.
    spelling : Spelling, optional
        The pin, where it spells variants of the family.
    """

    family: Family
    device: DeviceInfo
    source: str
    rule: str
    verdicts: Verdicts
    spelling: Spelling | None = None

    @property
    def route(self) -> str:
        """Name of the family, with the variants that a pin spells."""
        return self.spelling.text if self.spelling else self.family.name

    def in_force(self) -> AbstractContextManager[None]:
        """Context in which the variants of the pin are those of the settings."""
        return config.pinned(**dict(self.spelling.variants)) if self.spelling else nullcontext()


class Ranking(NamedTuple):
    """Names from best to worst, with who ranks them."""

    names: tuple[str, ...]
    source: str
    rule: str
    spelling: Spelling | None = None


def select(problem: Problem, device: DeviceInfo, route: str | None = None) -> Selection:
    """Choose the family that runs a problem.

    Parameters
    ----------
    problem : Problem
    device : DeviceInfo
    route : str, optional
        Pins the choice; ``"auto"`` lifts every other pin.

    Raises
    ------
    PinError
        The pinned route is unknown, or cannot run the problem.
    UnsupportedProblem
        No family can run the problem.
    """
    return _select(problem, device, route, config.current())


def visible(device: DeviceInfo, settings: Config) -> DeviceInfo:
    """Device as the families may see it: without the vendor's library if that is switched off."""
    if settings.vendor or not device.is_gpu:
        return device
    return replace(device, has_vendor=False, vendor_reason="BATCHLAS_VENDOR=off")


def judge(problem: Problem, device: DeviceInfo) -> dict[str, Verdict]:
    """Verdict of every route of the op."""
    present = _present(problem.op)
    return {name: _verdict(present.get(name), problem, device) for name in registry.routes(problem.op)}


def describe(problem: Problem) -> str:
    """One line on a problem."""
    order = f"n={problem.n}" if problem.m == problem.n else f"m={problem.m} n={problem.n}"
    extras = [
        f"{name}={value}"
        for name in ("nrhs", "k", "side", "uplo", "trans", "diag")
        if (value := getattr(problem, name))
    ]
    words = (problem.op, problem.dtype, order, *extras, f"batch={problem.batch}", f"layout={problem.layout}")
    return " ".join(words)


@lru_cache(maxsize=8192)
def _select(problem: Problem, device: DeviceInfo, route: str | None, settings: Config) -> Selection:
    seen = visible(device, settings)
    verdicts = judge(problem, seen)
    pin = _pin(problem.op, seen, route, settings)
    if pin is not None:
        _check_pin(pin, problem, seen, verdicts)
    for ranking in (pin,) if pin is not None else _rankings(problem, seen, settings):
        name = next((name for name in ranking.names if verdicts[name].ok), None)
        if name is not None:
            family = _present(problem.op)[name]
            return Selection(family, seen, ranking.source, ranking.rule, verdicts, ranking.spelling)
    raise UnsupportedProblem(f"no family can run {describe(problem)} on {seen.arch}: {_reasons(verdicts)}")


def _present(op: str) -> dict[str, Family]:
    return {family.name: family for family in registry.families(op)}


def _verdict(family: Family | None, problem: Problem, device: DeviceInfo) -> Verdict:
    if family is None:
        return no("not in this version")
    if not device.is_gpu and family.name != HOST_FAMILY:
        return no("runs on a CUDA device, not on the host")
    return family.can_run(problem, device)


def _pin(op: str, device: DeviceInfo, route: str | None, settings: Config) -> Ranking | None:
    source = "argument route"
    if route is None:
        route, setter = settings.route(op), settings.sources[op]
        if setter == "environment" and not device.is_gpu:
            return None
        source = f"pinned({op}=)" if setter == "pinned()" else f"environment {config.SETTINGS[op].variable}"
    if route == AUTO:
        return None
    spelling = config.spelling(op, route, source)
    return Ranking((spelling.family,), source, route, spelling if spelling.variants else None)


def _check_pin(pin: Ranking, problem: Problem, device: DeviceInfo, verdicts: Verdicts) -> None:
    (family,) = pin.names
    if not verdicts[family].ok:
        able = ", ".join(name for name, verdict in verdicts.items() if verdict.ok) or "none"
        where = f"{describe(problem)} on {device.arch}"
        reason = verdicts[family].reason
        raise PinError(f"{pin.source}: {pin.rule!r} cannot run {where}: {reason}; routes that can: {able}")


def _rankings(problem: Problem, device: DeviceInfo, settings: Config) -> Iterator[Ranking]:
    if device.is_gpu:
        for row, source in tables.consult(problem, device.arch, settings):
            yield Ranking(row.ranking, source, " ".join(str(row).split()))
    names = tuple(_present(problem.op))
    yield Ranking(names, DEFAULT_ORDER, " ".join(names))


def _reasons(verdicts: Verdicts) -> str:
    return "; ".join(f"{name}: {verdict.reason}" for name, verdict in verdicts.items())
