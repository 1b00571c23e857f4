"""How likely whole numbers are under a linear model.

A density and a probability cannot be compared. On whole numbers they need not be: a linear model
can give every number a probability, like those of a contingency table, and the two readings of the
same columns compete on equal terms. Two laws are tried for each node: its errors are those of a
normal law, each number having the mass of the unit interval around it; or the number is the
rounded prediction plus a whole number of any law.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, xlogy

from tamis.information.regret import price
from tamis.tables.table import Label, Table

Floats = NDArray[np.float64]

RESOLUTION = 256
"""Residuals are kept to this part of a unit."""
SMALLEST = 1e-300


def lattice_likelihood(table: Table, parents: Mapping[int, Collection[int]]) -> float:
    """The penalised log-likelihood of a linear DAG over columns of whole numbers."""
    numbers = np.array([in_steps(table).numbers(k) for k in range(table.n_variables)])
    numbers -= np.round(numbers.mean(axis=1, keepdims=True))
    return math.fsum(_node(numbers, k, sorted(members)) for k, members in parents.items())


def in_steps(table: Table) -> Table:
    """Columns of whole numbers, each counted from its least in steps of its own: in dozens or in
    single eggs, the table is the same."""
    return replace(table, levels=tuple(map(_steps, table.levels)))


def _steps(levels: tuple[Label, ...]) -> tuple[Label, ...]:
    least = min(map(int, levels))
    step = math.gcd(*(int(level) - least for level in levels)) or 1
    return tuple((int(level) - least) // step for level in levels)


def _node(numbers: Floats, k: int, parents: list[int]) -> float:
    n = numbers.shape[1]
    if not np.ptp(numbers[k]):
        return 0.0
    design = np.vstack([np.ones(n), numbers[parents]])
    coefficients, *_ = np.linalg.lstsq(design @ design.T, design @ numbers[k], rcond=None)
    residual = numbers[k] - coefficients @ design
    coefficients_paid = 0.5 * math.log(n) * (len(parents) + 1)
    either = math.log(2)  # which of the two laws it is has to be told
    return max(_normal(residual), _any_law(numbers[k], residual)) - coefficients_paid - either


def _any_law(numbers: Floats, residual: Floats) -> float:
    """Whole numbers around the rounded prediction, by how often each came; a level is paid for
    each number between the least and the largest."""
    errors, rows = np.unique(numbers - np.round(numbers - residual), return_counts=True)
    span = errors[-1] - errors[0] + 1
    return float(xlogy(rows, rows / rows.sum()).sum()) - price(int(span), 1, int(rows.sum()))


def _normal(residual: Floats) -> float:
    from scipy.optimize import minimize_scalar  # takes a moment to load, and few need it

    values, rows = np.unique(np.round(residual * RESOLUTION), return_counts=True)
    spread = math.log(max(float(residual.std()), 1 / RESOLUTION))

    def loss(log_spread: float) -> float:
        return -_likelihood(values / RESOLUTION, rows, math.exp(log_spread))

    # Summed over cells, the most likely spread is narrower than that of the residuals.
    best = minimize_scalar(loss, bounds=(spread - 2.5, spread + 0.5), method="bounded")
    return -float(best.fun) - 0.5 * math.log(len(residual))


def _likelihood(values: Floats, rows: NDArray[np.int64], spread: float) -> float:
    """Of residuals that came so often, with the law's cells half a unit to either side."""
    above = np.abs(values)  # the left tail has the digits that the right one loses
    mass = ndtr((0.5 - above) / spread) - ndtr((-0.5 - above) / spread)
    return float(rows @ np.log(np.maximum(mass, SMALLEST)))
