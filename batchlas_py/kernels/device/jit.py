"""Device functions that always inline, and loops that are always unrolled."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numba import cuda

__all__ = ["device", "select", "static_for"]

int32 = np.int32


def device(function: Callable[..., Any]) -> Any:
    """Compile ``function`` as a device function that the optimiser must inline."""
    return cuda.jit(device=True, forceinline=True)(function)


def static_for(body: Any, steps: Iterable[int], arguments: str) -> Any:
    """A device function that calls ``body(step, *arguments)`` once for each step, written out.

    NVVM leaves long loops rolled, and a rolled loop cannot index registers. Each step number is
    passed as ``int32(k)``: one type for all steps, so Numba compiles ``body`` once, and a constant
    after inlining, so array indices stay static.
    """
    calls = "".join(f"    body(int32({step}), {arguments})\n" for step in steps)
    scope = {"body": body, "int32": int32}
    exec(f"def unrolled({arguments}):\n{calls}    pass\n", scope)
    return device(scope["unrolled"])


@device
def select(condition, chosen, other):
    """``chosen if condition else other``, as one instruction instead of a branch in the caller."""
    return chosen if condition else other
