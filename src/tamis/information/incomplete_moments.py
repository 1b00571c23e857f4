"""The means and covariances of rows in which values are missing, by maximum likelihood.

For jointly Gaussian columns the likelihood of what is present is maximised by the EM algorithm
(Dempster, Laird and Rubin, 1977; Little and Rubin, 2019, ch. 11). Where values are missing at
random, so that what is missing depends on nothing but what is present, its answer is consistent,
which moments of complete rows, or of the rows of each pair, are not.
"""

from __future__ import annotations

import math
import warnings
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis.counting.compiled import Ints, compiled
from tamis.errors import TamisWarning
from tamis.information.interface import Floats

TOLERANCE = 1e-7
"""Steps end when no mean and no covariance of the columns, in standard deviations, moves more,"""
SHARE = 1e-3
"""nor what the others leave of any column, as a share of it: where it goes to 0 it takes steps."""
MOST_STEPS = 500
ROUGH, ROUGH_STEPS = 1e-4, 40
"""The tolerance and the most steps where a few digits are enough."""
RIDGE = 1e-10
"""Of a variance, so that columns which are functions of others do not stop the steps; they are
refused afterwards, by name."""

Flags = NDArray[np.bool_]


class Patterns(NamedTuple):
    """Rows put together by what they lack: ``order`` are the rows, ``starts`` where each pattern
    begins and ends among them, and ``present`` what its rows have, (patterns, columns)."""

    order: Ints
    starts: Ints
    present: Flags

    @property
    def sizes(self) -> Ints:
        """The number of rows of each pattern."""
        return np.diff(self.starts)


class Fitted(NamedTuple):
    """The mean and covariance that make what is present most likely, and the steps it took."""

    mean: Floats
    covariance: Floats
    n_steps: int


def patterns_of(present: Flags) -> Patterns:
    """The patterns of an array (columns, rows), in the order of their bits."""
    bits = np.packbits(present, axis=0).T
    _, owner, sizes = np.unique(bits, axis=0, return_inverse=True, return_counts=True)
    order = np.argsort(owner.ravel(), kind="stable").astype(np.int64)
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return Patterns(order, starts, np.ascontiguousarray(present[:, order[starts[:-1]]].T))


def fit_moments(
    values: Floats, present: Flags, weights: Floats | None = None, *, roughly: bool = False
) -> Fitted:
    """Of an array (columns, rows), each column of which varies where it is present.

    ``weights`` are those of the rows: the likelihood is then that of as many rows of each.
    ``roughly`` is to a few digits, in a few dozen steps at most.
    """
    found = patterns_of(present)
    weights = np.ones(values.shape[1]) if weights is None else weights
    shares = (weights / weights.sum())[found.order]
    centre, scale = _own_moments(values, present, weights)
    rows = np.where(present, (values - centre[:, None]) / scale[:, None], 0.0).T[found.order]
    mean, covariance, n_steps = _steps(rows, shares, found, roughly=roughly)
    return Fitted(centre + scale * mean, covariance * np.outer(scale, scale), n_steps)


def _own_moments(values: Floats, present: Flags, weights: Floats) -> tuple[Floats, Floats]:
    """The mean and spread of each column where it is present."""
    shares = np.where(present, weights, 0.0)
    shares /= shares.sum(axis=1, keepdims=True)
    filled = np.where(present, values, 0.0)
    centre = (shares * filled).sum(axis=1)
    # From the centre, so that numbers far from 0 keep the digits of their spread.
    distances = np.where(present, filled - centre[:, None], 0.0)
    centre += (shares * distances).sum(axis=1)
    distances = np.where(present, filled - centre[:, None], 0.0)
    return centre, np.sqrt((shares * distances**2).sum(axis=1))


def _steps(
    rows: Floats, shares: Floats, found: Patterns, *, roughly: bool
) -> tuple[Floats, Floats, int]:
    """Expectation and maximisation in turn, until nothing moves."""
    d = rows.shape[1]
    mean, covariance, left = np.zeros(d), np.eye(d), np.ones(d)
    rows = np.ascontiguousarray(rows)
    most = ROUGH_STEPS if roughly else MOST_STEPS
    for step in range(1, most + 1):
        precision: Floats = np.asarray(np.linalg.inv(covariance + RIDGE * np.eye(d)), np.float64)
        spread = np.zeros((d, d))
        complete_rows(rows, shares, mean, precision, found.starts, found.present, spread)
        new_mean = shares @ rows
        distances = rows - new_mean
        new = (distances * shares[:, None]).T @ distances + spread
        new = (new + new.T) / 2
        moved = max(np.abs(new_mean - mean).max(), np.abs(new - covariance).max())
        mean, covariance = new_mean, new
        before, left = left, 1 / precision.diagonal()
        settled = moved < TOLERANCE and np.abs(left / before - 1).max() < SHARE
        if settled or (roughly and (moved < ROUGH or step == most)):
            return mean, covariance, step
    warnings.warn(
        TamisWarning(
            f"The covariances of columns with missing values still moved by {moved:.1g} standard "
            f"deviations after {MOST_STEPS} steps: some columns are rarely seen together."
        ),
        stacklevel=2,
    )
    return mean, covariance, MOST_STEPS


@compiled
def complete_rows(
    rows: Floats,
    shares: Floats,
    mean: Floats,
    precision: Floats,
    starts: Ints,
    present: Flags,
    spread: Floats,
) -> None:
    """Put what is expected of missing values into ``rows``, given what is present, and add to
    ``spread`` how far they may be from it: the covariance left, times the share of the rows.

    Given the others, columns M have the precision K_MM, and their mean is off by
    -K_MM^-1 K_MO times what the others are off.
    """
    d = rows.shape[1]
    lacking = np.empty(d, dtype=np.int64)
    having = np.empty(d, dtype=np.int64)
    factor = np.empty((d, d))
    inverse = np.empty((d, d))
    weights = np.empty((d, d))
    for p in range(len(starts) - 1):
        k = m = 0
        for x in range(d):
            if present[p, x]:
                having[m] = x
                m += 1
            else:
                lacking[k] = x
                k += 1
        if k == 0:
            continue
        # The Cholesky factor of K_MM, its inverse by columns, and from it that of K_MM.
        for i in range(k):
            for j in range(i + 1):
                total = precision[lacking[i], lacking[j]]
                for a in range(j):
                    total -= factor[i, a] * factor[j, a]
                if i == j:
                    factor[i, i] = math.sqrt(total)
                else:
                    factor[i, j] = total / factor[j, j]
        for j in range(k):
            for i in range(j, k):
                total = 1.0 if i == j else 0.0
                for a in range(j, i):
                    total -= factor[i, a] * inverse[a, j]
                inverse[i, j] = total / factor[i, i]
        share = 0.0
        for row in range(starts[p], starts[p + 1]):
            share += shares[row]
        for i in range(k):
            for j in range(i + 1):
                total = 0.0
                for a in range(i, k):
                    total += inverse[a, i] * inverse[a, j]
                factor[i, j] = total
                factor[j, i] = total
                spread[lacking[i], lacking[j]] += share * total
                if i != j:
                    spread[lacking[j], lacking[i]] += share * total
        for i in range(k):
            for j in range(m):
                total = 0.0
                for a in range(k):
                    total -= factor[i, a] * precision[lacking[a], having[j]]
                weights[i, j] = total
        for row in range(starts[p], starts[p + 1]):
            for i in range(k):
                total = mean[lacking[i]]
                for j in range(m):
                    total += weights[i, j] * (rows[row, having[j]] - mean[having[j]])
                rows[row, lacking[i]] = total
