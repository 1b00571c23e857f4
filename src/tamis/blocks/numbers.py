"""What one pass over the rows tells of numbers: the kind of each column, and their moments.

All of it adds over rows. A part of a table is looked at wherever its rows are, the summary is small
and can be sent, and summaries are merged in the order of the parts. Columns go by their names in
order, so that the order of the user's columns plays no part in any rounding.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from tamis.blocks.streams import Batch, Stream
from tamis.errors import DataError
from tamis.information.interface import Floats
from tamis.information.moments import Moments
from tamis.information.shrinkage import spread_of_products
from tamis.tables.refusals import ColumnRefused, Problem, at_row
from tamis.tables.table import Label

BLOCK_CELLS = 2**19
"""Numbers that are summed at a time: few enough to stay in the cache."""
BLOCK_ROWS = 2**10
"""The rows of a block of many columns, at least: fewer would not be worth a merge."""

Place = int | str
"""A row, counting from the first of the part, or words that say where it stands."""

Heard = Callable[[int], None]
"""Told how many rows have passed."""


class Taken(NamedTuple):
    """What a column turned out to be: numbers that are measured, or levels if it has any."""

    levels: tuple[Label, ...]
    example: object
    crowded: bool = False
    """Measured because its whole numbers are more than can be counted in blocks."""

    @property
    def is_continuous(self) -> bool:
        """Whether it has no levels."""
        return not self.levels

    @property
    def is_numeric(self) -> bool:
        """Whether a table in memory would take it for numbers without being told."""
        return self.is_continuous or type(self.levels[0]) is int


class NumberColumn(ABC):
    """One column while its rows pass by: what must be known to tell numbers from labels."""

    def __init__(self) -> None:
        self.rows = 0
        self.n_missing = 0
        self.first_missing: Place = 0
        self.infinite: Place | None = None
        """Where an infinite value was seen."""
        self.fraction: object = None
        """A number that is not whole, or too large to be a level: then all are measured."""

    def look(self, cells: Any, batch: Batch) -> Floats | None:  # noqa: ANN401 - what a batch holds
        """Take notice of these rows; their numbers, if all of them have one that is finite."""
        found = self._look(cells, batch) if batch.n_rows else np.zeros(0)
        self.rows += batch.n_rows
        return found

    def merge(self, later: Self) -> Self:
        """What is known of the rows of both; this one's come first."""
        merged = type(self)()
        merged.rows = self.rows + later.rows
        merged.n_missing = self.n_missing + later.n_missing
        merged.first_missing = (
            self.first_missing if self.n_missing else self._moved(later.first_missing)
        )
        moved = None if later.infinite is None else self._moved(later.infinite)
        merged.infinite = moved if self.infinite is None else self.infinite
        merged.fraction = later.fraction if self.fraction is None else self.fraction
        self._merge(later, merged)
        return merged

    def settle(self, n_rows: int) -> Taken:
        """What the column is, in a table of so many rows; raises ``ColumnRefused``."""
        if self.n_missing:
            where = _words(self.first_missing)
            seen = f"is missing in {self.n_missing} of {n_rows} rows (first {where})"
            raise ColumnRefused(Problem.MISSING, seen)
        return self._settle(n_rows)

    @abstractmethod
    def _look(self, cells: Any, batch: Batch) -> Floats | None:  # noqa: ANN401 - what a batch holds
        """The same for at least one row, before they are counted."""

    @abstractmethod
    def _merge(self, later: Self, merged: Self) -> None:
        """Complete what has been merged so far."""

    @abstractmethod
    def _settle(self, n_rows: int) -> Taken:
        """The same, if nothing is missing."""

    def note_missing(self, count: int, where: Place) -> None:
        """Count missing values, and keep where the first of them stands."""
        if not self.n_missing:
            self.first_missing = where
        self.n_missing += count

    def say_where(self, part: str) -> None:
        """Name the part of the table where a value was first missing or infinite."""
        if self.n_missing:
            self.first_missing = f"{_words(self.first_missing)}, in {part}"
        if self.infinite is not None:
            self.infinite = f"{_words(self.infinite)}, in {part}"

    def refuse_infinite(self) -> None:
        """Refuse the column if an infinite value was seen."""
        if self.infinite is not None:
            seen = f"holds an infinite value ({_words(self.infinite)})"
            raise ColumnRefused(Problem.INFINITE, seen)

    def _moved(self, where: Place) -> Place:
        """A place among later rows, counting from the first of these."""
        return where if isinstance(where, str) else where + self.rows


@dataclass(frozen=True, eq=False)
class Numbers:
    """What is known of some rows of a table."""

    names: tuple[str, ...]
    """In order."""
    columns: tuple[NumberColumn, ...]
    moments: Moments | None
    """Of all columns; None where a cell has no number."""

    @property
    def n_rows(self) -> int:
        """How many rows these are."""
        return self.columns[0].rows

    def merge(self, later: Numbers) -> Numbers:
        """What is known of the rows of both; these come first."""
        if later.names != self.names:
            raise DataError("Parts of a table must have the same columns, and these have not.")
        moments = None
        if self.moments is not None and later.moments is not None:
            with np.errstate(over="ignore", invalid="ignore"):
                moments = self.moments.merge(later.moments)
        columns = [a.merge(b) for a, b in zip(self.columns, later.columns, strict=True)]
        return Numbers(self.names, tuple(columns), moments)


def look(stream: Stream, heard: Heard | None = None) -> Numbers:
    """One pass over a table, or over a part of it."""
    names, order = _in_order(stream)
    columns = [stream.growing_numbers() for _ in order]
    moments: Moments | None = Moments.of(np.zeros((len(order), 0)))
    for block in _blocks(_lines(stream, order, columns, heard)):
        if block is None:
            moments = None
        elif moments is not None:
            # Numbers too large to be squared are refused by name when all have passed.
            with np.errstate(over="ignore", invalid="ignore"):
                moments = moments.merge(Moments.of(block))
    return Numbers(names, tuple(columns), moments)


def begins_measured(stream: Stream) -> bool:
    """Whether a number that is not whole is among the first rows: quick, and no proof."""
    _, order = _in_order(stream)
    for batch in stream.batches():
        if not batch.n_rows:
            continue
        columns = [stream.growing_numbers() for _ in order]
        for column, k in zip(columns, order, strict=True):
            column.look(batch.columns[k], batch)
        return any(column.fraction is not None for column in columns)
    return False


def products_in(
    stream: Stream, names: Sequence[str], moments: Moments, heard: Heard | None = None
) -> tuple[int, float]:
    """Another pass, for the shrinkage that the rows suggest: what it needs of this part.

    ``moments`` are those of the whole table, with its columns in the order of ``names``.
    """
    order = [stream.names.index(name) for name in names]
    columns = [stream.growing_numbers() for _ in order]
    standard = moments.standardised(_complete(_blocks(_lines(stream, order, columns, heard))))
    return spread_of_products(standard)


def changed_between() -> DataError:
    """The refusal of a table that is not the same the second time."""
    return DataError(
        "The table changed while it was read: its rows differ between two passes. Learn from it "
        "again when nothing writes to it."
    )


def _in_order(stream: Stream) -> tuple[tuple[str, ...], list[int]]:
    order = sorted(range(len(stream.names)), key=stream.names.__getitem__)
    return tuple(stream.names[k] for k in order), order


def _lines(
    stream: Stream, order: Sequence[int], columns: Sequence[NumberColumn], heard: Heard | None
) -> Iterator[list[Floats] | None]:
    """The numbers of each batch, column by column; None if a cell has no number."""
    n_rows = 0
    for batch in stream.batches():
        found = [
            column.look(batch.columns[k], batch) for column, k in zip(columns, order, strict=True)
        ]
        n_rows += batch.n_rows
        lines = [line for line in found if line is not None]
        yield lines if len(lines) == len(found) else None
        if heard is not None:
            heard(n_rows)


def _blocks(batches: Iterator[list[Floats] | None]) -> Iterator[Floats | None]:
    """Rows in blocks, a column in each line: small batches together, large ones in parts.

    The limit of memory plays no part, so that the same files give the same sums.
    """
    kept: list[Floats] = []
    n_kept = 0
    for lines in batches:
        if lines is None:
            yield None
            continue
        step = max(BLOCK_CELLS // len(lines), BLOCK_ROWS)
        for start in range(0, len(lines[0]), step):
            kept.append(np.array([line[start : start + step] for line in lines]))
            n_kept += kept[-1].shape[1]
            if n_kept >= step:
                yield _joined(kept)
                kept, n_kept = [], 0
    if kept:
        yield _joined(kept)


def _joined(parts: list[Floats]) -> Floats:
    return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)


def _complete(blocks: Iterator[Floats | None]) -> Iterator[Floats]:
    for block in blocks:
        if block is None:
            raise changed_between()
        yield block


def _words(where: Place) -> str:
    return where if isinstance(where, str) else at_row(where)
