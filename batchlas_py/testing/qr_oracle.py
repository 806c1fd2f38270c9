"""Householder QR of one matrix by the textbook loops, free of LAPACK, and what its routines define.

`larfg`, `geqr2`, `org2r` and `orm2r` are LAPACK's unblocked algorithms, a reflector at a time, in the working
precision; norms are formed of scaled numbers, so that squares neither overflow nor underflow.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

__all__ = ["Geqr2", "Reflector", "geqr2", "larfg", "org2r", "orm2r"]


class Reflector(NamedTuple):
    """``H = I - tau (1, v) (1, v)^H``, and what ``H^H`` makes of the leading element."""

    beta: Any
    tau: Any
    v: np.ndarray


class Geqr2(NamedTuple):
    """Factors and weights, shapes (m, n) and (min(m, n),)."""

    qr: np.ndarray
    tau: np.ndarray


@np.errstate(all="ignore")
def larfg(alpha: Any, x: np.ndarray) -> Reflector:
    """The reflector that takes ``(alpha, x)`` to ``(beta, 0)`` with real beta.

    tau is zero, and H the identity, where x is zero and alpha real. beta has the sign that alpha's real part
    has not. A complex alpha alone gets a real beta too.
    """
    kind = x.dtype.type
    if not x.any() and np.imag(alpha) == 0:
        return Reflector(alpha, kind(0), x.copy())
    parts = np.concatenate([[alpha.real, alpha.imag], x.real, x.imag])
    largest = abs(parts).max()
    if not (np.isfinite(largest) and largest > 0):
        norm = largest
    else:
        # A power of two as the scale, so that only the squares and their sum are rounded.
        power = np.ldexp(np.ones((), parts.dtype), -np.frexp(largest)[1] // 2)
        scaled = parts * power * power
        norm = np.sqrt((scaled * scaled).sum()) / power / power
    beta = -np.copysign(norm, alpha.real)
    divided = x / beta / (kind(alpha) / beta - kind(1))
    return Reflector(kind(beta), kind(kind(1) - kind(alpha) / beta), divided)


@np.errstate(all="ignore")
def geqr2(a: np.ndarray) -> Geqr2:
    """Factor ``A = Q R``; ``a``, shape (m, n), is left as it is."""
    qr, steps = a.copy(), min(a.shape)
    tau = np.zeros(steps, a.dtype)
    for k in range(steps):
        reflector = larfg(qr[k, k], qr[k + 1 :, k])
        tau[k], qr[k, k], qr[k + 1 :, k] = reflector.tau, reflector.beta, reflector.v
        _reflect(np.conj(reflector.tau), reflector.v, qr[k:, k + 1 :])
    return Geqr2(qr, tau)


def org2r(qr: np.ndarray, tau: np.ndarray, columns: int | None = None) -> np.ndarray:
    """The first columns of Q, shape (m, columns); by default as many as there are reflectors."""
    m = qr.shape[0]
    return orm2r(qr, tau, np.eye(m, len(tau) if columns is None else columns, dtype=qr.dtype))


@np.errstate(all="ignore")
def orm2r(qr: np.ndarray, tau: np.ndarray, c: np.ndarray, side: str = "L", trans: str = "N") -> np.ndarray:
    """``op(Q) C`` or ``C op(Q)``; ``trans`` is N or C, of real matrices also T."""
    if side == "R":
        other = "C" if trans == "N" else "N"
        adjoint: np.ndarray = orm2r(qr, tau, c.conj().T, "L", other).conj().T
        return adjoint
    x, steps = c.copy(), range(len(tau))
    for k in reversed(steps) if trans == "N" else steps:
        weight = tau[k] if trans == "N" else np.conj(tau[k])
        _reflect(weight, qr[k + 1 :, k], x[k:])
    return x


def _reflect(weight: Any, v: np.ndarray, c: np.ndarray) -> None:
    """``C := C - weight (1, v) (1, v)^H C``, column by column, in place."""
    for j in range(c.shape[1]):
        total = weight * (c[0, j] + (v.conj() * c[1:, j]).sum())
        c[0, j] -= total
        c[1:, j] -= total * v
