"""Scores of DAGs: discrete BIC, BDeu and Gaussian BIC.

A score that adds up over columns and is the same for equivalent DAGs comes from a function J of
sets of columns: a column y with the parents P scores J(P and y) - J(P) (Studený 2005,
"Probabilistic conditional independence structures"). Scores are given here as J. An edge between x
and y, where the one that it points at has the other parents S, gains
J(S, x, y) + J(S) - J(S, x) - J(S, y): the same number to the last bit whichever way it points.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from tamis.counting.counts import n_log_n
from tamis.counting.memory import MemoryCounts
from tamis.errors import DataError
from tamis.tables import Table

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Columns = tuple[int, ...]
Edge = tuple[int, int, int]
"""x, y and S, each as a set of columns: the bits of a whole number."""

RIDGE = 1e-10
"""Added to the correlation of a column with itself, so that copies of columns have a score too."""


class GraphScore(ABC):
    """A function J of sets of columns; its values are kept."""

    def __init__(self, n_columns: int) -> None:
        self.n_columns = n_columns
        self._kept: dict[int, float] = {}

    @abstractmethod
    def joint(self, sets: Sequence[Columns]) -> Floats:
        """J of each set of columns, of which one may be empty."""

    def gains(self, edges: Sequence[Edge]) -> list[float]:
        """How much better a graph scores with each edge than without it."""
        needed = {m for x, y, s in edges for m in (s, s | x, s | y, s | x | y)}
        new = sorted(needed.difference(self._kept))
        if new:
            found = self.joint([tuple(members(mask)) for mask in new]).tolist()
            self._kept.update(zip(new, found, strict=True))
        kept = self._kept
        return [kept[s | x | y] + kept[s] - (kept[s | x] + kept[s | y]) for x, y, s in edges]

    def gain(self, x: int, y: int, given: Iterable[int]) -> float:
        """The gain of one edge between columns ``x`` and ``y``."""
        return self.gains([(1 << x, 1 << y, sum(1 << int(k) for k in given))])[0]

    def of_dag(self, adjacency: NDArray[np.int8]) -> float:
        """The score of a DAG, 1 at [i, j] for i → j."""
        parents = [tuple(np.flatnonzero(column).tolist()) for column in adjacency.T]
        families = [tuple(sorted((*own, y))) for y, own in enumerate(parents)]
        return float((self.joint(families) - self.joint(parents)).sum())


class DiscreteBIC(GraphScore):
    """Log-likelihood less ``penalty`` / 2 times ln n for each free probability.

    A column with r levels whose parents have q configurations, seen or not, has q (r - 1) free
    probabilities. Half of Tetrad's discrete BIC score with the same penalty discount, without
    its prior on the number of parents.
    """

    def __init__(self, table: Table, penalty: float = 1.0) -> None:
        super().__init__(table.n_variables)
        self._cells = _Cells(table)
        self._price = 0.5 * penalty * math.log(table.n_rows)

    def joint(self, sets: Sequence[Columns]) -> Floats:
        """The sum of n ln n over the cells, less the price of all of them."""
        n_rows = self._cells.n_rows
        return np.array(
            [n_log_n(n, n_rows).sum() - self._price * size for n, size in self._cells.of(sets)]
        )


class BDeu(GraphScore):
    """The Bayesian score of Heckerman et al. (1995) with an equivalent sample size of 1, each edge
    having the prior probability of one expected parent: causal-learn's score."""

    def __init__(self, table: Table) -> None:
        super().__init__(table.n_variables)
        if table.n_variables < 3:
            raise DataError(
                "The BDeu score is not defined for two columns: its prior expects one parent a "
                "column and leaves no probability for none. Use 'ges-bic'."
            )
        self._cells = _Cells(table)
        self._odds = -math.log(table.n_variables - 2)

    def joint(self, sets: Sequence[Columns]) -> Floats:
        """ln of the Dirichlet integral over the cells, and the prior of an edge between all pairs
        of the set. The prior of no edges is the same for all DAGs and left out."""
        return np.array(
            [
                gammaln(n + 1 / size).sum() - len(n) * gammaln(1 / size)
                + self._odds * len(one) * (len(one) - 1) / 2
                for one, (n, size) in zip(sets, self._cells.of(sets), strict=True)
            ]
        )  # fmt: skip


class GaussianBIC(GraphScore):
    """Log-likelihood of linear Gaussian regressions less ``penalty`` / 2 times ln n for each
    coefficient and each variance, without the term of 2π: the score of ges and of causal-learn.

    ``rows`` has a row a case.
    """

    def __init__(self, rows: Floats, penalty: float = 1.0) -> None:
        n_rows, n_columns = rows.shape
        super().__init__(n_columns)
        self._n_rows = n_rows
        self._price = 0.5 * penalty * math.log(n_rows)
        self._scales = np.log(rows.var(axis=0))
        self._correlation = np.corrcoef(rows, rowvar=False) + RIDGE * np.eye(n_columns)

    def joint(self, sets: Sequence[Columns]) -> Floats:
        """The log-likelihood of a set, less the price of its complete DAG."""
        found = np.zeros(len(sets))
        sizes = np.array([len(one) for one in sets])
        for size in set(sizes.tolist()) - {0}:
            chosen = np.flatnonzero(sizes == size)
            columns = np.array([sets[i] for i in chosen.tolist()])
            blocks = self._correlation[columns[:, :, None], columns[:, None, :]]
            spread = np.linalg.slogdet(blocks)[1] + self._scales[columns].sum(axis=1)
            price = self._price * size * (size + 1) / 2
            found[chosen] = -0.5 * self._n_rows * (size + spread) - price
        return found


class _Cells:
    """The counts of the cells of sets of columns, which are counted by the rows, and the number of
    cells whether they occur or not, so that many parents cost no more than the rows do."""

    def __init__(self, table: Table) -> None:
        self.n_rows = table.n_rows
        self._sizes: list[float] = table.arities.astype(float).tolist()
        self._counts = MemoryCounts(table, n_jobs=1)

    def of(self, sets: Sequence[Columns]) -> Iterator[tuple[Ints, float]]:
        """For each set the counts of the cells that occur, and the number of all its cells."""
        tables = iter(self._counts.tables([one for one in sets if one]))
        for one in sets:
            everything = np.array([self.n_rows])
            yield next(tables) if one else everything, math.prod(self._sizes[k] for k in one)


def members(mask: int) -> Iterator[int]:
    """The columns of a set, from the first to the last."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low
