"""Information about tables with both levels and measurements, from conditional Gaussians.

Measurements are normal in every cell of the levels, with means, coefficients and variances of the
cell (Lauritzen and Wermuth, 1989; as a score of graphs, Andrews, Ramsey and Cooper, 2018). Gains
and tests are likelihood ratios in that model, in whichever direction they are asked for
(``gaussian_ratios``), without the bias that they have under it. Without measurements they are
those of counts, without levels those of moments.

Where a level depends on a measurement, the measurement given the level is not normal. Two columns
of levels given measurements are therefore judged by logistic regressions (``logistic``), and so
is H of a level given measurements, which as a difference of joint entropies could fall below 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import copy
from typing import Self

import numpy as np
from scipy.special import chdtrc

from tamis.constants import constants
from tamis.counting.independence import STATS
from tamis.errors import DataError
from tamis.information.counted import CountedInformation
from tamis.information.gaussian import GaussianInformation
from tamis.information.gaussian_cells import Columns, Fit, Members
from tamis.information.gaussian_ratios import (
    Pair,
    Ratios,
    of_level_target,
    of_measured_target,
    of_measurements,
    of_pairs,
)
from tamis.information.indicators import Indicators, Unexplained
from tamis.information.interface import (
    LEVELS,
    NUMBERS,
    Ability,
    Context,
    Floats,
    Group,
    Profiles,
    Query,
    Source,
)
from tamis.information.kept import Kept
from tamis.information.level_regressions import MOST_BYTES, LevelRegressions
from tamis.information.logistic import (
    Covariance,
    covariance,
    covariance_of_scores,
    judged_by,
    of_scores,
)
from tamis.information.null_laws import CountTests, RatioTests
from tamis.information.one_thread import one_thread
from tamis.information.ranked import (
    RankedInformation,
    has_ranks,
    ordered,
    ranks_of,
    with_share,
)
from tamis.plugins import whole
from tamis.tables.refusals import listed, shown
from tamis.tables.table import Table

PLAIN_LEVELS, MANY_LEVELS = 4, 40
"""What levels beyond the first cost goes with their square: from so many on more than the rows do,
and up to so many, since of more the regressions take the most frequent."""
THIN = 10
"""Cells with fewer rows have no covariance of their own."""


class ConditionalGaussianInformation(Source):
    """H and I of levels and measurements, as if these were normal given those."""

    title = "conditional Gaussians"
    test_names = RatioTests.offered
    abilities = frozenset({Ability.LIKELIHOOD, Ability.JOINT_TESTS})

    def __init__(self, table: Table, *, thin: int = THIN, n_jobs: int | None = None) -> None:
        self.names = table.names
        self.n_rows = float(table.n_rows)
        is_level = np.array([kind != "number" for kind in table.kinds])
        values, self._log_scale, spread = _standardised(table)
        ordinal = [k for k in ordered(table) if table.arities[k] > 2]
        for k in ordinal:
            values[k] = ranks_of(table.codes[k].astype(np.int64))
        self._ordinal = frozenset(ordinal)
        self._ranked = frozenset(ordered(table))
        varies = np.where(is_level, table.arities > 1, spread)
        # Lists: they are read one by one, and often.
        self._level: list[bool] = is_level.tolist()
        self._varies: list[bool] = varies.tolist()
        self._all_vary = all(self._varies)
        self._columns = Columns(
            table.codes.astype(np.int64), table.arities.tolist(), values,
            self._level, whole("thin", thin, 3), ordinal,
        )  # fmt: skip
        self._levels: list[int] = np.flatnonzero(is_level & varies).tolist()
        self._measured: list[int] = np.flatnonzero(~is_level & varies).tolist()
        self._place_of_level = {k: place for place, k in enumerate(self._levels)}
        self._counted = _counted(table.select(self._levels), n_jobs) if self._levels else None
        self._indicators = Indicators(
            self._columns, self._levels, self._measured, self._columns.arities
        )
        self._regressions = LevelRegressions(self._columns, self._indicators)
        self._known: dict[tuple[int, Members], Floats] = {}
        self._left = Kept[Members, Unexplained](MOST_BYTES)
        self._covariances: dict[tuple[int, int, Members], tuple[float, float]] = {}
        self._fits: dict[Members, Fit | None] = {}

    @classmethod
    def from_table(cls, table: Table, *, thin: int = THIN, n_jobs: int | None = None) -> Self:
        """Measured columns by their numbers, all others by their levels, integers among them."""
        return cls(table, thin=thin, n_jobs=n_jobs)

    def varies(self, k: int) -> bool:
        """Whether the column has more than one level, or any variance."""
        return bool(self._varies[k])

    @one_thread()
    def entropies(self, contexts: Sequence[Context]) -> Floats:
        """H(target | given) in nats: of levels never below 0, of a measurement in its unit."""
        return np.array([self._entropy(*context) for context in contexts], dtype=np.float64)

    @one_thread()
    def cmi(self, contexts: Sequence[Context]) -> Floats:
        """I(target ; l | given) for every variable l: a row of d values for each context."""
        keys = [(target, self._varying(given)) for target, given in contexts]
        self._know([key for key in dict.fromkeys(keys) if key not in self._known])
        found = [self._known[key][0] for key in keys]
        return np.array(found, dtype=np.float64).reshape(len(contexts), self.n_variables)

    def profiles(self, contexts: Sequence[Context]) -> Profiles:
        """Gains; entropies are left open, as most who ask have no use for them."""
        return Profiles(np.full(len(contexts), np.nan), self.cmi(contexts))

    def as_tests(self, cmi: Floats, stats: Floats) -> RatioTests:
        """Likelihood ratios, scaled to follow chi-squared: 2 n times the first statistic."""
        return RatioTests(cmi, stats=stats, n_rows=self.n_rows)

    @one_thread()
    def tests(self, queries: Sequence[Query]) -> RatioTests:
        """The candidates of all queries, end to end."""
        asked = [
            (target, self._varying(given), k)
            for target, given, candidates in queries
            for k in candidates.tolist()
        ]
        lines = self._lines(asked)
        return self.as_tests(lines[:, -1], lines[:, :STATS])

    @one_thread()
    def joint_tests(self, groups: Sequence[Group]) -> RatioTests:
        """Test groups of variables, judged one after the other, levels first: gains add by
        the chain rule, and statistics and degrees of freedom as chi-squared ones do."""
        found = np.zeros((len(groups), STATS + 1))
        for i, (target, given, members) in enumerate(groups):
            before = given
            for k in sorted(set(members) - {target, *given}, key=self._levels_first):
                found[i] += self._lines([(target, self._varying(before), k)])[0]
                before = tuple(sorted((*before, k)))
        return self.as_tests(found[:, -1], found[:, :STATS])

    def penalised_likelihoods(self, contexts: Sequence[Context]) -> Floats:
        """The ln likelihood of a set's joint law less that of the given part's, and the price of
        each parameter: differences between sets, so that equivalent DAGs score alike.

        Numbers whose law differs between levels are not normal without them: the difference then
        pays a level for what is wrong with that. No level has a probability above 1.
        """
        found = np.empty(len(contexts))
        for i, (target, given) in enumerate(contexts):
            given = self._varying(given)
            (after, price), (before, less) = (
                self._set_score(one) for one in (self._with(target, given), given)
            )
            rise = min(after - before, 0.0) if self._level[target] else after - before
            found[i] = rise - 0.5 * math.log(self.n_rows) * (price - less)
        return found

    def scale_free(self) -> ConditionalGaussianInformation:
        """A source of the table with standardised numbers."""
        found = copy(self)
        found._log_scale = np.zeros_like(self._log_scale)
        found._was_rescaled = True
        return found

    _was_rescaled = False

    def entropy_kinds(self) -> Sequence[str | None]:
        """Levels and numbers apart; of numbers that have been standardised, nothing is compared."""
        scales = self._log_scale[self._measured]
        alike = (
            not self._was_rescaled and len(scales) > 0 and np.ptp(scales) <= constants.standardised
        )
        return [LEVELS if level else None if alike else NUMBERS for level in self._level]

    # One context.

    def _entropy(self, target: int, given: Members) -> float:
        given = self._varying(given)
        if target in given or not self._varies[target]:
            return 0.0
        if self._is_regressed(target, given):
            return self._regressions.entropy(target, given)
        before, after = self._fit(given), self._fit(self._with(target, given))
        found = after.unbiased - before.unbiased
        return found + float(self._log_scale[target]) if not self._level[target] else max(found, 0)

    def _is_regressed(self, target: int, given: Members) -> bool:
        """Whether the entropy of a target is that of a regression: levels given measurements."""
        return (
            bool(self._varies[target])
            and self._level[target]
            and target not in given
            and any(self._varies[k] and not self._level[k] for k in given)
        )

    def _know(self, keys: Sequence[tuple[int, Members]]) -> None:
        """Work out the ratios of all columns in some contexts."""
        everyone = [*self._measured, *self._levels]
        if (len(self._known) + len(keys)) * 24 * self.n_variables > MOST_BYTES:
            self._known.clear()
        for key in keys:
            self._known[key] = self._ratios(*key, everyone)

    def _ratios(self, target: int, given: Members, others: Sequence[int]) -> Floats:
        """For some columns the gain, half the statistic a row and its degrees of freedom; of two
        columns of levels the gain alone. A row has a place for every column."""
        found = np.zeros((3, self.n_variables))
        if target in given or not self._varies[target]:
            return found
        others = [k for k in others if self._varies[k] and k != target and k not in given]
        levels, numbers = self._columns.split(others)
        asked = self._columns, *self._columns.split_at(given, target)
        if not self._level[target]:
            if numbers:
                found[:, numbers] = self._scaled(of_measurements(*asked, numbers))
            if levels:
                found[:, levels] = self._scaled(of_measured_target(*asked, levels))
            ranked = [k for k in levels if k in self._ordinal]
            if ranked:
                by_rank = self._scaled(of_measurements(*asked, ranked))
                found[:, ranked] = self._smaller(found[:, ranked], by_rank)
        elif numbers:
            found[:, numbers] = self._scaled(of_level_target(*asked, numbers))
            if target in self._ordinal:
                by_rank = self._scaled(of_measurements(*asked, numbers))
                found[:, numbers] = self._smaller(found[:, numbers], by_rank)
        if self._level[target] and levels:
            found[0, levels] = self._level_gains(target, given, levels)
        return self._possible(found, target, given, others)

    def _possible(
        self, ratios: Floats, target: int, given: Members, others: Sequence[int]
    ) -> Floats:
        """No column tells more of another's levels than is open about these; a ratio can: a number
        that a level leaves no variance has no density, or as much as ``RIDGE`` lets it have."""
        levels, _ = self._columns.split(given)
        own = self._columns.entropy(target, levels) if self._level[target] else math.inf
        for k in others:
            most = min(own, self._columns.entropy(k, levels)) if self._level[k] else own
            ratios[0, k] = min(ratios[0, k], most)
        return ratios

    def _scaled(self, ratios: Ratios) -> Floats:
        """The gain, half a statistic a row, scaled so that its mean under independence is that of
        chi-squared (Bartlett), and its degrees of freedom."""
        expected = 2 * self.n_rows * ratios.expected
        usable = (ratios.df > 0) & (expected > 0)
        scale = np.where(usable, ratios.df / np.where(usable, expected, 1.0), 0.0)
        return np.array([ratios.gain - ratios.expected, ratios.gain * scale, ratios.df * usable])

    def _smaller(self, of_levels: Floats, of_ranks: Floats) -> Floats:
        """The larger gain, and the statistic of the p-value of both (``ranked``)."""
        rows = 2 * self.n_rows
        both = np.array([of_levels, of_ranks])
        shares = np.array([[1 - constants.ranks_share], [constants.ranks_share]])
        df = both[:, 2]
        p = np.where(df > 0, chdtrc(np.maximum(df, 1e-300), rows * both[:, 1]), 1.0)
        statistics = with_share(rows * both[:, 1], p, df, shares) / rows
        chosen = (p / shares).argmin(axis=0), np.arange(p.shape[1])
        df = df[chosen]
        found: Floats = np.array(
            [both[:, 0].max(axis=0), np.where(df > 0, statistics[chosen], 0.0), df]
        )
        return found

    def _level_gains(self, target: int, given: Members, others: Sequence[int]) -> Floats:
        """I(target ; l | given) of columns of levels."""
        place = self._place_of_level
        if self._counted is not None and self._all_levels(given):
            context = Context(place[target], tuple(place[k] for k in given))
            gains: Floats = self._counted.cmi([context])[0][[place[k] for k in others]]
            return gains
        left = self._left.get(given)
        if left is None:
            left = self._regressions.unexplained(given)
            self._left.keep(given, left, left.covariances.nbytes + left.factors.nbytes)
        return self._indicators.gains(left, target, others)

    def _all_levels(self, given: Members) -> bool:
        return all(self._level[k] for k in given)

    def _lines(self, asked: Sequence[tuple[int, Members, int]]) -> Floats:
        """For each test, of a target given a set with a candidate, its STATS and its gain."""
        ratios = np.zeros((3, len(asked)))
        pairs: list[Pair] = []
        places, of_levels = [], []
        for i, (target, given, k) in enumerate(asked):
            if k == target or k in given or target in given or not self._both_vary(target, k):
                continue
            known = self._known.get((target, given))
            if self._level[target] and self._level[k]:
                of_levels.append(i)
            elif known is not None:
                ratios[:, i] = known[:, k]
            else:
                places.append(i)
                first, second = (k, target) if self._level[k] else (target, k)
                pairs.append((*self._columns.split(given), first, second))
        if pairs:
            ratios[:, places] = self._of_pairs(pairs)
        found = np.zeros((len(asked), STATS + 1))
        found[:, -1], found[:, 0], found[:, 1] = ratios
        for i in of_levels:
            found[i, :2], found[i, -1] = self._of_levels(*asked[i])
        return found

    def _of_pairs(self, pairs: Sequence[Pair]) -> Floats:
        found = self._scaled(of_pairs(self._columns, pairs))
        ranked = [i for i, (_, _, first, _) in enumerate(pairs) if first in self._ordinal]
        if ranked:
            again = [pairs[i] for i in ranked]
            by_rank = self._scaled(of_pairs(self._columns, again, by_rank=True))
            found[:, ranked] = self._smaller(found[:, ranked], by_rank)
        for i, (levels, _, first, _) in enumerate(pairs):
            if self._level[first]:
                found[0, i] = min(found[0, i], self._columns.entropy(first, levels))
        return found

    def _both_vary(self, one: int, other: int) -> bool:
        return self._varies[one] and self._varies[other]

    def _of_levels(
        self, target: int, given: Members, other: int
    ) -> tuple[tuple[float, float], float]:
        """The test of two columns of levels: half its statistic a row, and degrees of freedom; and
        the gain."""
        if self._counted is None or not self._all_levels(given):
            known = self._known.get((target, given))
            gain = self._level_gains(target, given, [other]) if known is None else known[0, [other]]
            return self._covariance(target, other, given), float(gain[0])
        place = self._place_of_level
        asked = Query(place[target], tuple(place[k] for k in given), np.array([place[other]]))
        test = self._counted.tests([asked])
        if not isinstance(test, CountTests):
            raise TypeError(f"counts gave {type(test).__name__}")
        gain, mean, variance = test.cmi, float(test.null_mean[0]), float(test.null_variance[0])
        if not variance > 0:
            return (0.0, 0.0), float(gain[0])
        # The gamma law of the permutation test, as a chi-squared one.
        share = 2 * mean / variance
        statistic = float(test.pearson[0]) * share / (2 * self.n_rows)
        return (statistic, mean * share), float(gain[0])

    def _covariance(self, one: int, other: int, given: Members) -> tuple[float, float]:
        """The test of two columns of levels given measurements; by ranks too if they have such.
        Either may be the target, so it is remembered for both."""
        key = min(one, other), max(one, other), given
        if key not in self._covariances:
            self._covariances[key] = self._fresh_covariance(one, other, given)
        return self._covariances[key]

    def _fresh_covariance(self, one: int, other: int, given: Members) -> tuple[float, float]:
        columns, regressions = (one, other), self._regressions
        levels = [regressions.frequencies(k, given) for k in columns]
        left, right = (
            regressions.left(k, given, chosen)
            for k, chosen in zip(columns, judged_by(*levels), strict=True)
        )
        found = self._statistic(covariance(left, right))
        pair = {one, other}
        if pair <= self._ranked and pair & self._ordinal:
            first, second = (
                of_scores(
                    regressions.left(k, given, np.arange(len(own.rows))),
                    regressions.ranks(k, given),
                )
                for k, own in zip(columns, levels, strict=True)
            )
            found = self._smaller(found, self._statistic(covariance_of_scores(first, second)))
        return float(found[1, 0]), float(found[2, 0])

    def _statistic(self, found: Covariance) -> Floats:
        return np.array([[0.0], [found.statistic / (2 * self.n_rows)], [float(found.df)]])

    # Sets.

    def _fit(self, members: Members) -> Fit:
        if members not in self._fits:
            self._fits[members] = self._columns.fit(members)
        found = self._fits[members]
        if found is None:
            raise DataError(
                f"The levels among columns {listed([shown(self.names[k]) for k in members])} make "
                f"so many cells that the {self.n_rows:.0f} rows leave nothing to fit their "
                "numbers to. Limit the parents of a node (max_boundary), or merge rare levels."
            )
        return found

    def _set_score(self, members: Members) -> tuple[float, float]:
        """The ln likelihood of the joint law of a set, and the price of its parameters, in halves
        of ln(n)."""
        if not members:
            return 0.0, 0.0
        fit = self._fit(members)
        levels, _ = self._columns.split(members)
        free = math.prod(float(self._columns.arities[k]) for k in levels) - 1
        entropy = fit.entropy + float(self._log_scale[list(members)].sum())
        return -self.n_rows * entropy, free + constants.mixed_price * fit.size

    def _with(self, target: int, given: Members) -> Members:
        """The set with one more column, if that varies."""
        return tuple(sorted({*given, target})) if self._varies[target] else given

    def _varying(self, given: Members) -> Members:
        """Without constant columns, which say nothing about anything."""
        if self._all_vary:
            return given
        return tuple(k for k in given if self._varies[k])

    def _levels_first(self, k: int) -> tuple[bool, int]:
        return not self._level[k], k


def _counted(levels: Table, n_jobs: int | None) -> Source:
    """The columns of levels by themselves."""
    counts = CountedInformation(levels, n_jobs=n_jobs)
    return RankedInformation(counts, levels) if has_ranks(levels) else counts


def _standardised(table: Table) -> tuple[Floats, Floats, Floats]:
    """Measured columns with mean 0 and variance 1, ln of what they were divided by, and which of
    them vary; columns that are a linear function of others are refused, by name."""
    d = table.n_variables
    measured = [k for k in range(d) if table.kinds[k] == "number"]
    values, log_scale = np.zeros((d, table.n_rows)), np.zeros(d)
    varying = np.zeros(d, dtype=bool)
    if measured:
        moments = GaussianInformation.from_table(table.select(measured))
        for place, k in enumerate(measured):
            varying[k] = moments.varies(place)
            if varying[k]:
                # From a row of the data first, so that numbers far from 0 lose no digits.
                column = table.numbers(k) - table.numbers(k)[0]
                column -= column.mean()
                scale = math.sqrt(float(np.mean(column**2)))
                values[k], log_scale[k] = column / scale, math.log(scale)
    return values, log_scale, varying
