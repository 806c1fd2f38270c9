"""potrs: A X = B with the factors of potrf."""

from __future__ import annotations

from ..family import Call, Family
from ..vendor import lapack_spd
from . import cusolver_spd, potrs_cta
from .common import native, vendor_family
from .triangles import solves

__all__ = ["FAMILIES"]


def _launch_blocked(call: Call) -> None:
    ops = call.operands
    for child, source in zip(solves(call.problem), ("b", "x"), strict=True):
        call.run(child, {"a": ops["c"], "b": ops[source], "x": ops["x"]})


FAMILIES = (
    potrs_cta.FAMILY,
    Family("potrs", "blocked", native, _launch_blocked),
    vendor_family("potrs", cusolver_spd.potrs, lapack_spd.potrs),
)
