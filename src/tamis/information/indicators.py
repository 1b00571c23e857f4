"""How much columns of levels tell of each other given measurements, as if their indicators were
normal: a stand-in for gains that says which is largest.

Indicators, measurements and the products of measurements have mean products with each other, worked
out once, and means in the cells of some levels, worked out once for these levels. What a linear
regression on a set leaves of the indicators follows from small parts of both.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from tamis.information.cell_algebra import factors_of, joined_gains
from tamis.information.gaussian_cells import Cells, Columns, Members
from tamis.information.interface import Floats, Ints
from tamis.information.logistic import independent

MOST_BYTES = 2**27
"""How many bytes all columns together may take; beyond that there are no products among them."""


class Unexplained(NamedTuple):
    """Covariances of indicators; of those of each column the factor, one after the other, and ln of
    the determinant."""

    covariances: Floats
    factors: Floats
    logs: Floats


class Indicators:
    """Of every level but the first of each column of levels: a line each, and whose it is."""

    def __init__(
        self,
        columns: Columns,
        levels: Sequence[int],
        measured: Sequence[int],
        arities: Sequence[int],
    ) -> None:
        each = [columns.codes[k] == np.arange(1, arities[k])[:, None] for k in levels]
        self._numbers = columns.values[list(measured)]
        self.lines = np.concatenate([np.zeros((0, columns.n_rows)), *each])
        self.owner: Ints = np.array(
            [k for k in levels for _ in range(1, arities[k])], dtype=np.int64
        )
        self._block = {k: i for i, k in enumerate(levels)}
        self._sizes = np.array([len(one) for one in each], dtype=np.int64)
        self._place = {k: i for i, k in enumerate(measured)}
        self._means: dict[Members, Floats] = {}

    def places(self, levels: Sequence[int]) -> list[int]:
        """The lines of some columns."""
        return np.flatnonzero(np.isin(self.owner, levels)).tolist()

    def unexplained(
        self, levels: Members, cells: Cells, more: Sequence[int], measured: Members, products: bool
    ) -> Unexplained:
        """The covariances of indicators that a linear regression leaves: on constants for the
        ``cells`` of some levels, ``more`` indicators, and measurements, with their products."""
        k = len(self.lines)
        chosen = [*range(k), *more, *self._chosen(measured, products)]
        means = self._cell_means(levels, cells)[:, chosen]
        shares = cells.counts / cells.counts.sum()
        # About the means of cells there is nothing more for their constants to tell.
        left = self._moments[np.ix_(chosen, chosen)] - (means.T * shares) @ means
        if len(chosen) > k:
            # Columns that follow from others tell nothing more.
            variances = left[k:, k:]
            factor, own = independent(variances, 1e-10 * max(variances.diagonal().max(), 1.0))
            told = solve_triangular(factor, left[k:, :k][own], lower=True)
            left[:k, :k] -= told.T @ told
        found = left[:k, :k] + 1e-9 * np.eye(k)
        return Unexplained(found, *factors_of(found, self._sizes))

    def gains(self, left: Unexplained, target: int, others: Sequence[int]) -> Floats:
        """I(target ; k | set) for other columns of levels, from the covariances that are left."""
        own, blocks = self._block[target], np.array([self._block[k] for k in others])
        gains: Floats = joined_gains(*left, self._sizes, own, blocks, self.lines.shape[1])
        return gains

    @cached_property
    def _columns(self) -> Floats:
        """Indicators, measurements, and the products of these if there is room."""
        m, n = self._numbers.shape
        few = 8 * n * (len(self.lines) + m * (m + 3) // 2) <= MOST_BYTES
        rows, columns = np.triu_indices(m if few else 0)
        products = self._numbers[rows] * self._numbers[columns]
        return np.concatenate([self.lines, self._numbers, products])

    @cached_property
    def _moments(self) -> Floats:
        found: Floats = self._columns @ self._columns.T / self._columns.shape[1]
        return found

    @cached_property
    def _place_of_product(self) -> Ints:
        m = len(self._numbers)
        found = np.zeros((m, m), dtype=np.int64)
        found[np.triu_indices(m)] = len(self.lines) + m + np.arange(m * (m + 1) // 2)
        return found

    def _chosen(self, measured: Members, products: bool) -> list[int]:
        """The places of measurements, and of their products, among all columns."""
        own = [self._place[k] for k in measured]
        found = [len(self.lines) + i for i in own]
        if products and len(self._columns) > len(self.lines) + len(self._numbers):
            rows, columns = np.triu_indices(len(own))
            each = np.array(own, dtype=np.int64)
            found += self._place_of_product[each[rows], each[columns]].tolist()
        return found

    def _cell_means(self, levels: Members, cells: Cells) -> Floats:
        if levels not in self._means:
            size = len(cells.counts)
            if sum(len(one) for one in self._means.values()) * len(self._columns) * 8 > MOST_BYTES:
                self._means.clear()
            sums = [np.bincount(cells.cell, one, size) for one in self._columns]
            self._means[levels] = np.array(sums).T / cells.counts[:, None]
        return self._means[levels]
