"""The histogram of least description length.

P. Kontkanen and P. Myllymaki, "MDL histogram density estimation", AISTATS 2007: choose the number
of bins and their edges so that the column, coded by the histogram, is shortest. The code length is
the normalised maximum likelihood of the counts, plus ln(number of ways to choose the cuts).

Chosen here: cuts lie in the middle of gaps between values, about 200 gaps with at least 10 rows in
between, so that a bin never closes in on a few rows; the article tries every value. A wide gap can
be cut on both sides, as in the article, so that an empty stretch costs nothing. Two cuts in
one gap then become one.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from tamis.tables.discretize.gaps import Floats, Gaps, Ints
from tamis.tables.discretize.methods import cuts_at, unit_values
from tamis.tables.discretize.segments import best_partitions

MOST_CANDIDATES = 200
FEWEST_ROWS = 10
"""Rows between candidate cuts, unless the column has fewer than twice as many, or wide gaps."""


class Places(NamedTuple):
    """Where cuts may lie: the gap, the place in it, and the rows below; on the unit interval."""

    gap: Ints
    place: Floats
    below: Ints


def mdl_cuts(gaps: Gaps, most_bins: int) -> tuple[float, ...]:
    """The cuts of the best histogram; none where a single bin is best."""
    places = _places(gaps)
    # An empty stretch is a bin to the code, and none to the caller: hence twice as many.
    partitions = best_partitions(_code_lengths(gaps.n_rows, places), 2 * most_bins)
    chosen = [np.unique(places.gap[np.array(cuts, dtype=np.int64) - 1]) for _, cuts in partitions]
    # Choices among all gaps, not those that were tried: to choose all of a few would be free.
    totals = [
        cost + log_regret(gaps.n_rows, k + 1) + _log_choices(len(gaps.values) - 1, len(chosen[k]))
        if len(chosen[k]) < most_bins
        else math.inf
        for k, (cost, _) in enumerate(partitions)
    ]
    return cuts_at(gaps, chosen[int(np.argmin(totals))])


def _places(gaps: Gaps) -> Places:
    unit = unit_values(gaps)
    n_rows = gaps.n_rows
    # In a uniform column the widest gap is about ln(n) / n.
    reach = 2 * math.log(n_rows) / n_rows
    is_wide = np.diff(unit) > 2 * reach
    parts = min(MOST_CANDIDATES + 1, max(n_rows // FEWEST_ROWS, 2))
    narrow = gaps.evenly(parts)
    narrow = narrow[~is_wide[narrow]]
    wide = np.flatnonzero(is_wide)
    gap = np.concatenate([narrow, wide, wide])
    place = np.concatenate(
        [(unit[narrow] + unit[narrow + 1]) / 2, unit[wide] + reach, unit[wide + 1] - reach]
    )
    order = np.argsort(place)
    return Places(gap[order], place[order], gaps.below[gap[order]])


def log_regret(n_rows: int, bins: int) -> float:
    """ln of the normalising sum of the multinomial with this number of bins.

    For two bins by its expansion (Szpankowski, 1998); for more by the recurrence
    R(k+2) = R(k+1) + n/k R(k) (Kontkanen and Myllymaki, 2007).
    """
    previous, current = 1.0, _two_bins(n_rows)
    if bins == 1:
        return 0.0
    for k in range(1, bins - 1):
        previous, current = current, current + n_rows / k * previous
    return math.log(current)


def _two_bins(n: int) -> float:
    return math.sqrt(math.pi * n / 2) + 2 / 3 + math.sqrt(2 * math.pi / n) / 24


def _log_choices(gaps: int, cuts: int) -> float:
    return float(gammaln(gaps + 1) - gammaln(cuts + 1) - gammaln(gaps - cuts + 1))


def _code_lengths(n_rows: int, places: Places) -> Floats:
    """-ln likelihood of the rows between every two places, at their own density."""
    ends = np.concatenate([[0.0], places.place, [1.0]])
    rows = np.concatenate([[0], places.below, [n_rows]])
    counts = (rows[None, :] - rows[:, None]).astype(np.float64)
    widths = ends[None, :] - ends[:, None]
    filled = counts > 0
    lengths = np.zeros(counts.shape)
    lengths[filled] = -counts[filled] * np.log(counts[filled] / (n_rows * widths[filled]))
    return lengths
