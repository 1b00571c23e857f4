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
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from tamis.information.interface import Floats, Ints

Singles = NDArray[np.float32]
Factor = tuple[Floats, bool]
"""Of Cholesky's, as scipy has it."""

PENALTY = 0.01
"""On every squared coefficient, in nats: it keeps them finite where a level is told perfectly."""
STEPS = 30
CLOSE = 1e-2
"""Coefficients are found when a step promises to change the likelihood by less nats than this; it
is still taken."""
ROUGHLY = 1.0
"""The same for the first guess, which is of some of the rows:"""
FEWEST, PER_COEFFICIENT = 1000, 20
"""at least so many of them, and so many for each coefficient."""
ROUNDING = 1e-7
"""Losses that differ by a smaller share are the same."""
SMALL = 5.0
"""Where a step promises so many nats, second derivatives are about the same after it."""


class Covariance(NamedTuple):
    """A statistic that follows chi-squared under independence, and its degrees of freedom."""

    statistic: float
    df: int


class Design:
    """What levels are regressed on: indicators of cells, of which every row is in one, and numbers,
    a line each. Rows are sorted by cell: those of ``order`` stand in ``counts`` a cell.

    Single precision will do for what Newton's method corrects.
    """

    def __init__(self, order: Ints, counts: Ints, numbers: Floats) -> None:
        self.order, self.counts, self.numbers = order, counts, numbers
        self.starts = np.concatenate([[0], np.cumsum(counts)])
        self.singles = numbers.astype(np.float32)
        self.width = len(counts) + len(numbers)

    @classmethod
    def of_cells(cls, cell: Ints, n_cells: int, numbers: Floats) -> Design:
        """From the cell of each row, and numbers that are not sorted; no cell is empty."""
        order = np.argsort(cell, kind="stable")
        return cls(order, np.bincount(cell, minlength=n_cells), numbers[:, order])

    @property
    def nbytes(self) -> int:
        """What it takes, in bytes."""
        return self.order.nbytes + self.numbers.nbytes + self.singles.nbytes

    def some(self, every: int) -> Design:
        """The same of every so manieth row of each cell; ``order`` is of the rows here."""
        within = np.arange(len(self.order)) - np.repeat(self.starts[:-1], self.counts)
        chosen = np.flatnonzero(within % every == 0)
        return Design(chosen, -(-self.counts // every), self.numbers[:, chosen])

    def logits(self, weights: Floats) -> Singles:
        """The sums of weighted columns, for each line of weights."""
        light = weights.astype(np.float32)
        constants = np.repeat(light[:, : len(self.counts)], self.counts, axis=1)
        found: Singles = constants + product(light[:, len(self.counts) :], self.singles)
        return found

    def sums(self, of_rows: Singles) -> Floats:
        """The products of columns and lines of rows, added up over the rows."""
        cells = np.add.reduceat(of_rows, self.starts[:-1], axis=1)
        return np.concatenate([cells, product(of_rows, self.singles.T)], axis=1, dtype=np.float64)

    def weighted(self, weights: Singles) -> Floats:
        """The products of any two columns, added up with weights, for each line of these."""
        n_cells = len(self.counts)
        found = np.zeros((len(weights), self.width, self.width))
        within = np.arange(n_cells)
        found[:, within, within] = np.add.reduceat(weights, self.starts[:-1], axis=1)
        for i, (start, stop) in enumerate(pairwise(self.starts.tolist())):
            shared = product(weights[:, start:stop], self.singles[:, start:stop].T)
            found[:, i, n_cells:] = found[:, n_cells:, i] = shared
        numbers = found[:, n_cells:, n_cells:]
        for i, one in enumerate(weights):
            numbers[i] = product(self.singles * one, self.singles.T)
        return found


def product(left: Singles, right: Singles) -> Singles:
    """A matrix product in single precision, or in double where that is not finite.

    The flag of an invalid value was seen raised for finite operands, rarely and not again for the
    same ones, so the result is looked at and not the flag.
    """
    with np.errstate(invalid="ignore"):
        found: Singles = left @ right
    if not np.isfinite(found).all():
        found = (left.astype(np.float64) @ right.astype(np.float64)).astype(np.float32)
    return found


def regress(codes: Ints, arity: int, design: Design) -> Floats:
    """The coefficients of levels on a design, a line for each level but the first."""
    own = codes[design.order]
    weights = np.zeros((arity - 1, design.width))
    every = len(codes) // max(FEWEST, PER_COEFFICIENT * weights.size)
    factor = None
    if every > 1:
        fewer = design.some(every)
        weights, factor = _fitted(own[fewer.order], fewer, weights, ROUGHLY)
        if factor is not None:
            factor = factor[0] * math.sqrt(len(codes) / len(fewer.order)), factor[1]
    return _fitted(own, design, weights, CLOSE, factor)[0]


def residuals(codes: Ints, design: Design, weights: Floats) -> Singles:
    """Indicators of all levels but the first, less their probabilities, a row for each row of the
    table."""
    own = codes[design.order]
    p, _ = _probabilities(design, weights, own)
    found = np.empty((len(codes), len(weights)), dtype=np.float32)
    found[design.order] = (_indicators(own, len(weights)) - p).T
    return found


def entropy_left(codes: Ints, design: Design, weights: Floats) -> float:
    """The entropy that a regression leaves, in nats a row, without the bias of the fit."""
    p, loss = _probabilities(design, weights, codes[design.order])
    # Each free coefficient takes half a nat that new rows would not confirm (Akaike, 1973).
    curved = _curvature(design, p)
    free = len(curved) - PENALTY * float(np.trace(np.linalg.inv(curved)))
    fitted = loss - 0.5 * PENALTY * float((weights**2).sum())
    return (fitted + 0.5 * free) / len(codes)


def _fitted(
    codes: Ints, design: Design, weights: Floats, close: float, factor: Factor | None = None
) -> tuple[Floats, Factor | None]:
    """The coefficients of least loss, by Newton's method; second derivatives are worked out anew
    unless steps promise little, and quickly less. Those of some of the rows, as a ``factor``, do
    for all rows as long as steps get smaller quickly. The last factor comes along."""
    wanted = _indicators(codes, len(weights))
    p, loss = _probabilities(design, weights, codes)
    promised = math.inf
    share, small = (0.2, SMALL) if factor is None else (0.5, math.inf)
    for _ in range(STEPS):
        slope = design.sums(wanted - p) - PENALTY * weights
        if factor is None:
            factor, share, small = _factor(_curvature(design, p)), 0.2, SMALL
        step = cho_solve(factor, slope.ravel(), check_finite=False).reshape(weights.shape)
        promise = 0.5 * float((slope * step).sum())
        size = 1.0
        while True:
            fresh = weights + size * step
            new_p, new_loss = _probabilities(design, fresh, codes)
            if new_loss <= loss * (1 + ROUNDING) or size < 1e-4:
                break
            size /= 2
        if new_loss > loss * (1 + ROUNDING):
            break
        weights, p, loss = fresh, new_p, new_loss
        if promise < close:
            break
        if promise > min(share * promised, small) or size < 1:
            factor = None
        promised = promise
    return weights, factor


def _factor(curvature: Floats) -> Factor:
    found: Factor = cho_factor(curvature, lower=True, check_finite=False)
    return found


def covariance(left: Singles, right: Singles) -> Covariance:
    """Whether residuals of two columns are related: the squared length of their mean products,
    in the measure of the products themselves."""
    products = (left[:, :, None] * right[:, None, :]).reshape(len(left), -1)
    sums = products.sum(axis=0, dtype=np.float64)
    values, vectors = np.linalg.eigh(product(products.T, products).astype(np.float64))
    # A level that the set tells perfectly leaves nothing to test.
    speaks = values > 1e-9 * len(products)
    along = vectors.T[speaks] @ sums
    return Covariance(float((along**2 / values[speaks]).sum()), int(speaks.sum()))


def _indicators(codes: Ints, n_levels: int) -> Singles:
    """Of all levels but the first, a line each."""
    found: Singles = (codes == np.arange(1, n_levels + 1)[:, None]).astype(np.float32)
    return found


def _probabilities(design: Design, weights: Floats, codes: Ints) -> tuple[Singles, float]:
    """Of all levels but the first; and the penalised loss in nats."""
    logits = design.logits(weights)
    top = np.maximum(logits.max(axis=0), 0)
    logits -= top
    rows = np.arange(len(codes))
    own = np.where(codes > 0, logits[codes - 1, rows], -top)
    shares = np.exp(logits, out=logits)
    total = shares.sum(axis=0) + np.exp(-top)
    loss = float((np.log(total) - own).sum(dtype=np.float64))
    shares /= total
    return shares, loss + 0.5 * PENALTY * float((weights**2).sum())


def _curvature(design: Design, p: Singles) -> Floats:
    """Second derivatives of the penalised loss; coefficients of one level after the other."""
    n_levels, n_columns = len(p), design.width
    first, second = np.triu_indices(n_levels)
    weights = -p[first] * p[second]
    weights[first == second] += p
    blocks = design.weighted(weights)
    curvature = np.empty((n_levels, n_columns, n_levels, n_columns))
    for a, b, block in zip(first.tolist(), second.tolist(), blocks, strict=True):
        curvature[a, :, b] = curvature[b, :, a] = block
    size = n_levels * n_columns
    matrix: Floats = curvature.reshape(size, size)
    matrix[np.diag_indices(size)] += PENALTY
    return matrix
