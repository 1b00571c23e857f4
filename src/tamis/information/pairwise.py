"""Information from counts of a table with gaps: every question is asked of the rows that have all
its columns.

This is the available-case, or pairwise, treatment of missing values. Where values are missing
completely at random each answer is that of a smaller sample, and no answer wastes a row; but the
rows differ from question to question, so that answers need not fit together: a gain may grow or
fall only because other rows were asked. Where what is missing depends on what it would have been,
the rows that are left are a biased sample, here as after leaving rows out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import entr, xlogy

from tamis.counts.compiled import Codes
from tamis.counts.fold import estimate
from tamis.counts.gaps import judge_over_gaps
from tamis.counts.independence import SCALE
from tamis.counts.lookup import Lookup, fixed_point
from tamis.data.table import Table
from tamis.information.counted import CountedInformation
from tamis.information.estimators import AnyEstimator, as_additive
from tamis.information.gap_states import GapStates, noise_of_gaps
from tamis.information.interface import (
    STATS,
    Ability,
    Context,
    Floats,
    Group,
    Ints,
    Profiles,
    Query,
    Source,
)
from tamis.information.null_laws import CountTests
from tamis.information.regret import price
from tamis.information.scaling import counted_in, require_scaling

KNOWN_BYTES = 2**27
"""Judgements of contexts are kept while they fit in this."""
SIGNS = np.array([-1, 1, 1, -1])
"""I(X_k ; X_l | S) = -H(S) + H(S, X_k) + H(S, X_l) - H(S, X_k, X_l)."""


class _Judged(NamedTuple):
    """Of some tests: the gains, what a rule wants to know, and the rows they were made on."""

    gains: Floats
    stats: Floats
    used: Ints


class PairwiseInformation(Source):
    """H and I of a table of levels with gaps, through estimators that need no support.

    Each test names its rows. Looking ahead is off: the parities it goes by are those
    of complete rows.
    """

    title = "counts of rows with gaps"
    test_names = CountTests.offered
    abilities = frozenset({Ability.LIKELIHOOD, Ability.JOINT_TESTS})

    def __init__(self, table: Table, estimator: str | AnyEstimator = "grassberger") -> None:
        self.names = table.names
        self.n_rows = float(table.n_rows)
        self.estimator = as_additive(estimator, "missing='pairwise'")
        require_scaling(self.estimator)
        self._table = table
        self._arities = table.arities
        self._sizes: list[int] = table.arities.tolist()
        n = table.n_rows
        self._lookup = Lookup(self.estimator.terms, n, constant=self.estimator.constant(n))
        self._plain = fixed_point(entr(np.arange(n + 1) / n))
        self._states = GapStates(table)
        self.score_noise = noise_of_gaps(table)
        self._known: dict[Context, tuple[float, _Judged]] = {}
        self._rests: dict[int, float] = {}

    def varies(self, k: int) -> bool:
        """Whether the column has more than one level."""
        return self._sizes[k] > 1

    def rows_with(self, variables: Sequence[int]) -> int | None:
        """How many rows have a value in each of these columns; None where all rows have."""
        gaps = [self._table.gaps[k] for k in variables if k in self._table.gaps]
        if not gaps:
            return None
        return int(self.n_rows) - int(np.logical_or.reduce(gaps).sum())

    def entropies(self, contexts: Sequence[Context]) -> Floats:
        """H(target | given), each on the rows that have the target and all that is given."""
        return np.array([self._entropy(context) for context in contexts], dtype=np.float64)

    def cmi(self, contexts: Sequence[Context]) -> Floats:
        """I(target ; l | given) for every variable l, each on the rows that have all of them."""
        return self.profiles(contexts).cmi

    def profiles(self, contexts: Sequence[Context]) -> Profiles:
        """Entropies and cmi; the tests, whose rows differ, are asked for apart."""
        known = [self._whole(context) for context in contexts]
        gains = np.array([judged.gains for _, judged in known])
        return Profiles(
            np.array([entropy for entropy, _ in known], dtype=np.float64),
            gains.reshape(len(contexts), self.n_variables),
        )

    def tests(self, queries: Sequence[Query]) -> CountTests:
        """All that is known about each test: the candidates of all queries, end to end."""
        parts = [self._judged(*query) for query in queries]
        return self._evidence(parts)

    def joint_tests(self, groups: Sequence[Group]) -> CountTests:
        """The same for groups of variables, one test a group."""
        return self._evidence([self._judge_group(group) for group in groups])

    def penalised_likelihoods(self, contexts: Sequence[Context]) -> Floats:
        """What the parents explain a row, on the rows that have all of them, times all rows.

        Likelihoods on different rows cannot be compared. Their means can: the node-average
        likelihood of Balov (2013) and Bodewes and Scutari (2021). Here it is taken of a
        difference, target with and without its parents on the same rows, each at its price by
        quotient NML; to which comes the target alone, on all rows that have it. So what differs
        between sets of parents is what they explain, and not whose rows were asked, and an edge
        scores the same in both directions.
        """
        return np.array([self._score(context) for context in contexts], dtype=np.float64)

    # Entropies and tests.

    def _entropy(self, context: Context) -> float:
        cell_of_row, n_strata = self._states.cells(*context)
        cells = cell_of_row[cell_of_row >= 0]
        width = self._sizes[context.target]
        margin = self._occupied(cells, n_strata * width)
        strata = np.bincount(cells // width, minlength=n_strata)
        tables = self._lookup.as_kernel_argument()
        sums = [0 if not context.given else estimate(strata, 0, tables)]
        sums.append(estimate(margin, 0, tables))
        return float(self._rescaled(np.array([sums]), SIGNS[:2], np.array([len(cells)]))[0])

    def _occupied(self, cells: Ints, n_cells: int) -> Ints:
        """The rows of each cell, in order of the cells; large tables leave out the empty ones."""
        if n_cells <= self._states.most_cells:
            return np.bincount(cells, minlength=n_cells)
        return np.unique(cells, return_counts=True)[1].astype(np.int64)

    def _whole(self, context: Context) -> tuple[float, _Judged]:
        """The entropy of a context and the tests of all variables with it."""
        known = self._known.get(context)
        if known is None:
            everyone = np.arange(self.n_variables)
            known = self._entropy(context), self._judge(context, everyone)
            if len(self._known) * self.n_variables * 8 * (STATS + 2) < KNOWN_BYTES:
                self._known[context] = known
        return known

    def _judged(self, target: int, given: tuple[int, ...], candidates: Ints) -> _Judged:
        known = self._known.get(Context(target, given))
        if known is None:
            return self._judge(Context(target, given), candidates)
        gains, stats, used = known[1]
        return _Judged(gains[candidates], stats[candidates], used[candidates])

    def _judge(self, context: Context, candidates: Ints) -> _Judged:
        cell_of_row, n_strata = self._states.cells(*context)
        n_cells = n_strata * self._sizes[context.target]
        if n_cells * int(self._arities[candidates].max(initial=1)) > self._states.most_cells:
            return _joined([self._filtered(context, (k,)) for k in candidates.tolist()])
        judged = self._judge_columns(
            cell_of_row, n_cells, context, self._states.codes, self._arities, candidates
        )
        # A candidate that is part of its context gains nothing and has no test.
        own = np.isin(candidates, (context.target, *context.given))
        judged.gains[own] = 0.0
        judged.stats[own] = 0.0
        return judged

    def _judge_group(self, group: Group) -> _Judged:
        """Several variables as one candidate, which is missing where one of them is."""
        context = Context(group.target, group.given)
        cell_of_row, n_strata = self._states.cells(*context)
        n_cells = n_strata * self._sizes[group.target]
        states, n_states = self._states.of(group.members)
        if n_cells * n_states > self._states.most_cells:
            return self._filtered(context, group.members)
        codes = np.where(states < 0, n_states, states)[None, :].astype(np.uint32)
        only = np.zeros(1, dtype=np.int64)
        return self._judge_columns(cell_of_row, n_cells, context, codes, np.array([n_states]), only)

    def _judge_columns(
        self,
        cell_of_row: Ints,
        n_cells: int,
        context: Context,
        codes: Codes,
        arities: Ints,
        candidates: Ints,
    ) -> _Judged:
        used = np.zeros(len(candidates), dtype=np.int64)
        sums = np.zeros((len(candidates), 4), dtype=np.int64)
        stats = np.zeros((len(candidates), STATS))
        judge_over_gaps(
            cell_of_row, n_cells, self._sizes[context.target], not context.given, codes, arities,
            candidates, self._lookup.as_kernel_argument(), self._plain, used, sums, stats,
        )  # fmt: skip
        stats[:, 0] *= self.n_rows / np.maximum(used, 1)
        return _Judged(self._rescaled(sums, SIGNS, used), stats, used)

    def _rescaled(self, sums: Ints, signs: Ints, used: Ints) -> Floats:
        """Entropies added with their signs, from sums of the f of all rows.

        n f(j; n) is the same for all n but for a multiple of j (``require_scaling``), which adds
        up to the same for every table of the same rows: that of a table of single rows.
        """
        share = self.n_rows / np.maximum(used, 1)
        rests = np.array([self._rest(n) for n in used.tolist()])
        # A table with all rows in one cell is certain, whatever f says.
        certain = sums == 0
        scaled: Floats = (sums @ signs) / SCALE * share + (~certain @ signs) * rests
        return scaled

    def _rest(self, used: int) -> float:
        known = self._rests.get(used)
        rows = used, int(self.n_rows)
        if known is None:
            few, all_of_them = (counted_in(self.estimator, max(n, 1))[0] for n in rows)
            known = self._rests[used] = float(few - all_of_them)
        return known

    def _filtered(self, context: Context, members: tuple[int, ...]) -> _Judged:
        """One test on a table of the rows that have everything; for tables of too many cells."""
        if set(members) <= {context.target, *context.given}:
            return _Judged(np.zeros(1), np.zeros((1, STATS)), np.zeros(1, dtype=np.int64))
        columns = [context.target, *context.given, *members]
        part = self._table.select(columns)
        kept = np.ones(part.n_rows, dtype=np.bool_)
        for absent in part.gaps.values():
            kept &= ~absent
        whole = Table(part.names, part.levels, part.codes[:, kept])
        n_given = 1 + len(context.given)
        group = Group(0, tuple(range(1, n_given)), tuple(range(n_given, len(columns))))
        if whole.n_rows < 2:
            return _Judged(np.zeros(1), np.zeros((1, STATS)), np.array([whole.n_rows]))
        found = CountedInformation(whole, self.estimator, n_jobs=1).joint_tests([group])
        return _Judged(found.cmi, np.asarray(found.stats), np.array([whole.n_rows]))

    def _evidence(self, parts: Sequence[_Judged]) -> CountTests:
        gains, stats, used = _joined(parts)
        return CountTests(gains, stats=stats, n_rows=used.astype(np.float64))

    # Scores and their errors.

    def _score(self, context: Context) -> float:
        target, given = context
        width = self._sizes[target]
        alone, _ = self._states.cells(target, ())
        counts = np.bincount(alone[alone >= 0], minlength=width)
        n_alone = int(counts.sum())
        score = self.n_rows / max(n_alone, 1) * _alone(counts, n_alone)
        if not given:
            return score
        cell_of_row, n_strata = self._states.cells(*context)
        cells = cell_of_row[cell_of_row >= 0]
        n = len(cells)
        counts = np.bincount(cells % width, minlength=width)
        strata = np.bincount(cells // width, minlength=n_strata)
        inside = self._occupied(cells, n_strata * width)
        states = math.prod(float(self._sizes[k]) for k in given)
        told = float(xlogy(inside, inside).sum() - xlogy(strata, strata).sum())
        told -= price(width, states, n)
        return score + self.n_rows / max(n, 1) * (told - _alone(counts, n))


def _alone(counts: Ints, n_rows: int) -> float:
    """The likelihood of a column by itself, less the price of its levels."""
    told = float(xlogy(counts, counts).sum() - xlogy(n_rows, n_rows))
    return told - price(len(counts), 1.0, n_rows)


def _joined(parts: Sequence[_Judged]) -> _Judged:
    nothing = _Judged(np.zeros(0), np.zeros((0, STATS)), np.zeros(0, dtype=np.int64))
    everything = (nothing, *parts)
    return _Judged(
        np.concatenate([part.gains for part in everything]),
        np.concatenate([part.stats for part in everything]),
        np.concatenate([part.used for part in everything]),
    )
