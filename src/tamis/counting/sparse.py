"""Tables too large to lay out: the cells that occur, found by sorting.

Columns with tens of thousands of levels make tables of billions of cells, nearly all empty.
Everything a judgement needs is a sum over the occupied ones.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tamis.counting.compiled import Floats, Ints
from tamis.counting.independence import ROUNDING, SCALE, null_moments
from tamis.counting.lookup import Lookup


def judge_sparse(
    strata: Ints,
    target: NDArray[np.integer],
    candidates: NDArray[np.integer],
    is_empty: bool,
    base_choices: Ints,
    choices: Ints,
    lookup: Lookup,
    plain: Ints,
    entropies: Floats,
    gains: Floats,
    stats: Floats,
) -> None:
    """Judge the candidate columns of one context, filling the last three arguments."""
    with_target, pair_of_row = _joined(strata, target)
    counts_s = np.bincount(strata)
    h_s = 0 if is_empty else lookup.entropy(counts_s, base_choices[0])
    h_sk = lookup.entropy(with_target.counts, base_choices[1])
    entropies[0] = (h_sk - h_s) / SCALE
    for c, column in enumerate(candidates):
        beside, beside_of_row = _joined(strata, column)
        both, both_of_row = _joined(pair_of_row, column)
        h_sl = lookup.entropy(beside.counts, choices[c, 0])
        h_skl = lookup.entropy(both.counts, choices[c, 1])
        gains[c] = (h_sk + h_sl - h_s - h_skl) / SCALE
        if len(stats):
            first = np.zeros(len(both.counts), dtype=np.int64)
            first[both_of_row] = np.arange(len(strata))
            stats[c] = _statistics(
                plain, counts_s, with_target, beside, both.counts, strata[first],
                with_target.counts[pair_of_row[first]], beside.counts[beside_of_row[first]],
            )  # fmt: skip


class Margin:
    """The occupied cells of (stratum, variable): their counts and their strata."""

    def __init__(self, counts: Ints, strata: Ints) -> None:
        self.counts = counts
        self.strata = strata


def _joined(states: Ints, column: NDArray[np.integer]) -> tuple[Margin, Ints]:
    width = int(column.max()) + 1
    values, of_row, counts = np.unique(
        states * width + column, return_inverse=True, return_counts=True
    )
    return Margin(counts.astype(np.int64), values // width), of_row


def _statistics(
    plain: Ints, n_s: Ints, rows: Margin, columns: Margin, cells: Ints, cell_stratum: Ints,
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
    of_rows, of_columns, of_cells, of_strata = (int(plain[counts].sum()) for counts in tables)
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
