"""A column of arrow while its rows pass by: numbers, truth values or labels."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tamis.blocks.numbers import NumberColumn, Taken
from tamis.blocks.streams import MOST_LEVELS, Batch
from tamis.information.interface import Floats
from tamis.tables.columns import Column, encode_floats, encode_integers, too_many_levels
from tamis.tables.frames import encode_series
from tamis.tables.refusals import ColumnRefused, Problem, shown


class ArrowNumbers(NumberColumn):
    """Kept are the distinct whole numbers while they may be levels, and one of the labels."""

    def __init__(self) -> None:
        super().__init__()
        self._kind: type | None = None
        """int for all numbers, bool, or str."""
        self._example: object = None
        self._levels: set[Any] = set()
        self._crowded = False
        """Whether there were more levels than can be counted."""
        self._exact = False
        """Whether there are decimals, which are no levels."""
        self._named = False
        """Whether whole numbers are categories, which cannot be measured."""
        self._refused: tuple[Problem, str] | None = None

    def _look(self, cells: Any, batch: Batch) -> Floats | None:  # noqa: ANN401 - a column of arrow
        import pyarrow as pa

        if pa.types.is_decimal(cells.type):
            self._exact = True
            cells = cells.cast(pa.float64())
        is_number = pa.types.is_integer(cells.type) or pa.types.is_floating(cells.type)
        absent = np.asarray(cells.is_null(nan_is_null=is_number).to_numpy(), dtype=np.bool_)
        if absent.any():
            self.note_missing(int(absent.sum()), self.rows + int(absent.argmax()))
            return None
        if self._refused is not None:
            return None
        return self._numbers(cells.to_numpy()) if is_number else self._others(cells)

    def _numbers(self, values: NDArray[Any]) -> Floats | None:
        self._meet(int, values[0].item())
        infinite = np.isinf(values) if values.dtype.kind == "f" else np.zeros(1, dtype=np.bool_)
        if infinite.any():
            self.infinite = (
                self.rows + int(infinite.argmax()) if self.infinite is None else self.infinite
            )
            return None
        if self.fraction is None:
            self._find_levels(values)
        return values.astype(np.float64, copy=False)

    def _find_levels(self, values: NDArray[Any]) -> None:
        floats = values.dtype.kind == "f"
        if self._crowded and not floats:
            return
        try:
            column = encode_floats(values) if floats else encode_integers(values)
        except ColumnRefused:
            # Finite numbers can only be not whole, or whole and beyond 64 bits.
            odd = np.trunc(values) != values
            self.fraction = values[(odd if odd.any() else np.abs(values)).argmax()].item()
            self._levels = set()
            return
        self._add(column)

    def _others(self, cells: Any) -> Floats | None:  # noqa: ANN401 - a column of arrow
        if self._kind is str:
            return None
        try:
            column = encode_series(cells)
        except ColumnRefused as why:
            self._refused = (why.problem, why.seen)
            return None
        kind = type(column.levels[0])
        self._meet(kind, column.levels[0])
        if kind is str:
            return None
        self._named |= kind is int
        self._add(column)
        return np.array(column.levels, dtype=np.float64)[column.codes]

    def _meet(self, kind: type, example: object) -> None:
        """Refuse the column if its files do not agree on what it is."""
        if self._kind is None:
            self._kind, self._example = kind, example
        elif kind is not self._kind and self._refused is None:
            pair = f"{shown(self._example)} and {shown(example)}"
            self._refused = (
                Problem.MIXED, f"has values of several types between its files, {pair}"
            )  # fmt: skip

    def _add(self, column: Column) -> None:
        if self.fraction is None and not self._crowded:
            self._levels.update(column.levels)
            self._limit()

    def _limit(self) -> None:
        if len(self._levels) > MOST_LEVELS:
            self._levels, self._crowded = set(), True

    def _merge(self, later: Self, merged: Self) -> None:
        merged._refused = self._refused or later._refused
        for one in (self, later):
            if one._kind is not None:
                merged._meet(one._kind, one._example)
        merged._crowded = self._crowded or later._crowded
        merged._exact = self._exact or later._exact
        merged._named = self._named or later._named
        if merged.fraction is None and not merged._crowded:
            merged._levels = self._levels | later._levels
            merged._limit()

    def _settle(self, n_rows: int) -> Taken:
        if self._refused is not None:
            raise ColumnRefused(*self._refused)
        self.refuse_infinite()
        if self._kind is str:
            return Taken((str(self._example),), self._example)
        if self.fraction is not None:
            return Taken((), self.fraction)
        n_levels = MOST_LEVELS + 1 if self._crowded else len(self._levels)
        if self._crowded or too_many_levels(n_levels, n_rows):
            if self._named:
                raise ColumnRefused(Problem.IDENTIFIER, f"has {n_levels} levels or more")
            return Taken((), self._example, crowded=not too_many_levels(n_levels, n_rows))
        if self._exact:
            raise ColumnRefused(Problem.UNSUPPORTED, "holds values of type Decimal")
        return Taken(tuple(sorted(self._levels)), self._example)
