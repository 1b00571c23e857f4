"""The columns of a table as they are found, before anything about them is refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.tables.columns import Column, measure
from tamis.tables.kinds import Told, require_known, settled
from tamis.tables.read import columns_before_typing
from tamis.tables.refusals import ColumnRefused, missing
from tamis.tables.sources import Sources, where_present
from tamis.tables.table import Label

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Found:
    """One column: what its present values are, and what a table would hold of it."""

    name: str
    n_rows: int
    values: Column | ColumnRefused
    """Its levels however many they are, or why it has none."""
    held: Column | ColumnRefused
    """The column as it would be read, or why it would be refused."""
    absent: Flags | None = None
    """Where it is missing, if anywhere: all else is about the other rows."""

    @property
    def n_missing(self) -> int:
        """The number of rows in which it is missing."""
        return 0 if self.absent is None else int(self.absent.sum())

    @property
    def n_present(self) -> int:
        """The number of rows in which it is not."""
        return self.n_rows - self.n_missing

    @property
    def labels(self) -> tuple[Label, ...]:
        """Its different values, sorted; none of a column of numbers with fractions."""
        return () if isinstance(self.values, ColumnRefused) else self.values.levels

    @property
    def texts(self) -> list[str]:
        """Its different values if they are text."""
        return [label for label in self.labels if isinstance(label, str)]

    @cached_property
    def numbers(self) -> NDArray[np.float64] | None:
        """Its values as numbers, if that is what they are; truth values are not."""
        if isinstance(self.values, ColumnRefused):
            return None if self.values.numbers is None else measure(self.values.numbers)
        if not self.labels or type(self.labels[0]) is not int:
            return None
        return np.array(self.labels, dtype=np.float64)[self.values.codes]

    @cached_property
    def n_values(self) -> int:
        """The number of its different values."""
        return len(self.labels) or (0 if self.numbers is None else int(self.codes.max()) + 1)

    @cached_property
    def codes(self) -> NDArray[np.int32]:
        """Its different values by number, in their order; those of fractions too."""
        if isinstance(self.values, Column):
            return self.values.codes.astype(np.int32)
        if self.numbers is None:
            return np.zeros(0, dtype=np.int32)
        return np.unique(self.numbers, return_inverse=True)[1].astype(np.int32)

    def held_as(self, told: Told | None) -> Column | ColumnRefused:
        """The column as it would be read if this were told of it."""
        return _held(self.values, self.n_present, told)


def look_at(data: object, types: Mapping[str, Told]) -> list[Found]:
    """The columns of anything that holds a table, each with what was told of it."""
    given = columns_before_typing(data)
    require_known(types, given.names)
    return [
        _found(given, name, source, types.get(name))
        for name, source in zip(given.names, given.columns, strict=True)
    ]


def _found(given: Sources[Any], name: str, source: object, told: Told | None) -> Found:
    if not given.n_rows:
        # Of no rows nobody can say what they are, whatever the type.
        nothing = missing(np.zeros(0, dtype=np.bool_))
        return Found(name, 0, nothing, nothing, None)
    encoding = given.encoding
    values, absent = where_present(
        lambda rows: _with_numbers(lambda: encoding.encode(encoding.rows_of(source, rows)))
    )
    held = _held(values, given.n_rows - (0 if absent is None else int(absent.sum())), told)
    if isinstance(values, ColumnRefused) and values.cells is not None:
        # Dates have levels once they are called categories.
        values = held if isinstance(held, Column) else values
    return Found(name, given.n_rows, values, held, absent)


def _with_numbers(encode: Callable[[], Column]) -> Column:
    """The column; or what is wrong with its numbers, of which some may be missing."""
    try:
        return encode()
    except ColumnRefused as why:
        if why.numbers is not None:
            measure(why.numbers)
        raise


def _held(
    values: Column | ColumnRefused, n_present: int, told: Told | None
) -> Column | ColumnRefused:
    def encode() -> Column:
        if isinstance(values, ColumnRefused):
            raise values
        return values

    try:
        return settled(encode, n_present, told, continuous=True)
    except ColumnRefused as why:
        return why
