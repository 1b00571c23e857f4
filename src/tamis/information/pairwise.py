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

import numpy as np
from scipy.special import entr, xlogy

from tamis.counting.compiled import Codes
from tamis.counting.gaps import judge_over_gaps
from tamis.counting.independence import SCALE, STATS
from tamis.counting.lookup import Lookup, fixed_point
from tamis.information.counted import CountedInformation
from tamis.information.estimators import AnyEstimator, as_additive
from tamis.information.gap_states import noise_of_gaps
from tamis.information.interface import Context, Floats, Group, Ints
from tamis.information.null_laws import CountTests
from tamis.information.regret import price
from tamis.information.row_counts import RowCounts, end_to_end
from tamis.information.scaling import counted_in, require_scaling
from tamis.tables.table import Table

SIGNS = np.array([-1, 1, 1, -1])
"""I(X_k ; X_l | S) = -H(S) + H(S, X_k) + H(S, X_l) - H(S, X_k, X_l)."""


class PairwiseInformation(RowCounts):
    """H and I of a table of levels with gaps, through estimators that need no support."""

    title = "counts of rows with gaps"

    def __init__(self, table: Table, estimator: str | AnyEstimator = "grassberger") -> None:
        super().__init__(table, table, float(table.n_rows))
        self.estimator = as_additive(estimator, "missing='pairwise'")
        require_scaling(self.estimator)
        self._table = table
        self._arities = table.arities
        n = table.n_rows
        self._lookup = Lookup(self.estimator.terms, n, constant=self.estimator.constant(n))
        self._plain = fixed_point(entr(np.arange(n + 1) / n))
        self.score_noise = noise_of_gaps(table)
        self._rests: dict[int, float] = {}

    # Entropies and tests.

    def _entropy(self, context: Context) -> float:
        cell_of_row, n_strata = self._states.cells(*context)
        cells = cell_of_row[cell_of_row >= 0]
        width = self._sizes[context.target]
        margin = self._occupied(cells, n_strata * width)
        strata = np.bincount(cells // width, minlength=n_strata)
        sums = [self._lookup.entropy(counts, 0) for counts in (strata, margin)]
        return float(self._rescaled(np.array([sums]), SIGNS[:2], np.array([len(cells)]))[0])

    def _occupied(self, cells: Ints, n_cells: int) -> Ints:
        """The rows of each cell, in order of the cells; large tables leave out the empty ones."""
        if n_cells <= self._states.most_cells:
            return np.bincount(cells, minlength=n_cells)
        return np.unique(cells, return_counts=True)[1].astype(np.int64)

    def _test(self, context: Context, candidates: Ints) -> CountTests:
        cell_of_row, n_strata = self._states.cells(*context)
        n_cells = n_strata * self._sizes[context.target]
        if n_cells * int(self._arities[candidates].max(initial=1)) > self._states.most_cells:
            return end_to_end([self._filtered(context, (k,)) for k in candidates.tolist()])
        found = self._test_columns(
            cell_of_row, n_cells, context, self._states.codes, self._arities, candidates
        )
        # A candidate that is part of its context gains nothing and has no test.
        own = np.isin(candidates, (context.target, *context.given))
        found.cmi[own] = 0.0
        np.asarray(found.stats)[own] = 0.0
        return found

    def _test_group(self, group: Group) -> CountTests:
        """Several variables as one candidate, which is missing where one of them is."""
        context = Context(group.target, group.given)
        cell_of_row, n_strata = self._states.cells(*context)
        n_cells = n_strata * self._sizes[group.target]
        states, n_states = self._states.of(group.members)
        if n_cells * n_states > self._states.most_cells:
            return self._filtered(context, group.members)
        codes = np.where(states < 0, n_states, states)[None, :].astype(np.uint32)
        only = np.zeros(1, dtype=np.int64)
        return self._test_columns(cell_of_row, n_cells, context, codes, np.array([n_states]), only)

    def _test_columns(
        self,
        cell_of_row: Ints,
        n_cells: int,
        context: Context,
        codes: Codes,
        arities: Ints,
        candidates: Ints,
    ) -> CountTests:
        used = np.zeros(len(candidates), dtype=np.int64)
        sums = np.zeros((len(candidates), 4), dtype=np.int64)
        stats = np.zeros((len(candidates), STATS))
        judge_over_gaps(
            cell_of_row, n_cells, self._sizes[context.target], codes, arities,
            candidates, self._lookup.as_kernel_argument(), self._plain, used, sums, stats,
        )  # fmt: skip
        stats[:, 0] *= self.n_rows / np.maximum(used, 1)
        return _tests(self._rescaled(sums, SIGNS, used), stats, used)

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

    def _filtered(self, context: Context, members: tuple[int, ...]) -> CountTests:
        """One test on a table of the rows that have everything; for tables of too many cells."""
        if set(members) <= {context.target, *context.given}:
            return _tests(np.zeros(1), np.zeros((1, STATS)), np.zeros(1))
        columns = [context.target, *context.given, *members]
        part = self._table.select(columns)
        kept = np.ones(part.n_rows, dtype=np.bool_)
        for absent in part.missing.values():
            kept &= ~absent
        whole = Table(part.names, part.levels, part.codes[:, kept])
        n_given = 1 + len(context.given)
        group = Group(0, tuple(range(1, n_given)), tuple(range(n_given, len(columns))))
        if whole.n_rows < 2:
            return _tests(np.zeros(1), np.zeros((1, STATS)), np.array([whole.n_rows]))
        found = CountedInformation(whole, self.estimator, n_jobs=1).joint_tests([group])
        return _tests(found.cmi, np.asarray(found.stats), np.array([whole.n_rows]))

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


def _tests(cmi: Floats, stats: Floats, used: Ints | Floats) -> CountTests:
    return CountTests(cmi, stats=stats, n_rows=used.astype(np.float64))
