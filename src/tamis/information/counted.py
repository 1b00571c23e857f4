"""Information from the counts of a discrete table, through any of the entropy estimators."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from scipy.special import xlogy

from tamis.counts.lookup import Lookup
from tamis.counts.memory import MemoryCounts
from tamis.counts.tables import difference_sums
from tamis.data.table import Table
from tamis.information.estimators import EntropyEstimator, as_estimator
from tamis.information.interface import (
    STATS,
    Context,
    Evidence,
    Floats,
    Group,
    Information,
    Interaction,
    Ints,
    Query,
    Rows,
)
from tamis.information.leads import error_of_lead, fixed_logs
from tamis.information.regret import price

WHOLE_ROWS = 128
"""With up to so many variables the tests of a whole row cost less than asking again later."""


class CountedInformation(Information):
    """H and I estimated from a table; each conditional entropy is H(X, S) - H(S)."""

    score_noise = 0.5
    whole_rows = WHOLE_ROWS

    def __init__(
        self,
        table: Table,
        estimator: str | EntropyEstimator = "grassberger",
        *,
        n_jobs: int | None = None,
    ) -> None:
        self.names = table.names
        self.n_rows = float(table.n_rows)
        self.estimator = as_estimator(estimator)
        self._counts = MemoryCounts(table, n_jobs)
        self._lookup = _lookup(self.estimator, table.n_rows)
        self._varies = (table.arities > 1).tolist()

    def varies(self, k: int) -> bool:
        """Whether the column has more than one level."""
        return bool(self._varies[k])

    @cached_property
    def _all_vary(self) -> bool:
        return all(self._varies)

    def entropies(self, contexts: Sequence[Context]) -> Floats:
        """H(target | given), one for each context."""
        if not contexts:
            return np.zeros(0)
        wanted = [self._reduced(context) for context in contexts]
        nobody = [np.zeros(0, dtype=np.int64)] * len(wanted)
        return self._counts.judge(wanted, nobody, self._lookup, tests=False).entropies

    def gains(self, contexts: Sequence[Context]) -> Floats:
        """I(target ; l | given) for every variable l: a row of d values for each context."""
        return self.rows(contexts).gains

    def rows(self, contexts: Sequence[Context]) -> Rows:
        """Entropies and gains, with their tests while variables are few."""
        d, whole = self.n_variables, self.n_variables <= self.whole_rows
        if not contexts:
            return Rows(np.zeros(0), np.zeros((0, d)))
        wanted = [self._reduced(context) for context in contexts]
        found = self._counts.judge(wanted, None, self._lookup, tests=whole)
        stats = found.stats.reshape(len(wanted), d, STATS) if whole else None
        return Rows(found.entropies, found.gains.reshape(len(wanted), d), stats)

    def evidence(self, queries: Sequence[Query]) -> Evidence:
        """All that is known about each test: the candidates of all queries, end to end."""
        if not queries:
            return self.as_evidence(np.zeros(0), np.zeros((0, STATS)))
        contexts = [Context(target, given) for target, given, _ in queries]
        if not self._all_vary:
            contexts = [self._reduced(context) for context in contexts]
        candidates = [query.candidates for query in queries]
        found = self._counts.judge(contexts, candidates, self._lookup, tests=True)
        return self.as_evidence(found.gains, found.stats)

    def joint_evidence(self, groups: Sequence[Group]) -> Evidence:
        """The same for groups of variables, one test a group."""
        contexts = [self._reduced(Context(group.target, group.given)) for group in groups]
        members = [group.members for group in groups]
        if not groups:
            return self.as_evidence(np.zeros(0), np.zeros((0, STATS)))
        found = self._counts.judge_joints(contexts, members, self._lookup)
        return self.as_evidence(found.gains, found.stats)

    def penalised_likelihoods(self, contexts: Sequence[Context]) -> Floats:
        """ln of the largest likelihood, less the price of the table: quotient NML."""
        reduced = [self._reduced(context) for context in contexts]
        sets = [(*given, target) for target, given in reduced] + [given for _, given in reduced]
        tables = self._counts.tables(sets)
        sizes = self._counts.arities.tolist()
        found = np.empty(len(contexts))
        for i, (target, given) in enumerate(reduced):
            cells, strata = tables[i], tables[len(contexts) + i]
            likelihood = xlogy(cells, cells).sum() - xlogy(strata, strata).sum()
            states = math.prod(float(sizes[k]) for k in given)
            found[i] = likelihood - price(sizes[target], states, int(self.n_rows))
        return found

    def lead_errors(self, given: Sequence[tuple[int, ...]], pairs: Ints) -> Floats:
        """From the spread over the rows of ln p(a | S) - ln p(b | S), and a row for each cell."""
        found = np.empty(len(given))
        for i, (strata, (a, b)) in enumerate(zip(given, pairs.tolist(), strict=True)):
            states_a, rows_a = self._counts.states((*strata, a))
            states_b, rows_b = self._counts.states((*strata, b))
            sums = difference_sums(states_a, fixed_logs(rows_a), states_b, fixed_logs(rows_b))
            found[i] = error_of_lead(sums, len(states_a), max(len(rows_a), len(rows_b)))
        return found

    def affordable_look_ahead(self) -> int:
        """The largest sets of candidates that can be looked for within the budget; 1 is none."""
        return self._counts.affordable_look_ahead()

    def worthwhile_look_ahead(self) -> int:
        """The largest sets of candidates that it pays to look for."""
        return self._counts.worthwhile_look_ahead()

    def interactions(self, largest: int) -> list[tuple[Interaction, ...]]:
        """For each variable the sets of up to ``largest`` others to try together, by strength."""
        return self._counts.interactions(largest)

    def _reduced(self, context: Context) -> Context:
        """The context without constant columns, which say nothing about anything."""
        target, given = context
        varies = self._varies
        for k in given:
            if not varies[k]:
                return Context(target, tuple(k for k in given if varies[k]))
        return context


def _lookup(estimator: EntropyEstimator, n_rows: int) -> Lookup:
    def cap(cells: float) -> int:
        return estimator.support_size(cells, 0)

    return Lookup(
        estimator.terms,
        n_rows,
        constant=estimator.constant(n_rows),
        cap=cap if estimator.uses_support and not estimator.observed_support else None,
        observed=estimator.observed_support,
        clips=estimator.clips,
    )
