"""Columns whose rows pass by in batches: what must be known to say what each is, in little memory.

A part of a table is looked at wherever its rows are; what is known of parts is small, can be sent,
and is merged in their order. Batches are read by the encoders of columns in memory, and so a column
is settled here as it is there; then its rows can be encoded in a second pass.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from copy import copy
from datetime import date
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tamis.errors import DataError
from tamis.tables.columns import (
    Codes,
    Column,
    date_texts,
    encode_array,
    encode_cells,
    infinite,
    too_many_levels,
)
from tamis.tables.frames import arrow_of, encode_series, numbers_of, order_of
from tamis.tables.kinds import Told, settled
from tamis.tables.refusals import ColumnRefused, Problem, at_row, empty, shown
from tamis.tables.table import Label
from tamis.tables.text import Holds, distinct, encode_texts, held_by, is_missing, numbers_in

MOST_LEVELS = 2**16
"""A column with more levels than this is no column to count."""

Place = int | str
"""A row, counting from the first of the part, or words that say where it stands."""
Where = Callable[[int], Place]
Floats = NDArray[np.float64]


class GrowingColumn(ABC):
    """One column while its rows pass by. A column that cannot be taken keeps the reason."""

    def __init__(self) -> None:
        self.rows = 0
        self.refused: ColumnRefused | None = None
        self._n_missing = 0
        self._first_missing: Place = 0
        self._infinite: Place | None = None
        """Where an infinite value was seen."""
        self._values: dict[Any, int] = {}
        """Its different values in the order in which they were met, while they are few."""
        self._crowded = False
        self._ranks: Codes = np.zeros(0, dtype=np.uint32)
        """The code of each value, once the column is settled."""

    def look(self, cells: Any, place: Where, *, numbers: bool = False) -> Floats | None:  # noqa: ANN401
        """Take notice of these rows; their numbers, if all of them have one that is finite, and if
        they are wanted."""
        found = self._look(cells, place, numbers) if len(cells) else np.zeros(0)
        self.rows += len(cells)
        return found

    def merge(self, later: Self) -> Self:
        """What is known of the rows of both; this one's come first."""
        merged = copy(self)
        merged.rows = self.rows + later.rows
        merged.refused = self.refused or later.refused
        merged._n_missing = self._n_missing + later._n_missing
        if not self._n_missing:
            merged._first_missing = self._moved(later._first_missing)
        if self._infinite is None and later._infinite is not None:
            merged._infinite = self._moved(later._infinite)
        merged._crowded = self._crowded or later._crowded
        merged._values = dict(self._values)
        merged._merge(later)
        merged._add(later._values)
        return merged

    def say_where(self, part: str) -> None:
        """Name the part of the table where the first trouble was."""
        if self._n_missing:
            self._first_missing = f"{_words(self._first_missing)}, in {part}"
        if self._infinite is not None:
            self._infinite = f"{_words(self._infinite)}, in {part}"
        if self.refused is not None:
            self.refused = ColumnRefused(self.refused.problem, f"{self.refused.seen} (in {part})")

    def settle(self, n_rows: int, told: Told | None, continuous: bool) -> Column:
        """The column of all these rows, without their codes; raises ``ColumnRefused``."""
        if self._n_missing == n_rows > 0:
            raise ColumnRefused(Problem.NOTHING, empty(n_rows))
        if self._n_missing:
            where = _words(self._first_missing)
            seen = f"is missing in {self._n_missing} of {n_rows} rows (first {where})"
            raise ColumnRefused(Problem.MISSING, seen)
        if self.refused is not None:
            raise self.refused
        column = settled(lambda: self._column(n_rows), n_rows, told, continuous)
        self._ranks = column.codes.astype(np.uint32)
        return column

    def encode(self, cells: Any) -> Codes:  # noqa: ANN401 - a column of a batch
        """The codes of these rows, once the column is settled and has levels."""
        if not len(cells):
            return np.zeros(0, dtype=np.uint32)
        try:
            codes, values = self._distinct(cells)
            places = np.array([self._values[value] for value in values])
        except (ColumnRefused, KeyError) as error:
            raise changed() from error
        found: Codes = self._ranks[places][codes]
        return found

    def is_crowded(self, n_rows: int) -> bool:
        """Whether the column is one of numbers only because its levels are too many to count."""
        return self._crowded and not too_many_levels(MOST_LEVELS + 1, n_rows)

    @property
    @abstractmethod
    def is_measured(self) -> bool:
        """Whether numbers were seen that are not whole."""

    @abstractmethod
    def _look(self, cells: Any, place: Where, numbers: bool) -> Floats | None:  # noqa: ANN401
        """Look at the cells of at least one row, before they are counted."""

    @abstractmethod
    def _merge(self, later: Self) -> None:
        """Take over what else is known of later rows."""

    @abstractmethod
    def _distinct(self, cells: Any) -> tuple[NDArray[Any], Sequence[Any]]:  # noqa: ANN401
        """The values of these rows, and which of them each row has."""

    @abstractmethod
    def _column(self, n_rows: int) -> Column:
        """The column of the values, one after the other."""

    def _add(self, values: Collection[Any]) -> None:
        if self._crowded:
            return
        if len(values) <= MOST_LEVELS:
            for value in values:
                self._values.setdefault(value, len(self._values))
        if max(len(values), len(self._values)) > MOST_LEVELS:
            self._crowd(values)

    def _crowd(self, values: Collection[Any]) -> None:
        """Give up the values, these included."""
        self._crowded = True
        self._values = {}

    def _note_missing(self, absent: NDArray[np.bool_], where: Callable[[int], Place]) -> None:
        """Missing values are counted to the end, as they are in a table read at once."""
        if not self._n_missing:
            self._first_missing = where(int(absent.argmax()))
        self._n_missing += int(absent.sum())

    def _moved(self, where: Place) -> Place:
        """A place among later rows, counting from the first of these."""
        return where if isinstance(where, str) else where + self.rows


class TypedColumn(GrowingColumn):
    """A column whose values have a type: of arrow, or of a data frame."""

    def __init__(self) -> None:
        super().__init__()
        self._kind: type | None = None
        """int for all numbers, bool, str, or date for all that has to do with time."""
        self._example: object = None
        self._fraction: ColumnRefused | None = None
        """Why numbers have no levels."""
        self._exact = False
        """Whether there are decimals, which are no levels."""
        self._named = False
        """Whether whole numbers are categories, which are no quantities."""
        self._dates: ColumnRefused | None = None
        """Why values have no levels unless they are called categories."""
        self._order: tuple[Label, ...] | None = None

    @property
    def is_measured(self) -> bool:
        """Whether numbers were seen that are not whole."""
        return self._fraction is not None

    def settle(self, n_rows: int, told: Told | None, continuous: bool) -> Column:
        """The column of all these rows, without their codes; raises ``ColumnRefused``."""
        if self._dates is not None and told in (None, "number"):
            raise self._dates
        return super().settle(n_rows, told, continuous)

    def _look(self, cells: Any, place: Where, numbers: bool) -> Floats | None:  # noqa: ANN401
        values = numbers_of(cells)
        if values is None:
            return self._look_at_labels(cells, place)
        self._exact |= _is_decimal(cells)
        return self._look_at_numbers(values, place)

    def _look_at_numbers(self, values: NDArray[Any], place: Where) -> Floats | None:
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            absent = np.isnan(values)
            if absent.any():
                self._note_missing(absent, place)
            elif self._infinite is None:
                self._infinite = place(int(np.isinf(values).argmax()))
            return None
        self._meet(int, values[0].item())
        if not self._crowded or (self._fraction is None and values.dtype.kind == "f"):
            _, found = self._distinct_numbers(values)
            self._add(found)
        return values.astype(np.float64, copy=False)

    def _look_at_labels(self, cells: Any, place: Where) -> Floats | None:  # noqa: ANN401
        try:
            column = self._labelled(cells)
        except ColumnRefused as why:
            if why.absent is not None:
                self._note_missing(why.absent, place)
            else:
                self.refused = self.refused or why
            return None
        kind = type(column.levels[0]) if self._dates is None else date
        self._named |= kind is int
        self._meet(kind, column.levels[0], order_of(cells))
        self._add(column.levels)
        if kind in (str, date):
            return None
        values: Floats = np.array(column.levels, dtype=np.float64)[column.codes]
        return values

    def _labelled(self, cells: Any) -> Column:  # noqa: ANN401 - a column of a batch
        try:
            return encode_series(cells)
        except ColumnRefused as why:
            if why.cells is None:
                raise
            self._dates = self._dates or ColumnRefused(why.problem, why.seen)
            return encode_cells(date_texts(why.cells))

    def _meet(self, kind: type, example: object, order: tuple[Label, ...] | None = None) -> None:
        """Refuse the column if its parts do not agree on what it is."""
        if self._kind is None:
            self._kind, self._example, self._order = kind, example, order
        elif kind is not self._kind:
            pair = f"{shown(self._example)} and {shown(example)}"
            self._refuse(f"has values of several types between its files, {pair}")
        elif order != self._order:
            self._refuse("has ordered categories that are not the same in all its parts")

    def _refuse(self, seen: str) -> None:
        self.refused = self.refused or ColumnRefused(Problem.MIXED, seen)

    def _merge(self, later: Self) -> None:
        if later._kind is not None:
            self._meet(later._kind, later._example, later._order)
        self._fraction = self._fraction or later._fraction
        self._exact |= later._exact
        self._named |= later._named
        self._dates = self._dates or later._dates

    def _distinct(self, cells: Any) -> tuple[NDArray[Any], Sequence[Any]]:  # noqa: ANN401
        values = numbers_of(cells)
        if values is not None:
            return self._distinct_numbers(values)
        column = self._labelled(cells)
        return column.codes, column.levels

    def _distinct_numbers(self, values: NDArray[Any]) -> tuple[NDArray[Any], Sequence[Any]]:
        try:
            column = encode_array(values)
        except ColumnRefused as why:
            self._fraction = self._fraction or ColumnRefused(why.problem, why.seen)
            found, codes = np.unique(values, return_inverse=True)
            return codes, found.tolist()
        return column.codes, column.levels

    def _column(self, n_rows: int) -> Column:
        if self._infinite is not None:
            raise infinite(_words(self._infinite))
        found: list[Any] = list(self._values)
        if self._dates is not None and found:
            raise ColumnRefused(self._dates.problem, self._dates.seen, cells=found)
        quantities = self._kind is int and not self._named
        if self._exact:
            many = too_many_levels(len(found), n_rows)
            numbers = np.array(found, dtype=np.float64) if many or self._fraction else None
            raise ColumnRefused(Problem.UNSUPPORTED, "holds values of type Decimal", numbers)
        if self._fraction is not None or self._crowded:
            numbers = np.array([*found, 0], dtype=np.float64)[: max(len(found), 1)]
            why = self._fraction or _too_many()
            raise ColumnRefused(why.problem, why.seen, numbers if quantities else None)
        order = {label: k for k, label in enumerate(self._order or sorted(found))}
        levels = tuple(sorted(found, key=order.__getitem__))
        rank = {level: k for k, level in enumerate(levels)}
        codes = np.array([rank[value] for value in found], dtype=np.uint32)
        numbers = np.array(found, dtype=np.float64) if quantities else None
        return Column(levels, codes, numbers, "category" if self._order is None else "ordinal")


class GrowingText(GrowingColumn):
    """A column of text: whether its cells are numbers is known when all have passed."""

    def __init__(self) -> None:
        super().__init__()
        self._holds = Holds()
        """What there is among cells that were too many to be kept."""

    @property
    def is_measured(self) -> bool:
        """Whether numbers were seen that are not whole, among numbers only."""
        holds = self._holds.merge(_held(self._values))
        return holds.fraction and not holds.label

    def _look(self, cells: Any, place: Where, numbers: bool) -> Floats | None:  # noqa: ANN401
        values = numbers_in(cells) if numbers or self._crowded else None
        finite = values is not None and np.isfinite(values).all()
        if values is not None and self._crowded:
            self._holds = self._holds.merge(held_by(cells, values))
            return values if finite else None
        codes, texts = distinct(cells)
        markers = [code for code, text in enumerate(texts) if is_missing(text)]
        if markers:
            self._note_missing(np.isin(codes, markers), place)
            texts = [text for text in texts if not is_missing(text)]
        self._add(texts)
        return values if finite else None

    def _add(self, values: Collection[str]) -> None:
        if self._crowded:
            self._holds = self._holds.merge(_held(values))
        super()._add(values)

    def _crowd(self, values: Collection[str]) -> None:
        self._holds = self._holds.merge(_held(self._values)).merge(_held(values))
        super()._crowd(values)

    def _merge(self, later: Self) -> None:
        self._holds = self._holds.merge(later._holds)
        if self._crowded and self._values:
            self._crowd(self._values)

    def _distinct(self, cells: Any) -> tuple[NDArray[Any], Sequence[Any]]:  # noqa: ANN401
        return distinct(cells)

    def _column(self, n_rows: int) -> Column:
        if not self._crowded:
            return encode_texts(np.arange(len(self._values)), list(self._values), n_rows)
        holds = self._holds
        if holds.label or (holds.code and not holds.fraction):
            raise _too_many()
        if holds.infinite:
            raise infinite("such as inf or 1e999")
        raise ColumnRefused(_too_many().problem, _too_many().seen, np.zeros(1))


def _held(texts: Collection[str]) -> Holds:
    if not texts:
        return Holds()
    cells = pa.array(list(texts), pa.string())
    return held_by(cells, numbers_in(cells))


def changed() -> DataError:
    """The refusal of a table that is not the same the second time."""
    return DataError(
        "The table changed while it was read: rows or levels differ between two passes. "
        "Begin again when nothing writes to it."
    )


def _is_decimal(cells: Any) -> bool:  # noqa: ANN401 - a column of a batch
    array = arrow_of(cells)
    return array is not None and bool(pa.types.is_decimal(array.type))


def _too_many() -> ColumnRefused:
    return ColumnRefused(Problem.IDENTIFIER, f"has more than {MOST_LEVELS} levels")


def _words(where: Place) -> str:
    return where if isinstance(where, str) else at_row(where)
