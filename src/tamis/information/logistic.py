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
CLOSE = 1e-6
"""Coefficients are found when the next step changes the likelihood by less nats than this."""


class Covariance(NamedTuple):
    """A statistic that follows chi-squared under independence, and its degrees of freedom."""

    statistic: float
    df: int


class Regression(NamedTuple):
    """Indicators of all levels but the first, less their probabilities; and the entropy that is
    left, in nats a row, without the bias of the fit."""

    residuals: Floats
    entropy: float


def regress(codes: Ints, arity: int, design: Floats) -> Regression:
    """Levels on a design with a row for each row of the table, a constant among its columns."""
    wanted = (codes[:, None] == np.arange(1, arity)).astype(np.float64)
    weights = np.zeros((design.shape[1], arity - 1))
    p, loss = _probabilities(design, weights, wanted)
    for _ in range(STEPS):
        step = _newton(design, weights, wanted - p, p)
        size = 1.0
        while True:
            fresh = weights + size * step
            new_p, new_loss = _probabilities(design, fresh, wanted)
            if new_loss <= loss or size < 1e-4:
                break
            size /= 2
        gained = loss - new_loss
        if new_loss <= loss:
            weights, p, loss = fresh, new_p, new_loss
        if gained < CLOSE:
            break
    # Each free coefficient takes half a nat that new rows would not confirm (Akaike, 1973).
    curved = _curvature(design, p)
    free = len(curved) - PENALTY * float(np.trace(np.linalg.inv(curved)))
    fitted = loss - 0.5 * PENALTY * float((weights**2).sum())
    return Regression(wanted - p, (fitted + 0.5 * free) / len(codes))


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


def unexplained(indicators: Floats, design: Floats) -> Floats:
    """The covariances that a linear regression of indicators on a design leaves."""
    basis = np.linalg.qr(design)[0]
    told = basis.T @ indicators
    left: Floats = (indicators.T @ indicators - told.T @ told) / len(design)
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


def _probabilities(design: Floats, weights: Floats, wanted: Floats) -> tuple[Floats, float]:
    """Of all levels but the first; and the penalised loss in nats."""
    logits = design @ weights
    top = np.maximum(logits.max(axis=1), 0.0)
    shares = np.exp(logits - top[:, None])
    total = shares.sum(axis=1) + np.exp(-top)
    loss = (np.log(total) + top - (wanted * logits).sum(axis=1)).sum()
    return shares / total[:, None], float(loss + 0.5 * PENALTY * (weights**2).sum())


def _newton(design: Floats, weights: Floats, left: Floats, p: Floats) -> Floats:
    """The step to where the quadratic approximation of the loss is least."""
    slope = design.T @ left - PENALTY * weights
    step = np.linalg.solve(_curvature(design, p), slope.T.ravel())
    return np.asarray(step.reshape(weights.shape[::-1]).T, dtype=np.float64)


def _curvature(design: Floats, p: Floats) -> Floats:
    """Second derivatives of the penalised loss; coefficients of one level after the other."""
    n_columns, n_levels = design.shape[1], p.shape[1]
    curvature = np.empty((n_levels, n_columns, n_levels, n_columns))
    for a in range(n_levels):
        for b in range(a, n_levels):
            weight = p[:, a] * ((a == b) - p[:, b])
            block = design.T @ (weight[:, None] * design)
            curvature[a, :, b] = curvature[b, :, a] = block
    size = n_levels * n_columns
    matrix: Floats = curvature.reshape(size, size) + PENALTY * np.eye(size)
    return matrix
