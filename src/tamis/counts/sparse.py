"""The test of a table too large to lay out, from the cells that occur in any of its blocks.

Columns with tens of thousands of levels make tables of billions of cells, nearly all empty.
Everything a judgement needs is a sum over the occupied ones.
"""

from __future__ import annotations

import numpy as np

from tamis.counts.compiled import Floats, Ints
from tamis.counts.independence import ROUNDING, SCALE, null_moments


class Margin:
    """The occupied cells of (stratum, variable): their counts and their strata."""

    def __init__(self, counts: Ints, strata: Ints) -> None:
        self.counts = counts
        self.strata = strata


def statistics(
    plain: Ints, n_s: Ints, rows: Margin, columns: Margin, cells: Ints, cell_row: Ints,
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
    of_rows, of_columns, of_cells, of_strata = (int(plain[counts].sum()) for counts in tables)
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
