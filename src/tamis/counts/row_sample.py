"""A sample of rows that is the same whatever their order and the names of their levels.

Rows with the same planes have the same key, so that the order of rows cannot matter. Of the
patterns of smallest keys each is taken as often as its rows are of all theirs; which of the sampled
rows come first is again for keys to say. All of this is the same for rows in parts: the patterns
of smallest keys are among those of each part, and their rows add up.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tamis.counts.compiled import Ints, Words, compiled

SAMPLED_ROWS = 4096
"""About so many rows are sampled, or all."""
MOST_PATTERNS = 4 * SAMPLED_ROWS
"""Out of so many patterns at most."""


def sampled(words: Words, column: Ints, ones: Ints, n_rows: int) -> tuple[Words, int]:
    """The planes of the sampled rows, and how many rows these are; ``ones`` are those of each
    plane."""
    patterns = Patterns.of(PlaneKeys.of(column, ones, n_rows).of_rows(words, n_rows))
    rows = patterns.row[patterns.copies()]
    return chosen_rows(words, rows), len(rows)


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


class PlaneKeys(NamedTuple):
    """A number for each plane, and one that every row has to begin with."""

    keys: Words
    begin: np.uint64

    @classmethod
    def of(cls, column: Ints, ones: Ints, n_rows: int) -> PlaneKeys:
        """Planes of a column are told apart by how many rows they have, as long as that differs,
        not by the names of their levels; the only plane of two levels stands for the rarer one."""
        order = np.lexsort((-ones, column))  # of equals the first
        rank = np.empty(len(column), dtype=np.int64)
        rank[order] = np.arange(len(column))
        rank -= np.searchsorted(column, column)
        keys = scattered(((column << 8) + rank).astype(np.uint64))
        alone = np.bincount(column)[column] == 1
        turned = keys[alone & (2 * ones > n_rows)]
        return cls(keys, np.bitwise_xor.reduce(turned, initial=np.uint64(0)))

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
