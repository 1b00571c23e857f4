"""Parquet files as a stream of batches, by pyarrow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from typing import Any

import numpy as np

from tamis.blocks.arrow_numbers import ArrowNumbers
from tamis.blocks.numbers import NumberColumn
from tamis.blocks.streams import Batch, Codes, GrowingLevels, Stream, changed, unreachable
from tamis.errors import FileFormatError
from tamis.tables.assemble import check_names
from tamis.tables.cells import plain_labels
from tamis.tables.frames import encode_series
from tamis.tables.refusals import ColumnRefused, Problem, at_row, shown, shown_path
from tamis.tables.table import Label

BATCH_BYTES = 2**25
"""About so much of a table is unpacked at once."""
BUFFER_BYTES = 2**16
"""So much of a column is read at once."""


class ParquetStream(Stream):
    """The rows of Parquet files with the same columns, one file after the other."""

    column_bytes = 3 * 10**6  # a page and a dictionary, as most programs write them

    def __init__(
        self,
        paths: Sequence[str],
        groups: tuple[int, int] | None = None,
        names: Sequence[str] | None = None,
    ) -> None:
        _require_pyarrow(paths[0])
        self._paths = paths
        self._groups = None if groups is None else list(range(*groups))
        self.names = check_names(self._names_in(paths[0]) if names is None else names)
        self.expected_rows = 0
        for path in paths:
            with _opened(path) as file:
                self._require_same_columns(path, file.schema_arrow.names)
                self.expected_rows += file.metadata.num_rows

    def batches(self) -> Iterator[Batch]:
        """All rows in order."""
        import pyarrow as pa

        at_once = max(2**12, min(2**18, BATCH_BYTES // (8 * len(self.names))))
        n_rows = 0
        for path in self._paths:
            with _opened(path) as file:
                try:
                    for batch in file.iter_batches(at_once, self._groups, columns=list(self.names)):
                        table = pa.Table.from_batches([batch]).select(list(self.names))
                        yield Batch(table.columns, len(table), at_row(n_rows))
                        n_rows += len(table)
                except (pa.ArrowException, OSError) as error:
                    raise _damaged(path, error) from error

    def parts(self) -> Sequence[ParquetStream]:
        """Each file by itself."""
        return [self._of(path) for path in self._paths]

    def growing_levels(self) -> GrowingLevels:
        """A column about which nothing is known yet."""
        return ArrowLevels()

    def growing_numbers(self) -> NumberColumn:
        """The same for a column that may hold numbers."""
        return ArrowNumbers()

    def _of(self, path: str) -> ParquetStream:
        one = copy(self)
        one._paths = [path]
        return one

    def _names_in(self, path: str) -> list[str]:
        with _opened(path) as file:
            return list(file.schema_arrow.names)

    def _require_same_columns(self, path: str, names: list[str]) -> None:
        if sorted(names) == sorted(self.names):
            return
        odd = sorted(set(names) ^ set(self.names)) or sorted(names)
        raise FileFormatError(
            f"The files differ in their columns: {shown_path(path)} and the first file do not "
            f"share {shown(odd[0])}. Give all files the same columns."
        )


class ArrowLevels(GrowingLevels):
    """The levels of a column of arrow, encoded batch by batch as a whole column would be."""

    def __init__(self) -> None:
        super().__init__()
        self._known: dict[Label, int] = {}
        self._order: list[Label] | None = None
        self._order_known = False
        self._rows = 0

    def look(self, cells: Any, batch: Batch) -> None:  # noqa: ANN401 - a column of arrow
        """Take notice of the levels of these rows."""
        before, self._rows = self._rows, self._rows + batch.n_rows
        if batch.n_rows == 0 or self.refused is not None:
            return
        try:
            levels = encode_series(cells).levels
            for order in self._orders_of(cells):
                self._require_order(order)
        except ColumnRefused as why:
            if why.absent is not None:
                self.note_missing(int(why.absent.sum()), at_row(before + int(why.absent.argmax())))
            elif why.problem is Problem.INFINITE:
                # Its row is counted from where the batch begins.
                self.refused = ColumnRefused(why.problem, "holds an infinite value")
            else:
                self.refused = why
            return
        self._take(levels)

    def labels(self) -> tuple[Label, ...]:
        """All levels seen, sorted unless an ordered dictionary says otherwise."""
        found: list[Any] = list(self._known)
        place = None if self._order is None else self._order.index
        levels = tuple(sorted(found, key=place))
        self._known = {level: code for code, level in enumerate(levels)}
        return levels

    def encode(self, cells: Any) -> Codes:  # noqa: ANN401 - a column of arrow
        """The codes of these rows, once the levels are settled."""
        if not len(cells):
            return np.zeros(0, dtype=np.uint32)
        try:
            column = encode_series(cells)
        except ColumnRefused as why:
            raise changed() from why
        if not all(level in self._known for level in column.levels):
            raise changed()
        codes = np.array([self._known[level] for level in column.levels], dtype=np.uint32)
        return codes[column.codes]

    def _take_over(self, other: ArrowLevels) -> None:
        try:
            if other._order_known:
                self._require_order(other._order)
        except ColumnRefused as why:
            self.refused = why
            return
        if other._known:
            self._take(list(other._known))

    def _take(self, levels: Sequence[Label]) -> None:
        if self._known and type(levels[0]) is not type(next(iter(self._known))):
            pair = f"{shown(next(iter(self._known)))} and {shown(levels[0])}"
            self.refused = ColumnRefused(
                Problem.MIXED, f"has levels of several types between its parts, {pair}"
            )
            return
        self._known.update(dict.fromkeys(levels, 0))
        self.refuse_many(len(self._known))

    def _orders_of(self, cells: Any) -> list[list[Label] | None]:  # noqa: ANN401 - of arrow
        """The order that each chunk gives its categories, if it gives them one."""
        import pyarrow as pa

        if not (pa.types.is_dictionary(cells.type) and cells.type.ordered):
            return [None]
        return [
            list(dict.fromkeys(plain_labels(chunk.dictionary.to_pylist())))
            for chunk in cells.chunks
        ]

    def _require_order(self, order: list[Label] | None) -> None:
        """Categories must have the same order, or none, wherever they are."""
        if self._order_known and order != self._order:
            raise ColumnRefused(
                Problem.MIXED, "has ordered categories that are not the same in all its parts"
            )
        self._order, self._order_known = order, True


def row_groups(path: str) -> list[int]:
    """The rows of each row group of a file."""
    with _opened(path) as file:
        about = file.metadata
        return [about.row_group(i).num_rows for i in range(about.num_row_groups)]


def _require_pyarrow(path: str) -> None:
    try:
        import pyarrow.parquet  # noqa: F401 - only whether it is there
    except ModuleNotFoundError as error:
        raise FileFormatError(
            f"Reading {shown_path(path)} in batches needs pyarrow, which is not installed. "
            "Install it with: pip install 'tamis[parquet]'"
        ) from error


def _opened(path: str) -> Any:  # noqa: ANN401 - pyarrow has no types
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        # Buffered, or whole columns of a row group would be held, whatever their size.
        return pq.ParquetFile(path, pre_buffer=False, buffer_size=BUFFER_BYTES)
    except (FileNotFoundError, PermissionError) as error:
        raise unreachable(path, error) from error
    except (pa.ArrowException, OSError) as error:
        raise _damaged(path, error) from error


def _damaged(path: str, error: BaseException) -> FileFormatError:
    reason = (str(error).splitlines() or ["unknown"])[0]
    return FileFormatError(
        f"The file {shown_path(path)} is damaged or not Parquet ({shown(reason)}). "
        "Write it again, or rename it if it is in another format."
    )
