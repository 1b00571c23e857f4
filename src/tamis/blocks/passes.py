"""A pass over the rows of a table: what is summed over its blocks, wherever they are.

A pass is a question without rows. It is run where the blocks are, on the blocks of one part of the
table after the other or of all parts at the same time, and what it finds is added up. Sums are
whole numbers, so that neither the order of the parts nor their sizes make a difference.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from tamis.blocks.view import View
from tamis.counts.compiled import Ints

Sums = tuple[Ints, ...]


class Pass(ABC):
    """Something to be counted over all rows."""

    @abstractmethod
    def over(self, view: View) -> Sums:
        """The sums over the rows of this view."""

    def add(self, one: Sums, other: Sums) -> Sums:
        """The sums over the rows of both."""
        return tuple(a + b for a, b in zip(one, other, strict=True))


def key_counts(keys: Ints) -> Sums:
    """The keys that occur, in order, and how often."""
    found, counts = np.unique(keys, return_counts=True)
    return found, counts.astype(np.int64)


def merged_keys(one: Sums, other: Sums) -> Sums:
    """The same of two lists of keys with their numbers."""
    keys, place = np.unique(np.concatenate([one[0], other[0]]), return_inverse=True)
    counts = np.zeros(len(keys), dtype=np.int64)
    np.add.at(counts, place, np.concatenate([one[1], other[1]]))
    return keys, counts
