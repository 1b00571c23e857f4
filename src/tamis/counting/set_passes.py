"""Passes that look for sets of columns that say something together: all sets counted, or a sample
of rows drawn, the same as in memory wherever the rows are."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tamis.counting.compiled import Ints, Words
from tamis.counting.interactions import Parities, interacting_columns, interacting_planes
from tamis.counting.passes import Pass, Sums, View
from tamis.counting.row_sample import (
    MOST_PATTERNS,
    Patterns,
    PlaneKeys,
    chosen_rows,
    plane_sums,
)


class SummedParities(Parities):
    """The odd rows of all sets of planes, summed over blocks."""

    def __init__(self, column: Ints, n_rows: int, largest: int, ones: Ints) -> None:
        nothing: Words = np.zeros((len(column), 0), dtype=np.uint64)
        super().__init__(nothing, column, n_rows, largest, ones)
        self.total = np.zeros(len(self._odd), dtype=np.int64)

    def add(self, words: Words, n_jobs: int) -> None:
        """Count these planes too."""
        self._words = words[self._order]
        self.count_planes(n_jobs)
        self.total += self._odd

    def finish(self, total: Ints) -> None:
        """Let these sums be the counts."""
        kind = np.int32 if self.n_rows < 2**31 else np.int64
        self._odd = total.astype(kind)


def _blocks_of(view: View) -> Iterator[tuple[Words, int]]:
    """Of each block the planes among which interactions are looked for, and its rows."""
    for group in view.groups():
        for one in group.each():
            planes = interacting_planes(one.words[0], view.first, view.arities, one.n_rows)
            yield planes, one.n_rows


class OddRows(Pass):
    """The odd rows of all sets of planes up to a size."""

    def __init__(self, n_rows: int, largest: int, ones: Ints) -> None:
        self._asked = n_rows, largest, ones

    def over(self, view: View) -> Sums:
        """The sums over the rows of this view."""
        column = interacting_columns(view.arities)
        parities = SummedParities(column, *self._asked)
        for words, _ in _blocks_of(view):
            parities.add(words, view.n_jobs)
        return (parities.total,)


class PlaneSums(Pass):
    """The keys of the rows of each plane, and last of all rows, summed."""

    def __init__(self, keys: PlaneKeys) -> None:
        self._keys = keys

    def over(self, view: View) -> Sums:
        """The sums over the rows of this view."""
        total = np.zeros(len(interacting_columns(view.arities)) + 1, dtype=np.int64)
        for words, n_rows in _blocks_of(view):
            total += plane_sums(words, self._keys.of_rows(words, n_rows)).view(np.int64)
        return (total,)


class PatternRows(Pass):
    """The patterns of smallest keys: the keys, the numbers of rows, and the planes, 64 a word."""

    def __init__(self, keys: PlaneKeys) -> None:
        self._keys = keys

    def over(self, view: View) -> Sums:
        """The patterns of the rows of this view."""
        nothing = np.zeros(0, dtype=np.int64)
        n_planes = len(interacting_columns(view.arities))
        found: Sums = (nothing, nothing, np.zeros((0, -(-n_planes // 64)), np.int64))
        for words, n_rows in _blocks_of(view):
            own = Patterns.of(self._keys.of_rows(words, n_rows))
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
