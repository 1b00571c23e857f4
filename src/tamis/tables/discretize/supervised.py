"""Cuts that separate the levels of another column.

U. Fayyad and K. Irani, "Multi-interval discretization of continuous-valued attributes for
classification learning", IJCAI 1993: cut where the entropy of the target falls most, as long as
the fall pays for the description of the cut, and go on in both parts.
"""

from __future__ import annotations

import heapq
import math
from typing import NamedTuple

import numpy as np
from scipy.special import entr

from tamis.tables.discretize.gaps import Floats, Gaps, Ints
from tamis.tables.discretize.methods import cuts_at


class Split(NamedTuple):
    """A part from one distinct value to another and the cut in it; the best split sorts first."""

    worth: float
    start: int
    cut: int
    end: int


def supervised_cuts(gaps: Gaps, values: Floats, target: Ints, most_bins: int) -> tuple[float, ...]:
    """The cuts that pay, those that save most bits first, until there are enough bins."""
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
