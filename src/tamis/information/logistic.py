"""What measurements and levels say about a column of levels, by logistic regression; and whether
two such columns are still related.

Two columns of levels given measurements have no likelihood ratio of conditional Gaussians to go
by: if a level depends on a measurement, the measurement given the level is not normal, and the
ratio finds dependence where there is none. Here each column is regressed on the set, and the
products of what is left of both must have mean 0 (Shah and Peters, 2020, the generalised covariance
measure). It is enough that both regressions are right in the limit, whatever the law of the set.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tamis.information.interface import Floats, Ints

PENALTY = 0.01
"""On every squared coefficient, in nats: it keeps them finite where a level is told perfectly."""
STEPS = 30
CLOSE = 1e-3
"""Coefficients are found when a step promises to change the likelihood by less nats than this; it
is still taken."""
ROUGHLY = 1.0
"""The same for the first guess, which is of some of the rows:"""
FEWEST, PER_COEFFICIENT = 1000, 20
"""at least so many of them, and so many for each coefficient."""
MOST_PRODUCTS = 2**25
"""The products of the columns of a design are kept if they take so many bytes."""


class Covariance(NamedTuple):
    """A statistic that follows chi-squared under independence, and its degrees of freedom."""

    statistic: float
    df: int


class Regression(NamedTuple):
    """Indicators of all levels but the first, less their probabilities, a row for each row of the
    table; and the coefficients."""

    residuals: Floats
    weights: Floats


class Design:
    """What levels are regressed on: indicators of cells, of which every row is in one, and numbers;
    a line for each column.

    The products of its columns, but for those of two cells, which are 0, are kept while they are
    small: second derivatives are weighted sums of them, whatever is regressed.
    """

    def __init__(self, cell: Ints, n_cells: int, numbers: Floats) -> None:
        self.n_cells = n_cells
        indicators = (cell == np.arange(n_cells)[:, None]).astype(np.float64)
        self.columns = np.concatenate([indicators, numbers])
        width = len(self.columns)
        rows, columns = np.tril_indices(width)
        apart = (rows < n_cells) & (columns < rows)
        self._rows, self._columns = rows[~apart], columns[~apart]
        few = len(self._rows) * len(cell) * 8 <= MOST_PRODUCTS
        self._products = self.columns[self._rows] * self.columns[self._columns] if few else None

    @property
    def nbytes(self) -> int:
        """What it takes, in bytes."""
        return self.columns.nbytes + (0 if self._products is None else self._products.nbytes)

    def some(self, every: int) -> Design:
        """The same of every so manieth row."""
        cell = self.columns[: self.n_cells, ::every].argmax(axis=0)
        return Design(cell, self.n_cells, self.columns[self.n_cells :, ::every])

    def weighted(self, weights: Floats) -> Floats:
        """The sums over the rows of weighted products of columns, for each line of weights."""
        width = len(self.columns)
        if self._products is None:
            each = [(self.columns * one) @ self.columns.T for one in weights]
            return np.array(each).reshape(len(weights), width, width)
        found = np.zeros((len(weights), width, width))
        sums = weights @ self._products.T
        found[:, self._rows, self._columns] = found[:, self._columns, self._rows] = sums
        return found


def regress(codes: Ints, arity: int, design: Design) -> Regression:
    """Levels on a design."""
    wanted = (codes == np.arange(1, arity)[:, None]).astype(np.float64)
    weights = np.zeros((arity - 1, len(design.columns)))
    every = len(codes) // max(FEWEST, PER_COEFFICIENT * weights.size)
    if every > 1:
        # Few rows find about the right place; where they leave out rare cells, nothing is lost.
        weights = _fitted(wanted[:, ::every], design.some(every), weights, ROUGHLY)
    weights = _fitted(wanted, design, weights, CLOSE)
    p, _ = _probabilities(design, weights, wanted)
    return Regression((wanted - p).T, weights)


def entropy_left(codes: Ints, design: Design, weights: Floats) -> float:
    """The entropy that a regression leaves, in nats a row, without the bias of the fit."""
    wanted = (codes == np.arange(1, len(weights) + 1)[:, None]).astype(np.float64)
    p, loss = _probabilities(design, weights, wanted)
    # Each free coefficient takes half a nat that new rows would not confirm (Akaike, 1973).
    curved = _curvature(design, p)
    free = len(curved) - PENALTY * float(np.trace(np.linalg.inv(curved)))
    fitted = loss - 0.5 * PENALTY * float((weights**2).sum())
    return (fitted + 0.5 * free) / len(codes)


def _fitted(wanted: Floats, design: Design, weights: Floats, close: float) -> Floats:
    """The coefficients of least loss, by Newton's method."""
    p, loss = _probabilities(design, weights, wanted)
    for _ in range(STEPS):
        slope = (wanted - p) @ design.columns.T - PENALTY * weights
        step = np.linalg.solve(_curvature(design, p), slope.ravel()).reshape(weights.shape)
        size = 1.0
        while True:
            fresh = weights + size * step
            new_p, new_loss = _probabilities(design, fresh, wanted)
            if new_loss <= loss or size < 1e-4:
                break
            size /= 2
        if new_loss > loss:
            break
        weights, p, loss = fresh, new_p, new_loss
        # What the step promised: the next one promises its square, about.
        if 0.5 * float((slope * step).sum()) < close:
            break
    return weights


def covariance(left: Floats, right: Floats) -> Covariance:
    """Whether residuals of two columns are related: the squared length of their mean products,
    in the measure of the products themselves."""
    products = (left[:, :, None] * right[:, None, :]).reshape(len(left), -1)
    sums = products.sum(axis=0)
    values, vectors = np.linalg.eigh(products.T @ products)
    # A level that the set tells perfectly leaves nothing to test.
    speaks = values > 1e-9 * len(products)
    along = vectors.T[speaks] @ sums
    return Covariance(float((along**2 / values[speaks]).sum()), int(speaks.sum()))


def unexplained(indicators: Floats, design: Design) -> Floats:
    """The covariances that a linear regression of indicators, a line each, on a design leaves."""
    n_rows = indicators.shape[1]
    gram = design.weighted(np.ones((1, n_rows)))[0]
    scale = np.sqrt(gram.diagonal())
    values, vectors = np.linalg.eigh(gram / np.outer(scale, scale))
    # Columns that follow from others tell nothing more.
    speaks = values > 1e-10 * values[-1]
    shared = vectors.T[speaks] @ ((design.columns @ indicators.T) / scale[:, None])
    told = shared / np.sqrt(values[speaks])[:, None]
    left: Floats = (indicators @ indicators.T - told.T @ told) / n_rows
    return left + 1e-9 * np.eye(len(left))


def linear_gains(
    left: Floats, owner: Ints, target: int, others: Sequence[int], n_rows: float
) -> Floats:
    """I(target ; k | design) for other columns of levels, as if their indicators were normal: a
    stand-in for gains that says which is largest, from the covariances that are left.

    ``owner`` names the column of levels that each indicator belongs to.
    """
    found = np.zeros(len(others))
    own = np.flatnonzero(owner == target)
    for i, k in enumerate(others):
        other = np.flatnonzero(owner == k)
        both = np.concatenate([own, other])
        logs = [np.linalg.slogdet(left[np.ix_(one, one)])[1] for one in (own, other, both)]
        bias = len(own) * len(other) / n_rows
        found[i] = 0.5 * (logs[0] + logs[1] - logs[2] - bias)
    return found


def _probabilities(design: Design, weights: Floats, wanted: Floats) -> tuple[Floats, float]:
    """Of all levels but the first; and the penalised loss in nats."""
    logits = weights @ design.columns
    loss = -float(np.vdot(wanted, logits))
    top = np.maximum(logits.max(axis=0), 0.0)
    logits -= top
    shares = np.exp(logits, out=logits)
    total = shares.sum(axis=0) + np.exp(-top)
    loss += float(np.log(total).sum() + top.sum())
    shares /= total
    return shares, loss + 0.5 * PENALTY * float((weights**2).sum())


def _curvature(design: Design, p: Floats) -> Floats:
    """Second derivatives of the penalised loss; coefficients of one level after the other."""
    n_levels, n_columns = len(p), len(design.columns)
    first, second = np.triu_indices(n_levels)
    weights = -p[first] * p[second]
    weights[first == second] += p
    blocks = design.weighted(weights)
    curvature = np.empty((n_levels, n_columns, n_levels, n_columns))
    for a, b, block in zip(first.tolist(), second.tolist(), blocks, strict=True):
        curvature[a, :, b] = curvature[b, :, a] = block
    size = n_levels * n_columns
    matrix: Floats = curvature.reshape(size, size) + PENALTY * np.eye(size)
    return matrix
