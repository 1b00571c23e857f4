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
from collections.abc import Iterable, Sequence
from copy import copy
from typing import Any

import numpy as np

from tamis.constants import constants
from tamis.core import Judge
from tamis.core import Moments as CoreMoments
from tamis.counting.elsewhere import MomentTable
from tamis.counting.independence import STATS
from tamis.errors import DataError, SettingError
from tamis.information.elimination import (
    CLOSEST,
    gains_of_all,
    gains_of_pairs,
)
from tamis.information.interface import (
    LEVELS,
    NUMBERS,
    Ability,
    Context,
    Floats,
    Group,
    Ints,
    Profiles,
    Query,
    Source,
)
from tamis.information.null_laws import MomentTests
from tamis.plugins import is_number
from tamis.tables.growing import changed
from tamis.tables.moments import Moments, blocks, require_moments, spread_of_products
from tamis.tables.refusals import listed, shown
from tamis.tables.sources import effective_rows
from tamis.tables.table import Table

DETERMINED = 1e-9
"""A variable is a function of others when they leave less than this share of its variance."""
WHOLE_ROWS = 128
"""With up to so many variables the tests of a whole row come along; beyond, they would take six
times the memory of the gains, from which they follow."""


WIDE_SET = 24
SHARED = 8
"""Sets of so many variables are worth inverting as a whole if so many tests come of it."""


class GaussianInformation(Source):
    """H and I of Gaussian variables with a given covariance, from ``n_rows`` rows.

    ``shrinkage`` pulls the covariances towards 0, the variances staying as they are: 0 is none,
    1 makes all variables independent. It steadies tables with few rows for their columns.
    """

    title = "moments"
    test_names = MomentTests.offered
    abilities = frozenset({Ability.LIKELIHOOD, Ability.JOINT_TESTS})

    def __init__(
        self,
        names: Sequence[str],
        covariance: Floats,
        n_rows: float,
        *,
        shrinkage: float = 0.0,
    ) -> None:
        self.names = tuple(names)
        self.n_rows = float(n_rows)
        self.shrinkage = _checked(shrinkage)
        covariance = np.array(covariance, dtype=np.float64)
        variances = covariance.diagonal().copy()
        self._varies = variances > 0
        # Correlations are what gains are made of, and keep the algebra well scaled.
        self._scale = np.where(self._varies, np.sqrt(variances), 1.0)
        self._correlation = (1 - self.shrinkage) * correlation_of(covariance)
        np.fill_diagonal(self._correlation, 1.0)
        self._check_collinear()

    @classmethod
    def from_table(cls, table: Table, *, shrinkage: float | str = 0.0) -> GaussianInformation:
        """The moments of a table of numbers; with ``shrinkage="auto"`` its rows choose it."""
        wanted = checked_or_auto(shrinkage)
        moments = Moments.of_table(table)
        if isinstance(wanted, str):
            standard = moments.standardised(blocks(table))
            wanted = analytic(standard, correlation_of(moments.covariance))
        found = cls.from_moments(table.names, moments, shrinkage=wanted)
        found.has_units = bool(table.continuous)
        return found

    @staticmethod
    def from_moments(
        names: Sequence[str], moments: Moments, *, shrinkage: float = 0.0
    ) -> GaussianInformation:
        """From moments alone, of rows that need not be at hand any more."""
        return GaussianInformation(names, moments.covariance, moments.count, shrinkage=shrinkage)

    entropy_variance = 0.5
    was_rescaled = False
    """Whether the columns were brought to one scale here."""
    has_units = True
    """Whether the columns are measurements; whole numbers count something."""

    def varies(self, k: int) -> bool:
        """Whether the column has any variance."""
        return bool(self._varies[k])

    def entropy_kinds(self) -> Sequence[str | None]:
        """All columns are of one kind, unless they have been standardised."""
        scales = self._scale[self._varies]
        alike = len(scales) > 0 and scales.max() <= scales.min() * (1 + constants.standardised)
        kind = NUMBERS if self.has_units else LEVELS
        return [None if alike and not self.was_rescaled else kind] * self.n_variables

    def entropies(self, contexts: Sequence[Context]) -> Floats:
        """H(target | given) in nats; of a measurement it depends on the unit, and may be < 0."""
        targets = np.array([target for target, _ in contexts], dtype=np.int64)
        left, _ = self._pairs(contexts, targets, targets)
        return self._entropy(targets, left)

    def profiles(self, contexts: Sequence[Context]) -> Profiles:
        """Entropies and gains of all variables, with their tests while variables are few."""
        d = self.n_variables
        targets = np.array([target for target, _ in contexts], dtype=np.int64)
        left, gains = np.empty(len(contexts)), np.empty((len(contexts), d))
        members, starts = _end_to_end(contexts)
        failed = gains_of_all(self._correlation, targets, members, starts, DETERMINED, left, gains)
        self._require_independent(contexts, failed)
        entropies = self._entropy(targets, left)
        if d > WHOLE_ROWS:
            return Profiles(entropies, gains)
        stats = np.zeros((len(contexts), d, STATS))
        stats[:, :, 0] = gains
        stats[:, :, 1] = 1.0
        stats[:, :, 2] = (self.n_rows - 2 - np.diff(starts))[:, None]
        return Profiles(entropies, gains, stats)

    def as_tests(self, cmi: Floats, stats: Floats) -> MomentTests:
        """Entries of profiles as tests of linear dependence."""
        return MomentTests(cmi, stats=stats, n_rows=self.n_rows)

    def tests(self, queries: Sequence[Query]) -> MomentTests:
        """The candidates of all queries, end to end."""
        contexts = [
            Context(target, given) for target, given, candidates in queries for _ in candidates
        ]
        targets = np.array([target for target, _ in contexts], dtype=np.int64)
        none = np.zeros(0, dtype=np.int64)
        others = np.concatenate([none, *(candidates for _, _, candidates in queries)])
        gains = self._wide_gains(contexts, others)
        rest = np.flatnonzero(np.isnan(gains))
        if len(rest):
            asked = [contexts[i] for i in rest.tolist()]
            _, gains[rest] = self._pairs(asked, targets[rest], others[rest])
        return self._tested(gains, [len(given) for _, given in contexts], 1)

    def joint_tests(self, groups: Sequence[Group]) -> MomentTests:
        """Test groups of variables by a multiple correlation, one test for each group."""
        contexts, sizes, tested = [], [], []
        for target, given, members in groups:
            fresh = set(members) - {target, *given}
            contexts.append(Context(target, given))
            contexts.append(Context(target, tuple(sorted((*given, *fresh)))))
            sizes.append(len(given))
            tested.append(max(len(fresh), 1))
        entropies = self.entropies(contexts)
        return self._tested(np.maximum(entropies[::2] - entropies[1::2], 0.0), sizes, tested)

    def penalised_likelihoods(self, contexts: Sequence[Context]) -> Floats:
        """-n H(target | given), less the price of each coefficient, the mean and the variance."""
        parameters = np.array([len(given) + 2 for _, given in contexts], dtype=np.float64)
        found: Floats = -self.n_rows * self.entropies(contexts)
        return found - self._price * parameters

    @property
    def _price(self) -> float:
        """What a coefficient costs."""
        return constants.moment_price * 0.5 * math.log(self.n_rows)

    def judge(
        self, nodes: Sequence[int], *, edge_price: float = 0.0, same_units: bool = False
    ) -> Judge:
        """Moments of complete rows are judged by the core."""
        if type(self) is not GaussianInformation:
            return super().judge(nodes, edge_price=edge_price, same_units=same_units)
        scale = self._scale[list(nodes)] if same_units or not self.has_units else 1.0
        covariance = self._correlation[np.ix_(nodes, nodes)] * np.multiply.outer(scale, scale)
        return CoreMoments(covariance, self.n_rows, self._price + edge_price)

    def scale_free(self) -> GaussianInformation | None:
        """A source of the standardised columns; None for whole numbers, which have no unit."""
        if not self.has_units:
            return None
        found = copy(self)
        found._scale = np.ones_like(self._scale)
        found.was_rescaled = True
        return found

    def _tested(
        self, gains: Floats, n_given: Sequence[int], n_tested: Sequence[int] | int
    ) -> MomentTests:
        stats = np.zeros((len(gains), STATS))
        stats[:, 0] = gains
        stats[:, 1] = n_tested
        # Rows left when a mean and a coefficient for each variable have been fitted.
        stats[:, 2] = self.n_rows - 1 - np.asarray(n_given, dtype=np.float64) - stats[:, 1]
        return self.as_tests(gains, stats)

    def _entropy(self, targets: Ints, left: Floats) -> Floats:
        found: Floats = 0.5 * np.log(2 * math.pi * math.e * np.maximum(left, DETERMINED))
        found += np.log(self._scale[targets])
        found[~self._varies[targets]] = 0.0
        return found

    def _wide_gains(self, contexts: Sequence[Context], others: Ints) -> Floats:
        """The gains given large sets; nan for the others, which are quicker one by one.

        When members of a large set are to go, each is tested given the rest. A target, another
        variable and the set are the same family in all these tests, and its inverse has them all.
        """
        gains = np.full(len(contexts), np.nan)
        families: dict[tuple[int, ...], list[int]] = defaultdict(list)
        for i, ((target, given), other) in enumerate(zip(contexts, others.tolist(), strict=True)):
            if len(given) >= WIDE_SET and other != target and other not in given:
                families[tuple(sorted((*given, target, other)))].append(i)
        for family, places in families.items():
            inverse = self._inverse(family) if len(places) >= SHARED else None
            if inverse is not None:
                a = np.searchsorted(family, [contexts[i].target for i in places])
                b = np.searchsorted(family, others[places])
                squared = inverse[a, b] ** 2 / (inverse[a, a] * inverse[b, b])
                gains[places] = -0.5 * np.log1p(-np.minimum(squared, CLOSEST))
        return gains

    def _inverse(self, family: tuple[int, ...]) -> Floats | None:
        """Of the correlations of a family; None if one of them follows from the others."""
        R = self._correlation[np.ix_(family, family)]
        try:
            inverse = np.asarray(np.linalg.inv(R), dtype=np.float64)
        except np.linalg.LinAlgError:
            return None
        left = 1 / inverse.diagonal()
        return inverse if (left >= DETERMINED).all() else None

    def _pairs(
        self, contexts: Sequence[Context], targets: Ints, others: Ints
    ) -> tuple[Floats, Floats]:
        """What each set leaves of its target, and the gain of one other variable about that."""
        left, gains = np.empty(len(contexts)), np.empty(len(contexts))
        members, starts = _end_to_end(contexts)
        failed = gains_of_pairs(
            self._correlation, targets, others, members, starts, DETERMINED, left, gains
        )
        self._require_independent(contexts, failed)
        return left, gains

    def _require_independent(self, contexts: Sequence[Context], failed: int) -> None:
        """Refuse the set of the context that could not be eliminated, if there is one."""
        if failed >= 0:
            self._find_collinear(np.array(contexts[failed].given, dtype=np.int64))

    def _check_collinear(self) -> None:
        """Refuse a column that is a linear function of others, once and by name.

        With more columns than rows every column is; there only the sets that come up matter.
        """
        columns = np.flatnonzero(self._varies)
        if self.n_rows <= self.n_variables or not len(columns):
            return
        try:
            factor = np.linalg.cholesky(self._correlation[np.ix_(columns, columns)])
        except np.linalg.LinAlgError:
            self._find_collinear(columns)
        else:
            if (factor.diagonal() ** 2 < DETERMINED).any():
                self._find_collinear(columns)

    def _find_collinear(self, columns: Ints) -> None:
        """Go through the columns, each regressed on those before it (a Cholesky by columns)."""
        R = self._correlation[np.ix_(columns, columns)].copy()
        pivots = R.diagonal().copy()
        for i in range(len(columns)):
            pivots[i] = R[i, i]
            if pivots[i] < DETERMINED:
                raise self._refusal(columns, i)
            R[i + 1 :, i + 1 :] -= np.outer(R[i + 1 :, i], R[i, i + 1 :]) / pivots[i]
        # Rounding differs between two ways to eliminate: the least pivot is the one that failed.
        raise self._refusal(columns, int(pivots.argmin()))

    def _refusal(self, columns: Ints, i: int) -> DataError:
        return DataError(
            f"Column {shown(self.names[columns[i]])} is a linear function of "
            f"{self._explaining(columns, i)}, so the covariance cannot be inverted. Drop one of "
            "them, or shrink the correlations: information='gaussian', source={'shrinkage': 0.1}; "
            "on the command line --information gaussian --source shrinkage=0.1."
        )

    def _explaining(self, columns: Ints, i: int) -> str:
        """Which of the columns before the i-th it is a function of."""
        before = columns[:i]
        R = self._correlation
        weights = np.linalg.lstsq(R[np.ix_(before, before)], R[before, columns[i]], rcond=None)[0]
        used = [shown(self.names[k]) for k, w in zip(before, weights, strict=True) if abs(w) > 1e-6]
        return listed(used)


def correlation_of(covariance: Floats) -> Floats:
    """0 for columns that do not vary, but for the diagonal: they tell nothing, and condition on
    nothing."""
    variances = covariance.diagonal()
    scale = np.sqrt(np.where(variances > 0, variances, 1.0))
    found: Floats = covariance / np.outer(scale, scale)
    found[variances <= 0, :] = 0.0
    found[:, variances <= 0] = 0.0
    np.fill_diagonal(found, 1.0)
    return found


def _end_to_end(contexts: Sequence[Context]) -> tuple[Ints, Ints]:
    """The sets of all contexts in one array, and where each begins and ends."""
    members: list[int] = []
    starts = [0]
    for _, given in contexts:
        members += given
        starts.append(len(members))
    return np.array(members, dtype=np.int64), np.array(starts, dtype=np.int64)


def _checked(shrinkage: object) -> float:
    """The value, if it is a number from 0 to 1."""
    if not is_number(shrinkage, 0, 1):
        raise SettingError(f"shrinkage must be a number from 0 to 1, not {shrinkage!r}")
    return float(shrinkage)


def checked_or_auto(shrinkage: object) -> float | str:
    """The value, if it is a number from 0 to 1 or leaves the choice to the rows."""
    if isinstance(shrinkage, str) and shrinkage == "auto":
        return shrinkage
    try:
        return _checked(shrinkage)
    except SettingError as error:
        raise SettingError(f"{error}; 'auto' leaves it to the rows") from None


def analytic(blocks: Iterable[Floats], correlation: Floats) -> float:
    """The shrinkage of least expected squared error (Schäfer and Strimmer, 2005).

    It is the summed variance of the correlations over the sum of their squares, neither on the
    diagonal. ``blocks`` are the rows a block at a time, a column in each line, every column with
    mean 0 and variance 1, or all 0 if it is constant; ``correlation`` is theirs.
    """
    return suggested(*spread_of_products(blocks), correlation)


def suggested(n_rows: int, of_products: float, correlation: Floats) -> float:
    """The shrinkage of least expected squared error, from sums over the rows."""
    squares = float((correlation**2).sum() - (correlation.diagonal() ** 2).sum())
    if not squares > 0 or n_rows < 2:
        return 0.0
    found = (of_products - n_rows * squares) / (n_rows * (n_rows - 1) * squares)
    return min(max(found, 0.0), 1.0)


def open_moments(
    table: MomentTable, information: str, settings: dict[str, Any] | None
) -> GaussianInformation:
    """What the moments tell; other information would need the rows."""
    if information != "gaussian":
        raise SettingError(
            f"information={information!r} needs the rows in memory, and of numbers in blocks only "
            "the moments are taken: use information='gaussian', or read the table itself, or a "
            "sample of its rows"
        )
    moments = table.moments
    for k, name in enumerate(table.names):
        require_moments(name, np.array([moments.low[k], moments.high[k]]))
    wanted = checked_or_auto((settings or {}).get("shrinkage", 0.0))
    if isinstance(wanted, str):
        if table.again is None:
            raise SettingError(
                "shrinkage='auto' needs another pass over the rows, which are not at hand any "
                "more: give a number from 0 to 1"
            )
        n_rows, of_products = table.again(table.names, moments)
        if n_rows != moments.count:
            raise changed()
        wanted = suggested(n_rows, of_products, correlation_of(moments.covariance))
    return GaussianInformation.from_moments(table.names, moments, shrinkage=wanted)


def weighted_gaussian(
    table: Table, weights: Floats, *, shrinkage: float = 0.0
) -> GaussianInformation:
    """Weighted means and covariances, as those of so many rows as the table is worth (Kish, 1965).

    The F test is then right to first order if the weights do not depend on the errors of the
    regressions, and their squares not on the candidates.
    """
    # Asked for what they refuse, and for columns that vary by rounding only.
    plain = Moments.of_table(table)
    share = weights / weights.sum()
    distances = np.array([table.numbers(k) for k in range(table.n_variables)])
    distances -= plain.mean[:, None]
    distances -= (distances @ share)[:, None]
    covariance = (distances * share) @ distances.T
    kept = plain.varies
    covariance = np.where(np.outer(kept, kept), (covariance + covariance.T) / 2, 0.0)
    return GaussianInformation(
        table.names, covariance, effective_rows(weights), shrinkage=shrinkage
    )
