"""A sample of rows that is the same whatever their order and the names of their levels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tamis.counts.compiled import Ints, Words, compiled

SAMPLED_ROWS = 4096
"""As many rows are sampled, or all."""


def sampled(words: Words, column: Ints, ones: Ints, n_rows: int) -> tuple[Words, int]:
    """The planes of the sampled rows, and how many rows these are; ``ones`` are those of each
    plane."""
    keys = PlaneKeys.of(column, ones, n_rows)
    rows = smallest(keys.of_rows(words, n_rows), SAMPLED_ROWS)
    return chosen_rows(words, rows), len(rows)


class PlaneKeys(NamedTuple):
    """A number for each plane, and one that every row has to begin with."""

    keys: Words
    begin: np.uint64

    @classmethod
    def of(cls, column: Ints, ones: Ints, n_rows: int) -> PlaneKeys:
        """Planes of a column are told apart by how many rows they have, not by the names of their
        levels; the only plane of two levels stands for the rarer one."""
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


def smallest(keys: Words, most: int) -> Ints:
    """The places of the smallest keys, in their order."""
    if len(keys) > most:
        some = np.argpartition(keys, most - 1)[:most]
        return np.asarray(some[np.argsort(keys[some], kind="stable")])
    return np.argsort(keys, kind="stable")


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
