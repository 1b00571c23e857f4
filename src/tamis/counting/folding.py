"""Tables that were summed over blocks become entropies, gains and tests.

f is not tabulated for every count up to the number of rows, as it is in memory, but found for the
counts that occur: so the room it takes does not grow with the rows. The sums are the same integers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr

from tamis.counting.block_loops import all_marginals, test_tables
from tamis.counting.compiled import Floats, Ints, Judgements
from tamis.counting.fold import HEAD
from tamis.counting.independence import ROUNDING, SCALE, STATS, null_moments
from tamis.counting.lookup import Lookup, fixed_point


class BlockLookup(Lookup):
    """f without its tail: heads are kept, larger counts are asked for as they come."""

    def entropy(self, counts: Ints, choice: int) -> int:
        """The entropy of a table, in fixed point; ``choice`` is its head."""
        return int(self.entropies(counts, np.array([0, len(counts)]), np.array([choice]))[0])

    def entropies(self, counts: Ints, starts: Ints, heads: Ints) -> Ints:
        """The entropy of each table of those laid end to end, in fixed point; ``heads`` are the
        rows of their supports."""
        terms, _, supports, nothing, constant, observed, clips = self.as_kernel_argument()
        occupied = segment_sums(counts > 0, starts)
        rows = occupied if observed else heads
        total = segment_sums(self._values(counts, starts, rows, terms), starts)
        total += constant + (supports[rows] - occupied) * nothing[rows]
        if clips:
            total = np.maximum(total, 0)
        # All rows in one cell: that is certain, whatever f says.
        return np.where(occupied <= 1, 0, total)

    def _values(self, counts: Ints, starts: Ints, rows: Ints, terms: Ints) -> Ints:
        few = counts < HEAD
        values = np.empty(len(counts), dtype=np.int64)
        row = np.repeat(rows, np.diff(starts))[few] if self.needs_support else 0
        values[few] = terms[row * HEAD + counts[few]]
        distinct, which = np.unique(counts[~few], return_inverse=True)
        values[~few] = fixed_point(self._f(distinct, self._n_rows, 1))[which]
        return values

    def _allocate(self) -> NDArray[np.int64]:
        return np.zeros(self._capacity * HEAD, dtype=np.int64)


def plain_terms(counts: Ints, n_rows: int) -> Ints:
    """-p ln p in fixed point, p being the share of the rows; found once for counts that are the
    same."""
    distinct, which = np.unique(counts, return_inverse=True)
    return fixed_point(entr(distinct / n_rows))[which]


class TableBatch(NamedTuple):
    """Tables of contexts with their candidates, counted and not yet folded.

    ``margins[margin_starts[b] : margin_starts[b + 1]]`` is the table of (S, X_k) of context b,
    ``cells[cell_starts[c] : cell_starts[c + 1]]`` that of candidate c, which belongs to context
    ``context[c]``.
    """

    n_levels: Ints
    """Of the target of each context."""
    is_empty: NDArray[np.bool_]
    """Whether a context conditions on nothing."""
    margin_starts: Ints
    margins: Ints
    context: Ints
    widths: Ints
    """The levels of each candidate."""
    cell_starts: Ints
    cells: Ints

    def fold(self, lookup: BlockLookup, base_heads: Ints, heads: Ints) -> tuple[Floats, Floats]:
        """The entropy of each context and the gain of each candidate."""
        strata, strata_starts = self.strata()
        beside, beside_starts = self.beside()
        h_s = lookup.entropies(strata, strata_starts, base_heads[:, 0])
        h_s[self.is_empty] = 0
        h_sk = lookup.entropies(self.margins, self.margin_starts, base_heads[:, 1])
        h_sl = lookup.entropies(beside, beside_starts, heads[:, 0])
        h_skl = lookup.entropies(self.cells, self.cell_starts, heads[:, 1])
        own = self.context
        return (h_sk - h_s) / SCALE, (h_sk[own] + h_sl - h_s[own] - h_skl) / SCALE

    def test(self, n_rows: int) -> Floats:
        """The tests of all candidates."""
        stats = np.empty((len(self.context), STATS))
        levels = self.n_levels[self.context]
        # What a test adds up of -p ln p telescopes to these four sums, which are found here.
        nothing = np.broadcast_to(np.int64(0), n_rows + 1)
        test_tables(self.cell_starts, levels, self.widths, self.cells, nothing, stats)
        margins, cells = (self.margins, self.margin_starts), (self.cells, self.cell_starts)
        of_s, of_sk, of_sl, of_skl = (
            segment_sums(plain_terms(counts, n_rows), starts)
            for counts, starts in (self.strata(), margins, self.beside(), cells)
        )
        stats[:, 0] = ((of_sk - of_s)[self.context] + of_sl - of_skl) / SCALE
        return stats

    def strata(self) -> tuple[Ints, Ints]:
        """The tables of S of all contexts, end to end, and where each begins."""
        starts = starts_of(np.diff(self.margin_starts) // self.n_levels)
        strata = np.empty(int(starts[-1]), dtype=np.int64)
        one = np.ones_like(self.n_levels)
        all_marginals(self.margin_starts, self.n_levels, one, self.margins, strata)
        return strata, starts

    def beside(self) -> tuple[Ints, Ints]:
        """The tables of (S, X_l) of all candidates, end to end, and where each begins."""
        levels = self.n_levels[self.context]
        starts = starts_of(np.diff(self.cell_starts) // levels)
        beside = np.empty(int(starts[-1]), dtype=np.int64)
        all_marginals(self.cell_starts, levels, self.widths, self.cells, beside)
        return beside, starts


def starts_of(sizes: Ints) -> Ints:
    """Where parts of these sizes begin when they are laid end to end, and where the last ends."""
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes, dtype=np.int64)])


def segment_sums(values: NDArray[np.int64] | NDArray[np.bool_], starts: Ints) -> Ints:
    """The sum of each part. The running sum may go beyond 64 bits and come back: differences of
    it are right all the same."""
    running = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(values, dtype=np.int64)])
    sums: Ints = running[starts[1:]] - running[starts[:-1]]
    return sums


class SparseContext:
    """A context whose tables are too large to lay out: lists of the cells that occur, which are
    few. Columns with tens of thousands of levels make tables of billions of cells.

    ``n_s`` are the rows of each stratum; ``pairs`` those of each pair of a stratum and a level of
    the target, and ``strata`` its stratum.
    """

    def __init__(
        self,
        n_s: Ints,
        pairs: Ints,
        strata: Ints,
        base_heads: Ints,
        lookup: BlockLookup,
        n_rows: int,
        *,
        is_empty: bool,
    ) -> None:
        self._n_s, self._pairs, self._strata = n_s, pairs, strata
        self._lookup = lookup
        self._n_rows = n_rows
        self._h_s = 0 if is_empty else lookup.entropy(n_s, base_heads[0])
        self._h_sk = lookup.entropy(pairs, base_heads[1])

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
        beside = np.zeros(len(keys), dtype=np.int64)
        np.add.at(beside, column, cells)
        h_sl = self._lookup.entropy(beside, heads[0])
        h_skl = self._lookup.entropy(cells, heads[1])
        answers.gains[c] = (self._h_sk + h_sl - self._h_s - h_skl) / SCALE
        if len(answers.stats):
            answers.stats[c] = self._test(beside, keys // width, cells, pair, column)

    def _test(
        self, columns: Ints, column_strata: Ints, cells: Ints, pair: Ints, column: Ints
    ) -> Floats:
        """Plug-in gain, degrees of freedom, X2, null mean and variance. Sums go in the order of
        the compiled loops, row by row, so that they are equal to the last bit."""
        rows, row_strata, size = self._pairs, self._strata, len(self._n_s)
        N = self._n_s.astype(float)
        r = np.bincount(row_strata, minlength=size).astype(float)
        s = np.bincount(column_strata, minlength=size).astype(float)
        inverse_a = np.bincount(row_strata, weights=1.0 / rows, minlength=size)
        inverse_b = np.bincount(column_strata, weights=1.0 / columns, minlength=size)
        of_rows, of_columns, of_cells, of_strata = (
            int(plain_terms(counts, self._n_rows).sum())
            for counts in (rows, columns, cells, self._n_s)
        )
        gain = (of_rows + of_columns - of_cells - of_strata) / SCALE
        squared = cells.astype(float) * cells * (1.0 / columns)[column]
        of_row = np.bincount(pair, weights=squared, minlength=len(rows)) / rows
        squares = np.bincount(row_strata, weights=of_row, minlength=size)
        pearson = mean = variance = 0.0
        for i in np.flatnonzero((r > 1) & (s > 1)):
            m, v = null_moments(N[i], r[i], s[i], inverse_a[i], inverse_b[i])
            if v > ROUNDING * m:
                pearson += max(N[i] * (squares[i] - 1.0), 0.0)
                mean += m
                variance += v
        return np.array([gain, float(np.sum((r - 1) * (s - 1))), pearson, mean, variance])
