"""The examples in the documentation of the public calls."""

from __future__ import annotations

import doctest
import sys
from types import ModuleType

import pytest

from batchlas_py import lapack, linalg

CALLS = (
    *("getrf", "getrs", "getri", "gesv", "gemm", "trsm", "laswp"),
    *("potrf", "potrs", "posv", "geqrf", "orgqr", "ormqr"),
)
LINALG = ("solve", "solve_spd", "inv", "lu_factor", "lu_solve", "cholesky", "qr")
MODULES = (
    *(lapack.lu, lapack.blas, lapack.cholesky, lapack.qr, linalg.lu, linalg.spd),
    sys.modules[linalg.qr.__module__],
)


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_every_example_does_what_it_shows(module: ModuleType) -> None:
    outcome = doctest.testmod(module)
    assert outcome.attempted > 0
    assert outcome.failed == 0


@pytest.mark.parametrize(
    ("module", "name"), [*((lapack, name) for name in CALLS), *((linalg, name) for name in LINALG)]
)
def test_every_call_documents_its_arguments_results_and_errors(module: ModuleType, name: str) -> None:
    function = getattr(module, name)
    text = function.__doc__
    parameters = function.__code__.co_varnames[
        : function.__code__.co_argcount + function.__code__.co_kwonlyargcount
    ]
    documented = text[text.index("Parameters") : text.index("Returns")]
    assert [one for one in parameters if one not in documented] == []
    assert {"Returns", "Raises"} <= {line.strip() for line in text.splitlines()}


def test_every_call_is_public() -> None:
    assert set(CALLS) <= set(lapack.__all__)
    assert set(LINALG) <= set(linalg.__all__)
