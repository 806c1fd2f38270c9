"""The catalogue of kernels holds whatever a problem may need."""

from __future__ import annotations

import pytest

from batchlas_py.dtypes import DTYPES
from batchlas_py.kernels import qr_choice
from batchlas_py.kernels.choice import tiny_max_n, tiny_spec
from batchlas_py.kernels.inverse_specs import getri_spec
from batchlas_py.ops.catalogue import catalogue
from batchlas_py.problem import RECORDED


@pytest.mark.parametrize("arch", RECORDED)
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_problem_of_tiny_finds_its_kernel(arch: str, dtype: str) -> None:
    shipped = {(source.name, source.spec) for sources in catalogue(arch).values() for source in sources}
    for op, sides in (("getrf", (0,)), ("gesv", (1, 2, 3, 4))):
        for n in range(1, tiny_max_n(op, dtype, arch) + 1):
            for nrhs in sides:
                for staged in (False, True):
                    assert (f"{op}_tiny", tiny_spec(dtype, n, staged, nrhs, arch)) in shipped


@pytest.mark.parametrize("op", ["geqrf", "orgqr", "qr"])
@pytest.mark.parametrize("arch", RECORDED)
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_problem_of_tiny_qr_finds_its_kernel(dtype: str, arch: str, op: str) -> None:
    shipped = {(source.name, source.spec) for sources in catalogue(arch).values() for source in sources}
    for m in range(1, qr_choice.tiny_limit(op, dtype, arch) + 1):
        for n in range(1, qr_choice.tiny_limit(op, dtype, arch) + 1):
            assert (f"{op}_tiny", qr_choice.tiny_spec(op, dtype, m, n, arch)) in shipped


@pytest.mark.parametrize("arch", RECORDED)
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_order_of_getri_finds_its_kernel(dtype: str, arch: str) -> None:
    shipped = {source.spec for source in catalogue(arch)["getri cta"]}
    assert {getri_spec(dtype, n, arch) for n in range(1, 513)} <= shipped


@pytest.mark.parametrize("arch", RECORDED)
def test_no_kernel_is_listed_twice(arch: str) -> None:
    every = [source for sources in catalogue(arch).values() for source in sources]
    assert len(every) == len(set(every))
