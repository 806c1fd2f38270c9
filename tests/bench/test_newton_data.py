"""The shipped Newton systems are what their README says: counts, physics, and solvability."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy.linalg import lu_factor

from batchlas_py._resources import bench_folder, bench_module

EPS = np.finfo(np.float64).eps
FOLDER = bench_folder() / "data"
SETS = {"h2o2": (11, 256), "gri30": (54, 64)}
INERT = {"h2o2": {"AR", "N2"}, "gri30": {"AR"}}


class Newton(NamedTuple):
    name: str
    arrays: dict[str, Any]

    def __getattr__(self, field: str) -> Any:
        return self.arrays[field]


@pytest.fixture(scope="module", params=SETS)
def newton(request: pytest.FixtureRequest) -> Newton:
    with np.load(FOLDER / f"{request.param}.npz") as data:
        return Newton(request.param, dict(data))


def test_all_files_together_are_small() -> None:
    assert {path.stem for path in FOLDER.glob("*.npz")} == set(SETS)
    assert sum(path.stat().st_size for path in FOLDER.glob("*.npz")) <= 4 * 2**20


def test_counts_shapes_and_dtypes(newton: Newton) -> None:
    n, at_least = SETS[newton.name]
    count = len(newton.matrix)
    assert count >= at_least
    shapes = {"matrix": (count, n, n), "rhs": (count, n), "state": (count, n), "unknowns": (n,)}
    assert {name: array.shape for name, array in newton.arrays.items()} == {
        name: shapes.get(name, (count,)) for name in newton.arrays
    }
    fields = {"matrix", "rhs", "gamma_h", "time", "state", "temperature", "pressure", "phi"}
    assert set(newton.arrays) == fields | {"trajectory", "unknowns"}
    for name in fields:
        assert newton.arrays[name].dtype == np.float64
        assert np.isfinite(newton.arrays[name]).all(), name


def test_unknowns_are_temperature_and_species(newton: Newton) -> None:
    assert newton.unknowns[0] == "T"
    assert len(set(newton.unknowns)) == len(newton.unknowns)
    assert np.array_equal(newton.state[:, 0], newton.temperature)
    np.testing.assert_allclose(newton.state[:, 1:].sum(1), 1.0, atol=1e-9)


def test_conditions_are_those_of_ignitions(newton: Newton) -> None:
    assert newton.gamma_h.min() > 0
    assert np.log10(newton.gamma_h.max() / newton.gamma_h.min()) > 6
    assert newton.temperature.min() > 900
    assert newton.temperature.max() > 2500
    assert np.ptp(np.log10(newton.pressure)) > 1
    assert newton.phi.min() < 1 < newton.phi.max()
    assert newton.time.min() >= 0
    assert newton.time.max() < 1e-2


def test_gamma_h_belongs_to_its_matrix(newton: Newton) -> None:
    """Neighbours share a Jacobian, so ``(I - M) / gamma h`` is the same for both."""
    first, second = newton.matrix[::2], newton.matrix[1::2]
    small, large = newton.gamma_h[::2, None, None], newton.gamma_h[1::2, None, None]
    assert np.array_equal(newton.state[::2], newton.state[1::2])
    assert (small < large).all()
    identity = np.eye(first.shape[-1])
    rounding = EPS * ((1 + np.abs(first)) * large + (1 + np.abs(second)) * small)
    assert (np.abs((identity - first) * large - (identity - second) * small) <= 2 * rounding).all()


def test_mass_is_conserved(newton: Newton) -> None:
    """Mass fractions' rates sum to zero, hence the species rows of ``M - I`` do."""
    species = newton.matrix[:, 1:]
    sums = species.sum(axis=1)
    expected = np.r_[0.0, np.ones(species.shape[1])]
    assert (np.abs(sums - expected) <= 1e-12 * (1 + np.abs(species).sum(axis=1))).all()


def test_inert_species_have_identity_rows(newton: Newton) -> None:
    identity = np.eye(newton.matrix.shape[-1])
    inert = (newton.matrix == identity).all(axis=(0, 2))
    assert set(newton.unknowns[inert]) == INERT[newton.name]


def test_temperature_couples_to_the_chemistry(newton: Newton) -> None:
    assert (np.abs(newton.matrix[:, 1:, 0]).max(axis=1) > 0).all()
    assert (np.abs(newton.matrix[:, 0, 1:]).max(axis=1) > 1e-3).all()
    assert (newton.rhs != 0).any(axis=1).all()


def test_systems_interchange_rows(newton: Newton) -> None:
    in_order = np.arange(newton.matrix.shape[-1])
    swapped = [(lu_factor(matrix)[1] != in_order).any() for matrix in newton.matrix]
    assert np.mean(swapped) > 0.5


def test_condition_numbers_span_decades(newton: Newton) -> None:
    low, high = np.quantile(np.linalg.cond(newton.matrix), (0.1, 0.9))
    assert np.log10(high / low) > 5


def test_numpy_solves_them(newton: Newton) -> None:
    matrix, rhs = newton.matrix, newton.rhs[..., None]
    x = np.linalg.solve(matrix, rhs)
    residual = np.abs(rhs - matrix @ x).sum(axis=1)
    scale = np.abs(matrix).sum(axis=1).max(axis=1, keepdims=True) * np.abs(x).sum(axis=1)
    assert np.isfinite(x).all()
    assert (residual <= 30 * EPS * scale).all()


class TestWithCantera:
    """What needs the mechanism itself; installed by the extra ``data``."""

    @pytest.fixture
    def reactor(self, newton: Newton) -> Any:
        cantera = pytest.importorskip("cantera", reason="needs the extra 'data' (Cantera)")
        script = bench_module("data.make_newton")
        return script.Reactor(cantera.Solution(f"{newton.name}.yaml"), 0.0)

    def test_matrices_can_be_made_again(self, newton: Newton, reactor: Any) -> None:
        assert list(newton.unknowns[1:]) == reactor.gas.species_names
        for i in range(0, len(newton.matrix), 5):
            reactor.pressure = newton.pressure[i]
            change = newton.gamma_h[i] * reactor.jacobian(0.0, newton.state[i])
            remade = np.eye(len(change)) - change
            scale = 1 + np.abs(change).max(axis=0)
            assert (np.abs(newton.matrix[i] - remade) <= 1e-6 * scale).all()

    def test_jacobian_agrees_with_central_differences(self, newton: Newton, reactor: Any) -> None:
        """Where all species are present: Cantera's rates have a kink at a vanishing concentration."""
        for i in range(0, len(newton.matrix), 24):
            reactor.pressure = newton.pressure[i]
            y = np.maximum(newton.state[i], 1e-5)
            jacobian = reactor.jacobian(0.0, y)
            difference = central_differences(reactor, y)
            assert (np.abs(jacobian - difference) <= 2e-5 * np.abs(jacobian).max(axis=0)).all()


def central_differences(reactor: Any, y: Any) -> Any:
    """Fourth-order differences with steps relative to each unknown."""
    columns = []
    for j, step in enumerate(y * np.where(np.arange(y.size) == 0, 1e-3, 1e-2)):
        unit = step * np.eye(y.size)[j]
        near, far = (reactor.rate(0.0, y + k * unit) - reactor.rate(0.0, y - k * unit) for k in (1, 2))
        columns.append((8 * near - far) / (12 * step))
    return np.stack(columns, axis=1)
