"""A table whose rows the workers of a cluster hold."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tamis.blocks.layout import Layout
from tamis.blocks.packed import DEFAULT_MEMORY, PROGRAM_BYTES, BlockTable, Counted
from tamis.blocks.passes import Pass, Sums
from tamis.cluster.crew import Crew
from tamis.cluster.work import Question, sums_of
from tamis.tables.table import Label

WORKER_BYTES = 2**29
"""What each thread of a worker may take for rows while it counts, beside the tables."""


class ClusterTable(BlockTable):
    """The columns of a table in parts, each held by some worker as planes."""

    crew: Crew
    positions: tuple[int, ...]
    # What is counted, and how far ahead is looked, must not depend on where the rows are.
    working_bytes = DEFAULT_MEMORY - PROGRAM_BYTES

    def __init__(
        self,
        names: Sequence[str],
        levels: Sequence[Sequence[Label]],
        crew: Crew,
        *,
        positions: tuple[int, ...] | None = None,
        counted: Counted | None = None,
        notes: tuple[str, ...] = (),
    ) -> None:
        self._settle(
            names,
            levels,
            crew=crew,
            positions=tuple(range(len(names))) if positions is None else positions,
            counted=counted or Counted("dask", crew.n_parts),
            notes=notes,
        )

    @property
    def where(self) -> str:
        """Where the rows are, in words."""
        return f"the {self.crew.n_parts} parts on the cluster"

    @property
    def n_rows(self) -> int:
        """The paper's n."""
        return self.crew.n_rows

    @cached_property
    def _layout(self) -> Layout:
        return Layout(self.n_rows, 64, self.crew.arities, 0)

    @property
    def n_planes(self) -> int:
        """All planes that the workers hold of a row."""
        return self._layout.n_planes

    @cached_property
    def first(self) -> NDArray[np.int64]:
        """The first plane of each column."""
        return self._layout.first[list(self.positions)]

    def threads(self, n_jobs: int | None) -> int:
        """None but the one that asks."""
        return 1

    def leave(self) -> None:
        """Let go of the rows: the workers forget them, and nothing can be counted any more."""
        self.crew.leave()

    def total(self, passes: Sequence[Pass], n_jobs: int) -> list[Sums]:
        """One round: every worker counts its parts, and their sums are added on the way."""
        found, moved = self.crew.ask(Question(tuple(passes), self.positions, WORKER_BYTES))
        self.counted.note(moved)
        return sums_of(found)

    def select(self, positions: list[int]) -> ClusterTable:
        """The same rows with the columns at these positions, in this order."""
        return ClusterTable(
            [self.names[k] for k in positions],
            [self.levels[k] for k in positions],
            self.crew,
            positions=tuple(self.positions[k] for k in positions),
            counted=self.counted,
            notes=self.notes,
        )
