"""What the calls of this package share: failed items, and shapes of right-hand sides."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ArgumentError, LinAlgError
from ..interop.device_array import fetch
from ..interop.edge import Edge

__all__ = ["as_columns", "raise_if_failed"]


def raise_if_failed(edge: Edge, info: Any, check: bool | None, message: str) -> None:
    """Raise `LinAlgError` where an item failed: by default on the host alone, where nothing has to wait.

    ``info`` is one of the arrays that the edge was opened with.
    """
    if check is False or (check is None and edge.device.is_gpu):
        return
    status = fetch(edge.memories["info"], edge.stream, edge.device.ordinal) if edge.device.is_gpu else info
    failed = np.flatnonzero(status)
    if len(failed):
        raise LinAlgError(f"{message}: {len(failed)} items, the first is number {failed[0]}")


def as_columns(a: Any, b: Any) -> tuple[Any, Any]:
    """Matrices and right-hand sides with the same leading dimensions; a vector becomes a column.

    As in NumPy 2, ``b`` is a vector only if it has one dimension. Leading dimensions are broadcast on the
    host; device arrays must have the same.
    """
    sides = b.reshape(*b.shape, 1) if len(b.shape) == 1 else b
    if isinstance(a, np.ndarray) and isinstance(sides, np.ndarray):
        lead = np.broadcast_shapes(a.shape[:-2], sides.shape[:-2])
        return _broadcast(a, lead), _broadcast(sides, lead)
    if len(sides.shape) != len(a.shape):
        raise ArgumentError(f"b: got shape {b.shape}, accepted are device arrays with a's leading dimensions")
    return a, sides


def _broadcast(matrices: np.ndarray, lead: tuple[int, ...]) -> np.ndarray:
    if matrices.shape[:-2] == lead:
        return matrices
    return np.ascontiguousarray(np.broadcast_to(matrices, (*lead, *matrices.shape[-2:])))
