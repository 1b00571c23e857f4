"""The discrete BIC score of a column and its parents, for methods that bring none."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

Cells = NDArray[np.int64]


class DiscreteBIC:
    """Log-likelihood less ``penalty`` / 2 times ln n for each free probability.

    A column with r levels whose parents have q configurations, seen or not, has q (r - 1) free
    probabilities. Half of Tetrad's discrete BIC score with the same penalty discount, without
    its prior on the number of parents. Local scores are kept.
    """

    def __init__(self, codes: NDArray[Any], penalty: float = 1.0) -> None:
        self._codes = codes.astype(np.int64)
        self._arities: list[int] = (self._codes.max(axis=1) + 1).tolist()
        self._penalty = penalty
        self._kept: dict[tuple[int, tuple[int, ...]], float] = {}
        self.p: int = len(codes)
        """The number of columns, under the name by which ges asks for it."""

    def local_score(self, x: int, pa: Iterable[int]) -> float:
        """The score of column ``x`` with the parents ``pa``."""
        key = int(x), tuple(sorted(map(int, pa)))
        if key not in self._kept:
            self._kept[key] = self._score(*key)
        return self._kept[key]

    def full_score(self, adjacency: NDArray[Any]) -> float:
        """The score of a DAG: ges asks for it once, to start from."""
        return sum(self.local_score(x, np.flatnonzero(adjacency[:, x])) for x in range(self.p))

    def gain(self, x: int, y: int, given: Iterable[int]) -> float:
        """How much better ``y`` scores with ``x`` as a further parent; the same for x and y
        exchanged."""
        given = tuple(given)
        return self.local_score(y, (*given, x)) - self.local_score(y, given)

    def _score(self, x: int, parents: tuple[int, ...]) -> float:
        strata = self._cells(parents)
        cells = strata * self._arities[x] + self._codes[x]
        likelihood = _sum_of_logs(cells) - _sum_of_logs(strata)
        configurations = math.prod(float(self._arities[p]) for p in parents)
        free = configurations * (self._arities[x] - 1)
        return likelihood - 0.5 * self._penalty * free * math.log(self._codes.shape[1])

    def _cells(self, columns: tuple[int, ...]) -> Cells:
        """One number a row for its configuration, never much larger than the number of rows."""
        n_rows = self._codes.shape[1]
        cells: Cells = np.zeros(n_rows, dtype=np.int64)
        bound = 1
        for column in columns:
            cells = cells * self._arities[column] + self._codes[column]
            bound *= self._arities[column]
            if bound > 4 * n_rows:
                cells = np.unique(cells, return_inverse=True)[1].astype(np.int64)
                bound = int(cells.max()) + 1
        return cells


def _sum_of_logs(cells: Cells) -> float:
    counts = np.bincount(cells)
    return float(xlogy(counts, counts).sum())
