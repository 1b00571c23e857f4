"""A pass over the rows of a table: what is summed over its blocks, wherever they are.

A pass is a question without rows. It is run where the blocks are, on the blocks of one part of the
table after the other or of all parts at the same time, and what it finds is added up. Sums are
whole numbers, so that neither the order of the parts nor their sizes make a difference.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis.counting.block_loops import decode
from tamis.counting.compiled import Codes, Ints
from tamis.counting.stored_blocks import Blocks
from tamis.errors import SettingError

ROWS_AT_ONCE = 2**20
"""Rows whose states are held at once."""
ROW_BYTES = 128
"""Of the limit for each of them: keys, cells and codes, in several threads."""
CROWDED = 4
"""Keys that span no more than so many times their number are counted without sorting."""


class View:
    """Some columns of blocks, within a limit of memory."""

    def __init__(
        self, blocks: Blocks, positions: tuple[int, ...], working_bytes: int, n_jobs: int = 1
    ) -> None:
        self.blocks = blocks
        self.positions = positions
        """Which columns of the blocks these are."""
        self.working_bytes = working_bytes
        self.n_jobs = n_jobs

    @cached_property
    def arities(self) -> NDArray[np.int64]:
        """The number of levels of each column."""
        return np.array(self.blocks.layout.arities, dtype=np.int64)[list(self.positions)]

    @cached_property
    def first(self) -> NDArray[np.int64]:
        """The first plane of each column."""
        return self.blocks.layout.first[list(self.positions)]

    @cached_property
    def planed(self) -> NDArray[np.bool_]:
        """Which columns have planes."""
        return self.blocks.layout.planed[list(self.positions)]

    @property
    def n_planes(self) -> int:
        """The planes of the blocks, those of other columns included."""
        return self.blocks.layout.n_planes

    @property
    def blocks_at_once(self) -> int:
        """The blocks that a quarter of the memory has room for."""
        return max(1, self.working_bytes // 4 // max(self.blocks.layout.block_bytes, 1))

    def groups(self) -> Iterator[tuple[int, int]]:
        """All blocks in order, some at a time."""
        return self.blocks.groups(self.blocks_at_once)

    def row_groups(self, *, one_block: bool = False) -> Iterator[Group]:
        """All rows in order, some blocks at a time, or one."""
        rows = 1 if one_block else min(ROWS_AT_ONCE, self.working_bytes // ROW_BYTES)
        most = max(1, rows // self.blocks.layout.block_rows)
        for start, stop in self.blocks.groups(min(most, self.blocks_at_once)):
            yield Group(self, start, stop, self.blocks.rows_in(start, stop))


class Group(NamedTuple):
    """Some blocks of a table, as rows."""

    view: View
    start: int
    stop: int
    n_rows: int

    def codes(self, k: int) -> Codes:
        """The level of column k in each row."""
        blocks, place = self.view.blocks, self.view.positions[k]
        if not self.view.planed[k]:
            return blocks.codes(place, self.start, self.stop)[: self.n_rows]
        found = np.empty((self.stop - self.start) * blocks.layout.block_rows, dtype=np.uint8)
        arity = int(self.view.arities[k])
        decode(blocks.words(self.start, self.stop), int(self.view.first[k]), arity, found)
        return found[: self.n_rows]


Sums = tuple[Ints, ...]


class Pass(ABC):
    """Something to be counted over all rows."""

    @abstractmethod
    def over(self, view: View) -> Sums:
        """The sums over the rows of this view."""

    def add(self, one: Sums, other: Sums) -> Sums:
        """The sums over the rows of both."""
        return tuple(a + b for a, b in zip(one, other, strict=True))


class KeyRows(Pass):
    """Keys of rows and how many rows have each; there may be no more than memory has room for."""

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes

    @abstractmethod
    def keys_of(self, group: Group) -> Ints:
        """The key of each row."""

    def over(self, view: View) -> Sums:
        """The sums over the rows of this view."""
        nothing = np.zeros(0, dtype=np.int64)
        found: Sums = (nothing, nothing)
        for group in view.row_groups():
            found = self.add(found, key_counts(self.keys_of(group)))
        return found

    def add(self, one: Sums, other: Sums) -> Sums:
        """The sums over the rows of both."""
        keys, place = np.unique(np.concatenate([one[0], other[0]]), return_inverse=True)
        if 16 * len(keys) > self._most:
            raise SettingError(
                f"A table has more than {len(keys)} cells that occur, which is more than "
                "memory has room for: limit max_boundary, group levels, or raise the limit if it "
                "was set"
            )
        counts = np.zeros(len(keys), dtype=np.int64)
        np.add.at(counts, place, np.concatenate([one[1], other[1]]))
        return keys, counts


def key_counts(keys: Ints) -> Sums:
    """The keys that occur, in order, and how often."""
    least = int(keys.min(initial=0))
    span = int(keys.max(initial=0)) - least
    if span <= CROWDED * len(keys):
        counts = np.bincount(keys - least, minlength=1)
        found = np.flatnonzero(counts)
        return found + least, counts[found]
    found, counts = np.unique(keys, return_counts=True)
    return found, counts.astype(np.int64)
