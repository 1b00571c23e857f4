"""What measurements and levels say about a column of levels, by logistic regression; and whether
two such columns are still related.

Two columns of levels given measurements have no likelihood ratio of conditional Gaussians to go
by: if a level depends on a measurement, the measurement given the level is not normal, and the
ratio finds dependence where there is none. Here each column is regressed on the set, and the
products of what is left of both must have mean 0 (Shah and Peters, 2020, the generalised covariance
measure). It is enough that both regressions are right in the limit, whatever the law of the set.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tamis.information.cell_algebra import sorted_rows
from tamis.information.interface import Floats, Ints
from tamis.information.logistic_loops import (
    STEPS,
    Codes,
    Singles,
    fitted,
    products_of,
)

PENALTY = 0.01
"""On every squared coefficient, in nats: it keeps them finite where a level is told perfectly."""
CLOSE, CLOSER = 0.1, 1e-3
"""Coefficients are found when a further step promises to change the likelihood by less nats than
this. The first will do for residuals: what they are off by is a mean of residuals of the other
column, about 0 itself. The second is for the likelihood, which they say more of."""
ROUGHLY = 1.0
"""The same for the first guess, which is of some of the rows:"""
FEWEST, PER_COEFFICIENT = 1000, 20
"""at least so many of them, and so many for each coefficient. It has a larger"""
CAUTION = 0.3
"""for a penalty: a level that is rare may be missing among these rows, but is not among all."""


class Covariance(NamedTuple):
    """A statistic that follows chi-squared under independence, and its degrees of freedom."""

    statistic: float
    df: int


class Regression(NamedTuple):
    """The coefficients of levels on a design, a line for each level but the first; and what they
    leave of the indicators of these levels, the rows in the order of the design."""

    weights: Floats
    left: Singles


class Design:
    """What levels are regressed on: indicators of cells, of which every row is in one, and numbers,
    a line each; of the last of these, ``n_multiplied``, the products too. Rows are sorted by
    cell: those of ``order``, where each cell ``starts``."""

    def __init__(self, cell: Ints, counts: Ints, numbers: Floats, n_multiplied: int = 0) -> None:
        self.order, self.starts = sorted_rows(cell, counts)
        lines: Singles = numbers.take(self.order, axis=1).astype(np.float32)
        one, other = np.triu_indices(n_multiplied) + np.array(len(lines) - n_multiplied)
        self.numbers = np.concatenate([lines, lines[one] * lines[other]])
        self.width = len(counts) + len(self.numbers)

    def sorted(self, codes: Ints) -> Codes:
        """The levels of a column, the rows in the order of the design."""
        found: Codes = codes.take(self.order).astype(np.int32)
        return found

    def thinned(self, every: int) -> tuple[Ints, Ints]:
        """Every so manieth row of each cell, and where each cell starts among them."""
        counts = np.diff(self.starts)
        within = np.arange(len(self.order)) - self.starts[:-1].repeat(counts)
        starts = np.concatenate([[0], np.cumsum(-(-counts // every))])
        return np.flatnonzero(within % every == 0), starts

    @property
    def nbytes(self) -> int:
        """What it takes, in bytes."""
        return self.order.nbytes + self.numbers.nbytes


def regress(codes: Ints, arity: int, design: Design) -> Regression:
    """The regression of levels on a design."""
    own, starts, numbers = design.sorted(codes), design.starts, design.numbers
    weights = np.zeros((arity - 1, design.width))
    left = np.empty((arity - 1, len(codes)), dtype=np.float32)
    every = len(codes) // max(FEWEST, PER_COEFFICIENT * weights.size)
    factor = np.empty((0, 0))
    if every > 1:
        rows, fewer = design.thinned(every)
        n_fewer = len(rows)
        some_left = left[:, :n_fewer].copy()
        _, factor = fitted(
            own[rows], fewer, numbers.take(rows, axis=1), weights, CAUTION, ROUGHLY, factor,
            some_left, STEPS,
        )  # fmt: skip
        factor *= math.sqrt(len(codes) / n_fewer)
    fitted(own, starts, numbers, weights, PENALTY, CLOSE, factor, left, STEPS)
    return Regression(weights, left)


def entropy_left(codes: Ints, design: Design, regression: Regression) -> float:
    """The entropy that a regression leaves, in nats a row, without the bias of the fit."""
    own, starts, numbers = design.sorted(codes), design.starts, design.numbers
    weights, left = regression.weights.copy(), np.empty_like(regression.left)
    nothing = np.empty((0, 0))
    fitted(own, starts, numbers, weights, PENALTY, CLOSER, nothing, left, STEPS)
    loss, curvature = fitted(own, starts, numbers, weights, PENALTY, CLOSER, nothing, left, 0)
    # Each free coefficient takes half a nat that new rows would not confirm (Akaike, 1973).
    symmetric = np.tril(curvature) + np.tril(curvature, -1).T
    free = len(curvature) - PENALTY * float(np.trace(np.linalg.inv(symmetric)))
    fit = loss - 0.5 * PENALTY * float((weights**2).sum())
    return (fit + 0.5 * free) / len(codes)


def covariance(left: Singles, right: Singles) -> Covariance:
    """Whether residuals of two columns are related: the squared length of their mean products,
    in the measure of the products themselves."""
    sums, squares = products_of(left, right)
    values, vectors = np.linalg.eigh(squares)
    # A level that the set tells perfectly leaves nothing to test.
    speaks = values > 1e-9 * left.shape[1]
    along = vectors.T[speaks] @ sums
    return Covariance(float((along**2 / values[speaks]).sum()), int(speaks.sum()))
