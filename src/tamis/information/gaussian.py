"""Information from the moments of numbers: exact if they are jointly Gaussian.

H(X_k | S) = ln(2 pi e v) / 2 with v the variance of X_k that S leaves unexplained by linear
regression, and I(X_k ; X_l | S) = -ln(1 - r^2) / 2 with r the partial correlation. Without
normality these are the quantities of linear dependence. The covariance is all that is kept of the
rows; moments add over rows, so it can come from anywhere.

With one error variance for all nodes the searches become the equal-variance methods: "sequential"
is the top-down ordering of Chen, Drton and Wang (2019) and of Ghoshal and Honorio (2018).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

from tamis.data.table import Table
from tamis.errors import DataError, SettingError
from tamis.information.interface import (
    STATS,
    Context,
    Evidence,
    Floats,
    Group,
    Information,
    Ints,
    Query,
    Rows,
)

DETERMINED = 1e-9
"""A variable is a function of others when they leave less than this share of its variance."""
LARGEST = 1e150
"""Numbers beyond this, or below its inverse, have no variance that a float can hold."""
WHOLE_ROWS = 128
"""With up to so many variables the tests of a whole row come along."""
BATCH_CELLS = 2**22
"""Numbers that one batch of contexts may hold at a time."""


class GaussianInformation(Information):
    """H and I of Gaussian variables with a given covariance, from ``n_rows`` rows.

    ``shrinkage`` pulls the covariances towards 0, the variances staying as they are: 0 is none,
    1 makes all variables independent. It steadies tables with few rows for their columns.
    """

    def __init__(
        self,
        names: Sequence[str],
        covariance: Floats,
        n_rows: float,
        *,
        shrinkage: float = 0.0,
    ) -> None:
        if not 0 <= shrinkage <= 1:
            raise SettingError(f"shrinkage must lie between 0 and 1, not {shrinkage!r}")
        self.names = tuple(names)
        self.n_rows = float(n_rows)
        covariance = np.array(covariance, dtype=np.float64)
        variances = covariance.diagonal().copy()
        self._varies = variances > 0
        # Correlations are what gains are made of, and keep the algebra well scaled.
        self._scale = np.where(self._varies, np.sqrt(variances), 1.0)
        self._correlation = (1 - shrinkage) * covariance / np.outer(self._scale, self._scale)
        np.fill_diagonal(self._correlation, 1.0)
        self._correlation[~self._varies, :] = 0.0
        self._correlation[:, ~self._varies] = 0.0
        self._check_collinear()

    @classmethod
    def from_table(cls, table: Table, *, shrinkage: float = 0.0) -> GaussianInformation:
        """The moments of a table of numbers."""
        values = np.array([table.numbers(k) for k in range(table.n_variables)])
        _refuse_extremes(table.names, values)
        values -= values.mean(axis=1, keepdims=True)
        spans = np.abs(values).max(axis=1)
        # What rounding leaves of a constant column is not variance.
        values[spans <= 1e-12 * np.abs([table.numbers(k)[0] for k in range(len(values))])] = 0.0
        return cls(table.names, values @ values.T / table.n_rows, table.n_rows, shrinkage=shrinkage)

    def varies(self, k: int) -> bool:
        """Whether the column has any variance."""
        return bool(self._varies[k])

    def entropies(self, contexts: Sequence[Context]) -> Floats:
        """H(target | given) in nats; of a measurement it depends on the unit, and may be < 0."""
        found = np.zeros(len(contexts))
        for places, targets, given in self._batches(contexts, 1):
            _, left = self._explain(targets[:, None], targets, given)
            found[places] = self._entropy(targets, left[:, 0])
        return found

    def gains(self, contexts: Sequence[Context]) -> Floats:
        """I(target ; l | given) for every variable l: a row of d values for each context."""
        return self.rows(contexts).gains

    def rows(self, contexts: Sequence[Context]) -> Rows:
        """Entropies and gains of all variables, with their tests while variables are few."""
        d = self.n_variables
        entropies, gains = np.zeros(len(contexts)), np.zeros((len(contexts), d))
        everyone = np.arange(d)
        for places, targets, given in self._batches(contexts, d):
            candidates = np.broadcast_to(everyone, (len(places), d))
            shared, left = self._explain(candidates, targets, given)
            of_target = left[np.arange(len(places)), targets]
            entropies[places] = self._entropy(targets, of_target)
            found = _gain(shared, left, of_target)
            found[np.arange(len(places)), targets] = 0.0
            np.put_along_axis(found, given, 0.0, axis=1)
            gains[places] = found
        if d > WHOLE_ROWS:
            return Rows(entropies, gains)
        stats = np.zeros((len(contexts), d, STATS))
        stats[:, :, 0] = gains
        stats[:, :, 1] = 1.0
        stats[:, :, 2] = [[self._residual(len(given), 1)] for _, given in contexts]
        return Rows(entropies, gains, stats)

    def as_evidence(self, gains: Floats, stats: Floats) -> Evidence:
        """Gains with the degrees of freedom of their F tests."""
        nothing = np.full(len(gains), np.nan)
        return Evidence(
            gains, stats[:, 0], stats[:, 1], nothing, nothing, nothing, self.n_rows,
            self.n_variables, stats[:, 2],
        )  # fmt: skip

    def evidence(self, queries: Sequence[Query]) -> Evidence:
        """The candidates of all queries, end to end."""
        pairs = [
            (Context(target, given), int(candidate))
            for target, given, candidates in queries
            for candidate in candidates
        ]
        gains = np.zeros(len(pairs))
        others = np.array([candidate for _, candidate in pairs], dtype=np.int64)
        for places, targets, given in self._batches([context for context, _ in pairs], 2):
            both = np.stack([targets, others[places]], axis=1)
            shared, left = self._explain(both, targets, given)
            gains[places] = _gain(shared[:, 1], left[:, 1], left[:, 0])
        for place, (context, candidate) in enumerate(pairs):
            if candidate == context.target or candidate in context.given:
                gains[place] = 0.0
        return self._tested(gains, [(len(given), 1) for (_, given), _ in pairs])

    def joint_evidence(self, groups: Sequence[Group]) -> Evidence:
        """The same for groups of variables, one test a group: a multiple correlation."""
        gains = np.zeros(len(groups))
        sizes = []
        for i, (target, given, members) in enumerate(groups):
            fresh = tuple(sorted(set(members) - {target, *given}))
            before, after = self.entropies(
                [Context(target, given), Context(target, tuple(sorted((*given, *fresh))))]
            )
            gains[i] = max(before - after, 0.0)
            sizes.append((len(given), max(len(fresh), 1)))
        return self._tested(gains, sizes)

    def penalised_likelihoods(self, contexts: Sequence[Context]) -> Floats:
        """-n H(target | given), less ln(n) / 2 for each coefficient, the mean and the variance."""
        parameters = np.array([len(given) + 2 for _, given in contexts], dtype=np.float64)
        found: Floats = -self.n_rows * self.entropies(contexts)
        return found - 0.5 * math.log(self.n_rows) * parameters

    def lead_errors(self, given: Sequence[tuple[int, ...]], pairs: Ints) -> Floats:
        """sqrt((1 - r^2) / n) at most 1 / sqrt(n), r the correlation of what S leaves of both."""
        return np.full(len(given), 1 / math.sqrt(self.n_rows))

    def _tested(self, gains: Floats, sizes: Sequence[tuple[int, int]]) -> Evidence:
        stats = np.zeros((len(gains), STATS))
        stats[:, 0] = gains
        stats[:, 1] = [tested for _, tested in sizes]
        stats[:, 2] = [self._residual(*size) for size in sizes]
        return self.as_evidence(gains, stats)

    def _residual(self, n_given: int, n_tested: int) -> float:
        """Rows left when a mean and a coefficient for each variable have been fitted."""
        return self.n_rows - 1 - n_given - n_tested

    def _entropy(self, targets: Ints, left: Floats) -> Floats:
        found: Floats = 0.5 * np.log(2 * math.pi * math.e * np.maximum(left, DETERMINED))
        found += np.log(self._scale[targets])
        found[~self._varies[targets]] = 0.0
        return found

    def _batches(
        self, contexts: Sequence[Context], width: int
    ) -> Iterator[tuple[Ints, Ints, Ints]]:
        """The contexts by the size of their sets: their places, targets and sets."""
        by_size: dict[int, list[int]] = defaultdict(list)
        for place, context in enumerate(contexts):
            by_size[len(context.given)].append(place)
        for size, places in by_size.items():
            step = max(BATCH_CELLS // (max(size, 1) * max(width, size)), 1)
            for start in range(0, len(places), step):
                part = places[start : start + step]
                targets = np.array([contexts[i].target for i in part], dtype=np.int64)
                given = np.array([contexts[i].given for i in part], dtype=np.int64)
                yield np.array(part, dtype=np.int64), targets, given.reshape(len(part), size)

    def _explain(self, candidates: Ints, targets: Ints, given: Ints) -> tuple[Floats, Floats]:
        """What the given variables leave of the covariance of each target with its candidates,
        and of the candidates' own variances (of correlations, so that 1 is all of it)."""
        R = self._correlation
        shared = R[targets[:, None], candidates]
        left = np.ones(candidates.shape)
        if given.shape[1] == 0:
            return shared, left
        try:
            factor = np.linalg.cholesky(R[given[:, :, None], given[:, None, :]])
        except np.linalg.LinAlgError:
            raise self._collinear(given) from None
        of_candidates = np.linalg.solve(factor, R[given[:, :, None], candidates[:, None, :]])
        of_targets = np.linalg.solve(factor, R[given, targets[:, None]][:, :, None])
        shared = shared - (of_candidates * of_targets).sum(axis=1)
        return shared, left - (of_candidates**2).sum(axis=1)

    def _check_collinear(self) -> None:
        """Refuse a column that is a linear function of others, once and by name.

        With more columns than rows every column is; there only the sets that come up matter.
        """
        if self.n_rows > self.n_variables:
            self._find_collinear(np.flatnonzero(self._varies))

    def _collinear(self, given: Ints) -> DataError:
        for one in given:
            self._find_collinear(one)
        return DataError("The covariances of the table are inconsistent. Check its columns.")

    def _find_collinear(self, columns: Ints) -> None:
        """Go through the columns, each regressed on those before it (a Cholesky by columns)."""
        R = self._correlation[np.ix_(columns, columns)].copy()
        for i in range(len(columns)):
            pivot = R[i, i]
            if pivot < DETERMINED:
                raise self._refusal(columns, i)
            R[i + 1 :, i + 1 :] -= np.outer(R[i + 1 :, i], R[i, i + 1 :]) / pivot

    def _refusal(self, columns: Ints, i: int) -> DataError:
        before = columns[:i]
        R = self._correlation
        weights = np.linalg.lstsq(R[np.ix_(before, before)], R[before, columns[i]], rcond=None)[0]
        used = [self.names[k] for k, w in zip(before, weights, strict=True) if abs(w) > 1e-6]
        listed = ", ".join(map(repr, used[:8])) + (" and others" if len(used) > 8 else "")
        return DataError(
            f"Column {self.names[columns[i]]!r} is a linear function of {listed}, so the "
            "covariance cannot be inverted. Drop one of them, or add shrinkage."
        )


def _refuse_extremes(names: Sequence[str], values: Floats) -> None:
    """Squares of numbers beyond 1e150 are not finite, those below 1e-150 are 0."""
    for name, column in zip(names, values, strict=True):
        size = float(np.abs(column).max(initial=0.0))
        if size > LARGEST or 0 < size < 1 / LARGEST:
            raise DataError(
                f"Column {name!r} holds numbers of the size {size:.2g}, whose squares a float "
                "cannot hold: give the column another unit."
            )


def _gain(shared: Floats, left: Floats, of_target: Floats) -> Floats:
    """-ln(1 - r^2) / 2 of the partial correlation."""
    target = of_target if left.ndim == 1 else of_target[:, None]
    product = np.maximum(left, DETERMINED) * np.maximum(target, DETERMINED)
    squared = np.minimum(shared**2 / product, 1 - 1e-15)
    found: Floats = -0.5 * np.log1p(-squared)
    return found
