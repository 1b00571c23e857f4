"""Where a column of numbers is cut, by each method, and the labels and the record of the cuts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, localcontext
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Gaps(NamedTuple):
    """Distinct values in order, and how often each occurs; gap i lies between i and i+1."""

    values: Floats
    counts: Ints

    @property
    def below(self) -> Ints:
        """The rows below each gap."""
        return np.cumsum(self.counts)[:-1]

    @property
    def n_rows(self) -> int:
        """The rows of the column."""
        return int(self.counts.sum())

    def nearest(self, rows: Floats) -> Ints:
        """The gaps that come closest to having these numbers of rows below them, each once."""
        below = self.below
        right = np.clip(np.searchsorted(below, rows), 0, len(below) - 1)
        left = np.maximum(right - 1, 0)
        closer = np.abs(below[left] - rows) <= np.abs(below[right] - rows)
        return np.unique(np.where(closer, left, right))

    def thinned(self, most: int) -> Ints:
        """All gaps, or about ``most`` of them with equally many rows in between."""
        if len(self.values) - 1 <= most:
            return np.arange(len(self.values) - 1)
        return self.evenly(most + 1)

    def evenly(self, parts: int) -> Ints:
        """The gaps that come closest to dividing the rows into equal parts."""
        return self.nearest(self.n_rows * np.arange(1, parts) / parts)


def gaps_of(values: Floats) -> Gaps:
    """The gaps of a column."""
    # 0.0 and -0.0 are one value; adding 0 makes them one to look at too.
    distinct, counts = np.unique(values + 0.0, return_counts=True)
    return Gaps(distinct, counts)


OUTWARD = 0.01
"""An outer edge may lie beyond the last value by this share of the range."""
INNER = 0.5
"""A cut lies in the middle part, of this share, of the gap between its neighbours."""
_DIGITS = 40


def cut_between(below: float, above: float) -> float:
    """The number of fewest digits about the middle of a gap: above ``below``, at most ``above``."""
    margin = (1 - INNER) * (above / 2 - below / 2)
    low, high = max(below + margin, below), min(above - margin, above)
    # Two neighbouring floats have nothing between them: the upper one is the cut.
    return _simplest(low, high, ROUND_FLOOR) if low < high else above


def cut_near(ideal: float, leeway: float) -> float:
    """The number of fewest digits within ``leeway`` of an ideal cut."""
    low, high = ideal - leeway, ideal + leeway
    return _simplest(low, high, ROUND_FLOOR) if low < high else ideal


def outer_edges(lowest: float, highest: float) -> tuple[float, float]:
    """Edges of few digits, just outside the values."""
    reach = OUTWARD * (highest / 2 - lowest / 2) * 2
    low, high = lowest - reach, highest + reach
    if not (math.isfinite(low) and math.isfinite(high) and low < lowest and highest < high):
        # At the ends of what floats can hold, or too close together to be rounded.
        return lowest, highest
    return _simplest(low, lowest, ROUND_FLOOR), _simplest(highest, high, ROUND_CEILING)


def interval_labels(edges: Sequence[float]) -> tuple[str, ...]:
    """Labels such as "[0.1, 2.5)"; the last interval is closed."""
    texts = [_written(edge) for edge in edges]
    last = len(texts) - 2
    return tuple(f"[{texts[i]}, {texts[i + 1]}{']' if i == last else ')'}" for i in range(last + 1))


def _simplest(low: float, high: float, rounding: str) -> float:
    """The decimal of fewest digits in [low, high], nearest to one end; neither end is moved.

    Rounded down from ``high``, a number stays above ``low`` strictly; rounded up from ``low``,
    below ``high`` strictly.
    """
    with localcontext(Context(prec=_DIGITS)):
        down = rounding == ROUND_FLOOR
        start, limit = (Decimal(high), low) if down else (Decimal(low), high)
        if low <= 0 <= high and (low < 0 if down else high > 0):
            return 0.0
        exponent = max(Decimal(low).adjusted(), Decimal(high).adjusted()) + 1
        for place in range(exponent, exponent - 20, -1):
            step = Decimal(1).scaleb(place)
            found = float((start / step).to_integral_value(rounding=rounding) * step)
            if found > limit if down else found < limit:
                return found
    return float(start)


def _written(edge: float) -> str:
    """The shortest decimal that stands for the number; whole numbers without a point."""
    if edge == 0:
        return "0"
    text = repr(edge)
    return text[:-2] if text.endswith(".0") else text


def best_partition(costs: Floats, parts: int) -> tuple[float, tuple[int, ...]]:
    """The least cost of a sequence in so many parts, and its cuts, by dynamic programming.

    Fisher, "On grouping for maximum homogeneity" (1958): if the cost of a partition is the sum of
    the costs of its parts, the best partition into k parts is the best one into k - 1 parts of what
    lies before the last.

    ``costs[i, j]`` is the cost of a part from cut i to cut j > i, with cut 0 the start and the last
    cut the end. Ties go to the earliest cut; shorter sequences have fewer parts.
    """
    size = len(costs)
    usable = np.where(np.triu(np.ones((size, size), dtype=bool), 1), costs, np.inf)
    best = usable[0].copy()
    steps: list[NDArray[np.intp]] = []
    for _ in range(2, min(parts, size - 1) + 1):
        totals = best[:, None] + usable
        steps.append(totals.argmin(axis=0))
        best = totals[steps[-1], np.arange(size)]
    end, cuts = size - 1, list[int]()
    for step in reversed(steps):
        end = int(step[end])
        cuts.append(end)
    return float(best[-1]), tuple(reversed(cuts))


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
    _, cuts = best_partition(_squares(gaps, ends), bins)
    return cuts_at(gaps, candidates[np.array(cuts, dtype=np.int64) - 1])


def cuts_at(gaps: Gaps, chosen: Ints) -> tuple[float, ...]:
    """A readable number in each of the gaps."""
    return tuple(cut_between(float(gaps.values[i]), float(gaps.values[i + 1])) for i in chosen)


def _squares(gaps: Gaps, ends: Ints) -> Floats:
    """The sum of squares about the mean, for every run of distinct values between two ends."""
    # Halved first, as the range may overflow.
    halves = gaps.values / 2 - gaps.values[0] / 2
    unit = halves / halves[-1]
    centred = unit - np.average(unit, weights=gaps.counts)
    moments = [
        np.concatenate([[0.0], np.cumsum(gaps.counts * centred**power)])[ends] for power in range(3)
    ]
    rows, sums, squares = (moment[None, :] - moment[:, None] for moment in moments)
    found: Floats = squares - sums**2 / np.where(rows > 0, rows, 1.0)
    return np.maximum(found, 0.0)


@dataclass(frozen=True)
class Discretization:
    """How columns of numbers were cut into levels.

    Intervals contain their lower edge and not their upper one, except the last, which contains
    both.

    Attributes
    ----------
    method : str
        The method, as in `tamis.discretize`.
    edges : mapping from str to tuple of float
        For every column that was cut, the edges of its intervals in order.

    Examples
    --------
    >>> import tamis
    >>> rows = {"x": [0.5, 1.5, 2.5, 3.5], "y": ["a", "b", "a", "b"]}
    >>> _, record = tamis.discretize(rows, bins=2)
    >>> record.edges["x"], record.labels("x")
    ((0.5, 2.0, 3.5), ('[0.5, 2)', '[2, 3.5]'))
    """

    method: str
    edges: Mapping[str, tuple[float, ...]]

    def labels(self, column: str) -> tuple[str, ...]:
        """The labels of a column's intervals, from the lowest to the highest."""
        return interval_labels(self.edges[column])

    def to_dict(self) -> dict[str, object]:
        """What JSON can hold."""
        edges = {name: list(edges) for name, edges in self.edges.items()}
        return {"method": self.method, "edges": edges}


def place(values: NDArray[np.float64], edges: tuple[float, ...]) -> NDArray[np.int64]:
    """The number of the interval that holds each value, -1 where it is missing; the outer edges
    hold everything."""
    places = np.searchsorted(np.array(edges[1:-1]), values, side="right").astype(np.int64)
    return np.where(np.isnan(values), -1, places)
