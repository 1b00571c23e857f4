"""A pass over the rows of a table: what is summed over its blocks, wherever they are.

A pass is a question without rows. It is run where the blocks are, on the blocks of one part of the
table after the other or of all parts at the same time, and what it finds is added up. Sums are
whole numbers, so that neither the order of the parts nor their sizes make a difference.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis.counting.block_loops import Wanted, add_masked, decode
from tamis.counting.compiled import Codes, Ints, Words
from tamis.counting.counts import laid_out, part_starts, starts_of
from tamis.counting.in_planes import add_pairs
from tamis.counting.sharing import share
from tamis.errors import SettingError
from tamis.tables.planes import Blocks, plane_ones

ROWS_AT_ONCE = 2**20
"""Rows whose states are held at once."""
ROW_BYTES = 128
"""Of the limit for each of them: keys, cells and codes, in several threads."""
CROWDED = 4
"""Keys that span at most this multiple of their number are counted without sorting."""


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

    def groups(self, most_rows: int | None = None) -> Iterator[Group]:
        """All blocks in order, some at a time: so many rows, or what memory has room for."""
        layout = self.blocks.layout
        at_once = max(1, self.working_bytes // 4 // max(layout.block_bytes, 1))
        if most_rows is not None:
            at_once = min(at_once, max(1, most_rows // layout.block_rows))
        for start, stop in self.blocks.groups(at_once):
            yield Group(self, start, stop)

    def row_groups(self) -> Iterator[Group]:
        """All rows in order, as many at a time as their keys leave room for."""
        return self.groups(min(ROWS_AT_ONCE, self.working_bytes // ROW_BYTES))


class Group(NamedTuple):
    """Some blocks of a table."""

    view: View
    start: int
    stop: int

    @property
    def n_rows(self) -> int:
        """The rows of these blocks; the last one may not be full."""
        return self.view.blocks.rows_in(self.start, self.stop)

    @property
    def words(self) -> Words:
        """Their planes: block, plane, word."""
        return self.view.blocks.words(self.start, self.stop)

    def each(self) -> Iterator[Group]:
        """One block after the other."""
        return (Group(self.view, block, block + 1) for block in range(self.start, self.stop))

    def codes(self, k: int) -> Codes:
        """The level of column k in each row."""
        view, blocks = self.view, self.view.blocks
        if not view.planed[k]:
            return blocks.codes(view.positions[k], self.start, self.stop)[: self.n_rows]
        found = np.empty((self.stop - self.start) * blocks.layout.block_rows, dtype=np.uint8)
        decode(self.words, int(view.first[k]), int(view.arities[k]), found)
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


def count_pairs(blocks: Words, pairs: Any, n_jobs: int) -> None:  # noqa: ANN401 - of any width
    """Add the rows of each pair of planes, in both orders."""

    def part(first: int, last: int) -> None:
        for words in blocks:
            add_pairs(words, first, last, pairs)

    # Row p has n_planes - p pairs: equal work means unequal shares of the rows.
    n_planes = len(pairs)
    work = n_planes**2 * blocks.shape[0] * blocks.shape[2] // 2
    share(n_jobs, n_planes, work, part, power=0.5, falling=True)


class PlaneRows(Pass):
    """The rows of each plane and, if wanted, of each pair of planes."""

    def __init__(self, with_pairs: bool) -> None:
        self._with_pairs = with_pairs

    def over(self, view: View) -> Sums:
        """The sums over the rows of this view."""
        n = view.blocks.layout.n_planes
        ones, pairs = (
            np.zeros(shape, dtype=np.int64) for shape in (n, (n * self._with_pairs,) * 2)
        )
        for group in view.groups():
            ones += plane_ones(group.words)
            count_pairs(group.words, pairs, view.n_jobs)
        return ones, pairs


class Masked(Pass):
    """The cells of contexts, alone and with each plane of their candidates; None as candidates
    means all other columns."""

    def __init__(
        self,
        sets: Sequence[tuple[int, ...]],
        candidates: Sequence[Ints | None],
        arities: Ints,
        with_pairs: bool,
    ) -> None:
        self._sets = sets
        self._arities = arities
        self._with_pairs = with_pairs
        self._candidates = [
            self._others(one) if some is None else some.astype(np.int64, copy=False)
            for one, some in zip(sets, candidates, strict=True)
        ]

    @cached_property
    def wanted(self) -> Wanted:
        """Sets and candidates end to end, where each begins, and where its sums do."""
        flat = np.concatenate([np.zeros(0, dtype=np.int64), *self._candidates])
        pairs = zip(self._sets, self._candidates, strict=True)
        sizes = np.array([self._n_sums(*pair) for pair in pairs], dtype=np.int64)
        return *laid_out(self._sets), flat, part_starts(self._candidates), starts_of(sizes)

    def _n_sums(self, one: tuple[int, ...], candidates: Ints) -> int:
        """A row for each cell of a set that is counted: alone, and with each plane."""
        sizes: list[int] = self._arities[list(one)].tolist()
        singles = sum(sizes) - len(sizes)
        rows = math.prod(sizes) - 1 - (singles if self._with_pairs else 0)
        return rows * (1 + int((self._arities[candidates] - 1).sum()))

    @property
    def size(self) -> int:
        """The number of sums; without any no rows are needed."""
        return int(self.wanted[-1][-1])

    def over(self, view: View) -> Sums:
        """Threads share the blocks, and each has sums of its own."""
        size = self.size
        sums = np.zeros(size, dtype=np.int64)
        one_at_a_time = Lock()
        for group in view.groups():
            blocks = group.words

            def part(i: int, j: int, blocks: Words = blocks) -> None:
                own = np.zeros(size, dtype=np.int64)
                add_masked(
                    blocks[i:j], view.first, view.arities, self._with_pairs, self.wanted, own
                )
                with one_at_a_time:
                    np.add(sums, own, out=sums)

            share(view.n_jobs, len(blocks), len(blocks) * size * blocks.shape[2], part)
        return (sums,)

    def __reduce__(self) -> tuple[Any, ...]:
        """Most contexts are asked about all other columns, which need not be listed to travel."""
        few = [
            None if np.array_equal(some, self._others(one)) else some.astype(np.int32)
            for one, some in zip(self._sets, self._candidates, strict=True)
        ]
        return Masked, (self._sets, few, self._arities, self._with_pairs)

    def _others(self, one: tuple[int, ...]) -> Ints:
        return np.delete(np.arange(len(self._arities)), list(one))
