"""Logistic regressions of columns of levels on levels and measurements, worked out once each."""

from __future__ import annotations

import numpy as np

from tamis.information.gaussian_cells import Cells, Columns, Members
from tamis.information.indicators import Indicators
from tamis.information.interface import Floats
from tamis.information.kept import Kept
from tamis.information.logistic import Design, Regression, entropy_left, regress
from tamis.information.logistic_loops import Singles

MOST_BYTES = 2**27
"""How many bytes are kept of each kind, designs and regressions."""
ROWS_EACH, MOST_COEFFICIENTS = 10, 100
"""Regressions have products of measurements if there are so many rows for each coefficient of a
level, and at most so many of these."""
MOST_CELLS = 64
"""With up to this number of cells a regression has a constant for each, else for each level."""


class LevelRegressions:
    """What measurements and levels leave of columns of levels."""

    def __init__(self, columns: Columns, indicators: Indicators) -> None:
        self._columns = columns
        self._indicators = indicators
        self._regressions = Kept[tuple[int, Members], Regression](MOST_BYTES)
        self._designs = Kept[Members, Design](MOST_BYTES)

    def entropy(self, k: int, given: Members) -> float:
        """H(k | given) by the regression, never below 0."""
        regression = self._regressed(k, given)
        return entropy_left(self._columns.codes[k], self._design(given), regression)

    def residuals(self, k: int, given: Members) -> Singles:
        """What is left of the indicators of a column, a line each; rows are in an order that all
        columns share that are regressed on the same."""
        return self._regressed(k, given).left

    def unexplained(self, given: Members) -> Floats:
        """The covariances of indicators that a linear regression on the same leaves."""
        levels, measured = self._columns.split(given)
        cells, more = self._constants(levels)
        products = self._has_products(len(cells.counts) + len(more), len(measured))
        return self._indicators.unexplained(() if more else levels, cells, more, measured, products)

    def _regressed(self, k: int, given: Members) -> Regression:
        found = self._regressions.get((k, given))
        if found is None:
            codes, arity = self._columns.codes[k], self._columns.arities[k]
            found = regress(codes, arity, self._design(given))
            self._regressions.keep((k, given), found, found.left.nbytes + found.weights.nbytes)
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
            numbers = np.concatenate([self._indicators.lines[indicators], numbers])
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
