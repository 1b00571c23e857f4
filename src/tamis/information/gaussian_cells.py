"""Cells of levels, and the moments of measurements in them.

A set A with levels D and measurements C has the law P(D) N(C ; mean_D, cov_D). A cell of D with too
few rows has no covariance of its own: all such cells share one, each about its own mean, and if
they have too few rows together, the next larger cells join them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import psi

from tamis.information.estimators import Grassberger
from tamis.information.interface import Floats, Ints

RIDGE = 1e-9
"""Added to every variance, as a share of the column's own: a column that its cell determines has
no density, and counts as one that is known to nine digits."""
LOG_2_PI_E = math.log(2 * math.pi * math.e)


class Cells(NamedTuple):
    """The occupied cells of some levels: the rows by cell, and where those of each cell start."""

    order: Ints
    cell: Ints
    starts: Ints
    counts: Ints


class Moments(NamedTuple):
    """A line for each cell: its rows, the means of some columns, their sums of squares, and the
    sums of products of the first few of them with all; squares and products about the means."""

    counts: Ints
    means: Floats
    squares: Floats
    products: Floats


class Fit(NamedTuple):
    """The largest likelihood of a set: minus its mean logarithm, the same without its bias under
    the model, and how many numbers the laws of the measurements take."""

    entropy: float
    unbiased: float
    size: float


class Columns:
    """The columns of a table: ``codes`` of levels, and ``values`` of mean 0 and variance 1; each
    has a row for every column, that of the other kind being of no use."""

    def __init__(
        self, codes: Ints, arities: Sequence[int], values: Floats, levels: Sequence[bool], thin: int
    ) -> None:
        self.codes, self.values, self.arities = codes, values, list(arities)
        self.is_level = list(levels)
        self.n_rows = codes.shape[1]
        self._thin = thin
        counts = np.arange(self.n_rows + 1)
        self._plugin = -(counts / self.n_rows) * np.log(np.maximum(counts, 1) / self.n_rows)
        self._grassberger = Grassberger().terms(counts, self.n_rows, 0)

    def split(self, members: Sequence[int]) -> tuple[list[int], list[int]]:
        """The levels and the measurements among some columns."""
        levels = [k for k in members if self.is_level[k]]
        return levels, [k for k in members if not self.is_level[k]]

    def needed(self, q: int) -> int:
        """How many rows a cell needs for the covariance of q measurements."""
        return max(self._thin, q + 4)

    def cells(self, levels: Sequence[int]) -> Cells:
        """The cells that these columns make of the rows."""
        cell = np.zeros(self.n_rows, dtype=np.int64)
        n_cells = 1
        for k in levels:
            n_cells *= self.arities[k]
            cell, n_cells = _compressed(cell * self.arities[k] + self.codes[k], n_cells)
        return sorted_by(cell)

    def moments(self, cells: Cells, inside: Sequence[int], others: Sequence[int]) -> Moments:
        """Of ``inside`` and then ``others``, which are measured columns, in each cell."""
        values = self.values[[*inside, *others]][:, cells.order]
        means = np.add.reduceat(values, cells.starts, axis=1) / cells.counts
        values -= means[:, cells.cell]
        squares = np.add.reduceat(values * values, cells.starts, axis=1)
        products = np.empty((len(cells.counts), len(inside), len(values)))
        for i in range(len(inside)):
            products[:, i] = np.add.reduceat(values[i] * values, cells.starts, axis=1).T
        return Moments(cells.counts, means.T, squares.T, products)

    def fit(self, members: Sequence[int]) -> Fit | None:
        """The law of a set; None where the means of its cells use up the rows."""
        levels, measured = self.split(members)
        cells = self.cells(levels)
        plugin, unbiased = (
            float(terms[cells.counts].sum()) if levels else 0.0
            for terms in (self._plugin, self._grassberger)
        )
        q = len(measured)
        if q == 0:
            return Fit(plugin, unbiased, 0.0)
        group = tied(cells.counts, self.needed(q), q)
        if group is None:
            return None
        found = _grouped(cells.counts, self.moments(cells, measured, []).products, group)
        share = found.rows / self.n_rows
        logs = q * LOG_2_PI_E + np.linalg.slogdet(found.covariances)[1]
        return Fit(
            plugin + 0.5 * float(share @ logs),
            unbiased + 0.5 * float(share @ (logs - _bias(found.free, found.rows, q))),
            len(cells.counts) * q + len(share) * q * (q + 1) / 2,
        )


class _Grouped(NamedTuple):
    """A line for each group of cells that share a covariance: it, rows, and rows less means."""

    covariances: Floats
    rows: Ints
    free: Ints


def _grouped(counts: Ints, scatter: Floats, group: Ints) -> _Grouped:
    n_groups = int(group.max()) + 1
    rows = np.bincount(group, weights=counts, minlength=n_groups).astype(np.int64)
    total = np.zeros((n_groups, *scatter.shape[1:]))
    np.add.at(total, group, scatter)
    covariances = total / rows[:, None, None] + RIDGE * np.eye(scatter.shape[1])
    return _Grouped(covariances, rows, rows - np.bincount(group, minlength=n_groups))


def tied(counts: Ints, needed: int, q: int) -> Ints | None:
    """The group of each cell: its own, or the first for all that share a covariance; None where
    rows are too few for any."""
    if counts.min() >= needed:
        return np.arange(len(counts))
    if (counts - 1).sum() < q + 2:
        return None
    # By size, so that what levels are called plays no part.
    sizes, cells = np.unique(counts, return_counts=True)
    free = np.cumsum((sizes - 1) * cells)
    largest = sizes[min(int(np.argmax(free >= needed - 1)), len(sizes) - 1)]
    if free[-1] < needed - 1:
        largest = sizes[-1]
    shared = (counts < needed) | (counts <= largest)
    group = np.zeros(len(counts), dtype=np.int64)
    group[~shared] = np.arange(1, int((~shared).sum()) + 1)
    return group


def sorted_by(cell: Ints) -> Cells:
    """Cells from the number of each row's; every number occurs."""
    counts = np.bincount(cell)
    order = np.argsort(cell, kind="stable")
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    return Cells(order, cell[order], starts, counts)


def _compressed(cell: Ints, n_cells: int) -> tuple[Ints, int]:
    """The same cells, numbered without those that no row is in."""
    if n_cells > 4 * len(cell) + 64:
        _, cell = np.unique(cell, return_inverse=True)
        return cell, int(cell.max()) + 1
    occupied = np.bincount(cell, minlength=n_cells) > 0
    number = np.cumsum(occupied) - 1
    return number[cell], int(number[-1]) + 1


def _bias(free: Ints, rows: Ints, q: int) -> Floats:
    """By how much ln of the determinant of a fitted covariance is off in the mean (Wishart)."""
    halves = (free[:, None] - np.arange(q)) / 2
    return np.asarray(psi(halves).sum(axis=1) + q * np.log(2 / rows))
