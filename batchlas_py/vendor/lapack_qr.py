"""QR on the host backend: SciPy's LAPACK over a batch of NumPy arrays."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ..dtypes import is_complex
from ..family import Call
from .lapack import arrays_of

__all__ = ["geqrf", "orgqr", "ormqr", "qr"]


class _Routines(NamedTuple):
    geqrf: Any
    geqrf_lwork: Any
    orgqr: Any
    ormqr: Any


@cache
def _routines(dtype: str) -> _Routines:
    from scipy.linalg import get_lapack_funcs  # only here: SciPy would delay a GPU's first call

    kind = "un" if is_complex(dtype) else "or"
    names = ("geqrf", "geqrf_lwork", f"{kind}gqr", f"{kind}mqr")
    return _Routines(*get_lapack_funcs(names, dtype=np.dtype(dtype)))


def geqrf(call: Call) -> None:
    """Factor; operands ``a``, ``qr``, ``tau``."""
    a, qr, tau = arrays_of(call, "a", "qr", "tau")
    routines = _routines(a.dtype.name)
    lwork = _size(routines.geqrf_lwork(*a.shape[1:]))
    for i in range(len(a)):
        qr[i], tau[i, :, 0], *_ = routines.geqrf(a[i], lwork=lwork)


def orgqr(call: Call) -> None:
    """First columns of Q; operands ``qr``, ``tau``, ``q``."""
    qr, tau, q = arrays_of(call, "qr", "tau", "q")
    _form(qr, tau, q, call.problem.k)


def ormqr(call: Call) -> None:
    """Product with Q or its adjoint; operands ``qr``, ``tau``, ``c``, ``x``."""
    qr, tau, c, x = arrays_of(call, "qr", "tau", "c", "x")
    problem = call.problem
    multiply = _routines(c.dtype.name).ormqr
    trans = problem.trans if np.iscomplexobj(c) else problem.trans.replace("C", "T")
    for i in range(len(c)):
        operands = (problem.side, trans, qr[i, :, : problem.k], tau[i, : problem.k, 0], c[i])
        _, work, _ = multiply(*operands, lwork=-1)
        x[i] = multiply(*operands, lwork=_size(work[0]))[0]


def qr(call: Call) -> None:
    """Q and R; operands ``a``, ``q``, ``r``."""
    a, q, r = arrays_of(call, "a", "q", "r")
    routines, columns = _routines(a.dtype.name), q.shape[2]
    lwork = _size(routines.geqrf_lwork(*a.shape[1:]))
    for i in range(len(a)):
        factors, tau, *_ = routines.geqrf(a[i], lwork=lwork)
        r[i] = np.triu(factors[: r.shape[1]])
        if columns:
            _form(factors[None], tau[None, :, None], q[i : i + 1], len(tau))


def _form(qr: np.ndarray, tau: np.ndarray, q: np.ndarray, k: int) -> None:
    """Q from the first k reflectors of each item; the columns without one are those of the identity."""
    if not k:
        q[...] = np.eye(*q.shape[1:])
        return
    routines = _routines(q.dtype.name)
    columns = np.zeros(q.shape[1:], q.dtype, order="F")
    _, work, _ = routines.orgqr(columns, tau[0, :k, 0], lwork=-1)
    for i in range(len(q)):
        columns[:, :k] = qr[i, :, :k]
        q[i] = routines.orgqr(columns, tau[i, :k, 0], lwork=_size(work))[0]


def _size(answer: Any) -> int:
    """Elements of workspace, as a query gives them."""
    work = answer[0] if isinstance(answer, tuple) else answer
    return int(np.ravel(work)[0].real)
