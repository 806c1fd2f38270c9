"""Says for a problem, without running it, which route it would take and why."""

from __future__ import annotations

from dataclasses import dataclass

from .. import config
from ..dtypes import canonical_dtype
from ..errors import ArgumentError, PinError, UnsupportedProblem
from ..problem import HOST, RECORDED, DeviceInfo, Layout, Problem
from .select import Verdicts, describe, judge, select, visible

__all__ = ["DEFAULT_ARCH", "Explanation", "explain"]

DEFAULT_ARCH = "sm_90"


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a problem takes its route; ``str()`` of it is the text that the command prints.

    Attributes
    ----------
    verdicts : mapping of str to Verdict
        Of every route of the op, whether it can run, or why not.
    route : str or None
        The route; None where the call would raise.
    source, rule : str
        Who decided (a pin, a table and its line, the default order), and its words.
    error : str
        What the call would raise; empty where there is a route.
    """

    problem: Problem
    device: DeviceInfo
    verdicts: Verdicts
    route: str | None = None
    source: str = ""
    rule: str = ""
    error: str = ""

    def __str__(self) -> str:
        """Return the explanation as text of a few lines."""
        width = max(map(len, (*self.verdicts, "decided by")))
        lines = [f"{describe(self.problem)} on {self.device.arch} ({self.device.name})"]
        for name, verdict in self.verdicts.items():
            lines.append(f"  {name:<{width}}  {'yes' if verdict.ok else f'no: {verdict.reason}'}")
        lines += [f"  {name:<{width}}  {text}" for name, text in self._decision()]
        return "\n".join(lines)

    def _decision(self) -> tuple[tuple[str, str], ...]:
        if self.route is None:
            return (("error", self.error),)
        return ("decided by", self.source), ("rule", self.rule), ("route", self.route)


def explain(
    op: str,
    *,
    n: int,
    batch: int,
    dtype: object,
    m: int | None = None,
    nrhs: int = 0,
    uplo: str = "",
    trans: str = "",
    layout: Layout = "F",
    k: int = 0,
    side: str = "",
    diag: str = "",
    route: str | None = None,
    arch: str | None = None,
    device: DeviceInfo | None = None,
) -> Explanation:
    """Explain the route of a problem; needs no GPU.

    Parameters
    ----------
    op : str
        LAPACK name without the type letter.
    n, batch : int
        Columns of one matrix, and number of matrices.
    dtype : dtype-like
        float32, float64, complex64 or complex128.
    m : int, optional
        Rows of one matrix; ``n`` by default.
    nrhs : int
        Columns of the right-hand side; 0 where the op has none.
    uplo, trans : str
        LAPACK characters, empty where the op has none.
    layout : {"F", "C", "strided"}
        Memory layout of the matrices.
    k : int
        Inner extent of a product, or number of interchanges.
    side, diag : str
        LAPACK characters, empty where the op has none.
    route : str, optional
        The pin to explain, as in a call.
    arch : str, optional
        ``"sm_90"`` and the like for a device on record, ``"host"`` for LAPACK.
    device : DeviceInfo, optional
        The device itself, instead of ``arch``.

    Returns
    -------
    Explanation
        Also where the call would raise: `Explanation.error` then says what.
    """
    problem = Problem(
        op, canonical_dtype(dtype), n if m is None else m, n, batch, nrhs, uplo, trans, layout, k, side, diag
    )
    target = visible(_target(arch, device), config.current())
    verdicts = judge(problem, target)
    try:
        choice = select(problem, target, route)
    except (PinError, UnsupportedProblem) as error:
        return Explanation(problem, target, verdicts, error=str(error))
    return Explanation(problem, target, verdicts, choice.route, choice.source, choice.rule)


def _target(arch: str | None, device: DeviceInfo | None) -> DeviceInfo:
    known = {**RECORDED, HOST.arch: HOST}
    if device is not None and arch is not None:
        raise ArgumentError(f"arch: got {arch!r} together with device, accepted is one of the two")
    if device is not None:
        return device
    name = arch or DEFAULT_ARCH
    if name not in known:
        raise ArgumentError(f"arch: got {name!r}, accepted are {', '.join(known)}")
    return known[name]
