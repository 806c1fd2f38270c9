"""Newton matrices of combustion: the linear systems that an implicit solver meets along ignitions.

A homogeneous ideal-gas mixture burns at constant pressure. Its state is ``y = (T, Y_1, ..., Y_K)``,
temperature and mass fractions, so a system has ``n = K + 1`` unknowns. SciPy's BDF solver integrates
``y' = f(y)``; each time it factors ``M = I - gamma h J``, matrix and first Newton right-hand side are kept as
they are. Of all systems of a trajectory a few Jacobians are taken, evenly over the solver's steps, each with
the smallest and the largest ``gamma h`` it was used with.

``J`` is analytic: Cantera's derivatives of the production rates in concentrations and temperature, the
mechanism's NASA polynomials, and the chain rule. With the extra ``data`` installed, run
``python bench/data/make_newton.py``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import cantera as ct
import numpy as np
from numpy.typing import NDArray
from scipy.integrate import BDF
from scipy.stats import qmc

Array = NDArray[np.float64]

SEED = 20260901
END_TIME = 1e-2
RTOL, ATOL = 1e-6, 1e-12


@dataclass(frozen=True)
class Recipe:
    """One data set: a mechanism, the range of its mixtures, and how much to keep.

    Attributes
    ----------
    temperature, pressure, phi : tuple of float
        Ranges of the initial temperature [K], the pressure [atm] and the fuel-air equivalence ratio.
    trajectories, jacobians : int
        Ignitions, and Jacobians kept of each; every Jacobian gives two systems.
    """

    name: str
    fuel: str
    temperature: tuple[float, float]
    pressure: tuple[float, float]
    phi: tuple[float, float]
    trajectories: int
    jacobians: int


RECIPES = (
    Recipe("h2o2", "H2", (950.0, 1500.0), (1.0, 30.0), (0.4, 2.5), trajectories=32, jacobians=8),
    Recipe("gri30", "CH4", (1400.0, 2000.0), (1.0, 30.0), (0.4, 2.5), trajectories=12, jacobians=4),
)


class Reactor:
    """Adiabatic ideal-gas reactor at constant pressure: ``f`` and its Jacobian.

    Mass fractions are never normalised, so every entry of ``y`` is a free variable.
    """

    def __init__(self, gas: ct.Solution, pressure: float) -> None:
        self.gas = gas
        self.pressure = pressure
        self.weights: Array = gas.molecular_weights
        self.nasa = np.array([species.thermo.coeffs for species in gas.species()])

    def _set(self, y: Array) -> None:
        self.gas.set_unnormalized_mass_fractions(y[1:])
        self.gas.TP = y[0], self.pressure

    def rate(self, _time: float, y: Array) -> Array:
        """``f(y)``, shape (n,)."""
        self._set(y)
        gas, production = self.gas, self.gas.net_production_rates
        density, heat_capacity = gas.density_mass, self._species_heat_capacities() @ y[1:]
        heat = gas.partial_molar_enthalpies @ production
        return np.concatenate(([-heat / (density * heat_capacity)], production * self.weights / density))

    def jacobian(self, _time: float, y: Array) -> Array:
        """``df/dy``, shape (n, n)."""
        rate = self.rate(0.0, y)
        gas, density = self.gas, self.gas.density_mass
        heat_capacities = self._species_heat_capacities()
        heat_capacity = heat_capacities @ y[1:]
        log_density = self._log_density_gradient(y)
        production = self._production_gradient(log_density)

        heat = gas.partial_molar_enthalpies @ production
        heat[0] += gas.partial_molar_cp @ gas.net_production_rates
        log_heat_capacity = np.concatenate(([self._heat_capacity_slope(y)], heat_capacities)) / heat_capacity
        result = np.empty((y.size, y.size))
        result[0] = -heat / (density * heat_capacity) - rate[0] * (log_density + log_heat_capacity)
        result[1:] = production * self.weights[:, None] / density - np.outer(rate[1:], log_density)
        return result

    def _species_heat_capacities(self) -> Array:
        return np.asarray(self.gas.partial_molar_cp / self.weights)

    def _log_density_gradient(self, y: Array) -> Array:
        """Gradient of log(density) in y; the density is ``p / (R T sum(Y / W))``."""
        moles = y[1:] / self.weights
        return -np.concatenate(([1.0 / y[0]], 1.0 / (self.weights * moles.sum())))

    def _production_gradient(self, log_density: Array) -> Array:
        """Net production rates differentiated in y at constant pressure, shape (K, n)."""
        gas = self.gas
        by_concentration = gas.net_production_rates_ddCi
        concentrations = np.outer(gas.concentrations, log_density)
        concentrations[:, 1:] += np.diag(gas.density_mass / self.weights)
        gradient = by_concentration @ concentrations
        gradient[:, 0] += gas.net_production_rates_ddT
        return np.asarray(gradient)

    def _heat_capacity_slope(self, y: Array) -> float:
        """``d cp / dT`` at fixed composition, from the two-range NASA polynomials."""
        high = y[0] > self.nasa[:, :1]
        coefficients = np.where(high, self.nasa[:, 1:6], self.nasa[:, 8:13])
        slope = coefficients[:, 1:] @ (np.arange(1, 5) * y[0] ** np.arange(4))
        return float(ct.gas_constant * (slope / self.weights) @ y[1:])


@dataclass
class Linearisation:
    """A Jacobian, where it was taken, and the systems that were solved with it, by ``gamma h``."""

    time: float
    state: Array
    jacobian: Array
    systems: dict[float, tuple[Array, Array]] = field(default_factory=dict)

    def gamma_h(self, matrix: Array) -> float:
        """Read ``gamma h`` off the largest entry of ``matrix = I - gamma h J`` beside the diagonal."""
        beside = np.abs(self.jacobian)
        np.fill_diagonal(beside, 0.0)
        where = np.unravel_index(beside.argmax(), beside.shape)
        return float(-matrix[where] / self.jacobian[where])


class Recorder:
    """SciPy's BDF solver on a reactor, keeping each Newton matrix with its first right-hand side."""

    def __init__(self, reactor: Reactor, y: Array) -> None:
        self.reactor = reactor
        self.linearisations: list[Linearisation] = []
        self._matrix: Array | None = None
        solver: Any = BDF(reactor.rate, 0.0, y, END_TIME, jac=self._linearise, rtol=RTOL, atol=ATOL)
        self._factor, solver.lu = solver.lu, self._keep_matrix
        self._substitute, solver.solve_lu = solver.solve_lu, self._keep_rhs
        self.solver = solver

    def run(self) -> None:
        """Integrate to the end time."""
        while self.solver.status == "running":
            self.solver.step()
        if self.solver.status != "finished":
            raise RuntimeError(f"{self.reactor.gas.source}: the solver stopped at t = {self.solver.t} s")

    def _linearise(self, time: float, y: Array) -> Array:
        self.linearisations.append(Linearisation(time, y.copy(), self.reactor.jacobian(time, y)))
        return self.linearisations[-1].jacobian

    def _keep_matrix(self, matrix: Array) -> Any:
        self._matrix = matrix.copy()
        return self._factor(matrix)

    def _keep_rhs(self, factors: Any, rhs: Array) -> Any:
        if self._matrix is not None:
            current = self.linearisations[-1]
            current.systems[current.gamma_h(self._matrix)] = (self._matrix, rhs.copy())
            self._matrix = None
        return self._substitute(factors, rhs)


def mixtures(recipe: Recipe) -> Iterator[tuple[float, float, float]]:
    """Temperature [K], pressure [Pa] and equivalence ratio of each trajectory; a seeded Latin hypercube."""
    ranges = np.array([recipe.temperature, recipe.pressure, recipe.phi])
    low, high = np.log(ranges).T
    for point in qmc.LatinHypercube(3, rng=SEED).random(recipe.trajectories):
        temperature, pressure, phi = np.exp(low + point * (high - low))
        yield float(temperature), float(pressure) * ct.one_atm, float(phi)


def ignite(gas: ct.Solution, fuel: str, mixture: tuple[float, float, float]) -> list[Linearisation]:
    """Every linearisation of one ignition that was used with at least two values of ``gamma h``."""
    temperature, pressure, phi = mixture
    gas.set_equivalence_ratio(phi, fuel, "O2:1, N2:3.76")
    gas.TP = temperature, pressure
    recorder = Recorder(Reactor(gas, pressure), np.concatenate(([temperature], gas.Y)))
    recorder.run()
    return [one for one in recorder.linearisations if len(one.systems) > 1]


def thin(record: list[Linearisation], count: int) -> list[Linearisation]:
    """``count`` linearisations, evenly spaced over the solver's steps."""
    return [record[i] for i in np.linspace(0, len(record) - 1, count).round().astype(int)]


def rows(recipe: Recipe) -> Iterator[dict[str, Any]]:
    """Yield the samples of one set, each as a dict from field to value."""
    gas = ct.Solution(f"{recipe.name}.yaml")
    for trajectory, mixture in enumerate(mixtures(recipe)):
        for one in thin(ignite(gas, recipe.fuel, mixture), recipe.jacobians):
            for gamma_h in (min(one.systems), max(one.systems)):
                matrix, rhs = one.systems[gamma_h]
                yield {
                    "matrix": matrix,
                    "rhs": rhs,
                    "gamma_h": gamma_h,
                    "time": one.time,
                    "state": one.state,
                    "temperature": one.state[0],
                    "pressure": mixture[1],
                    "phi": mixture[2],
                    "trajectory": trajectory,
                }


def columns(samples: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Turn samples into arrays over the set."""
    table = list(samples)
    return {name: np.array([row[name] for row in table]) for name in table[0]}


def make(folder: Path) -> None:
    """Write one ``.npz`` file per recipe."""
    for recipe in RECIPES:
        gas = ct.Solution(f"{recipe.name}.yaml")
        unknowns = np.array(["T", *gas.species_names])
        arrays = columns(rows(recipe))
        np.savez_compressed(folder / f"{recipe.name}.npz", unknowns=unknowns, **arrays)


if __name__ == "__main__":
    make(Path(__file__).parent)
