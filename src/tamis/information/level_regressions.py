"""Logistic regressions of columns of levels on levels and measurements, worked out once each."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tamis.information.gaussian_cells import Cells, Columns, Members
from tamis.information.indicators import Indicators, Unexplained
from tamis.information.interface import Floats, Ints
from tamis.information.kept import Kept
from tamis.information.logistic import (
    Design,
    Frequencies,
    Left,
    Regression,
    by_frequency,
    entropy_left,
    regress,
)
from tamis.information.ranked import ranks_of

MOST_BYTES = 2**27
"""How many bytes are kept of each kind, designs and regressions."""
ROWS_EACH, MOST_COEFFICIENTS = 10, 60
"""Regressions have products of measurements if there are so many rows for each coefficient of a
level, and at most so many of these."""
MOST_CELLS = 64
"""With up to this number of cells a regression has a constant for each, else for each level."""
MOST_INDICATORS = 20
"""Of levels, the most frequent ones, in such a regression."""
LEAST_LEVELS, MOST_FITTED = 3, 120
"""A regression is of at most so many levels of a column, the most frequent ones, or of more up to
so many coefficients; the others are taken together. The time grows with the square of these."""


class Fitted(NamedTuple):
    """A regression of some levels of a column, which has a line for each, the others together."""

    levels: Ints
    regression: Regression
    within: float
    """The entropy among the others, in nats a row: the regression says nothing of it."""


class LevelRegressions:
    """What measurements and levels leave of columns of levels."""

    def __init__(self, columns: Columns, indicators: Indicators) -> None:
        self._columns = columns
        self._indicators = indicators
        self._regressions = Kept[tuple[int, Members], Fitted](MOST_BYTES)
        self._designs = Kept[Members, Design](MOST_BYTES)

    def entropy(self, k: int, given: Members) -> float:
        """H(k | given) by the regression, never below 0; of levels that were taken together, H
        among them whatever is given."""
        levels, regression, within = self._regressed(k, given)
        return within + entropy_left(self._codes(k, levels), self._design(given), regression)

    def frequencies(self, k: int, given: Members) -> Frequencies:
        """Of the levels that the regression tells apart; all others count as the first."""
        levels = self._regressed(k, given).levels
        return self._by_frequency(self._codes(k, levels), len(levels) + 1, given)

    def left(self, k: int, given: Members, chosen: Ints) -> Left:
        """What is left of some of these levels; rows are in an order that all columns share that
        are regressed on the same."""
        levels, regression, _ = self._regressed(k, given)
        own = self._design(given).sorted(self._codes(k, levels))
        lines = regression.left[np.maximum(chosen, 1) - 1]
        lines[chosen == 0] = -regression.left.sum(axis=0)
        return Left(lines, (own == chosen[:, None]) - lines)

    def ranks(self, k: int, given: Members) -> Floats:
        """The rank of each of these levels, of those taken together the mean."""
        codes = self._codes(k, self._regressed(k, given).levels)
        ranks = ranks_of(self._columns.codes[k])
        return np.bincount(codes, weights=ranks) / np.maximum(np.bincount(codes), 1)

    def unexplained(self, given: Members) -> Unexplained:
        """The covariances of indicators that a linear regression on the same leaves."""
        levels, measured = self._columns.split(given)
        cells, more = self._constants(levels)
        products = self._has_products(len(cells.counts) + len(more), len(measured))
        return self._indicators.unexplained(() if more else levels, cells, more, measured, products)

    def _regressed(self, k: int, given: Members) -> Fitted:
        found = self._regressions.get((k, given))
        if found is None:
            found = self._fitted(k, given)
            self._regressions.keep((k, given), found, found.regression.left.nbytes)
        return found

    def _fitted(self, k: int, given: Members) -> Fitted:
        design = self._design(given)
        counts = np.bincount(self._columns.codes[k], minlength=self._columns.arities[k])
        levels, most = np.arange(1, len(counts)), max(LEAST_LEVELS, MOST_FITTED // design.width)
        if len(levels) > most:
            levels = self._frequent(k, most, given)
        others = np.delete(counts, levels)
        others = others[others > 0]
        within = float(others @ np.log(others.sum() / others)) / counts.sum()
        regression = regress(self._codes(k, levels), len(levels) + 1, design)
        return Fitted(levels, regression, within)

    def _frequent(self, k: int, most: int, given: Members) -> Ints:
        """The most frequent levels of a column, in their order. Levels of the same frequency are
        taken or left together, unless none would be taken."""
        counts, order = self._by_frequency(self._columns.codes[k], self._columns.arities[k], given)
        n_taken = int((counts > counts[order[most]]).sum()) or most
        found: Ints = np.sort(order[:n_taken])
        return found

    def _by_frequency(self, codes: Ints, arity: int, given: Members) -> Frequencies:
        _, measured = self._columns.split(given)
        return by_frequency(codes, arity, self._columns.values[list(measured)])

    def _codes(self, k: int, levels: Ints) -> Ints:
        """The column with these levels numbered from 1 on, and 0 for all others."""
        number = np.zeros(self._columns.arities[k], dtype=np.int64)
        number[levels] = np.arange(1, len(levels) + 1)
        found: Ints = number[self._columns.codes[k]]
        return found

    def _design(self, given: Members) -> Design:
        found = self._designs.get(given)
        if found is None:
            found = self._fresh_design(given)
            self._designs.keep(given, found, found.nbytes)
        return found

    def _fresh_design(self, given: Members) -> Design:
        """A constant for each cell, or each level where cells are many; the measurements, and
        their products where rows are enough."""
        levels, measured = self._columns.split(given)
        cells, indicators = self._constants(levels)
        numbers = self._columns.values[list(measured)]
        if indicators:
            lines = self._indicators.lines[indicators]
            if len(lines) > MOST_INDICATORS:
                order = np.lexsort((lines.argmax(axis=1), -lines.sum(axis=1)))
                lines = lines[np.sort(order[:MOST_INDICATORS])]
            numbers = np.concatenate([lines, numbers])
        products = self._has_products(len(cells.counts) + len(indicators), len(measured))
        return Design(cells.cell, cells.counts, numbers, len(measured) if products else 0)

    def _constants(self, levels: Members) -> tuple[Cells, list[int]]:
        """The cells that have a constant each in regressions, and the places of indicators."""
        cells = self._columns.cells(levels)
        if len(cells.counts) <= MOST_CELLS:
            return cells, []
        return self._columns.cells(()), self._indicators.places(levels)

    def _has_products(self, n_constants: int, q: int) -> bool:
        """Whether regressions on q measurements have their products too."""
        width = n_constants + q * (q + 3) // 2
        return bool(width <= min(self._columns.n_rows / ROWS_EACH, MOST_COEFFICIENTS))
