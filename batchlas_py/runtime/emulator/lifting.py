"""Rebuild a kernel so that it, and all that it calls, runs in plain Python."""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from types import CellType, FunctionType, ModuleType
from typing import Any, Final
from weakref import WeakKeyDictionary

import numpy as np

from .findings import EmulatorError, here
from .threads import me
from .twins import BY_IDENTITY, NAMESPACES, Reading

DEVICE_ONLY: Final = ("numba.cuda.stubs", "numba.cuda.intrinsics", "numba.cuda.libdevice")


class Lifter:
    """Copies of functions in which device functions, modules and CUDA names are replaced by twins.

    Parameters
    ----------
    overrides : mapping
        Objects of the kernel to what stands in for them: how a test plants a fault.
    """

    def __init__(self, overrides: Mapping[Any, Any]) -> None:
        self._overrides = {id(original): (original, twin) for original, twin in overrides.items()}
        self._lifted: WeakKeyDictionary[FunctionType, FunctionType] = WeakKeyDictionary()

    def convert(self, value: Any) -> Any:
        """Return what the lifted code sees in place of ``value``."""
        if id(value) in self._overrides:
            return PLAIN.convert(self._overrides[id(value)][1])
        if id(value) in BY_IDENTITY:
            return BY_IDENTITY[id(value)]
        if id(value) in NAMESPACES or (isinstance(value, ModuleType) and value is not np):
            return Namespace(value, self)
        if getattr(value, "__module__", None) in DEVICE_ONLY:
            return Missing(value)
        function = getattr(value, "py_func", value)
        return self.lift(function) if isinstance(function, FunctionType) else value

    def lift(self, function: FunctionType) -> FunctionType:
        """Copy a function with its globals and closure converted; the same copy for each call."""
        if function not in self._lifted:
            cells = tuple(CellType() for _ in function.__closure__ or ())
            # The copy of the code gives each function an identity, which shared arrays are told apart by.
            code, scope = function.__code__.replace(), dict(function.__globals__)
            self._lifted[function] = FunctionType(
                code, scope, function.__name__, function.__defaults__, cells
            )
            self._convert_scope(function, scope)
            for cell, original in zip(cells, function.__closure__ or (), strict=True):
                cell.cell_contents = self.convert(original.cell_contents)
        return self._lifted[function]

    def _convert_scope(self, function: FunctionType, scope: dict[str, Any]) -> None:
        for name in function.__code__.co_names:
            if name in scope or hasattr(builtins, name):
                scope[name] = self.convert(scope[name] if name in scope else getattr(builtins, name))


class Missing:
    """A CUDA name without a twin: an error when it is used."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def __call__(self, *_args: Any, **_kwargs: Any) -> Any:
        """Refuse."""
        raise EmulatorError(f"{self._value!r}: no twin in the emulator, accepted as `overrides`; {here()}")

    def __getattr__(self, _name: str) -> Any:
        """Refuse."""
        return self()


class Namespace:
    """A module as lifted code sees it."""

    def __init__(self, target: Any, lifter: Lifter) -> None:
        self._target, self._lifter = target, lifter

    def __getattr__(self, name: str) -> Any:
        """Convert a member when it is first asked for."""
        value = self._lifter.convert(getattr(self._target, name))
        if isinstance(value, Reading):
            return value.read(me())
        setattr(self, name, value)
        return value


PLAIN: Final = Lifter({})
