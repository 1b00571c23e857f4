"""Information from counts of rows with survey weights, with or without gaps.

A row stands for w units of a population. Probabilities are shares of weight. The rows of a table
are worth n = (sum w)^2 / sum w^2 of equal weight (Kish, 1965), and every count is scaled to add up
to that n: entropies are corrected, and likelihoods counted, as if there were so many rows. Tests
have an n of their own (``real_counts.test_cells``), because what a row is worth depends on what it
is asked.

Not known here: clusters, whose rows are alike, and strata of the survey; clusters make every
p-value too small.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from tamis.counts.compiled import Codes
from tamis.data.table import Table
from tamis.data.weights import effective_rows
from tamis.errors import DataError
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
from tamis.information.real_counts import Cells, entropy, real_terms, summed, test_cells
from tamis.information.regret import price

STEPS = 2.0**20
"""Weights are whole numbers of such parts of a row, so that sums do not depend on their order."""
Flags = NDArray[np.bool_]
KNOWN_BYTES = 2**27
"""Judgements of contexts are kept while they fit in this."""


class _Judged(NamedTuple):
    """Of some tests: the gains, what a rule wants to know, and what their rows are worth."""

    gains: Floats
    stats: Floats
    worth: Floats


class WeightedInformation(Source):
    """H and I of a table of levels whose rows have weights. Looking ahead is off."""

    title = "counts of weighted rows"
    test_names = CountTests.offered
    abilities = frozenset({Ability.LIKELIHOOD, Ability.JOINT_TESTS})

    def __init__(self, table: Table, estimator: str | AnyEstimator = "grassberger") -> None:
        if table.weights is None:
            raise DataError("The table has no weights: count its rows as they are.")
        self.names = table.names
        self.n_rows = effective_rows(table.weights)
        self.estimator = as_additive(estimator, "a table with survey weights")
        self._terms = real_terms(self.estimator)
        self._n_table = table.n_rows
        self._gaps = table.gaps
        self._sizes: list[int] = table.arities.tolist()
        merged, self._weights, self._squares = _merged(table, table.weights, self.n_rows)
        self._states = GapStates(merged)
        self._known: dict[Context, tuple[float, _Judged]] = {}
        # Scores take all cells as worth the same, which weights need not make them.
        self.score_noise = 1.0 + noise_of_gaps(table)

    def varies(self, k: int) -> bool:
        """Whether the column has more than one level."""
        return self._sizes[k] > 1

    def rows_with(self, variables: Sequence[int]) -> int | None:
        """How many rows have a value in each of these columns; None where all rows have."""
        gaps = [self._gaps[k] for k in variables if k in self._gaps]
        return self._n_table - int(np.logical_or.reduce(gaps).sum()) if gaps else None

    def entropies(self, contexts: Sequence[Context]) -> Floats:
        """H(target | given), one for each context."""
        return np.array([self._entropy(context) for context in contexts], dtype=np.float64)

    def cmi(self, contexts: Sequence[Context]) -> Floats:
        """I(target ; l | given) for every variable l: a row of d values for each context."""
        return self.profiles(contexts).cmi

    def profiles(self, contexts: Sequence[Context]) -> Profiles:
        """Entropies and cmi; the tests are asked for apart."""
        known = [self._whole(context) for context in contexts]
        gains = np.array([judged.gains for _, judged in known])
        return Profiles(
            np.array([found for found, _ in known], dtype=np.float64),
            gains.reshape(len(contexts), self.n_variables),
        )

    def tests(self, queries: Sequence[Query]) -> CountTests:
        """All that is known about each test: the candidates of all queries, end to end."""
        return self._evidence([self._judged(*query) for query in queries])

    def joint_tests(self, groups: Sequence[Group]) -> CountTests:
        """The same for groups of variables, one test a group."""
        parts = []
        for target, given, members in groups:
            states, n_states = self._states.of(members)
            codes = np.where(states < 0, n_states, states)
            parts.append(_joined([self._judge_one(Context(target, given), codes, n_states)]))
        return self._evidence(parts)

    def penalised_likelihoods(self, contexts: Sequence[Context]) -> Floats:
        """The likelihood of so many rows as the table is worth, less the price of the table.

        With gaps: what the parents explain on the rows that have them, as in ``pairwise``.
        """
        return np.array([self._score(context) for context in contexts], dtype=np.float64)

    # Entropies and tests.

    def _entropy(self, context: Context) -> float:
        cells, n_strata = self._states.cells(*context)
        rows = cells >= 0
        width = self._sizes[context.target]
        counts, n = self._counts(cells[rows], n_strata * width, rows)
        strata, _ = self._counts(cells[rows] // width, n_strata, rows)
        return self._of(counts, n) - (self._of(strata, n) if context.given else 0.0)

    def _of(self, counts: Floats, n: float) -> float:
        constant = -0.5 / n if self.estimator.name == "miller-madow" else 0.0
        return entropy(counts, n, self._terms, constant)

    def _whole(self, context: Context) -> tuple[float, _Judged]:
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
        gains, stats, worth = known[1]
        return _Judged(gains[candidates], stats[candidates], worth[candidates])

    def _judge(self, context: Context, candidates: Ints) -> _Judged:
        own = {context.target, *context.given}
        return _joined(
            [
                (0.0, np.zeros(STATS), self.n_rows)
                if k in own
                else self._judge_one(context, self._states.codes[k], self._sizes[k])
                for k in candidates.tolist()
            ]
        )

    def _judge_one(
        self, context: Context, codes: Codes | Ints, n_levels: int
    ) -> tuple[float, Floats, float]:
        """Gain, test and worth of the rows for one candidate, missing where its code is
        ``n_levels``."""
        cell_of_row, n_strata = self._states.cells(*context)
        rows = (cell_of_row >= 0) & (codes < n_levels)
        if not rows.any():
            return 0.0, np.zeros(STATS), 0.0
        cells = self._table(
            cell_of_row[rows], n_strata, codes[rows], context.target, n_levels, rows
        )
        width = self._sizes[context.target]
        n = cells.n
        h_skl = self._of(cells.counts, n)
        h_sk = self._of(_by_key(cells.s * width + cells.x, cells.counts), n)
        h_sl = self._of(_by_key(cells.s * n_levels + cells.y, cells.counts), n)
        h_s = self._of(_by_key(cells.s, cells.counts), n) if context.given else 0.0
        return h_sk + h_sl - h_s - h_skl, test_cells(cells), n

    def _table(
        self,
        cell: Ints,
        n_strata: int,
        codes: Codes | Ints,
        target: int,
        n_levels: int,
        rows: Flags,
    ) -> Cells:
        width = self._sizes[target]
        all_keys = cell * n_levels + codes.astype(np.int64)
        size = n_strata * width * n_levels
        keys, counts, squares = self._sums(all_keys, size, rows)
        total, square = float(counts.sum()), float(squares.sum())
        scale = total / square  # to Kish's number of these rows
        return Cells(
            keys // n_levels // width,
            keys // n_levels % width,
            keys % n_levels,
            counts * scale,
            squares * scale**2,
            total * scale,
        )

    def _sums(self, keys: Ints, size: int, rows: Flags) -> tuple[Ints, Floats, Floats]:
        """The keys that occur, below ``size``, with the sums of weights and squares of each."""
        weights, squares = self._weights[rows], self._squares[rows]
        if size > self._states.most_cells:
            found, place = np.unique(keys, return_inverse=True)
            return found, summed(place, weights, len(found)), summed(place, squares, len(found))
        counts = summed(keys, weights, size)
        found = np.flatnonzero(counts)
        return found, counts[found], summed(keys, squares, size)[found]

    def _counts(self, cells: Ints, size: int, rows: Flags) -> tuple[Floats, float]:
        """The counts of the cells that occur, which add up to what these rows are worth."""
        _, counts, squares = self._sums(cells, size, rows)
        total, square = float(counts.sum()), float(squares.sum())
        scale = total / square if square > 0 else 0.0
        return counts * scale, max(total * scale, 1.0)

    def _evidence(self, parts: Sequence[_Judged]) -> CountTests:
        stats = np.concatenate([np.zeros((0, STATS)), *(part.stats for part in parts)])
        gains = np.concatenate([np.zeros(0), *(part.gains for part in parts)])
        worth = np.concatenate([np.zeros(0), *(part.worth for part in parts)])
        return CountTests(gains, stats=stats, n_rows=worth)

    # Scores and their errors.

    def _score(self, context: Context) -> float:
        target, given = context
        score = self._scaled(Context(target, ()), Context(target, ()))
        if not given:
            return score
        return score + self._scaled(context, context) - self._scaled(Context(target, ()), context)

    def _scaled(self, context: Context, where: Context) -> float:
        """The penalised likelihood a row of ``where``, times what all rows are worth."""
        cells, n_strata = self._states.cells(*context)
        rows = self._states.cells(*where)[0] >= 0
        width = self._sizes[context.target]
        counts, n = self._counts(cells[rows], n_strata * width, rows)
        strata, _ = self._counts(cells[rows] // width, n_strata, rows)
        states = math.prod(float(self._sizes[k]) for k in context.given)
        told = float(xlogy(counts, counts).sum() - xlogy(strata, strata).sum())
        return self.n_rows / n * (told - price(width, states, round(n)))


def _joined(parts: Sequence[tuple[float, Floats, float]]) -> _Judged:
    return _Judged(
        np.array([gain for gain, _, _ in parts], dtype=np.float64),
        np.array([stats for _, stats, _ in parts]).reshape(len(parts), STATS),
        np.array([worth for _, _, worth in parts], dtype=np.float64),
    )


def _by_key(keys: Ints, weights: Floats) -> Floats:
    """The weights of each key that occurs."""
    found, place = np.unique(keys, return_inverse=True)
    return summed(place, weights, len(found))


def _merged(table: Table, weights: Floats, worth: float) -> tuple[Table, Floats, Floats]:
    """Rows that say the same as one row, with the sums of their weights and of the squares; in
    parts of a row, so that they add up exactly. The weights add up to what the rows are worth."""
    steps = np.maximum(np.rint(weights * (worth / weights.sum()) * STEPS), 1.0)
    scaled = steps / STEPS
    squares = np.maximum(np.rint(scaled**2 * STEPS), 1.0) / STEPS
    absent = [table.gaps[k][None, :].astype(table.codes.dtype) for k in sorted(table.gaps)]
    seen = np.concatenate([table.codes, *absent])
    _, first, place = np.unique(seen, axis=1, return_index=True, return_inverse=True)
    place = place.ravel()
    counts, of_squares = (summed(place, one, len(first)) for one in (scaled, squares))
    return table.arrange(first), counts, of_squares
