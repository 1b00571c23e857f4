"""What measurements and levels say about a column of levels, by logistic regression; and whether
two such columns are still related.

Two columns of levels given measurements have no likelihood ratio of conditional Gaussians to go
by: if a level depends on a measurement, the measurement given the level is not normal, and the
ratio finds dependence where there is none. Here each column is regressed on the set, and the
products of what is left of both must have mean 0 (Shah and Peters, 2020, the generalised covariance
measure). It is enough that both regressions are right in the limit, whatever the law of the set.
How much the products vary follows from the regressions too, as in Pearson's test, which this is
where the set is empty. The products themselves tell it badly where cells have few rows: of two
independent columns of 40 and 30 levels in 1500 rows they made p < 1e-17.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpstrf

from tamis.information.cell_algebra import sorted_rows
from tamis.information.interface import Floats, Ints
from tamis.information.logistic_loops import (
    STEPS,
    Codes,
    Singles,
    fitted,
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


MOST_PRODUCTS = 144
"""Products of residuals that a test of two columns goes by."""
LEAST_EXPECTED = 1.0
"""Rows that the rarest of them are of, if the columns are independent."""
ROUNDED = 1e-6
"""What variances may be wrong by, a row, because they are added up in singles."""
ROWS_AT_A_TIME = 4096


class Left(NamedTuple):
    """What a regression leaves of the indicators of some levels, and the chances that it gives
    them: a line each, the rows in the order of the design."""

    lines: Singles
    chances: Singles


class Frequencies(NamedTuple):
    """How many rows each level of a column has, and the levels, the most frequent first."""

    rows: Ints
    order: Ints


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


def by_frequency(codes: Ints, arity: int, numbers: Floats) -> Frequencies:
    """The levels of a column by their frequency; of as frequent ones, those come first whose
    numbers, a line each, lie further from 0: neither names nor the order of rows tell."""
    rows = np.bincount(codes, minlength=arity)
    away = np.zeros(arity)
    if len(np.unique(rows)) < arity:
        for line in numbers:
            away += np.bincount(codes, weights=line, minlength=arity) ** 2
    return Frequencies(rows, np.lexsort((-away.round(6), -rows)))


def judged_by(one: Frequencies, other: Frequencies) -> tuple[Ints, Ints]:
    """Which levels two columns are judged by: not the most frequent, of which nothing is left once
    the others are known, and not those that are too rare, which count as the most frequent. Levels
    of the same frequency go together, but one of each column is taken in any case."""
    counts, orders = (one.rows, other.rows), (one.order, other.order)
    sizes = [len(counts[0]), len(counts[1])]
    while max(sizes) > 2:
        rarest = [int(c[o[s - 1]]) for c, o, s in zip(counts, orders, sizes, strict=True)]
        enough = math.prod(rarest) >= LEAST_EXPECTED * int(one.rows.sum())
        if enough and (sizes[0] - 1) * (sizes[1] - 1) <= MOST_PRODUCTS:
            break
        least = min(r for r, size in zip(rarest, sizes, strict=True) if size > 2)
        sizes = [
            max(int((c > r).sum()), 2) if r == least and size > 2 else size
            for c, r, size in zip(counts, rarest, sizes, strict=True)
        ]
    first, second = (np.sort(o[1:size]) for o, size in zip(orders, sizes, strict=True))
    return first, second


def covariance(one: Left, other: Left) -> Covariance:
    """Whether residuals of two columns are related: the squared length of their products' sums, in
    the measure of what these vary by if the columns are independent given the set."""
    sums = (one.lines @ other.lines.T).ravel().astype(np.float64)
    n_rows = one.lines.shape[1]
    variances = np.zeros((len(sums), len(sums)))
    for start in range(0, n_rows, ROWS_AT_A_TIME):
        rows = slice(start, start + ROWS_AT_A_TIME)
        variances += _variances(one.chances[:, rows], other.chances[:, rows])
    # A level that the set tells perfectly leaves nothing to test but what singles are rounded by.
    least = max(1e-6 * float(variances.diagonal().max()), ROUNDED * n_rows)
    factor, chosen = independent(variances, least)
    along = solve_triangular(factor, sums[chosen], lower=True)
    return Covariance(float(along @ along), len(chosen))


def independent(covariances: Floats, least: float) -> tuple[Floats, Ints]:
    """Which variables to take, the largest first, until others follow from these but for a variance
    of ``least``; and the Cholesky factor of these."""
    factor, order, rank, _ = dpstrf(covariances, tol=least, lower=1)
    if covariances.diagonal().max() <= least:  # LAPACK takes the first in any case
        rank = 0
    return np.tril(factor[:rank, :rank]), order[:rank] - 1


def _variances(p: Singles, q: Singles) -> Singles:
    """The covariances of products of residuals: those of one column times those of the other, which
    are diag(p) - p p', summed over the rows."""
    shape = (len(p), len(q), len(p), len(q))
    both = (p[:, None] * q[None]).reshape(-1, p.shape[1])
    found = (both @ both.T).reshape(shape)
    for i in range(len(p)):
        found[i, :, i, :] -= (q * p[i]) @ q.T
    for j in range(len(q)):
        found[:, j, :, j] -= (p * q[j]) @ p.T
    summed: Singles = found.reshape(len(both), len(both))
    summed[np.diag_indices(len(both))] += both.sum(axis=1)
    return summed


def of_scores(left: Left, scores: Floats) -> tuple[Singles, Singles]:
    """What is left of numbers that stand for levels, and its variance by the regression."""
    worth = scores.astype(np.float32)
    spread: Singles = worth**2 @ left.chances - (worth @ left.chances) ** 2
    return worth @ left.lines, np.maximum(spread, 0)


def covariance_of_scores(
    one: tuple[Singles, Singles], other: tuple[Singles, Singles]
) -> Covariance:
    """The same of two numbers a row, with one degree of freedom."""
    total = float(np.dot(one[0], other[0]))
    variance = float(np.dot(one[1], other[1]))
    speaks = variance > 1e-9 * len(one[0])
    return Covariance(total**2 / variance if speaks else 0.0, int(speaks))
