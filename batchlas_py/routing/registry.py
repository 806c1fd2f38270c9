"""Names of the routes, and the families behind them."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

from ..config import ROUTES
from ..errors import ArgumentError
from ..family import Family

__all__ = ["ROUTES", "families", "routes"]

OPS_PACKAGE = "batchlas_py.ops"


def routes(op: str) -> tuple[str, ...]:
    """Every route name of ``op``, present in this version or not."""
    if op not in ROUTES:
        raise ArgumentError(f"op: got {op!r}, accepted are {', '.join(ROUTES)}")
    return ROUTES[op]


def families(op: str) -> tuple[Family, ...]:
    """Families of ``op`` in this version, in the default order; its module is imported at the first use."""
    routes(op)
    module = f"{OPS_PACKAGE}.{op}"
    if find_spec(module) is None:
        return ()
    found: tuple[Family, ...] = import_module(module).FAMILIES
    return found
