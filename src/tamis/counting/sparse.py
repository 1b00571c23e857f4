"""Tables too large to lay out: the cells that occur, found by sorting.

Columns with tens of thousands of levels make tables of billions of cells, nearly all empty.
Everything a judgement needs is a sum over the occupied ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

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
                self._plain, self._n_s, self._pairs, beside, cells, stratum,
                self._pairs.counts[pair], beside.counts[column],
            )  # fmt: skip

    @property
    def entropy(self) -> float:
        """Of the target, given the stratum."""
        return (self._h_sk - self._h_s) / SCALE


def judge_sparse(
    strata: Ints,
    target: NDArray[np.integer],
    candidates: NDArray[np.integer],
    base_choices: Ints,
    choices: Ints,
    lookup: Lookup,
    plain: Plain,
    answers: Judgements,
    *,
    is_empty: bool,
) -> None:
    """Judge the candidate columns of one context from the rows themselves."""
    n_levels = int(target.max()) + 1
    keys, pair_of_row, counts = np.unique(
        strata * n_levels + target, return_inverse=True, return_counts=True
    )
    pairs = Margin(counts, keys // n_levels)
    context = SparseContext(
        np.bincount(strata), pairs, base_choices, lookup, plain, is_empty=is_empty
    )
    answers.entropies[0] = context.entropy
    for c, column in enumerate(candidates):
        width = int(column.max()) + 1
        keys, cells = np.unique(pair_of_row * width + column, return_counts=True)
        context.judge(c, cells, *np.divmod(keys, width), choices[c], answers)


def _statistics(
    plain: Plain, n_s: Ints, rows: Margin, columns: Margin, cells: Ints, cell_stratum: Ints,
    cell_row: Ints, cell_column: Ints,
) -> Floats:  # fmt: skip
    """Plug-in gain, degrees of freedom, X2, null mean and variance; see the dense kernel."""
    size = len(n_s)
    N = n_s.astype(float)
    r = np.bincount(rows.strata, minlength=size).astype(float)
    s = np.bincount(columns.strata, minlength=size).astype(float)
    inverse_a = np.bincount(rows.strata, weights=1.0 / rows.counts, minlength=size)
    inverse_b = np.bincount(columns.strata, weights=1.0 / columns.counts, minlength=size)
    expected = cell_row.astype(float) * cell_column
    tables = (rows.counts, columns.counts, cells, n_s)
    of_rows, of_columns, of_cells, of_strata = (int(plain(counts).sum()) for counts in tables)
    gain = (of_rows + of_columns - of_cells - of_strata) / SCALE
    squares = np.bincount(cell_stratum, weights=cells * (cells / expected), minlength=size)
    df = float(np.sum((r - 1) * (s - 1)))
    pearson = mean = variance = 0.0
    for i in np.flatnonzero((r > 1) & (s > 1)):
        m, v = null_moments(N[i], r[i], s[i], inverse_a[i], inverse_b[i])
        if v > ROUNDING * m:
            pearson += max(N[i] * (squares[i] - 1.0), 0.0)
            mean += m
            variance += v
    return np.array([gain, df, pearson, mean, variance])
