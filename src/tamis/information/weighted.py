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

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from tamis.counting.compiled import Codes
from tamis.counting.independence import STATS
from tamis.errors import DataError
from tamis.information.estimators import AnyEstimator, as_additive
from tamis.information.gap_states import noise_of_gaps
from tamis.information.interface import Context, Floats, Group, Ints
from tamis.information.null_laws import CountTests
from tamis.information.real_counts import Cells, entropy, real_terms, summed, test_cells
from tamis.information.regret import price
from tamis.information.row_counts import RowCounts
from tamis.tables.table import Table
from tamis.tables.weights import effective_rows

STEPS = 2.0**20
"""Weights are whole numbers of such parts of a row, so that sums do not depend on their order."""
Flags = NDArray[np.bool_]


class WeightedInformation(RowCounts):
    """H and I of a table of levels whose rows have weights, with or without gaps."""

    title = "counts of weighted rows"

    def __init__(self, table: Table, estimator: str | AnyEstimator = "grassberger") -> None:
        if table.weights is None:
            raise DataError("The table has no weights: count its rows as they are.")
        worth = effective_rows(table.weights)
        merged, self._weights, self._squares = _merged(table, table.weights, worth)
        super().__init__(table, merged, worth)
        self.estimator = as_additive(estimator, "a table with survey weights")
        self._terms = real_terms(self.estimator)
        # Scores take all cells as worth the same, which weights need not make them.
        self.score_noise = 1.0 + noise_of_gaps(table)

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

    def _test_group(self, group: Group) -> CountTests:
        states, n_states = self._states.of(group.members)
        codes = np.where(states < 0, n_states, states)
        return _tests([self._test_one(Context(group.target, group.given), codes, n_states)])

    def _test(self, context: Context, candidates: Ints) -> CountTests:
        own = {context.target, *context.given}
        return _tests(
            [
                (0.0, np.zeros(STATS), self.n_rows)
                if k in own
                else self._test_one(context, self._states.codes[k], self._sizes[k])
                for k in candidates.tolist()
            ]
        )

    def _test_one(
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


def _tests(parts: Sequence[tuple[float, Floats, float]]) -> CountTests:
    return CountTests(
        np.array([cmi for cmi, _, _ in parts], dtype=np.float64),
        stats=np.array([stats for _, stats, _ in parts]).reshape(len(parts), STATS),
        n_rows=np.array([worth for _, _, worth in parts], dtype=np.float64),
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
    absent = [table.missing[k][None, :].astype(table.codes.dtype) for k in sorted(table.missing)]
    seen = np.concatenate([table.codes, *absent])
    _, first, place = np.unique(seen, axis=1, return_index=True, return_inverse=True)
    place = place.ravel()
    counts, of_squares = (summed(place, one, len(first)) for one in (scaled, squares))
    return table.arrange(first), counts, of_squares
