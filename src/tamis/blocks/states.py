"""The joint states of columns, found by going through the blocks row by row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from tamis.blocks.kernels import decode
from tamis.blocks.packed import PackedTable
from tamis.counts.compiled import Codes, Ints
from tamis.errors import SettingError

ROWS_AT_ONCE = 2**20
"""Rows whose states are held at once."""
ROW_BYTES = 128
"""Of the limit for each of them: keys, cells and codes, in several threads."""
LARGEST_KEY = 2**62


class Group(NamedTuple):
    """Some blocks of a table, as rows."""

    table: PackedTable
    start: int
    stop: int
    n_rows: int

    def codes(self, k: int) -> Codes:
        """The level of column k in each row."""
        file, place = self.table.file, self.table.positions[k]
        if not self.table.planed[k]:
            return file.codes(place, self.start, self.stop)[: self.n_rows]
        found = np.empty((self.stop - self.start) * file.layout.block_rows, dtype=np.uint8)
        arity = int(self.table.arities[k])
        decode(file.words(self.start, self.stop), int(self.table.first[k]), arity, found)
        return found[: self.n_rows]


class States:
    """The states of columns that occur, numbered in the order of their levels, with their rows."""

    def __init__(self, columns: tuple[int, ...], before: States | None, arities: list[int]) -> None:
        self.columns = columns
        self._before = before
        self._arities = arities
        self.size = 1 if before is None else before.n_states
        for k in columns:
            self.size *= arities[k]
        self.keys: Ints = np.zeros(0, dtype=np.int64)
        """The mixed-radix numbers of the states that occur."""
        self._numbers: Ints | None = None
        self.counts: Ints = np.zeros(0, dtype=np.int64)

    @property
    def n_states(self) -> int:
        """How many states occur."""
        return len(self.counts)

    def keys_of(self, group: Group) -> Ints:
        """Mixed-radix numbers of all states, whether they occur or not."""
        if self._before is None:
            keys = np.zeros(group.n_rows, dtype=np.int64)
        else:
            keys = self._before.numbers_of(group)
        for k in self.columns:
            keys *= self._arities[k]
            keys += group.codes(k)
        return keys

    def numbers_of(self, group: Group) -> Ints:
        """The number of the state of each row."""
        keys = self.keys_of(group)
        if self._numbers is not None:
            return self._numbers[keys]
        return np.searchsorted(self.keys, keys).astype(np.int64)

    def settle_dense(self, counts: Ints) -> None:
        """Number the states whose counts are not 0."""
        present = counts > 0
        self._numbers = np.cumsum(present, dtype=np.int64) - 1
        self.keys = np.flatnonzero(present)
        self.counts = counts[present]

    def settle_sparse(self, keys: Ints, counts: Ints) -> None:
        """Number these states."""
        self.keys, self.counts = keys, counts


class Merging:
    """Keys and how often they occur, put together from the rows of one group after the other."""

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self.keys: Ints = np.zeros(0, dtype=np.int64)
        self.counts: Ints = np.zeros(0, dtype=np.int64)

    def add(self, keys: Ints) -> None:
        """Count these keys."""
        fresh, counts = np.unique(keys, return_counts=True)
        together = np.concatenate([self.keys, fresh])
        self.keys, place = np.unique(together, return_inverse=True)
        both = np.concatenate([self.counts, counts])
        # Counts are exact as floats far beyond any number of rows.
        self.counts = np.bincount(place, weights=both).astype(np.int64)
        if 16 * len(self.keys) > self._most:
            raise SettingError(
                f"A table has more than {len(self.keys)} cells that occur, which is more than the "
                "memory limit has room for: raise it, limit max_boundary, or group levels"
            )


def row_groups(table: PackedTable, columns: int = 1) -> Iterator[Group]:
    """All rows in order, some blocks at a time; fewer if many columns are decoded at once."""
    working = table.working_bytes
    rows = min(ROWS_AT_ONCE, working // ROW_BYTES, working // 8 // columns)
    most = max(1, rows // table.file.layout.block_rows)
    for start, stop in table.file.groups(min(most, table.blocks_at_once)):
        yield Group(table, start, stop, table.file.rows_in(start, stop))
