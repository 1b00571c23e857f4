"""How likely whole numbers are under a linear model: a normal law, summed over unit cells.

A density and a probability cannot be compared. On whole numbers they need not be: the linear
model gives each number the mass of the normal law on the unit interval around it, a probability
like those of a contingency table, and the two readings of the same columns compete on equal terms.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from tamis.data.table import Table

Floats = NDArray[np.float64]

RESOLUTION = 256
"""Residuals are kept to this part of a unit."""
SPREADS = np.geomspace(0.2, 1.2, 13)
"""Standard deviations tried, as shares of that of the residuals: summed over cells, the most
likely spread is narrower."""
SMALLEST = 1e-300


def lattice_likelihood(table: Table, parents: Mapping[int, tuple[int, ...]]) -> float:
    """The penalised log-likelihood of a linear DAG over columns of whole numbers."""
    numbers = np.array([table.numbers(k) for k in range(table.n_variables)])
    numbers -= np.round(numbers.mean(axis=1, keepdims=True))
    return math.fsum(_node(numbers, k, members) for k, members in parents.items())


def _node(numbers: Floats, k: int, parents: tuple[int, ...]) -> float:
    n = numbers.shape[1]
    if not np.ptp(numbers[k]):
        return 0.0
    design = np.vstack([np.ones(n), numbers[list(parents)]])
    coefficients, *_ = np.linalg.lstsq(design @ design.T, design @ numbers[k], rcond=None)
    residual = numbers[k] - coefficients @ design
    values, rows = np.unique(np.round(residual * RESOLUTION), return_counts=True)
    spread = max(float(residual.std()), 1 / RESOLUTION)
    likelihood = max(_likelihood(values / RESOLUTION, rows, spread * s) for s in SPREADS)
    return likelihood - 0.5 * math.log(n) * (len(parents) + 2)


def _likelihood(values: Floats, rows: NDArray[np.int64], spread: float) -> float:
    """Of residuals that came so often, with the law's cells half a unit to either side."""
    above = np.abs(values)  # the left tail has the digits that the right one loses
    mass = ndtr((0.5 - above) / spread) - ndtr((-0.5 - above) / spread)
    return float(rows @ np.log(np.maximum(mass, SMALLEST)))
