"""Information from the counts of a discrete table, through any of the entropy estimators."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from tamis.core import Asked, Judge
from tamis.core import Table as CoreTable
from tamis.counting.blocks import BlockCounts
from tamis.counting.compiled import Judgements
from tamis.counting.counts import Counts
from tamis.counting.elsewhere import BlockTable
from tamis.counting.independence import STATS
from tamis.counting.lookup import Lookup
from tamis.counting.memory import MemoryCounts
from tamis.information.estimators import (
    AnyEstimator,
    EntropyEstimator,
    EntropyFunction,
    as_additive,
)
from tamis.information.interface import (
    Ability,
    Context,
    Floats,
    Group,
    Interaction,
    Ints,
    Profiles,
    Query,
    Source,
)
from tamis.information.null_laws import CountTests
from tamis.tables.table import Table, in_memory


class CountedInformation(Source):
    """H and I estimated from a table; each conditional entropy is H(X, S) - H(S)."""

    title = "counts"
    test_names = CountTests.offered
    abilities = frozenset({Ability.LIKELIHOOD, Ability.JOINT_TESTS, Ability.LOOK_AHEAD})

    def __init__(
        self,
        table: Table | BlockTable,
        estimator: str | EntropyEstimator = "grassberger",
        *,
        n_jobs: int | None = None,
    ) -> None:
        self.names = table.names
        self.n_rows = float(table.n_rows)
        self._rows = table.n_rows
        self.estimator = as_additive(estimator, type(self).__name__)
        self._counts = counts_of(table, n_jobs)
        self._codes = table.codes if isinstance(table, Table) else None
        self._levels = table.arities.tolist()
        self.whole_rows = self._counts.whole_rows
        self._lookup = lookup_of(self.estimator, table.n_rows)
        self._varies = (table.arities > 1).tolist()
        self._sizes: list[float] = table.arities.astype(float).tolist()

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
        return self._judge(wanted, nobody, tests=False).entropies

    def profiles(self, contexts: Sequence[Context]) -> Profiles:
        """Entropies and gains, with their tests while variables are few."""
        d, whole = self.n_variables, self.n_variables <= self.whole_rows
        if not contexts:
            return Profiles(np.zeros(0), np.zeros((0, d)))
        wanted = [self._reduced(context) for context in contexts]
        found = self._judge(wanted, None, tests=whole)
        stats = found.stats.reshape(len(wanted), d, STATS) if whole else None
        return Profiles(found.entropies, found.gains.reshape(len(wanted), d), stats)

    def as_tests(self, cmi: Floats, stats: Floats) -> CountTests:
        """Entries of profiles as tests of counts."""
        return CountTests(cmi, stats=stats, n_rows=self.n_rows)

    def tests(self, queries: Sequence[Query]) -> CountTests:
        """All that is known about each test: the candidates of all queries, end to end."""
        if not queries:
            return self.as_tests(np.zeros(0), np.zeros((0, STATS)))
        contexts = [Context(target, given) for target, given, _ in queries]
        if not self._all_vary:
            contexts = [self._reduced(context) for context in contexts]
        candidates = [query.candidates for query in queries]
        found = self._judge(contexts, candidates, tests=True)
        return self.as_tests(found.gains, found.stats)

    def joint_tests(self, groups: Sequence[Group]) -> CountTests:
        """Test groups of variables, one test for each group."""
        contexts = [self._reduced(Context(group.target, group.given)) for group in groups]
        members = [group.members for group in groups]
        if not groups:
            return self.as_tests(np.zeros(0), np.zeros((0, STATS)))
        batch = self._counts.shapes.joint_batch(contexts, members, self._lookup)
        found = self._counts.judge(batch, tests=True)
        return self.as_tests(found.gains, found.stats)

    def penalised_likelihoods(self, contexts: Sequence[Context]) -> Floats:
        """ln of the largest likelihood, less the two-part price of the table."""
        return self._worth([self._reduced(one) for one in contexts])[0]

    def judge(
        self, nodes: Sequence[int], *, edge_price: float = 0.0, same_units: bool = False
    ) -> Judge:
        """Tables in memory are counted by the core; of others each question is a pass over the
        rows, and what one pass has counted for candidates is kept for the families they make."""
        if self._codes is not None and self._codes.dtype.itemsize <= 2:
            codes = [np.ascontiguousarray(self._codes[k]) for k in nodes]
            return CoreTable(codes, [self._levels[k] for k in nodes], None, edge_price)
        known: dict[Context, tuple[float, float]] = {}

        def ask(target: int, given: list[int], candidates: list[int] | None) -> Floats:
            sets = [given] if candidates is None else [[*given, one] for one in candidates]
            asked = [Context(nodes[target], tuple(sorted(nodes[p] for p in s))) for s in sets]
            fresh = [one for one in asked if one not in known]
            if fresh:
                scores, noise = self._worth([self._reduced(one) for one in fresh])
                known.update(
                    zip(fresh, zip(scores.tolist(), noise.tolist(), strict=True), strict=True)
                )
            prices = [edge_price * len(one) for one in sets]
            found = [known[one][0] - price for one, price in zip(asked, prices, strict=True)]
            return np.array([*found, known[asked[0]][1]] if candidates is None else found)

        return Asked(len(nodes), self.n_rows, ask)

    def tables(self, sets: Sequence[tuple[int, ...]]) -> list[Ints]:
        """For each set of columns the rows of every joint state that occurs."""
        return self._counts.tables(sets)

    def n_cells(self, members: Sequence[int]) -> float:
        """The number of cells that a table of these columns has, whether they occur or not."""
        return math.prod(self._sizes[k] for k in members)

    def _worth(self, contexts: Sequence[Context]) -> tuple[Floats, Floats]:
        """The score of each family, and the plug-in entropy of its target given the others."""
        families = [tuple(sorted((*given, target))) for target, given in contexts]
        sets = list(dict.fromkeys([*families, *(given for _, given in contexts)]))
        counted = dict(zip(sets, self.tables(sets), strict=True))
        found = [
            self._price_of.family_of(
                counted[family], counted[given], self.n_cells(given), self._levels[target]
            )
            for family, (target, given) in zip(families, contexts, strict=True)
        ]
        scores, noise = np.array(found).reshape(-1, 2).T
        return scores, noise

    @cached_property
    def _price_of(self) -> CoreTable:
        """What prices counts of so many rows as the core does where it counts them itself."""
        return CoreTable([np.zeros(1, dtype=np.uint8)], [1], [self._rows])

    def affordable_look_ahead(self) -> int:
        """The largest sets of candidates that can be looked for within the budget; 1 is none."""
        return self._counts.looking.counted

    def worthwhile_look_ahead(self) -> int:
        """The largest sets of candidates that it pays to look for."""
        return self._counts.looking.worthwhile()

    def interactions(self, largest: int) -> list[tuple[Interaction, ...]]:
        """For each variable the sets of up to ``largest`` others to try together, by strength."""
        return self._counts.looking.interactions(largest)

    def _judge(
        self, contexts: Sequence[Context], candidates: Sequence[Ints] | None, *, tests: bool
    ) -> Judgements:
        batch = self._counts.shapes.batch(contexts, candidates, self._lookup)
        return self._counts.judge(batch, tests=tests)

    def _reduced(self, context: Context) -> Context:
        """The context without constant columns, which say nothing about anything."""
        target, given = context
        varies = self._varies
        for k in given:
            if not varies[k]:
                return Context(target, tuple(k for k in given if varies[k]))
        return context


def counts_of(table: Table | BlockTable, n_jobs: int | None = None) -> Counts:
    """What counts a table of levels, by where its rows are."""
    return BlockCounts(table, n_jobs) if table.rows == "blocks" else MemoryCounts(table, n_jobs)


def lookup_of(estimator: EntropyEstimator, n_rows: int) -> Lookup:
    """The estimator's f, as engines read it."""

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


def open_counts(table: Table | BlockTable, estimator: AnyEstimator, n_jobs: int | None) -> Source:
    """Plain rows go to the bit planes; missing values and survey weights make real counts."""
    if in_memory(table) and (table.weights is not None or table.missing):
        from tamis.information.real_counts import RealCountInformation

        return RealCountInformation(table, estimator)
    if isinstance(estimator, EntropyFunction):
        from tamis.information.wrappers import WholeTables

        return WholeTables(CountedInformation(table, n_jobs=n_jobs), estimator)
    return CountedInformation(table, estimator, n_jobs=n_jobs)
