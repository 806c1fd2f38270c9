"""Backends behind one face, so that one test body serves them all, and the cells that tests run on.

``host`` is LAPACK on NumPy arrays. ``emulated`` is the CUDA path on the emulator, ``emulated-cublas`` the
same with the oracle in the place of cuBLAS. ``cuda`` pins the package's kernels on a GPU, ``cublas`` the
vendor's.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import numpy as np
import pytest

from batchlas_py import device_info
from batchlas_py.capability import square_getrf_ceiling
from batchlas_py.dtypes import DTYPES
from batchlas_py.kernels.choice import tiny_max_n
from batchlas_py.problem import RECORDED
from batchlas_py.runtime.registry import KernelSource
from batchlas_py.testing import matgen

from .. import checks, emulated_gpu

VENDOR: Final = dict.fromkeys(("getrf", "getrs", "getri", "gesv", "gemm", "trsm"), "vendor")
NO_LIMIT: Final = 1 << 30
UNDERFLOW: Final = 10  # LAPACK's matrix type with its norm near underflow
CTA_PIN: Final = {"getrf": "cta"}
BLOCKED_PIN: Final = {"getrf": "blocked"}
FEW: Final = (1, 2, 3, 4, 5, 8, 9, 16, 17, 31, 32)


def cta_max_n(op: str, dtype: str, arch: str) -> int:
    """Largest order of getrf in shared memory; no limit of other ops, which the pin leaves alone."""
    return square_getrf_ceiling(dtype, RECORDED[arch].shared_budget) if op == "getrf" else NO_LIMIT


@dataclass
class Placed:
    """A batch on a device, inside a poisoned buffer.

    Attributes
    ----------
    buffer : array
        On the device.
    item : tuple
        Index that takes a batch of matrices to one of vectors or scalars.
    """

    device: Device
    embedded: checks.Embedded
    buffer: Any
    item: tuple[Any, ...]

    @property
    def array(self) -> Any:
        """What a call gets."""
        return self.embedded.pick(self.buffer)[self.item]

    def values(self) -> np.ndarray:
        """What the device holds now."""
        now: np.ndarray = self.embedded.pick(self.device.get(self.buffer))[self.item]
        return now

    def assert_padding_untouched(self) -> None:
        """No byte outside the batch may have changed."""
        self.embedded.buffer[...] = self.device.get(self.buffer)
        self.embedded.assert_padding_untouched()


class Device(ABC):
    """Where arrays live, and what a test may ask of the routes there.

    Attributes
    ----------
    arch : str
        Architecture, of a GPU.
    pins : mapping
        Routes that are pinned while a test runs.
    on_gpu, native : bool
        Whether arrays are device arrays; whether the package's kernels run getrf and gesv.
    careful : bool
        Whether every route treats the ends of the range of numbers, ties, zero columns and NaN as the
        package does, and gives the same bits for every layout.
    """

    arch: str
    pins: ClassVar[Mapping[str, str]] = {}
    on_gpu: ClassVar[bool] = True
    native: ClassVar[bool] = False
    careful: ClassVar[bool] = True

    @abstractmethod
    def put(self, values: np.ndarray) -> Any:
        """A copy on the device, in C order."""

    @abstractmethod
    def get(self, array: Any) -> np.ndarray:
        """A copy on the host."""

    @abstractmethod
    def broadcast(self, array: Any, shape: tuple[int, ...]) -> Any:
        """A view with strides of 0."""

    def put_columns(self, values: np.ndarray) -> Any:
        """A copy on the device, each matrix in column-major order."""
        return self.put(values.swapaxes(-1, -2)).swapaxes(-1, -2)

    def place(self, values: np.ndarray, layout: str = "F", pad: int = 1) -> Placed:
        """A batch of matrices, vectors or scalars inside a poisoned buffer."""
        matrices = values.reshape(*values.shape, *[1] * (3 - values.ndim))
        embedded = checks.embed(matrices, layout, pad)
        return Placed(self, embedded, self.put(embedded.buffer), (..., *[0] * (3 - values.ndim)))

    def by_rule(self, dtype: str) -> bool:
        """Whether pivots are the largest |re| + |im|."""
        return True

    def lapack_types(self, dtype: str) -> tuple[int, ...]:
        """LAPACK's matrix types that the device must master; all of them where the code is ours."""
        return tuple(matgen.DGE_TYPES)

    def batch(self, n: int) -> int:
        """A number of matrices of order ``n`` that is quickly worked on."""
        return 5

    def largest(self, op: str, dtype: str) -> int:
        """Largest order that the pinned route takes."""
        return tiny_max_n(op, dtype, self.arch) if self.on_gpu and self.native else NO_LIMIT

    def launched(self) -> set[KernelSource]:
        """Kernels that a test has run, where that is known."""
        return set()


class Host(Device):
    """LAPACK on NumPy arrays."""

    on_gpu = False

    def put(self, values: np.ndarray) -> Any:
        return values.copy(order="C")

    def get(self, array: Any) -> np.ndarray:
        return np.array(array)

    def broadcast(self, array: Any, shape: tuple[int, ...]) -> Any:
        return np.broadcast_to(array, shape)


class Emulated(Device):
    """The CUDA path on the emulator; its slow checks are for the tests of single kernels."""

    native = True

    def __init__(self, gpu: emulated_gpu.EmulatedGPU) -> None:
        self.gpu, self.arch = gpu, emulated_gpu.EMULATED.arch
        gpu.options.clear()

    def put(self, values: np.ndarray) -> Any:
        return self.gpu.array(values.copy(order="C"))

    def get(self, array: Any) -> np.ndarray:
        host: np.ndarray = array.host.copy()
        return host

    def broadcast(self, array: Any, shape: tuple[int, ...]) -> Any:
        view = np.broadcast_to(array.host, shape)
        view.flags.writeable = True  # device arrays know no read-only views
        return emulated_gpu.EmulatedArray(view)

    def batch(self, n: int) -> int:
        return 5 if n <= 8 else 3 if n <= 17 else 1

    def launched(self) -> set[KernelSource]:
        return set(self.gpu.launches)


class EmulatedCta(Emulated):
    """The same with getrf in shared memory."""

    pins = CTA_PIN

    def largest(self, op: str, dtype: str) -> int:
        return cta_max_n(op, dtype, self.arch)


class EmulatedBlocked(Emulated):
    """The same with getrf by panels."""

    pins = BLOCKED_PIN

    def largest(self, op: str, dtype: str) -> int:
        return NO_LIMIT


class EmulatedCublas(Emulated):
    """The CUDA path around cuBLAS, on the emulator."""

    pins = VENDOR
    native = False


class Cuda(Device):
    """The package's kernels on a GPU; arrays are CuPy's."""

    pins: ClassVar[Mapping[str, str]] = {"getrf": "tiny", "gesv": "tiny", "gemm": "cta"}
    native = True

    def __init__(self) -> None:
        self.cupy, self.arch = pytest.importorskip("cupy"), device_info().arch

    def put(self, values: np.ndarray) -> Any:
        return self.cupy.array(values, order="C")

    def get(self, array: Any) -> np.ndarray:
        host: np.ndarray = self.cupy.asnumpy(array)
        return host

    def broadcast(self, array: Any, shape: tuple[int, ...]) -> Any:
        return self.cupy.broadcast_to(array, shape)

    def batch(self, n: int) -> int:
        return 1001 if n <= 33 else 101


class CudaCta(Cuda):
    """The package's getrf in shared memory on a GPU."""

    pins = CTA_PIN

    def largest(self, op: str, dtype: str) -> int:
        return cta_max_n(op, dtype, self.arch)


class CudaBlocked(Cuda):
    """The package's getrf by panels on a GPU."""

    pins = BLOCKED_PIN

    def largest(self, op: str, dtype: str) -> int:
        return NO_LIMIT


class Cublas(Cuda):
    """The vendor's kernels on a GPU; cuBLAS has a pivot metric of its own for complex matrices."""

    pins = VENDOR
    native = False
    careful = False

    def by_rule(self, dtype: str) -> bool:
        return not dtype.startswith("complex")

    def lapack_types(self, dtype: str) -> tuple[int, ...]:
        # Near underflow cuBLAS takes a complex pivot for zero.
        return tuple(imat for imat in matgen.DGE_TYPES if imat != UNDERFLOW or self.by_rule(dtype))


RECIPES: Final[Mapping[str, Callable[[pytest.MonkeyPatch], Device]]] = {
    "host": lambda _: Host(),
    "emulated": lambda monkeypatch: Emulated(emulated_gpu.install(monkeypatch)),
    "emulated-cublas": lambda monkeypatch: EmulatedCublas(emulated_gpu.install(monkeypatch, vendor=True)),
    "cuda": lambda _: Cuda(),
    "cublas": lambda _: Cublas(),
    "emulated-cta": lambda monkeypatch: EmulatedCta(emulated_gpu.install(monkeypatch)),
    "cuda-cta": lambda _: CudaCta(),
    "emulated-blocked": lambda monkeypatch: EmulatedBlocked(emulated_gpu.install(monkeypatch)),
    "cuda-blocked": lambda _: CudaBlocked(),
}
SIZES: Final[Mapping[str, tuple[int, ...]]] = {
    "host": (*FEW, 33),
    "emulated": FEW,
    "emulated-cublas": (1, 3, 33),
    "cuda": tuple(range(1, 33)),
    "cublas": (*range(1, 34), 48, 64),
    "emulated-cta": (1, 5, 17, 33),
    "cuda-cta": (1, 2, 7, 31, 32, 33, 47, 48, 64, 65, 96, NO_LIMIT),
    "emulated-blocked": (1, 5, 33),
    "cuda-blocked": (1, 7, 31, 32, 33, 64, 65, 129, 257, 513),
}
CTA: Final = ("emulated-cta", "cuda-cta")
BLOCKED: Final = ("emulated-blocked", "cuda-blocked")
LARGER: Final = (*CTA, *BLOCKED)
EVERY: Final = tuple(name for name in RECIPES if name not in LARGER)
NUMERIC: Final = ("host", "emulated", "cuda", "cublas")
NATIVE: Final = ("host", "emulated", "cuda")
SOLVING: Final = ("host", "emulated-cublas", "cublas")


def marks(name: str) -> tuple[pytest.MarkDecorator, ...]:
    return (
        ()
        if name in {"host", "emulated", "emulated-cublas", "emulated-cta", "emulated-blocked"}
        else (pytest.mark.gpu,)
    )


def on(*names: str) -> pytest.MarkDecorator:
    """Run a test on these devices; by default on those whose numbers come from what users run."""
    cells = [pytest.param(name, marks=marks(name)) for name in names or NUMERIC]
    return pytest.mark.parametrize("device", cells, indirect=True)


def on_each_size(op: str, names: Iterable[str] = EVERY) -> pytest.MarkDecorator:
    """Run a test on devices, dtypes, and the orders that they take of ``op``."""
    cells = [
        pytest.param(name, n, dtype, marks=marks(name))
        for name in names
        for dtype in DTYPES
        for n in SIZES[name]
        if name not in {"emulated", "cuda"} or n <= tiny_max_n(op, dtype, emulated_gpu.EMULATED.arch)
    ]
    return pytest.mark.parametrize(("device", "n", "dtype"), cells, indirect=["device"])


def on_each_layout(names: Iterable[str] = EVERY) -> pytest.MarkDecorator:
    """Run a test on devices and the layouts that they take; emulated memory has no negative strides."""
    cells = [
        pytest.param(name, layout, marks=marks(name))
        for name in names
        for layout, how in checks.LAYOUTS.items()
        if how.step > 0 or not name.startswith("emulated")
    ]
    return pytest.mark.parametrize(("device", "layout"), cells, indirect=["device"])


each_dtype = pytest.mark.parametrize("dtype", DTYPES)
each_order = pytest.mark.parametrize("layout", ["F", "C"])
