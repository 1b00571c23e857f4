"""The places where a column can be cut: the gaps between its distinct values."""

from __future__ import annotations

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
