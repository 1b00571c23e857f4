"""A long table in memory, counted block by block: its planes do not fit the processor's cache."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tamis.blocks.held import HeldPlanes
from tamis.blocks.information import open_blocks
from tamis.blocks.packed import DEFAULT_MEMORY, PROGRAM_BYTES, BlockTable, Counted
from tamis.blocks.passes import Pass, Sums
from tamis.blocks.view import View
from tamis.counts.interactions import MOST_BYTES
from tamis.information.estimators import AnyEstimator
from tamis.information.interface import Source
from tamis.tables.table import Table

LONG = 2**17
ROWS_A_COLUMN = 3000
"""With so many rows, and so many for each column, blocks win; with fewer, folding the tables of a
block apart from counting them costs more than the cache gains. Measured by
`python -m benchmarks.long_tables`."""


class LongTable(BlockTable):
    """The planes of a table of levels in memory, in blocks."""

    held: HeldPlanes
    working_bytes = DEFAULT_MEMORY - PROGRAM_BYTES

    def __init__(self, table: Table) -> None:
        arities = tuple(table.arities.tolist())
        held = HeldPlanes.of(table.n_rows, arities, [list(table.codes)])
        self._settle(table.names, table.levels, held=held, counted=Counted("memory", 1))

    @property
    def set_bytes(self) -> int:
        """No limit of its own: how far ahead is looked must not depend on the way of counting."""
        return 24 * MOST_BYTES

    @property
    def where(self) -> str:
        """Where the rows are, in words."""
        return "this table"

    @property
    def n_rows(self) -> int:
        """The paper's n."""
        return self.held.layout.rows

    @property
    def n_planes(self) -> int:
        """All planes."""
        return self.held.layout.n_planes

    @property
    def first(self) -> NDArray[np.int64]:
        """The first plane of each column."""
        return self.held.layout.first[:-1]

    def total(self, passes: Sequence[Pass], n_jobs: int) -> list[Sums]:
        """What each pass finds over all rows."""
        view = View(self.held, tuple(range(self.n_variables)), self.working_bytes, n_jobs)
        return [one.over(view) for one in passes]


def is_long(table: Table) -> bool:
    """Whether a table in memory is better counted in blocks."""
    whole = not table.missing and table.weights is None
    return whole and table.n_rows >= max(LONG, ROWS_A_COLUMN * table.n_variables)


def open_long(table: Table, estimator: AnyEstimator, n_jobs: int | None) -> Source:
    """The counts of a long table: the same numbers, sooner."""
    return open_blocks(LongTable(table), estimator, n_jobs)
