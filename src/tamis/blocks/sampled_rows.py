"""A pass that samples rows: the same as in memory, wherever the rows are."""

from __future__ import annotations

import numpy as np

from tamis.blocks.parities import Interacting
from tamis.blocks.passes import Pass, Sums
from tamis.blocks.view import View
from tamis.counts.compiled import Ints, Words
from tamis.counts.row_sample import (
    MOST_PATTERNS,
    Patterns,
    PlaneKeys,
    chosen_rows,
    plane_sums,
)


class PlaneSums(Pass):
    """The keys of the rows of each plane, and last of all rows, summed."""

    def __init__(self, keys: PlaneKeys) -> None:
        self._keys = keys

    def over(self, view: View) -> Sums:
        """The sums over the rows of this view."""
        planes = Interacting(view)
        total = np.zeros(len(planes.column) + 1, dtype=np.int64)
        for start, stop in view.groups():
            for block in range(start, stop):
                words = planes.words(block)
                keys = self._keys.of_rows(words, view.store.rows_in(block, block + 1))
                total += plane_sums(words, keys).view(np.int64)
        return (total,)


class PatternRows(Pass):
    """The patterns of smallest keys: the keys, the numbers of rows, and the planes, 64 a word."""

    def __init__(self, keys: PlaneKeys) -> None:
        self._keys = keys

    def over(self, view: View) -> Sums:
        """The patterns of the rows of this view."""
        planes = Interacting(view)
        nothing = np.zeros(0, dtype=np.int64)
        found: Sums = (nothing, nothing, np.zeros((0, -(-len(planes.column) // 64)), np.int64))
        for start, stop in view.groups():
            for block in range(start, stop):
                words = planes.words(block)
                rows = view.store.rows_in(block, block + 1)
                own = Patterns.of(self._keys.of_rows(words, rows))
                bits = as_rows(words, own.row)
                found = self.add(found, (own.key.view(np.int64), own.n_rows, bits))
        return found

    def add(self, one: Sums, other: Sums) -> Sums:
        """The patterns of the rows of both."""
        keys, n_rows, bits = (np.concatenate(pair) for pair in zip(one, other, strict=True))
        unsigned = keys.view(np.uint64)
        _, first, place = np.unique(unsigned, return_index=True, return_inverse=True)
        total = np.zeros(len(first), dtype=np.int64)
        np.add.at(total, place, n_rows)
        kept = first[:MOST_PATTERNS]
        return keys[kept], total[:MOST_PATTERNS], bits[kept]


def sampled_planes(patterns: Sums, order: Ints) -> tuple[Words, int]:
    """The planes of the sampled rows in this order, and how many rows these are."""
    keys, n_rows, bits = patterns
    copies = Patterns(keys.view(np.uint64), n_rows, np.arange(len(keys))).copies()
    return as_planes(bits[copies], len(order))[order], len(copies)


def as_rows(words: Words, rows: Ints) -> Ints:
    """The planes of these rows, a bit each, in whole words."""
    bits = np.unpackbits(chosen_rows(words, rows).view(np.uint8), axis=1, bitorder="little")
    return _in_words(bits[:, : len(rows)].T).view(np.int64)


def as_planes(rows: Ints, n_planes: int) -> Words:
    """Rows of planes as planes of rows."""
    octets = np.ascontiguousarray(rows).view(np.uint8)
    bits = np.unpackbits(octets, axis=1, bitorder="little")
    return _in_words(bits[:, :n_planes].T)


def _in_words(bits: np.ndarray[tuple[int, int], np.dtype[np.uint8]]) -> Words:
    """Each row of bits in whole words."""
    octets = np.packbits(bits, axis=1, bitorder="little")
    whole = np.zeros((len(octets), -(-bits.shape[1] // 64) * 8), dtype=np.uint8)
    whole[:, : octets.shape[1]] = octets
    return whole.view(np.uint64)
