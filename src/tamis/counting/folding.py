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
from tamis.counting.compiled import Floats, Ints
from tamis.counting.fold import HEAD
from tamis.counting.independence import SCALE, STATS
from tamis.counting.lookup import Lookup, fixed_point


class BlockLookup(Lookup):
    """f without its tail: heads are kept, larger counts are asked for as they come."""

    def entropy(self, counts: Ints, choice: int) -> int:
        """The entropy of a table, in fixed point; ``choice`` is its head."""
        return int(self.entropies(counts, np.array([0, len(counts)]), np.array([choice]))[0])

    def entropies(self, counts: Ints, starts: Ints, choices: Ints) -> Ints:
        """The entropy of each table of those laid end to end, in fixed point; ``choices`` are the
        rows of their supports."""
        terms, _, supports, nothing, constant, observed, clips = self.as_kernel_argument()
        occupied = segment_sums(counts > 0, starts)
        rows = occupied if observed else choices
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


class PlainTerms:
    """-p ln p in fixed point, p being a count's share of the rows."""

    def __init__(self, n_rows: int) -> None:
        self._n_rows = n_rows

    def of(self, counts: Ints) -> Ints:
        """Of each count; f is found once for those that are the same."""
        distinct, which = np.unique(counts, return_inverse=True)
        return fixed_point(entr(distinct / self._n_rows))[which]


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

    def fold(self, lookup: BlockLookup, base_choices: Ints, choices: Ints) -> tuple[Floats, Floats]:
        """The entropy of each context and the gain of each candidate."""
        strata, strata_starts = self.strata()
        beside, beside_starts = self.beside()
        h_s = lookup.entropies(strata, strata_starts, base_choices[:, 0])
        h_s[self.is_empty] = 0
        h_sk = lookup.entropies(self.margins, self.margin_starts, base_choices[:, 1])
        h_sl = lookup.entropies(beside, beside_starts, choices[:, 0])
        h_skl = lookup.entropies(self.cells, self.cell_starts, choices[:, 1])
        own = self.context
        return (h_sk - h_s) / SCALE, (h_sk[own] + h_sl - h_s[own] - h_skl) / SCALE

    def test(self, n_rows: int) -> Floats:
        """The tests of all candidates."""
        plain = PlainTerms(n_rows)
        strata, strata_starts = self.strata()
        beside, beside_starts = self.beside()
        stats = np.empty((len(self.context), STATS))
        levels = self.n_levels[self.context]
        # What a test adds up of -p ln p telescopes to these four sums, which are found here.
        nothing = np.broadcast_to(np.int64(0), n_rows + 1)
        test_tables(self.cell_starts, levels, self.widths, self.cells, nothing, stats)
        of_context = segment_sums(plain.of(self.margins), self.margin_starts)
        of_context -= segment_sums(plain.of(strata), strata_starts)
        gain = of_context[self.context] + segment_sums(plain.of(beside), beside_starts)
        gain -= segment_sums(plain.of(self.cells), self.cell_starts)
        stats[:, 0] = gain / SCALE
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
