"""A column of text while its rows pass by; all cells together say whether they are numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np

from tamis.blocks.numbers import NumberColumn, Taken
from tamis.blocks.streams import MOST_LEVELS, Batch
from tamis.information.interface import Floats
from tamis.tables.columns import Column, too_many_levels
from tamis.tables.levels import check_levels
from tamis.tables.refusals import ColumnRefused, Problem
from tamis.tables.text import (
    _CODE,
    _INFINITE,
    _NUMBER,
    MISSING_MARKERS,
    are_quantities,
    labels_of,
)

_PLAIN = re.compile(r"[0-9+\-.eE]*")
"""What `float` takes of such signs, and nothing else of them, is a number in a file too."""


class TextNumbers(NumberColumn):
    """Kept are the distinct cells while they may be levels, and the first that is no number."""

    def __init__(self) -> None:
        super().__init__()
        self._label: str | None = None
        self._number: str | None = None
        """A cell that is a finite number."""
        self._texts: set[str] = set()
        self._crowded = False
        self._code = False
        """Once crowded: whether a cell was no quantity, such as 007."""

    def _look(self, cells: Sequence[str], batch: Batch) -> Floats | None:
        values = None if self._label is not None else _plain_numbers(cells)
        if values is None:
            return self._look_closely(cells, batch)
        self._number = self._number or cells[0]
        if self.fraction is None:
            odd = np.trunc(values) != values
            if odd.any():
                self._measure(cells[int(odd.argmax())])
            else:
                self._add(cells)
        return values

    def _look_closely(self, cells: Sequence[str], batch: Batch) -> Floats | None:
        """Cell by cell, where some are no plain numbers."""
        meant = {text: _meaning(text) for text in dict.fromkeys(cells)}
        n_missing = sum(meant[text] is None for text in cells)
        if n_missing:
            self.note_missing(n_missing, batch.where)
        finite = True
        for text, value in meant.items():
            if isinstance(value, str):
                self._label = self._label or text
                self._texts = set()
            elif value is not None and np.isinf(value):
                finite = False
                self._take_infinite(text, batch)
            elif value is not None:
                self._number = self._number or text
                if not value.is_integer():
                    self._measure(text)
        numbers = [text for text, value in meant.items() if isinstance(value, float)]
        self._add(numbers)
        if n_missing or self._label is not None or not finite:
            return None
        return np.array([meant[text] for text in cells], dtype=np.float64)

    def _take_infinite(self, text: str, batch: Batch) -> None:
        """Infinite by name, or larger than a float: long digits may still be labels."""
        if self.infinite is None:
            self.infinite = batch.where
        written = text.strip()
        if not _INFINITE.fullmatch(written):
            self._number = self._number or text
            if not written.lstrip("+-").isdigit():
                self._measure(text)

    def _measure(self, text: str) -> None:
        self.fraction = text.strip() if self.fraction is None else self.fraction
        self._texts = set()

    def _add(self, texts: Iterable[str]) -> None:
        if self.fraction is not None or self._label is not None:
            return
        if self._crowded:
            self._code = self._code or _any_code(texts)
            return
        self._texts.update(texts)
        self._limit()

    def _limit(self) -> None:
        if len(self._texts) > MOST_LEVELS:
            self._crowded, self._code = True, self._code or _any_code(self._texts)
            self._texts = set()

    def _merge(self, later: Self, merged: Self) -> None:
        merged._label = later._label if self._label is None else self._label
        merged._number = later._number if self._number is None else self._number
        merged._crowded = self._crowded or later._crowded
        merged._code = self._code or later._code
        for one in (self, later):
            merged._add(one._texts)

    def _settle(self, n_rows: int) -> Taken:
        if self._label is not None:
            return Taken((self._label,), self._label)
        if self._number is None:
            # Nothing but infinity: a word like any other.
            return Taken(tuple(sorted(self._texts)[:1]), next(iter(sorted(self._texts))))
        if self.fraction is not None:
            self.refuse_infinite()
            return Taken((), self.fraction)
        if self._crowded:
            return self._settle_crowded(n_rows)
        return self._settle_few(n_rows)

    def _settle_crowded(self, n_rows: int) -> Taken:
        if self._code:
            raise ColumnRefused(Problem.IDENTIFIER, f"has more than {MOST_LEVELS} levels")
        self.refuse_infinite()
        return Taken((), self._number, crowded=not too_many_levels(MOST_LEVELS + 1, n_rows))

    def _settle_few(self, n_rows: int) -> Taken:
        texts = sorted(self._texts)
        found: set[Any] = set(labels_of(texts))
        levels = tuple(sorted(found))
        if too_many_levels(len(levels), n_rows) and are_quantities(texts):
            self.refuse_infinite()
            return Taken((), self._number)
        check_levels(Column(levels, np.zeros(0, dtype=np.uint8)), n_rows)
        return Taken(levels, levels[0])


def _plain_numbers(cells: Sequence[str]) -> Floats | None:
    """The numbers, if every cell is one, without blanks and finite."""
    if _PLAIN.fullmatch("".join(cells)) is None:
        return None
    try:
        values = np.fromiter(map(float, cells), np.float64, len(cells))
    except ValueError:
        return None
    return values if np.isfinite(values).all() else None


def _meaning(text: str) -> float | str | None:
    """The number of a cell; its text if it is none; None if it is missing."""
    trimmed = text.strip()
    if trimmed in MISSING_MARKERS:
        return None
    return float(trimmed) if _NUMBER.fullmatch(trimmed) else text


def _any_code(texts: Iterable[str]) -> bool:
    return any(_CODE.fullmatch(text.strip()) for text in texts)
