"""Tables of weighted rows: their entropies, and their tests of independence within strata.

A weighted row adds w to the count of its cell and w^2 to the cell's square. Counts are not whole.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tamis.counting.independence import ROUNDING, SCALE, STATS
from tamis.counting.lookup import fixed_point
from tamis.errors import SettingError
from tamis.information.estimators import EntropyEstimator
from tamis.information.interface import Floats, Ints

FEWEST = 4.0
"""A stratum worth fewer rows has no use for the last term of the variance, which divides by N - 3.
"""

Terms = Callable[[Floats, float], Floats]
"""f(counts, n): what cells with these counts contribute to an entropy."""


def summed(place: Ints, weights: Floats, size: int) -> Floats:
    """The weights in each of so many places."""
    return np.asarray(np.bincount(place, weights, size), dtype=np.float64)


class Cells(NamedTuple):
    """The occupied cells of a table of strata s, levels x and y: where they are, their counts and
    their squares. ``n`` is what the rows are worth, which the counts add up to."""

    s: Ints
    x: Ints
    y: Ints
    counts: Floats
    squares: Floats
    n: float


def real_terms(estimator: EntropyEstimator) -> Terms:
    """The estimator's f at counts that are not whole.

    The formulas of the plug-in and of Miller and Madow hold as they are. Grassberger's G is
    defined at whole numbers: between them f goes straight from one to the next, which is its
    mean over all ways to round a count up or down that keep the count on average.
    """
    match estimator.name:
        case "plugin" | "miller-madow":
            return lambda counts, n: _at(estimator, counts, n)
        case "grassberger":
            return lambda counts, n: _between(estimator, counts, n)
    raise SettingError(
        f"entropy={estimator.name!r} needs whole counts, and survey weights make none: use "
        "'grassberger', 'miller-madow' or 'plugin'"
    )


def entropy(counts: Floats, n: float, terms: Terms, constant: float) -> float:
    """The entropy of the cells with these counts; all rows in one cell are certain."""
    seen = counts[counts > 0]
    if len(seen) <= 1:
        return 0.0
    # Added as whole numbers of steps, so that the order of the cells does not matter.
    return float(int(fixed_point(terms(seen, n)).sum()) / SCALE) + constant


def test_cells(cells: Cells) -> Floats:
    """Plug-in gain, degrees of freedom, Pearson's X2, and its mean and variance if x and y are
    independent within strata.

    Each stratum counts as so many rows as it is worth to the test (``_worth``). The gain is the
    sum of that number times each stratum's gain, in shares of all rows.
    """
    places = int(cells.s.max(initial=-1)) + 1
    rows, columns = _Margin.of(cells, cells.x, places), _Margin.of(cells, cells.y, places)
    r, s = rows.occupied, columns.occupied
    speaks = (r > 1) & (s > 1)
    total = summed(cells.s, cells.counts, places)
    worth = _worth(cells, rows, columns, total)
    p = cells.counts / total[cells.s]
    expected = (
        rows.counts[rows.place] / total[cells.s] * (columns.counts[columns.place] / total[cells.s])
    )
    lead = summed(cells.s, p * np.log(p / expected), places)
    chi = summed(cells.s, p * p / expected, places) - 1.0
    scale = np.divide(total, worth, out=np.zeros(places), where=worth > 0)
    mean, variance = _null_moments(worth, r, s, rows.inverses * scale, columns.inverses * scale)
    known = speaks & (variance > ROUNDING * mean)
    found = np.zeros(STATS)
    found[0] = max(float((worth * lead).sum()), 0.0) / cells.n
    found[1] = float(((r - 1) * (s - 1))[speaks].sum())
    found[2] = float(np.maximum(worth * chi, 0.0)[known].sum())
    found[3] = float(mean[known].sum())
    found[4] = float(variance[known].sum())
    return found


def _worth(cells: Cells, rows: _Margin, columns: _Margin, total: Floats) -> Floats:
    """The rows N that each stratum is worth to the test: so many equal rows give X2 the mean that
    it has, to first order, under independence (after Rao and Scott, 1984).

    That mean is N / W sum over x, y of m_xy (1 - p_x) (1 - p_y), with W the weight of the stratum
    and m_xy the mean weight in the cell, averaged by weight; in empty cells, where nobody knows
    it, m_x m_y / m. For weights that depend on neither x nor y this is Kish's number.
    """
    places = len(total)
    mean = summed(cells.s, cells.squares, places) / np.maximum(total, 1e-300)
    m_x, m_y = rows.mean_weight, columns.mean_weight
    left = (1 - rows.share(total))[rows.place] * (1 - columns.share(total))[columns.place]
    beyond = cells.squares / cells.counts - m_x[rows.place] * m_y[columns.place] / mean[cells.s]
    spread = summed(cells.s, beyond * left, places) + rows.spread(total) * columns.spread(
        total
    ) / np.maximum(mean, 1e-300)
    free = (rows.occupied - 1) * (columns.occupied - 1)
    return np.divide(total * free, spread, out=np.zeros(places), where=(free > 0) & (spread > 0))


class _Margin(NamedTuple):
    """One side of the table in each stratum."""

    counts: Floats
    squares: Floats
    stratum: Ints
    place: Ints
    """For each cell of the table, its line."""
    occupied: Floats
    inverses: Floats

    @classmethod
    def of(cls, cells: Cells, levels: Ints, places: int) -> _Margin:
        width = int(levels.max(initial=0)) + 1
        keys, place = np.unique(cells.s * width + levels, return_inverse=True)
        counts = summed(place, cells.counts, len(keys))
        stratum = keys // width
        return cls(
            counts,
            summed(place, cells.squares, len(keys)),
            stratum,
            place,
            np.bincount(stratum, minlength=places).astype(np.float64),
            summed(stratum, 1.0 / counts, places),
        )

    @property
    def mean_weight(self) -> Floats:
        """The mean weight in each line, averaged by weight."""
        return self.squares / self.counts

    def share(self, total: Floats) -> Floats:
        """Each line's share of its stratum."""
        return self.counts / total[self.stratum]

    def spread(self, total: Floats) -> Floats:
        """The mean weights of the lines, added up over lines by the share they leave."""
        return summed(self.stratum, self.mean_weight * (1 - self.share(total)), len(total))


def _null_moments(
    n: Floats, r: Floats, s: Floats, inverse_a: Floats, inverse_b: Floats
) -> tuple[Floats, Floats]:
    """As ``counts.independence.null_moments``, for strata worth any number of rows."""
    mean, variance = np.zeros(len(n)), np.zeros(len(n))
    some = n >= 2
    mean[some] = (n * (r - 1) * (s - 1))[some] / (n[some] - 1)
    more = n >= 3
    N, r, s = n[more], r[more], s[more]
    if not len(N):
        return mean, variance
    w_r = (N * inverse_a[more] - r * r) / (N - 2)
    w_s = (N * inverse_b[more] - s * s) / (N - 2)
    v_r = (N - r) * (r - 1) / (N - 1)
    v_s = (N - s) * (s - 1) / (N - 1)
    last = 2 * N / np.maximum(N - 3, 1.0) * (v_r - w_r) * (v_s - w_s)
    variance[more] = N * N / (N - 1) * w_r * w_s + np.where(N >= FEWEST, last, 0.0)
    return mean, variance


def _at(estimator: EntropyEstimator, counts: Floats, n: float) -> Floats:
    # The formulas divide counts by rows, whatever type they have.
    return estimator.terms(counts, n, 1)  # type: ignore[arg-type]


def _between(estimator: EntropyEstimator, counts: Floats, n: float) -> Floats:
    below = np.floor(counts)
    share = counts - below
    whole = below.astype(np.int64)
    left, right = (estimator.terms(one, n, 1) for one in (whole, whole + 1))  # type: ignore[arg-type]
    return np.asarray((1 - share) * left + share * right, dtype=np.float64)
