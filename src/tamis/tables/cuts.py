"""Where a column of numbers is cut, by each method, and the labels and the record of the cuts."""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, localcontext
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr, gammaln

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


def best_partitions(costs: Floats, most: int) -> list[tuple[float, tuple[int, ...]]]:
    """The least cost, and the cuts, for 1 to ``most`` parts of a sequence, by dynamic programming.

    Fisher, "On grouping for maximum homogeneity" (1958): if the cost of a partition is the sum of
    the costs of its parts, the best partition into k parts is the best one into k - 1 parts of what
    lies before the last.

    ``costs[i, j]`` is the cost of a part from cut i to cut j > i, with cut 0 the start and the last
    cut the end. Ties go to the earliest cut.
    """
    size = len(costs)
    usable = np.where(np.triu(np.ones((size, size), dtype=bool), 1), costs, np.inf)
    best = usable[0].copy()
    steps: list[NDArray[np.intp]] = []
    partitions: list[tuple[float, tuple[int, ...]]] = [(float(best[-1]), ())]
    for _ in range(2, min(most, size - 1) + 1):
        totals = best[:, None] + usable
        step = totals.argmin(axis=0)
        best = totals[step, np.arange(size)]
        steps.append(step)
        partitions.append((float(best[-1]), _traced(steps, size - 1)))
    return partitions


def _traced(steps: list[NDArray[np.intp]], end: int) -> tuple[int, ...]:
    cuts: list[int] = []
    for step in reversed(steps):
        end = int(step[end])
        cuts.append(end)
    return tuple(reversed(cuts))


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


MOST_CANDIDATES = 200
FEWEST_ROWS = 10
"""Rows between candidate cuts, unless the column has fewer than twice as many, or wide gaps."""


class Places(NamedTuple):
    """Where cuts may lie: the gap, the place in it, and the rows below; on the unit interval."""

    gap: Ints
    place: Floats
    below: Ints


def mdl_cuts(gaps: Gaps, most_bins: int) -> tuple[float, ...]:
    """The cuts of the histogram of least description length; none where a single bin is best.

    P. Kontkanen and P. Myllymaki, "MDL histogram density estimation", AISTATS 2007: choose the
    number of bins and their edges so that the column, coded by the histogram, is shortest. The code
    length is the normalised maximum likelihood of the counts, plus ln(number of ways to choose the
    cuts).

    Chosen here: cuts lie in the middle of gaps between values, about 200 gaps with at least 10 rows
    in between, so that a bin never closes in on a few rows; the article tries every value. A wide
    gap can be cut on both sides, as in the article, so that an empty stretch costs nothing. Two
    cuts in one gap then become one.
    """
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


class Split(NamedTuple):
    """A part from one distinct value to another and the cut in it; the best split sorts first."""

    worth: float
    start: int
    cut: int
    end: int


def supervised_cuts(gaps: Gaps, values: Floats, target: Ints, most_bins: int) -> tuple[float, ...]:
    """The cuts that pay, those that save most bits first, until there are enough bins.

    U. Fayyad and K. Irani, "Multi-interval discretization of continuous-valued attributes for
    classification learning", IJCAI 1993: cut where the entropy of the target falls most, as long as
    the fall pays for the description of the cut, and go on in both parts.
    """
    table = np.zeros((len(gaps.values) + 1, int(target.max()) + 1))
    np.add.at(table, (np.searchsorted(gaps.values, values) + 1, target), 1.0)
    below = table.cumsum(axis=0)
    waiting = _splits(below, (0, len(gaps.values)))
    chosen: list[int] = []
    while waiting and len(chosen) < most_bins - 1:
        _, start, cut, end = heapq.heappop(waiting)
        chosen.append(cut - 1)
        for part in ((start, cut), (cut, end)):
            for split in _splits(below, part):
                heapq.heappush(waiting, split)
    return cuts_at(gaps, np.array(sorted(chosen), dtype=np.int64))


def _splits(below: Floats, part: tuple[int, int]) -> list[Split]:
    """The best cut of a part, if it pays."""
    start, end = part
    if end - start < 2:
        return []
    left = below[start + 1 : end] - below[start]
    whole = below[end] - below[start]
    right = whole - left
    weighted = _bits(left) * left.sum(axis=1) + _bits(right) * right.sum(axis=1)
    i = int(weighted.argmin())
    saved = float(_bits(whole) * whole.sum() - weighted[i]) - _cost(whole, left[i], right[i])
    return [Split(-saved, start, start + 1 + i, end)] if saved > 0 else []


def _cost(whole: Floats, left: Floats, right: Floats) -> float:
    """The bits that describe a cut and the levels on its two sides."""
    k, k_left, k_right = (int((part > 0).sum()) for part in (whole, left, right))
    entropies = k * _bits(whole) - k_left * _bits(left) - k_right * _bits(right)
    return math.log2(float(whole.sum()) - 1) + _log2_ways(k) - float(entropies)


def _bits(counts: Floats) -> Floats:
    """The entropy of the levels in each row of counts."""
    total = counts.sum(axis=-1, keepdims=True)
    found: Floats = entr(counts / total).sum(axis=-1) / math.log(2)
    return found


def _log2_ways(k: int) -> float:
    """log2(3^k - 2), which for large k is that of 3^k."""
    return k * math.log2(3) if k > 100 else math.log2(3.0**k - 2)


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
    flat : tuple of str
        The columns in which "mdl" found no worthwhile cut and which were cut at the median.
    target : str or None
        The column that guided a supervised "mdl".

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
    flat: tuple[str, ...] = ()
    target: str | None = None

    def labels(self, column: str) -> tuple[str, ...]:
        """The labels of a column's intervals, from the lowest to the highest."""
        return interval_labels(self.edges[column])

    def to_dict(self) -> dict[str, object]:
        """What JSON can hold."""
        return {
            "method": self.method,
            "edges": {name: list(edges) for name, edges in self.edges.items()},
            "flat": list(self.flat),
            "target": self.target,
        }


def place(values: NDArray[np.float64], edges: tuple[float, ...]) -> NDArray[np.int64]:
    """The number of the interval that holds each value, -1 where it is missing; the outer edges
    hold everything."""
    places = np.searchsorted(np.array(edges[1:-1]), values, side="right").astype(np.int64)
    return np.where(np.isnan(values), -1, places)
