"""A sample of rows that is the same whatever their order and the names of their levels.

Rows with the same planes have the same key, so that the order of rows cannot matter. Of the
patterns of smallest keys each is taken as often as its rows are of all theirs; which of the sampled
rows come first is again for keys to say. All of this is the same for rows in parts: the patterns
of smallest keys are among those of each part, and their rows add up.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tamis.counting.compiled import Ints, Words, compiled

SAMPLED_ROWS = 4096
"""About this number of rows is sampled, or all."""
MOST_PATTERNS = 4 * SAMPLED_ROWS
"""The largest number of patterns to sample from."""


def sampled(words: Words, column: Ints, ones: Ints, n_rows: int) -> tuple[Words, int]:
    """The planes of the sampled rows, those of a column in the order of their keys, and how many
    rows these are; ``ones`` are those of each plane."""
    keys = PlaneKeys.by_ones(column, ones, n_rows)
    if keys.are_open:
        keys = keys.settled(plane_sums(words, keys.of_rows(words, n_rows)))
    patterns = Patterns.of(keys.of_rows(words, n_rows))
    rows = patterns.row[patterns.copies()]
    return chosen_rows(words[keys.order], rows), len(rows)


class Patterns(NamedTuple):
    """Patterns of rows, those of smallest keys in their order: the number of their rows, and one
    of these."""

    key: Words
    n_rows: Ints
    row: Ints

    @classmethod
    def of(cls, keys: Words) -> Patterns:
        """Those of rows with these keys."""
        found, row, counts = np.unique(keys, return_index=True, return_counts=True)
        most = slice(MOST_PATTERNS)
        return cls(found[most], counts[most].astype(np.int64), row[most].astype(np.int64))

    def copies(self) -> Ints:
        """The place of a pattern for each row of the sample."""
        share = SAMPLED_ROWS / max(int(self.n_rows.sum()), SAMPLED_ROWS)
        wanted = self.n_rows * share
        # Of what is no whole row the key decides; it has no part in the order of patterns.
        chance = (scattered(self.key) >> np.uint64(11)) / 2.0**53
        often = np.floor(wanted + chance).astype(np.int64)
        place = np.repeat(np.arange(len(often)), often)
        number = np.arange(len(place)) - np.repeat(np.cumsum(often) - often, often)
        order = scattered(self.key[place] ^ scattered(number.astype(np.uint64)))
        return np.asarray(place[np.argsort(order, kind="stable")])


class PlaneKeys:
    """A number for each plane, and one that every row has to begin with.

    Planes of a column are told apart not by the names of their levels but by how many rows they
    have, and where that is the same by what else is in these rows. The only plane of two levels
    stands for the rarer one.
    """

    def __init__(self, column: Ints, ones: Ints, n_rows: int, sums: Words | None) -> None:
        self._planes = column, ones, n_rows
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
        self.keys: Words = scattered(((column << 8) + rank).astype(np.uint64))
        even = alone & (2 * ones == n_rows)
        turned = alone & (2 * ones > n_rows)
        if total is None:
            self.keys[even] = 0  # neither level is the rarer one
        else:
            turned |= even & (tie > total - tie)
            even &= tie == total - tie
        self.begin = np.bitwise_xor.reduce(self.keys[turned], initial=np.uint64(0))
        self.are_open = bool(same.any() or even.any())
        """Whether some levels of a column cannot be told apart."""

    @classmethod
    def by_ones(cls, column: Ints, ones: Ints, n_rows: int) -> PlaneKeys:
        """By the rows of each plane alone."""
        return cls(column, ones, n_rows, None)

    def settled(self, sums: Words) -> PlaneKeys:
        """By the keys of these rows too, as ``plane_sums`` has them."""
        return PlaneKeys(*self._planes, sums)

    def of_rows(self, words: Words, n_rows: int) -> Words:
        """A number for each row, which depends on its planes alone."""
        found: Words = np.full(n_rows, self.begin, dtype=np.uint64)
        add_keys(words, self.keys, found)
        return scattered(found)


def scattered(numbers: Words) -> Words:
    """Numbers that look random, one for each: the finaliser of SplitMix64 (Steele, Lea and Flood,
    2014)."""
    z = (numbers + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(z ^ (z >> np.uint64(31)))


def chosen_rows(words: Words, rows: Ints) -> Words:
    """The planes of these rows, in this order."""
    n_words = -(-len(rows) // 64)
    found: Words = np.zeros((len(words), n_words), dtype=np.uint64)
    gather(words, rows, found)
    return found


def plane_sums(words: Words, row_keys: Words) -> Words:
    """The keys of the rows of each plane, and last of all rows, summed: the same in any order."""
    found: Words = np.zeros(len(words) + 1, dtype=np.uint64)
    add_sums(words, row_keys, found)
    return found


@compiled
def add_sums(words: Words, row_keys: Words, found: Words) -> None:
    """Add up the keys of the rows of each plane."""
    for row in range(row_keys.shape[0]):
        found[words.shape[0]] += row_keys[row]
    for p in range(words.shape[0]):
        for row in range(row_keys.shape[0]):
            if words[p, row >> 6] >> np.uint64(row & 63) & np.uint64(1):
                found[p] += row_keys[row]


@compiled
def add_keys(words: Words, keys: Words, found: Words) -> None:
    """Combine the keys of the planes that each row is in."""
    for p in range(words.shape[0]):
        for row in range(found.shape[0]):
            if words[p, row >> 6] >> np.uint64(row & 63) & np.uint64(1):
                found[row] ^= keys[p]


@compiled
def gather(words: Words, rows: Ints, found: Words) -> None:
    """Copy the bits of some rows."""
    for p in range(words.shape[0]):
        for i in range(rows.shape[0]):
            row = rows[i]
            bit = words[p, row >> 6] >> np.uint64(row & 63) & np.uint64(1)
            found[p, i >> 6] |= bit << np.uint64(i & 63)
