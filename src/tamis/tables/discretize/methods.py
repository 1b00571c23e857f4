"""Cuts that look at one column alone: equal counts, equal widths, nearest centres."""

from __future__ import annotations

import numpy as np

from tamis.tables.discretize.gaps import Floats, Gaps, Ints
from tamis.tables.discretize.labels import cut_between, cut_near
from tamis.tables.discretize.segments import best_partitions

MOST_GAPS = 800
"""With more distinct values than this, "kmeans" cuts between groups of neighbours only."""
SNAP = 0.05
"""The share of a bin's width by which an equal-width cut may move to be easy to read."""


def quantile_cuts(gaps: Gaps, bins: int) -> tuple[float, ...]:
    """As near to equally many rows in each bin as ties allow; ties may leave fewer bins."""
    return cuts_at(gaps, gaps.evenly(bins))


def equal_width_cuts(gaps: Gaps, bins: int) -> tuple[float, ...]:
    """Bins of one width, but for rounding; a bin may be empty."""
    low, high = float(gaps.values[0]), float(gaps.values[-1])
    width = (high / 2 - low / 2) / bins * 2
    ideals = low + width * np.arange(1, bins)
    return tuple(cut_near(float(ideal), SNAP * width) for ideal in ideals)


def kmeans_cuts(gaps: Gaps, bins: int) -> tuple[float, ...]:
    """The partition with the least squared distance to the means of the bins.

    In one dimension the best partition is found exactly and needs no starting points (Fisher,
    1958; Wang and Song, 2011), so the answer depends on nothing but the values.
    """
    candidates = gaps.thinned(MOST_GAPS)
    ends = np.concatenate([[0], candidates + 1, [len(gaps.values)]])
    _, cuts = best_partitions(_squares(gaps, ends), bins)[-1]
    return cuts_at(gaps, candidates[np.array(cuts, dtype=np.int64) - 1])


def cuts_at(gaps: Gaps, chosen: Ints) -> tuple[float, ...]:
    """A readable number in each of the gaps."""
    return tuple(cut_between(float(gaps.values[i]), float(gaps.values[i + 1])) for i in chosen)


def unit_values(gaps: Gaps) -> Floats:
    """The distinct values scaled to [0, 1]; halved first, as their range may overflow."""
    halves = gaps.values / 2 - gaps.values[0] / 2
    unit: Floats = halves / halves[-1]
    return unit


def _squares(gaps: Gaps, ends: Ints) -> Floats:
    """The sum of squares about the mean, for every run of distinct values between two ends."""
    centred = unit_values(gaps)
    centred = centred - np.average(centred, weights=gaps.counts)
    moments = [
        np.concatenate([[0.0], np.cumsum(gaps.counts * centred**power)])[ends] for power in range(3)
    ]
    rows, sums, squares = (moment[None, :] - moment[:, None] for moment in moments)
    found: Floats = squares - sums**2 / np.where(rows > 0, rows, 1.0)
    return np.maximum(found, 0.0)
