"""A sample of rows that is the same whatever their order and the names of their levels.

Rows with the same planes have the same key, so that the order of rows cannot matter. Of the
patterns of smallest keys each is taken as often as its rows are of all theirs; which of the sampled
rows come first is again for keys to say. All of this is the same for rows in parts: the patterns
of smallest keys are among those of each part, and their rows add up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from tamis.counting.compiled import Ints, Words
from tamis.counting.interactions import PlanePass
from tamis.counting.passes import Sums

SAMPLED_ROWS = 4096
"""About this number of rows is sampled, or all."""
MOST_PATTERNS = 4 * SAMPLED_ROWS
"""The largest number of patterns to sample from."""

Sample = tuple[Words, int]
"""The planes of some rows, and how many rows these are."""


def sampled(column: Ints, ones: Ints, n_rows: int, run: Callable[[PlanePass], Sums]) -> Sample:
    """The planes of the sampled rows, those of a column in the order of their keys, and how many
    rows these are; ``ones`` are those of each plane, and ``run`` goes over all rows."""
    keys = PlaneKeys(column, ones, n_rows)
    if keys.are_open:
        (sums,) = run(PlaneSums(keys))
        keys = PlaneKeys(column, ones, n_rows, sums.view(np.uint64))
    found, counts, bits = run(PatternRows(keys))
    rows = copies(found.view(np.uint64), counts)
    octets = np.unpackbits(bits[rows].view(np.uint8), axis=1, bitorder="little")
    return in_words(octets[:, : len(column)].T)[keys.order], len(rows)


class PlaneKeys:
    """A number for each plane, and one that every row has to begin with.

    Planes of a column are told apart not by the names of their levels but by how many rows they
    have, and where that is the same by what else is in these rows: ``sums``, as ``PlaneSums`` has
    them. The only plane of two levels stands for the rarer one.
    """

    def __init__(self, column: Ints, ones: Ints, n_rows: int, sums: Words | None = None) -> None:
        total = None if sums is None else sums[-1]
        tie = np.zeros(len(column), dtype=np.uint64) if sums is None else sums[:-1]
        alone = np.bincount(column)[column] == 1
        self.order: Ints = np.lexsort((tie, -ones, column))
        """The planes by column, the most frequent first."""
        before = self.order[:-1]
        after = self.order[1:]
        same = (column[before] == column[after]) & (ones[before] == ones[after])
        same &= tie[before] == tie[after]
        first = np.r_[True, column[before] != column[after]]
        place = np.arange(len(column))
        # Planes that cannot be told apart share a rank, that of the first of them.
        leader = np.maximum.accumulate(np.where(np.r_[True, ~same], place, 0))
        rank = np.empty(len(column), dtype=np.int64)
        rank[self.order] = leader - np.maximum.accumulate(np.where(first, place, 0))
        self._keys: Words = scattered(((column << 8) + rank).astype(np.uint64))
        even = alone & (2 * ones == n_rows)
        turned = alone & (2 * ones > n_rows)
        if total is None:
            self._keys[even] = 0  # neither level is the rarer one
        else:
            turned |= even & (tie > total - tie)
            even &= tie == total - tie
        self._begin = np.bitwise_xor.reduce(self._keys[turned], initial=np.uint64(0))
        self.are_open = bool(same.any() or even.any())
        """Whether some levels of a column cannot be told apart."""

    def of_rows(self, words: Words, n_rows: int) -> Words:
        """A number for each row, which depends on its planes alone."""
        found: Words = np.full(n_rows, self._begin, dtype=np.uint64)
        for key, inside in zip(self._keys, each_plane(words, n_rows), strict=True):
            found ^= key * inside
        return scattered(found)


class PlaneSums(PlanePass):
    """The keys of the rows of each plane, and last of all rows, summed: the same in any order."""

    def __init__(self, keys: PlaneKeys) -> None:
        self._keys = keys

    def of_block(self, words: Words, n_rows: int, n_jobs: int = 1) -> Sums:
        """What the planes of these rows say."""
        keys = self._keys.of_rows(words, n_rows)
        sums = [(keys * inside).sum() for inside in each_plane(words, n_rows)]
        return (np.array([*sums, keys.sum()], dtype=np.uint64).view(np.int64),)


class PatternRows(PlanePass):
    """The patterns of smallest keys: the keys, the numbers of rows, and the planes, 64 a word."""

    def __init__(self, keys: PlaneKeys) -> None:
        self._keys = keys

    def of_block(self, words: Words, n_rows: int, n_jobs: int = 1) -> Sums:
        """What the planes of these rows say."""
        keys = self._keys.of_rows(words, n_rows)
        found, row, counts = np.unique(keys, return_index=True, return_counts=True)
        rows = row[:MOST_PATTERNS]
        octets = np.ascontiguousarray(words).view(np.uint8)
        bits = octets[:, rows >> 3].T >> (rows[:, None] & 7).astype(np.uint8) & np.uint8(1)
        most = slice(MOST_PATTERNS)
        counted = counts[most].astype(np.int64)
        return found[most].view(np.int64), counted, in_words(bits).view(np.int64)

    def add(self, one: Sums, other: Sums) -> Sums:
        """The patterns of the rows of both."""
        keys, n_rows, bits = (np.concatenate(pair) for pair in zip(one, other, strict=True))
        unsigned = keys.view(np.uint64)
        _, first, place = np.unique(unsigned, return_index=True, return_inverse=True)
        total = np.zeros(len(first), dtype=np.int64)
        np.add.at(total, place, n_rows)
        kept = first[:MOST_PATTERNS]
        return keys[kept], total[:MOST_PATTERNS], bits[kept]


def copies(keys: Words, n_rows: Ints) -> Ints:
    """The place of a pattern for each row of the sample."""
    share = SAMPLED_ROWS / max(int(n_rows.sum()), SAMPLED_ROWS)
    # Of what is no whole row the key decides; it has no part in the order of patterns.
    chance = (scattered(keys) >> np.uint64(11)) / 2.0**53
    often = np.floor(n_rows * share + chance).astype(np.int64)
    place = np.repeat(np.arange(len(often)), often)
    number = np.arange(len(place)) - np.repeat(np.cumsum(often) - often, often)
    order = scattered(keys[place] ^ scattered(number.astype(np.uint64)))
    return np.asarray(place[np.argsort(order, kind="stable")])


def scattered(numbers: Words) -> Words:
    """Numbers that look random, one for each: the finaliser of SplitMix64 (Steele, Lea and Flood,
    2014)."""
    z = (numbers + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(z ^ (z >> np.uint64(31)))


def each_plane(words: Words, n_rows: int) -> Iterator[NDArray[np.bool_]]:
    """Of each plane which rows are in it."""
    for plane in words:
        octets = np.ascontiguousarray(plane).view(np.uint8)
        yield np.unpackbits(octets, count=n_rows, bitorder="little").view(np.bool_)


def in_words(bits: NDArray[np.uint8]) -> Words:
    """Each row of bits in whole words."""
    octets = np.packbits(bits, axis=1, bitorder="little")
    whole = np.zeros((len(octets), -(-bits.shape[1] // 64) * 8), dtype=np.uint8)
    whole[:, : octets.shape[1]] = octets
    return whole.view(np.uint64)
