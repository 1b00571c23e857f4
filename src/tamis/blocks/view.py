"""The columns of a table as a pass over its blocks sees them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis.blocks.kernels import decode
from tamis.blocks.store import Store
from tamis.counts.compiled import Codes

ROWS_AT_ONCE = 2**20
"""Rows whose states are held at once."""
ROW_BYTES = 128
"""Of the limit for each of them: keys, cells and codes, in several threads."""


class View:
    """Some columns of a store of blocks, within a limit of memory."""

    def __init__(
        self, store: Store, positions: tuple[int, ...], working_bytes: int, n_jobs: int = 1
    ) -> None:
        self.store = store
        self.positions = positions
        """Which columns of the store these are."""
        self.working_bytes = working_bytes
        self.n_jobs = n_jobs

    @cached_property
    def arities(self) -> NDArray[np.int64]:
        """The number of levels of each column."""
        return np.array(self.store.layout.arities, dtype=np.int64)[list(self.positions)]

    @cached_property
    def first(self) -> NDArray[np.int64]:
        """The first plane of each column."""
        return self.store.layout.first[list(self.positions)]

    @cached_property
    def planed(self) -> NDArray[np.bool_]:
        """Which columns have planes."""
        return self.store.layout.planed[list(self.positions)]

    @property
    def n_planes(self) -> int:
        """The planes of the store, those of other columns included."""
        return self.store.layout.n_planes

    @property
    def blocks_at_once(self) -> int:
        """The blocks that a quarter of the memory has room for."""
        return max(1, self.working_bytes // 4 // max(self.store.layout.block_bytes, 1))

    def groups(self) -> Iterator[tuple[int, int]]:
        """All blocks in order, some at a time."""
        return self.store.groups(self.blocks_at_once)

    def row_groups(self) -> Iterator[Group]:
        """All rows in order, some blocks at a time."""
        rows = min(ROWS_AT_ONCE, self.working_bytes // ROW_BYTES)
        most = max(1, rows // self.store.layout.block_rows)
        for start, stop in self.store.groups(min(most, self.blocks_at_once)):
            yield Group(self, start, stop, self.store.rows_in(start, stop))


class Group(NamedTuple):
    """Some blocks of a table, as rows."""

    view: View
    start: int
    stop: int
    n_rows: int

    def codes(self, k: int) -> Codes:
        """The level of column k in each row."""
        store, place = self.view.store, self.view.positions[k]
        if not self.view.planed[k]:
            return store.codes(place, self.start, self.stop)[: self.n_rows]
        found = np.empty((self.stop - self.start) * store.layout.block_rows, dtype=np.uint8)
        arity = int(self.view.arities[k])
        decode(store.words(self.start, self.stop), int(self.view.first[k]), arity, found)
        return found[: self.n_rows]
