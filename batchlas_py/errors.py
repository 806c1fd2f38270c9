"""Exceptions. Each message names the argument, what came, and what is accepted."""

from __future__ import annotations

from numpy.linalg import LinAlgError

__all__ = [
    "ArgumentError",
    "ArgumentTypeError",
    "BackendUnavailable",
    "BatchlasError",
    "LinAlgError",
    "PinError",
    "TableError",
    "UnsupportedProblem",
]


class BatchlasError(Exception):
    """Base of every exception that this package defines."""


class ArgumentError(BatchlasError, ValueError):
    """An argument has the wrong shape, value or memory layout."""


class ArgumentTypeError(BatchlasError, TypeError):
    """An argument has the wrong type or dtype, or lives on the wrong device."""


class PinError(BatchlasError, ValueError):
    """A pinned route is unknown, or cannot run the problem."""


class TableError(BatchlasError, ValueError):
    """A routing table does not parse or names something unknown."""


class UnsupportedProblem(BatchlasError, NotImplementedError):
    """No family can run the problem; the message lists every family's reason."""


class BackendUnavailable(BatchlasError, RuntimeError):
    """CUDA, or a library that a family needs, cannot be used; the message says why."""
