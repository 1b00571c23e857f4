"""Information from the moments of numbers of which some are missing.

The moments are those of maximum likelihood, so that all entropies and gains are of one covariance
and fit together. What differs from test to test is how much is known: each counts as many rows as
what is present is worth to it.

For jointly Gaussian columns the likelihood of what is present is maximised by the EM algorithm
(Dempster, Laird and Rubin, 1977; Little and Rubin, 2019, ch. 11). Where values are missing at
random, so that what is missing depends on nothing but what is present, its answer is consistent,
which moments of complete rows, or of the rows of each pair, are not.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis.constants import constants
from tamis.counting.compiled import Ints, compiled
from tamis.errors import SettingError, TamisWarning
from tamis.information.gaussian import GaussianInformation, correlation_of
from tamis.information.interface import Context, Floats, Group, Profiles, Query, singles
from tamis.information.null_laws import MomentTests
from tamis.information.one_thread import one_thread
from tamis.tables.moments import require_moments
from tamis.tables.sources import effective_rows
from tamis.tables.table import Table

MOST_PATTERNS = 256
MOST_NUMBERS = 2**24
"""The worth of rows is a mean over patterns of what is missing; of more than so many patterns, or
so many that their covariances hold more numbers than this, some rows stand for all."""
FEWEST_PATTERNS = 32


def enough_present(table: Table) -> bool:
    """Whether every column is seen often enough next to all the others: with fewer rows than
    columns some column would follow from the rest by chance, and nothing be most likely."""
    needed = 2 * (table.n_variables + 1)
    return all(int(table.present(k).sum()) >= needed for k in range(table.n_variables))


class IncompleteGaussian(GaussianInformation):
    """H and I of Gaussian variables, from rows in which some of them are missing."""

    title = "moments of rows with missing values"

    def __init__(
        self,
        names: Sequence[str],
        covariance: Floats,
        n_rows: float,
        found: Patterns,
        sizes: Floats,
        *,
        shrinkage: float = 0.0,
    ) -> None:
        """``sizes`` are the rows of each pattern, as many in all as ``n_rows``."""
        super().__init__(names, covariance, n_rows, shrinkage=shrinkage)
        present = found.present.astype(np.float64)
        self._together: Floats = (present * sizes[:, None]).T @ present
        self._worth = Worth(correlation_of(covariance), found.present, sizes)
        share = self._together.diagonal().mean() / n_rows
        self.entropy_variance = GaussianInformation.entropy_variance / share

    @classmethod
    def from_table(cls, table: Table, *, shrinkage: float | str = 0.0) -> IncompleteGaussian:
        """The moments of a table of numbers, by weights if it has any."""
        if isinstance(shrinkage, str):
            raise SettingError(
                "source: shrinkage='auto' goes by the spread of complete rows: with missing "
                "values give a number from 0 to 1"
            )
        columns = range(table.n_variables)
        values = np.array([table.numbers(k) for k in columns])
        present = np.array([table.present(k) for k in columns])
        varying = np.array(
            [require_moments(table.names[k], values[k][present[k]]) for k in columns]
        )
        # A constant says nothing, and nothing is lost by taking it as known.
        values[~varying], present[~varying] = 0.0, True
        covariance = np.zeros((len(values), len(values)))
        if varying.any():
            fitted = fit_moments(values[varying], present[varying], table.weights)
            covariance[np.ix_(varying, varying)] = fitted.covariance
        weights = np.ones(table.n_rows) if table.weights is None else table.weights
        n_rows = effective_rows(weights)
        found = patterns_of(present)
        shares = np.add.reduceat(weights[found.order], found.starts[:-1]) / weights.sum()
        source = cls(table.names, covariance, n_rows, found, n_rows * shares, shrinkage=shrinkage)
        source.has_units = bool(table.continuous)
        return source

    def rows_behind(self, group: Group) -> int | None:
        """As many rows as what is present is worth to the test."""
        return round(float(self._rows([group])[0]))

    @one_thread()
    def profiles(self, contexts: Sequence[Context]) -> Profiles:
        """Entropies and gains, with the tests at the rows that each is worth."""
        found = super().profiles(contexts)
        if found.stats is None:
            return found
        rows = np.array([self._worth.of(context) for context in contexts])
        return Profiles(found.entropies, found.cmi, _at_rows(found.stats, rows, self.n_rows))

    def as_tests(self, cmi: Floats, stats: Floats) -> MomentTests:
        """Entries of profiles as tests, each of its own number of rows."""
        return MomentTests(cmi, stats=stats, n_rows=stats[:, 3])

    def tests(self, queries: Sequence[Query]) -> MomentTests:
        """The candidates of all queries, end to end."""
        return self._worth_their_rows(super().tests(queries), singles(queries))

    def joint_tests(self, groups: Sequence[Group]) -> MomentTests:
        """Groups of variables, each at the rows of the member that is known least."""
        return self._worth_their_rows(super().joint_tests(groups), groups)

    def penalised_likelihoods(self, contexts: Sequence[Context]) -> Floats:
        """-n H(target | given), less the price of each coefficient, the mean and the variance.

        A coefficient costs what it costs in the rows that have both columns, times all rows over
        these. So it pays exactly where it would in those rows, and since the price belongs to the
        pair, DAGs that say the same still score alike.
        """
        together = np.maximum(self._together, 2.0)
        prices = constants.moment_price * 0.5 * self.n_rows * np.log(together) / together
        paid = [2 * prices[k, k] + prices[k, list(given)].sum() for k, given in contexts]
        found: Floats = -self.n_rows * self.entropies(contexts) - np.array(paid)
        return found

    def _worth_their_rows(self, tests: MomentTests, groups: Sequence[Group]) -> MomentTests:
        stats = np.asarray(tests.stats)
        return self.as_tests(tests.cmi, _at_rows(stats, self._rows(groups), self.n_rows))

    @one_thread()
    def _rows(self, groups: Sequence[Group]) -> Floats:
        found = np.empty(len(groups))
        for i, (target, given, members) in enumerate(groups):
            rows = self._worth.of(Context(target, given))
            found[i] = min((rows[k] for k in members), default=self.n_rows)
        return found


class Worth:
    """How many complete rows the rows of each pattern are worth, for the tests of a context.

    The score for the dependence of X_k and X_l given S is, in a complete row, the product of what
    S leaves of them, r_k r_l. Where values are missing it is the product expected given the
    others, and the variance of that is the information which the row holds (Orchard and Woodbury,
    1972); under normality var(r_k) var(r_l) + cov(r_k, r_l)^2 of what is expected. Over that of
    complete rows it gives the number of rows. That the regressions on S are estimated as well is
    neglected, so that it is rather too large where much is missing (docs/missing-and-weights.md).
    """

    def __init__(self, correlation: Floats, present: Flags, sizes: Floats) -> None:
        d = len(correlation)
        self._correlation = correlation + RIDGE * np.eye(d)
        self._n_rows = float(sizes.sum())
        chosen, self._sizes = _some_patterns(sizes, max(MOST_NUMBERS // d**2, FEWEST_PATTERNS))
        precision = np.linalg.inv(self._correlation)
        # The covariance of what is expected of the columns, given those that are present.
        self._expected = np.repeat(self._correlation[None], len(chosen), axis=0)
        for i, pattern in enumerate(chosen):
            lacking = np.flatnonzero(~present[pattern])
            if len(lacking):
                inside = np.ix_(lacking, lacking)
                self._expected[i][inside] -= np.linalg.inv(precision[inside])
        self._known: dict[Context, Floats] = {}

    def of(self, context: Context) -> Floats:
        """The rows that each variable's test with the target is worth."""
        if context not in self._known:
            self._known[context] = self._rows(*context)
        return self._known[context]

    def _rows(self, target: int, given: tuple[int, ...]) -> Floats:
        R, E, S = self._correlation, self._expected, list(given)
        # Line x makes what S leaves of x.
        leaves = np.eye(len(R))
        leaves[:, S] -= np.linalg.solve(R[np.ix_(S, S)], R[S]).T
        left = leaves @ R @ leaves[target]
        own = np.einsum("xy,xy->x", leaves @ R, leaves)
        of_target = E @ leaves[target]
        covariance = of_target @ leaves.T
        inside = E.diagonal(axis1=1, axis2=2).copy()
        if S:
            weights, across = leaves[:, S].T, E[:, S, :]
            inside += (weights * (2 * across + across[:, :, S] @ weights)).sum(axis=1)
        information = inside * (of_target @ leaves[target])[:, None] + covariance**2
        full = own * own[target] + left**2
        usable = full > RIDGE
        rows = self._sizes @ information / np.where(usable, full, 1.0)
        found: Floats = np.clip(np.where(usable, rows, self._n_rows), 0.0, self._n_rows)
        return found


def _some_patterns(sizes: Floats, most: int) -> tuple[list[int], Floats]:
    """All patterns, or those of rows that lie evenly among all; and how many rows each stands
    for."""
    most = min(most, MOST_PATTERNS)
    if len(sizes) <= most:
        return list(range(len(sizes))), sizes
    edges = np.cumsum(sizes)
    places = (np.arange(most) + 0.5) / most * edges[-1]
    return np.searchsorted(edges, places).tolist(), np.full(most, edges[-1] / most)


def _at_rows(stats: Floats, rows: Floats, n_rows: float) -> Floats:
    """The statistics of moments, of which those that go by all rows go by these instead."""
    stats = stats.copy()
    stats[..., 2] += rows - n_rows
    stats[..., 3] = rows
    return stats


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
