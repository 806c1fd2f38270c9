"""What an op is to the harness: its operands, their inputs, the call, its counts, and what judges it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from batchlas_py.dtypes import is_complex
from batchlas_py.problem import Problem

from .arrays import Array, ArrayLibrary

__all__ = ["Arrays", "HostArrays", "Operand", "Role", "Setup"]

Arrays = Mapping[str, Array]
HostArrays = Mapping[str, "np.ndarray[Any, Any]"]
Role = Literal["in", "inout", "out"]


@dataclass(frozen=True, slots=True)
class Operand:
    """One array argument of an op.

    Attributes
    ----------
    name : str
        LAPACK name.
    shape : tuple of int
        Of one item: two extents for a matrix, one for pivots, none for info.
    dtype : str
        NumPy name.
    role : {"in", "inout", "out"}
        Whether the op reads it, writes over it, or writes it.
    limits : tuple of int, optional
        Smallest and largest value that an integer operand may hold after the call.
    touched : int, optional
        Elements of one item that the op looks at; all of them by default.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    role: Role
    limits: tuple[int, int] | None = None
    touched: int | None = None

    @property
    def nbytes(self) -> int:
        """Bytes of one item."""
        return math.prod(self.shape) * np.dtype(self.dtype).itemsize

    @property
    def traffic(self) -> int:
        """Bytes that the op must move for one item: what it reads once, what it writes once."""
        elements = math.prod(self.shape) if self.touched is None else self.touched
        return elements * np.dtype(self.dtype).itemsize * (2 if self.role == "inout" else 1)


@dataclass(frozen=True, slots=True)
class Setup:
    """An op as the harness runs it, in place where LAPACK is.

    Attributes
    ----------
    op : str
        LAPACK name.
    operands : callable
        ``problem -> iterable of Operand``.
    inputs : callable
        ``(library, problem, seed) -> arrays``: the inputs by operand name, and whatever else
        `residual` needs, each of shape ``(batch, ...)``.
    call : callable
        ``(arrays, route)`` enqueues the op on one set of operands.
    operations : callable
        ``problem -> (multiplications, additions)`` of one item, LAPACK's count.
    residual : callable
        ``(before, after) -> ratio``: LAPACK's test ratio of a sample of items, worst of the sample.
    has_rhs : bool
        Whether the problem has right-hand sides.
    """

    op: str
    operands: Callable[[Problem], Iterator[Operand]]
    inputs: Callable[[ArrayLibrary, Problem, int], Arrays]
    call: Callable[[Arrays, str], object]
    operations: Callable[[Problem], tuple[float, float]]
    residual: Callable[[HostArrays, HostArrays], float]
    has_rhs: bool = False

    def traffic(self, problem: Problem) -> int:
        """Bytes that the whole batch must move."""
        return problem.batch * sum(operand.traffic for operand in self.operands(problem))

    def nbytes(self, problem: Problem) -> int:
        """Bytes of one set of operands."""
        return problem.batch * sum(operand.nbytes for operand in self.operands(problem))

    def flops(self, problem: Problem) -> float:
        """Real operations of the whole batch; a complex product is six, a complex sum two."""
        multiplications, additions = self.operations(problem)
        weights = (6, 2) if is_complex(problem.dtype) else (1, 1)
        return problem.batch * (weights[0] * multiplications + weights[1] * additions)
