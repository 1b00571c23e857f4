"""Tables too large to lay out in blocks: the cells that occur.

Columns with tens of thousands of levels make tables of billions of cells, nearly all empty.
Everything a judgement needs is a sum over the occupied ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tamis.counting.compiled import Floats, Ints
from tamis.counting.counts import Judgements
from tamis.counting.independence import ROUNDING, SCALE, null_moments
from tamis.counting.lookup import Lookup

Plain = Callable[[Ints], Ints]
"""-p ln p of each count, in fixed point."""


class Margin(NamedTuple):
    """The occupied cells of (stratum, variable): their counts and their strata."""

    counts: Ints
    strata: Ints


class SparseContext:
    """A context whose tables are lists of the cells that occur: the rows of each stratum, and of
    each pair of a stratum and a level of the target."""

    def __init__(
        self,
        n_s: Ints,
        pairs: Margin,
        base_choices: Ints,
        lookup: Lookup,
        plain: Plain,
        *,
        is_empty: bool,
    ) -> None:
        self._n_s = n_s
        self._pairs = pairs
        self._lookup = lookup
        self._plain = plain
        self._h_s = 0 if is_empty else lookup.entropy(n_s, base_choices[0])
        self._h_sk = lookup.entropy(pairs.counts, base_choices[1])

    def judge(
        self, c: int, cells: Ints, pair: Ints, level: Ints, choices: Ints, answers: Judgements
    ) -> None:
        """Write the gain and the test of candidate c, of which each cell has a pair and a level."""
        stratum = self._pairs.strata[pair]
        width = int(level.max()) + 1
        keys, column = np.unique(stratum * width + level, return_inverse=True)
        beside = Margin(np.zeros(len(keys), dtype=np.int64), keys // width)
        np.add.at(beside.counts, column, cells)
        h_sl = self._lookup.entropy(beside.counts, choices[0])
        h_skl = self._lookup.entropy(cells, choices[1])
        answers.gains[c] = (self._h_sk + h_sl - self._h_s - h_skl) / SCALE
        if len(answers.stats):
            answers.stats[c] = _statistics(
                self._plain, self._n_s, self._pairs, beside, cells, pair, column
            )

    @property
    def entropy(self) -> float:
        """Of the target, given the stratum."""
        return (self._h_sk - self._h_s) / SCALE


def _statistics(
    plain: Plain, n_s: Ints, rows: Margin, columns: Margin, cells: Ints, cell_row: Ints,
    cell_column: Ints,
) -> Floats:  # fmt: skip
    """Plug-in gain, degrees of freedom, X2, null mean and variance; ``cell_row`` and
    ``cell_column`` are places in ``rows`` and ``columns``. Sums go in the order of the compiled
    loops, row by row, so that they are equal to the last bit."""
    size = len(n_s)
    N = n_s.astype(float)
    r = np.bincount(rows.strata, minlength=size).astype(float)
    s = np.bincount(columns.strata, minlength=size).astype(float)
    inverse_a = np.bincount(rows.strata, weights=1.0 / rows.counts, minlength=size)
    inverse_b = np.bincount(columns.strata, weights=1.0 / columns.counts, minlength=size)
    tables = (rows.counts, columns.counts, cells, n_s)
    of_rows, of_columns, of_cells, of_strata = (int(plain(counts).sum()) for counts in tables)
    gain = (of_rows + of_columns - of_cells - of_strata) / SCALE
    squared = cells.astype(float) * cells * (1.0 / columns.counts)[cell_column]
    of_row = np.bincount(cell_row, weights=squared, minlength=len(rows.counts)) / rows.counts
    squares = np.bincount(rows.strata, weights=of_row, minlength=size)
    df = float(np.sum((r - 1) * (s - 1)))
    pearson = mean = variance = 0.0
    for i in np.flatnonzero((r > 1) & (s > 1)):
        m, v = null_moments(N[i], r[i], s[i], inverse_a[i], inverse_b[i])
        if v > ROUNDING * m:
            pearson += max(N[i] * (squares[i] - 1.0), 0.0)
            mean += m
            variance += v
    return np.array([gain, df, pearson, mean, variance])
