"""A table that comes in batches of rows, more than once: what the packing of it needs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from tamis.errors import DataError, FileFormatError
from tamis.tables.columns import Column
from tamis.tables.levels import check_levels
from tamis.tables.refusals import ColumnRefused, Problem, shown_path
from tamis.tables.table import Label

if TYPE_CHECKING:
    from tamis.blocks.numbers import NumberColumn

MOST_LEVELS = 2**16
"""A column with more levels than this is no column to count."""

Codes = NDArray[np.uint32]


class Batch(NamedTuple):
    """Some rows: their cells, column by column, and where the first of them stands."""

    columns: Sequence[Any]
    n_rows: int
    where: str


class GrowingLevels(ABC):
    """The levels of one column while its rows pass by for the first time; then their codes.

    A column that cannot be levelled keeps the reason, and looks at no more of its rows than the
    reason needs.
    """

    def __init__(self) -> None:
        self.refused: ColumnRefused | None = None
        self._n_missing = 0
        self._first_missing = ""

    @abstractmethod
    def look(self, cells: Any, batch: Batch) -> None:  # noqa: ANN401 - what a batch holds
        """Take notice of the levels of these rows."""

    @abstractmethod
    def labels(self) -> tuple[Label, ...]:
        """All levels seen, in their order."""

    @abstractmethod
    def encode(self, cells: Any) -> Codes:  # noqa: ANN401 - what a batch holds
        """The codes of these rows, once the levels are settled."""

    def merge(self, other: Self) -> None:
        """Take over what was seen of the rows after these, in another part of the table."""
        self._n_missing += other._n_missing
        self._first_missing = self._first_missing or other._first_missing
        self.refused = self.refused or other.refused
        if self.refused is None:
            self._take_over(other)

    @abstractmethod
    def _take_over(self, other: Self) -> None:
        """The levels of the other part."""

    def say_where(self, part: str) -> None:
        """Name the part of the table where the first trouble was."""
        if self._first_missing:
            self._first_missing = f"{self._first_missing}, in {part}"
        if self.refused is not None:
            self.refused = ColumnRefused(self.refused.problem, f"{self.refused.seen} (in {part})")

    def settle(self, n_rows: int) -> tuple[Label, ...]:
        """The levels of the column; raises ``ColumnRefused``."""
        if self._n_missing:
            seen = f"is missing in {self._n_missing} of {n_rows} rows (first {self._first_missing})"
            raise ColumnRefused(Problem.MISSING, seen)
        if self.refused is not None:
            raise self.refused
        levels = self.labels()
        check_levels(Column(levels, np.zeros(0, dtype=np.uint8)), n_rows)
        return levels

    def note_missing(self, count: int, where: str) -> None:
        """Missing values are counted to the end, as they are in a table read at once."""
        self._first_missing = self._first_missing or where
        self._n_missing += count

    def refuse_many(self, n_levels: int) -> None:
        """Refuse the column if it has too many levels to go on."""
        if n_levels > MOST_LEVELS:
            self.refused = ColumnRefused(Problem.IDENTIFIER, f"has more than {MOST_LEVELS} levels")


class Stream(ABC):
    """A table in batches of rows."""

    names: tuple[str, ...]
    expected_rows: int
    """The number of rows, or 0 where only reading them can tell."""
    column_bytes: int = 0
    """What reading holds of each column beside the batches."""

    @abstractmethod
    def batches(self) -> Iterator[Batch]:
        """All rows in order; every call begins again."""

    @abstractmethod
    def parts(self) -> Sequence[Stream]:
        """The same rows as several streams, one after the other: those of each file."""

    @abstractmethod
    def growing_levels(self) -> GrowingLevels:
        """A column about which nothing is known yet."""

    @abstractmethod
    def growing_numbers(self) -> NumberColumn:
        """The same for a column that may hold numbers."""


def unreachable(path: str, error: OSError) -> FileFormatError:
    """The refusal of a file that is not there, or not for us."""
    return FileFormatError(
        f"The file {shown_path(path)} cannot be opened: {error.strerror or 'it is not there'}. "
        "Check the path; on a cluster every worker must reach it under this path."
    )


def changed() -> DataError:
    """The refusal of a table that is not the same the second time."""
    return DataError(
        "The table changed while it was read: rows or levels differ between the two passes. "
        "Begin again when nothing writes to it."
    )
