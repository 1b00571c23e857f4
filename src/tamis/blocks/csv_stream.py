"""CSV files as a stream of batches, cell for cell as a table read at once takes them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from typing import Any

import numpy as np

from tamis.blocks.numbers import NumberColumn
from tamis.blocks.streams import Batch, Codes, GrowingLevels, Stream, changed, unreachable
from tamis.blocks.text_numbers import TextNumbers
from tamis.errors import FileFormatError
from tamis.tables.csv_file import CsvFile
from tamis.tables.refusals import shown_path
from tamis.tables.table import Label
from tamis.tables.text import MISSING_MARKERS, labels_of


class CsvStream(Stream):
    """The rows of CSV files with the same header, one file after the other."""

    expected_rows = 0

    def __init__(self, paths: Sequence[str], names: Sequence[str] | None = None) -> None:
        self._paths = paths
        self._first = shown_path(paths[0]) if names is None else "the first file"
        self.names = next(self._pieces(paths[0])) if names is None else tuple(names)

    def batches(self) -> Iterator[Batch]:
        """All rows in order."""
        for path in self._paths:
            pieces = self._pieces(path)
            self._require_same_columns(path, next(pieces))
            yield from pieces

    def parts(self) -> Sequence[CsvStream]:
        """Each file by itself."""
        return [self._of(path) for path in self._paths]

    def growing_levels(self) -> GrowingLevels:
        """A column about which nothing is known yet."""
        return TextLevels()

    def growing_numbers(self) -> NumberColumn:
        """The same for a column that may hold numbers."""
        return TextNumbers()

    def _of(self, path: str) -> CsvStream:
        one = copy(self)
        one._paths = [path]
        return one

    def _pieces(self, path: str) -> Iterator[Any]:
        """The names of a file, then its batches."""
        try:
            file = CsvFile(path)
        except (FileNotFoundError, PermissionError) as error:
            raise unreachable(path, error) from error
        yield file.names
        done = 0
        for batch in file.batches():
            where = f"on line {file.line_of(done)} of {shown_path(path)} or soon after"
            yield Batch([cells.to_pylist() for cells in batch], len(batch[0]), where)
            done += len(batch[0])

    def _require_same_columns(self, path: str, names: tuple[str, ...]) -> None:
        if names != self.names:
            raise FileFormatError(
                f"The files differ in their columns: {shown_path(path)} begins with another "
                f"header than {self._first}. Give all files the same header."
            )


class TextLevels(GrowingLevels):
    """The levels of a column of text: whether they are integers is known when all have passed."""

    def __init__(self) -> None:
        super().__init__()
        self._texts: dict[str, int] = {}
        self._markers: set[str] = set()

    def look(self, cells: Sequence[str], batch: Batch) -> None:
        """Take notice of the levels of these rows."""
        if self.refused is not None:
            return
        new = dict.fromkeys(cells, 0).keys() - self._texts.keys()
        self._markers |= {text for text in new if text.strip() in MISSING_MARKERS}
        self._texts.update(dict.fromkeys(new, 0))
        if self._markers:
            n_missing = sum(text in self._markers for text in cells)
            if n_missing:
                self.note_missing(n_missing, batch.where)
        self.refuse_many(len(self._texts))

    def _take_over(self, other: TextLevels) -> None:
        self._texts.update(other._texts)
        self._markers |= other._markers
        self.refuse_many(len(self._texts))

    def labels(self) -> tuple[Label, ...]:
        """All levels seen, sorted: integers where that loses nothing."""
        # Which cell a refusal names must not depend on the order of a set.
        texts = sorted(self._texts)
        meant: list[Any] = list(labels_of(texts))
        levels = tuple(sorted(set(meant)))
        rank = {level: code for code, level in enumerate(levels)}
        self._texts = {text: rank[label] for text, label in zip(texts, meant, strict=True)}
        return levels

    def encode(self, cells: Sequence[str]) -> Codes:
        """The codes of these rows, once the levels are settled."""
        try:
            return np.fromiter(map(self._texts.__getitem__, cells), np.uint32, len(cells))
        except KeyError as error:
            raise changed() from error
