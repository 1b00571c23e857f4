"""Methods for linear models of numbers: equal error variances, and FLOP."""

from __future__ import annotations

import math
from dataclasses import dataclass
from importlib import import_module
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tamis.baselines.interface import Adjacency, Learned
from tamis.errors import DataError
from tamis.tables import Label, Table
from tamis.tables.refusals import shown

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class EqualVariance:
    """A DAG. A predecessor is a parent if its squared t-value is above ln n + 2 ln d.

    That is the extended BIC (Chen and Chen 2008) for one coefficient in the regression on all
    predecessors; plain BIC, ln n alone, would add several edges by chance among 50 columns.
    """

    name: str = "equal-variance"

    extra: ClassVar[str] = ""
    modules: ClassVar[tuple[str, ...]] = ()
    packages: ClassVar[tuple[str, ...]] = ("numpy",)
    takes_numbers: ClassVar[bool] = True
    needs_numbers: ClassVar[bool] = True

    def learn(self, table: Table, seed: int | None) -> Learned:
        """The DAG over numeric columns; nothing is random."""
        if table.n_rows <= table.n_variables + 1:
            raise DataError(
                f"Regression on up to {table.n_variables - 1} columns needs more than "
                f"{table.n_variables + 1} rows, but there are {table.n_rows}. Add rows."
            )
        covariance = np.cov(_numbers(table), bias=True)
        threshold = math.log(table.n_rows) + 2 * math.log(table.n_variables)
        return Learned(_parents(covariance, _order(covariance), table.n_rows, threshold))


def _numbers(table: Table) -> Floats:
    """The columns as their labels say, not as their codes do."""
    columns = []
    for k, (name, levels) in enumerate(zip(table.names, table.levels, strict=True)):
        if table.is_continuous(k):
            columns.append(table.numbers(k))
        else:
            columns.append(np.array([_number(name, label) for label in levels])[table.codes[k]])
    return np.array(columns)


def _number(name: str, label: Label) -> float:
    try:
        value = float(label)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise DataError(
            f"Column {shown(name)} holds {shown(label)}, which is no number. Equal variances mean "
            "nothing for labels: use another baseline, or give the levels numbers."
        )
    return value


def _order(covariance: Floats) -> list[int]:
    """Always the column of least variance given those before it: a pivoted Cholesky."""
    left = covariance.copy()
    rest, order = set(range(len(left))), []
    for _ in range(len(left)):
        first = min(rest, key=lambda k: (left[k, k], k))
        if left[first, first] > 1e-12 * covariance[first, first]:
            left -= np.outer(left[first], left[first]) / left[first, first]
        rest.remove(first)
        order.append(first)
    return order


def _parents(covariance: Floats, order: list[int], n_rows: int, threshold: float) -> Adjacency:
    adjacency: Adjacency = np.zeros(covariance.shape, dtype=np.int8)
    for k in range(1, len(order)):
        family = order[: k + 1]
        # The inverse of a covariance holds the partial correlations; the t-values follow.
        inverse = np.linalg.pinv(covariance[np.ix_(family, family)], hermitian=True)
        squared = inverse[k, :k] ** 2
        unexplained = inverse[k, k] * inverse.diagonal()[:k] - squared
        adjacency[family[:k], order[k]] = (n_rows - k - 1) * squared > threshold * unexplained
    return adjacency


@dataclass(frozen=True)
class FLOP:
    """The class that scores best by BIC with ``penalty`` times its penalty, 2 as its authors
    advise, after ``restarts`` new starts."""

    name: str = "flop"
    penalty: float = 2.0
    restarts: int = 20

    extra: ClassVar[str] = "baselines"
    modules: ClassVar[tuple[str, ...]] = ("flopsearch",)
    packages: ClassVar[tuple[str, ...]] = ("flopsearch", "numpy")
    takes_numbers: ClassVar[bool] = True
    needs_numbers: ClassVar[bool] = True

    def learn(self, table: Table, seed: int | None) -> Learned:
        """The CPDAG that FLOP finds: 1 for an arrow, 2 at both ends of an undirected edge."""
        rows = np.column_stack([table.numbers(k) for k in range(table.n_variables)])
        found = import_module("flopsearch").flop(
            np.ascontiguousarray(rows, dtype=np.float64), self.penalty, restarts=self.restarts
        )
        return Learned((np.asarray(found) != 0).astype(np.int8))
