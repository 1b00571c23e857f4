"""Columns before they are a table: what each reader hands over, encoded where they are present."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from tamis.errors import DataError
from tamis.tables.columns import Column
from tamis.tables.kinds import Told, settled
from tamis.tables.refusals import ColumnRefused, listed, missing, refusal, shown, what_drop_leaves
from tamis.tables.weights import Floats, are_frequencies

Source = TypeVar("Source")
Flags = NDArray[np.bool_]


class Encoding(NamedTuple, Generic[Source]):
    """How a reader turns what it has of a column into levels, and how it picks rows of it."""

    encode: Callable[[Source], Column]
    take: Callable[[Source, Flags], Source]

    def rows_of(self, source: Source, rows: Flags | None) -> Source:
        """These rows of a column, None for all."""
        return source if rows is None else self.take(source, rows)


class Settled(NamedTuple):
    """A column, or why there is none; and where it is missing, if anywhere: the column is then
    that of the other rows."""

    outcome: Column | ColumnRefused
    absent: Flags | None = None


@dataclass(frozen=True)
class Sources(Generic[Source]):
    """Named columns of the same rows, not encoded yet."""

    names: tuple[str, ...]
    columns: Iterable[Source]
    encoding: Encoding[Source]
    n_rows: int
    continuous: bool
    """Whether numbers that cannot be levels are kept as continuous columns."""
    weights: Floats | None = None
    types: Mapping[str, Told] = field(default_factory=dict)
    """The kinds that the user has named, by column."""

    def kept(self) -> Sources[Source]:
        """A copy whose columns can be gone through more than once."""
        return replace(self, columns=list(self.columns))

    def take(self, rows: Flags) -> Sources[Source]:
        """These columns with some of the rows."""
        if rows.all():
            return self
        return replace(
            self,
            columns=[self.encoding.take(column, rows) for column in self.columns],
            n_rows=int(rows.sum()),
            weights=None if self.weights is None else self.weights[rows],
        )

    def with_weights(self, weights: Floats) -> Sources[Source]:
        """These columns with weighted rows."""
        return replace(self, weights=weights)

    def without(self, name: str) -> tuple[Floats, Sources[Source]]:
        """The numbers of one column, and the other columns."""
        if name not in self.names:
            raise DataError(
                f"There is no column {shown(name)} to take the weights from. The columns are "
                f"{listed(map(shown, self.names))}."
            )
        columns = list(self.columns)
        place = self.names.index(name)
        numbers = self._numbers(name, columns.pop(place))
        others = tuple(other for other in self.names if other != name)
        return numbers, replace(self, names=others, columns=columns)

    @property
    def n_counted(self) -> int:
        """The number of rows, each as often as its frequency says."""
        return self._n_counted(None)

    def settle(self) -> list[Column | ColumnRefused]:
        """Every column as the table will hold it, or why it cannot."""
        n_counted = self.n_counted
        return [self._try(one, n_counted, self._told(name)) for name, one in self._named()]

    def settle_present(self) -> list[Settled]:
        """Every column as it is in the rows in which it is not missing."""
        return [self._present(one, self._told(name)) for name, one in self._named()]

    def _named(self) -> Iterable[tuple[str, Source]]:
        return zip(self.names, self.columns, strict=True)

    def _told(self, name: str) -> Told | None:
        return self.types.get(name)

    def _present(self, source: Source, told: Told | None) -> Settled:
        def encode(rows: Flags | None) -> Column:
            chosen = self.encoding.rows_of(source, rows)
            n_counted = self._n_counted(rows)
            return settled(lambda: self.encoding.encode(chosen), n_counted, told, self.continuous)

        return where_present(encode)

    def _n_counted(self, rows: Flags | None) -> int:
        if self.weights is None or not are_frequencies(self.weights):
            return self.n_rows if rows is None else int(rows.sum())
        return int((self.weights if rows is None else self.weights[rows]).sum())

    def _try(self, source: Source, n_counted: int, told: Told | None) -> Column | ColumnRefused:
        try:
            return settled(lambda: self.encoding.encode(source), n_counted, told, self.continuous)
        except ColumnRefused as why:
            return why

    def _numbers(self, name: str, source: Source) -> Floats:
        """A column of weights, missing ones as nan."""
        told = f"Column {shown(name)} cannot hold the weights: "
        found_in = replace(self, continuous=True)._present(source, None)
        found = np.full(self.n_rows, np.nan)
        present = slice(None) if found_in.absent is None else ~found_in.absent
        column = found_in.outcome
        if isinstance(column, ColumnRefused):
            if found_in.absent is not None and found_in.absent.all():
                return found
            raise DataError(f"{told}it {column.seen}. Weights are numbers.")
        if column.numbers is not None:
            found[present] = column.numbers
            return found
        if any(isinstance(label, str) for label in column.levels):
            raise DataError(f"{told}it holds {shown(column.levels[0])}. Weights are numbers.")
        found[present] = np.array(column.levels, dtype=np.float64)[column.codes]
        return found


def where_present(encode: Callable[[Flags | None], Column]) -> Settled:
    """A column in the rows that have it, or why there is none; ``encode`` reads it in these rows,
    None for all. A null and a NaN are found one after the other, so it may take several looks."""
    absent: Flags | None = None
    while True:
        try:
            return Settled(encode(None if absent is None else ~absent), absent)
        except ColumnRefused as why:
            if why.absent is None:
                return Settled(why, absent)
            seen = np.zeros(len(why.absent), dtype=np.bool_) if absent is None else absent.copy()
            seen[np.flatnonzero(~seen)[why.absent]] = True
            absent = seen
        if absent.all():
            return Settled(missing(absent), absent)


def columns_or_refusal(
    names: Sequence[str], outcomes: Sequence[Column | ColumnRefused]
) -> list[Column]:
    """The columns, if none is refused."""
    columns = [one for one in outcomes if not isinstance(one, ColumnRefused)]
    if len(columns) < len(outcomes):
        named = zip(names, outcomes, strict=True)
        refused = [(name, one) for name, one in named if isinstance(one, ColumnRefused)]
        raise DataError(f"{refusal(refused)}{what_drop_leaves(one for _, one in refused)}")
    return columns
