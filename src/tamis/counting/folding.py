"""Tables that were summed over blocks become entropies, gains and tests."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
from scipy.special import entr

from tamis.counting.block_loops import all_marginals, test_tables
from tamis.counting.compiled import Floats, Ints, Judgements
from tamis.counting.counts import Batch, starts_of
from tamis.counting.independence import ROUNDING, SCALE, STATS
from tamis.counting.lookup import fixed_point, segment_sums


def plain_terms(counts: Ints, n_rows: int) -> Ints:
    """-p ln p in fixed point, p being the share of the rows."""
    return fixed_point(entr(counts / n_rows))


class TableBatch(NamedTuple):
    """Tables of contexts with their candidates, counted and not yet folded.

    ``margins[margin_starts[b] : margin_starts[b + 1]]`` is the table of (S, X_k) of context b,
    ``cells[cell_starts[c] : cell_starts[c + 1]]`` that of candidate c, which belongs to context
    ``context[c]``.
    """

    n_levels: Ints
    """Of the target of each context."""
    margin_starts: Ints
    margins: Ints
    context: Ints
    widths: Ints
    """The levels of each candidate."""
    cell_starts: Ints
    cells: Ints

    def judge(
        self, batch: Batch, heads: Ints, b: Ints, c: Ints, n_rows: int, answers: Judgements
    ) -> None:
        """Write the entropies of contexts b, and the gains and tests of candidates c, which use
        these heads of the lookup."""
        own, levels = self.context, self.n_levels[self.context]
        tables = (
            marginals(self.margin_starts, self.n_levels, np.ones_like(b), self.margins),
            (self.margins, self.margin_starts),
            marginals(self.cell_starts, levels, self.widths, self.cells),
            (self.cells, self.cell_starts),
        )
        used = *batch.base_heads[b].T, *heads.T
        h_s, h_sk, h_sl, h_skl = (
            batch.lookup.entropies(*table, rows) for table, rows in zip(tables, used, strict=True)
        )
        answers.entropies[b] = (h_sk - h_s) / SCALE
        answers.gains[c] = (h_sk[own] + h_sl - h_s[own] - h_skl) / SCALE
        if not len(answers.stats):
            return
        stats = np.empty((len(c), STATS))
        # What a test adds up of -p ln p telescopes to four sums, which are found here.
        nothing = np.broadcast_to(np.int64(0), n_rows + 1)
        test_tables(self.cell_starts, levels, self.widths, self.cells, nothing, stats)
        of_s, of_sk, of_sl, of_skl = (
            segment_sums(plain_terms(counts, n_rows), starts) for counts, starts in tables
        )
        stats[:, 0] = ((of_sk - of_s)[own] + of_sl - of_skl) / SCALE
        answers.stats[c] = stats


def marginals(starts: Ints, n_levels: Ints, widths: Ints, cells: Ints) -> tuple[Ints, Ints]:
    """The tables of (S, X_l) from those of (S, X_k, X_l), end to end, and where each begins."""
    begins = starts_of(np.diff(starts) // n_levels)
    found = np.empty(int(begins[-1]), dtype=np.int64)
    all_marginals(starts, n_levels, widths, cells, found)
    return found, begins


class ListedContext:
    """A context whose tables are lists of the cells that occur, judged by numpy: they are too large
    to lay out, as columns with tens of thousands of levels make tables of billions of cells; or
    they are few and small, and loading compiled loops would take longer.

    ``pairs`` are the rows of each pair of a stratum and a level of the target that occurs, and
    ``strata`` its stratum. ``entropy`` is that of the counts of a table with this head.
    """

    def __init__(
        self,
        pairs: Ints,
        strata: Ints,
        base_heads: Ints,
        n_rows: int,
        entropy: Callable[[Ints, int], int],
    ) -> None:
        self._pairs, self._strata = pairs, strata
        self._entropy, self._plain = entropy, partial(plain_terms, n_rows=n_rows)
        # Whole numbers of rows are exact as floats.
        self._N: Floats = np.bincount(strata, pairs).astype(np.float64)
        self._h_s = entropy(self._N.astype(np.int64), base_heads[0])
        self._h_sk = entropy(pairs, base_heads[1])

    @property
    def entropy(self) -> float:
        """Of the target, given the stratum."""
        return (self._h_sk - self._h_s) / SCALE

    def judge(
        self, c: int, cells: Ints, pair: Ints, level: Ints, heads: Ints, answers: Judgements
    ) -> None:
        """Write the gain and the test of candidate c, of which each cell has a pair and a level."""
        width = int(level.max()) + 1
        keys, column = np.unique(self._strata[pair] * width + level, return_inverse=True)
        beside = np.bincount(column, cells).astype(np.int64)
        h_sl = self._entropy(beside, heads[0])
        h_skl = self._entropy(cells, heads[1])
        answers.gains[c] = (self._h_sk + h_sl - self._h_s - h_skl) / SCALE
        if len(answers.stats):
            answers.stats[c] = self._test(beside, keys // width, cells, pair, column)

    @cached_property
    def _margins(self) -> tuple[Floats, Floats, int]:
        """Of each stratum how many levels of the target occur, and the sum of the reciprocals of
        their rows; and -p ln p summed over these and over strata, with their signs."""
        of_strata = self._plain(self._N.astype(np.int64)).sum()
        return (
            np.bincount(self._strata).astype(float),
            np.bincount(self._strata, 1.0 / self._pairs).astype(np.float64),
            int(self._plain(self._pairs).sum() - of_strata),
        )

    def _test(
        self, columns: Ints, column_strata: Ints, cells: Ints, pair: Ints, column: Ints
    ) -> Floats:
        """``independence.test_table`` for all strata at once. Sums go in the order of the compiled
        loops, row by row, so that they are equal to the last bit."""
        r, inverse_a, of_context = self._margins
        size = len(r)
        s = np.bincount(column_strata, minlength=size).astype(float)
        inverses = 1.0 / columns
        inverse_b: Floats = np.bincount(column_strata, inverses, size).astype(np.float64)
        squared = cells.astype(float) * cells * inverses[column]
        of_row = np.bincount(pair, squared, len(self._pairs)) / self._pairs
        squares = np.bincount(self._strata, of_row, size)
        free = (r > 1) & (s > 1)
        N, squares = self._N[free], squares[free]
        mean, variance = _null_moments(N, r[free], s[free], inverse_a[free], inverse_b[free])
        varies = variance > ROUNDING * mean
        excess = np.maximum(N * (squares - 1.0), 0.0)
        gain = of_context + int(self._plain(columns).sum() - self._plain(cells).sum())
        df = np.sum((r[free] - 1.0) * (s[free] - 1.0))
        sums = (np.cumsum(np.append(0.0, one[varies]))[-1] for one in (excess, mean, variance))
        return np.array([gain / SCALE, df, *sums])


def _null_moments(
    N: Floats, r: Floats, s: Floats, inverse_a: Floats, inverse_b: Floats
) -> tuple[Floats, Floats]:
    """``independence.null_moments`` of many tables with two rows or more."""
    per_one_less = 1.0 / (N - 1.0)
    mean = N * (r - 1.0) * (s - 1.0) * per_one_less
    per_two_less = 1.0 / np.maximum(N - 2.0, 1.0)
    w_r = (N * inverse_a - r * r) * per_two_less
    w_s = (N * inverse_b - s * s) * per_two_less
    variance = N * N * per_one_less * w_r * w_s
    v_r = (N - r) * (r - 1.0) * per_one_less
    v_s = (N - s) * (s - 1.0) * per_one_less
    more = 2.0 * N / np.maximum(N - 3.0, 1.0) * (v_r - w_r) * (v_s - w_s)
    variance = np.where(N > 3.0, variance + more, variance)
    return mean, np.where(N < 3.0, 0.0, variance)
