"""Information from the counts of a discrete table, through any of the entropy estimators."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tamis.counts.lookup import Lookup
from tamis.counts.memory import STATS, MemoryCounts
from tamis.data.table import Table
from tamis.information.estimators import EntropyEstimator, as_estimator
from tamis.information.interface import (
    Context,
    Evidence,
    Floats,
    Group,
    Information,
    Query,
)


class CountedInformation(Information):
    """H and I estimated from a table; each conditional entropy is H(X, S) - H(S).

    Entropies are remembered: the context that ends a boundary search is the one whose
    entropy orders the node, and it is counted once.
    """

    def __init__(
        self,
        table: Table,
        estimator: str | EntropyEstimator = "miller-madow",
        *,
        n_jobs: int | None = None,
    ) -> None:
        self.names = table.names
        self.n_rows = float(table.n_rows)
        self.estimator = as_estimator(estimator)
        self._counts = MemoryCounts(table, n_jobs)
        self._lookup = _lookup(self.estimator, table.n_rows)
        self._varies = (table.arities > 1).tolist()
        self._everything = np.arange(len(table.names), dtype=np.int64)
        self._entropies: dict[Context, float] = {}

    def entropies(self, contexts: Sequence[Context]) -> Floats:
        """H(target | given), one for each context."""
        wanted = [self._reduced(context) for context in contexts]
        missing = list({c for c in wanted if c not in self._entropies})
        if missing:
            nobody = np.zeros(0, dtype=np.int64)
            found = self._counts.judge(missing, [nobody] * len(missing), self._lookup, tests=False)
            self._entropies.update(zip(missing, found.entropies.tolist(), strict=True))
        return np.array([self._entropies[c] for c in wanted])

    def gains(self, contexts: Sequence[Context]) -> Floats:
        """I(target ; l | given) for every variable l: a row of d values for each context."""
        if not contexts:
            return np.zeros((0, self.n_variables))
        wanted = [self._reduced(context) for context in contexts]
        found = self._counts.judge(
            wanted, [self._everything] * len(wanted), self._lookup, tests=False
        )
        self._entropies.update(zip(wanted, found.entropies.tolist(), strict=True))
        rows = found.gains.reshape(len(wanted), self.n_variables)
        for row, (target, given) in zip(rows, wanted, strict=True):
            row[target] = 0.0
            row[list(given)] = 0.0
        return rows

    def evidence(self, queries: Sequence[Query]) -> Evidence:
        """All that is known about each test: the candidates of all queries, end to end."""
        contexts = [self._reduced(Context(query.target, query.given)) for query in queries]
        found = self._counts.judge(
            contexts, [query.candidates for query in queries], self._lookup, tests=True
        )
        return self._evidence(found.gains, found.stats)

    def joint_evidence(self, groups: Sequence[Group]) -> Evidence:
        """The same for groups of variables, one test a group."""
        gains = np.zeros(len(groups))
        stats = np.zeros((len(groups), STATS))
        for i, group in enumerate(groups):
            context = self._reduced(Context(group.target, group.given))
            found = self._counts.judge_joint(context, group.members, self._lookup)
            gains[i], stats[i] = found.gains[0], found.stats[0]
        return self._evidence(gains, stats)

    def _evidence(self, gains: Floats, stats: Floats) -> Evidence:
        plugin, df, pearson, mean, variance = stats.T
        return Evidence(gains, plugin, df, pearson, mean, variance, self.n_rows, self.n_variables)

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
