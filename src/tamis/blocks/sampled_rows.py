"""A pass that samples rows: the same as in memory, wherever the rows are."""

from __future__ import annotations

import numpy as np

from tamis.blocks.parities import Interacting
from tamis.blocks.passes import Pass, Sums
from tamis.blocks.view import View
from tamis.counts.compiled import Ints, Words
from tamis.counts.row_sample import SAMPLED_ROWS, PlaneKeys, chosen_rows, smallest


class SampledRows(Pass):
    """The rows of the smallest keys: their keys, and their planes, 64 to a word."""

    def __init__(self, keys: PlaneKeys, n_planes: int) -> None:
        self._keys = keys
        self._n_planes = n_planes

    def over(self, view: View) -> Sums:
        """The sample of the rows of this view."""
        planes = Interacting(view)
        found: Sums = (
            np.zeros(0, dtype=np.int64),
            np.zeros((0, -(-self._n_planes // 64)), dtype=np.int64),
        )
        for start, stop in view.groups():
            for block in range(start, stop):
                words = planes.words(block)
                keys = self._keys.of_rows(words, view.store.rows_in(block, block + 1))
                rows = smallest(keys, SAMPLED_ROWS)
                found = self.add(found, (keys[rows].view(np.int64), as_rows(words, rows)))
        return found

    def add(self, one: Sums, other: Sums) -> Sums:
        """The sample of the rows of both."""
        keys, rows = (np.concatenate(pair) for pair in zip(one, other, strict=True))
        kept = smallest(keys.view(np.uint64), SAMPLED_ROWS)
        return keys[kept], rows[kept]


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
