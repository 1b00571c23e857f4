"""Files as streams of batches of rows, which can be gone through more than once."""

from __future__ import annotations

import re
import warnings
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from copy import copy
from typing import Any, NamedTuple, Self

import pyarrow as pa

from tamis.errors import DataError, FileFormatError, TamisWarning
from tamis.tables.csv_file import CsvFile
from tamis.tables.growing import GrowingColumn, GrowingText, TypedColumn
from tamis.tables.paths import ARROW_ENDINGS, TEXT_ENDINGS, codec_of, ending_of
from tamis.tables.refusals import first_line, listed, shown, shown_path, typing

BATCH_BYTES = 2**25
"""About how much of a table is unpacked at once."""
BUFFER_BYTES = 2**16
"""How much of a column is read at once."""


class Batch(NamedTuple):
    """Some rows: their cells, column by column, and the number of the first of them."""

    columns: Sequence[Any]
    n_rows: int
    first: int


class Stream(ABC):
    """A table in batches of rows."""

    names: tuple[str, ...]
    """As they stand there: whether they will do is known when columns have been chosen."""
    expected_rows: int = 0
    """The number of rows, or 0 where only reading them can tell."""
    column_bytes: int = 0
    """What reading holds of each column beside the batches."""
    is_text: bool = False
    """Whether cells are text, whatever they mean."""
    _chosen: tuple[str, ...] | None = None

    def batches(self) -> Iterator[Batch]:
        """All rows in order; every call begins again."""
        done = 0
        places = None
        if not self.names:
            # A file can have rows without any column.
            return
        if self._chosen is not None:
            places = [self.names.index(name) for name in self._chosen]
        for columns in self._columns():
            n_rows = len(columns[0])
            yield Batch(columns if places is None else [columns[k] for k in places], n_rows, done)
            done += n_rows

    def choose(self, names: Sequence[str]) -> Self:
        """A stream of these rows with some of the columns."""
        one = copy(self)
        one._chosen = tuple(names)
        return one

    @property
    def chosen(self) -> tuple[str, ...]:
        """The names of the columns that batches have."""
        return self.names if self._chosen is None else self._chosen

    def parts(self) -> Sequence[Stream]:
        """The rows as several streams, one after the other: those of each file."""
        return [self]

    def place(self, row: int) -> int | str:
        """Where a row stands that has been read: its number, or words if others mean more."""
        return row

    def growing(self) -> GrowingColumn:
        """A column about which nothing is known yet."""
        return GrowingText() if self.is_text else TypedColumn()

    @abstractmethod
    def _columns(self) -> Iterator[Sequence[Any]]:
        """The cells of some rows after the other."""


class FileStream(Stream):
    """The rows of several files with the same columns, one file after the other."""

    def __init__(self, paths: Sequence[str], names: Sequence[str] | None = None) -> None:
        self._paths = paths
        self._alone = len(paths) == 1
        self._first = shown_path(paths[0]) if names is None else "the first file"
        self.names = tuple(self._names_in(paths[0]) if names is None else names)

    def parts(self) -> Sequence[Stream]:
        """Each file by itself."""
        found = []
        for path in self._paths:
            one = copy(self)
            one._paths = [path]
            found.append(one)
        return found

    @abstractmethod
    def _names_in(self, path: str) -> Sequence[str]:
        """The names of the columns of a file."""

    def _require_same_columns(self, path: str, names: Sequence[str]) -> None:
        if sorted(names) != sorted(self.names):
            odd = sorted(set(names) ^ set(self.names)) or sorted(names)
            raise FileFormatError(
                f"The files differ in their columns: {shown_path(path)} and {self._first} do not "
                f"share {shown(odd[0])}. Give all files the same columns."
            )


class CsvStream(FileStream):
    """The rows of CSV files."""

    is_text = True

    def __init__(self, paths: Sequence[str], names: Sequence[str] | None = None) -> None:
        self._begun: CsvFile | None = None
        """The file that the names come from: what a pipe holds can be had but once."""
        super().__init__(paths, names)
        self._read: list[tuple[int, CsvFile]] = []
        """Each file that was opened, and the number of its first row."""

    def place(self, row: int) -> str:
        """The line, and the file if there are several."""
        first, file = self._read[bisect_right(self._read, row, key=lambda one: one[0]) - 1]
        line = f"on line {file.line_of(row - first)}"
        return line if self._alone else f"{line} of {shown_path(file.path)}"

    def _columns(self) -> Iterator[Sequence[Any]]:
        self._read = []
        done = 0
        for path in self._paths:
            file = self._opened(path)
            if file.names != self.names:
                raise FileFormatError(
                    f"The files differ in their columns: {shown_path(path)} begins with another "
                    f"header than {self._first}. Give all files the same header."
                )
            self._read.append((done, file))
            try:
                for columns in file.batches():
                    done += len(columns[0])
                    yield columns
            except OSError as error:
                raise unreachable(path, error) from error

    def _names_in(self, path: str) -> Sequence[str]:
        self._begun = _opened_csv(path)
        return self._begun.names

    def _opened(self, path: str) -> CsvFile:
        if self._begun is not None and self._begun.path == path and self._begun.is_pipe:
            return self._begun
        return _opened_csv(path)


class ParquetStream(FileStream):
    """The rows of Parquet files, or of some row groups of one."""

    column_bytes = 3 * 10**6  # a page and a dictionary, as most programs write them

    def __init__(
        self,
        paths: Sequence[str],
        names: Sequence[str] | None = None,
        groups: tuple[int, int] | None = None,
    ) -> None:
        super().__init__(paths, names)
        self._groups = None if groups is None else list(range(*groups))
        self._plain: set[str] = set()
        """Columns of ordered categories whose order is not known."""
        for path in paths:
            with _opened_parquet(path) as file:
                self._require_same_columns(path, _names_of(file.schema_arrow))
                self.expected_rows += file.metadata.num_rows
                self._plain |= _without_order(file)
        self._told = not self._plain or names is not None

    def _columns(self) -> Iterator[Sequence[Any]]:
        if not self._told:
            self._told = True
            warnings.warn(TamisWarning(_order_lost(sorted(self._plain))), stacklevel=2)
        at_once = max(2**12, min(2**18, BATCH_BYTES // (8 * len(self.names))))
        for path in self._paths:
            with _opened_parquet(path) as file:
                if file.num_row_groups == 0:
                    continue  # pyarrow before 19 looks for a group all the same, and fails
                try:
                    for batch in file.iter_batches(at_once, self._groups, columns=list(self.names)):
                        cells = {name: batch.column(name) for name in self.names}
                        plain = {name: cells[name].dictionary_decode() for name in self._plain}
                        yield list((cells | plain).values())
                except (pa.ArrowException, OSError) as error:
                    raise _damaged(path, "Parquet", error) from error

    def _names_in(self, path: str) -> Sequence[str]:
        with _opened_parquet(path) as file:
            return _names_of(file.schema_arrow)


class ArrowStream(FileStream):
    """The rows of files in the format of arrow, which Feather is."""

    def _columns(self) -> Iterator[Sequence[Any]]:
        for path in self._paths:
            batches = _schema_and_batches(path)
            self._require_same_columns(path, _names_of(next(batches)))
            for batch in batches:
                yield batch.select(list(self.names)).columns

    def _names_in(self, path: str) -> Sequence[str]:
        return _names_of(next(_schema_and_batches(path)))


class FrameStream(Stream):
    """The rows of a frame of pandas whose columns have these names, in this order."""

    def __init__(self, frame: Any, names: tuple[str, ...]) -> None:  # noqa: ANN401 - of pandas
        found = tuple(map(str, frame.columns))
        if found != names:
            odd = sorted(set(found) ^ set(names)) or list(found)
            raise DataError(
                f"The parts of the table differ in their columns: {listed(map(shown, odd))}. Give "
                "all parts the same columns in the same order."
            )
        self.names = names
        self._frame = frame
        self.expected_rows = len(frame)

    def _columns(self) -> Iterator[Sequence[Any]]:
        yield [self._frame.iloc[:, k] for k in range(len(self.names))]


def stream_of(
    paths: Sequence[str], groups: tuple[int, int] | None = None, names: Sequence[str] | None = None
) -> Stream:
    """The rows of these files, or of some row groups of one of Parquet; with ``names`` they must
    have these columns."""
    ending = ending_of(paths[0])
    if ending in TEXT_ENDINGS:
        return CsvStream(paths, names)
    return (
        ArrowStream(paths, names)
        if ending in ARROW_ENDINGS
        else ParquetStream(paths, names, groups)
    )


def _without_order(file: Any) -> set[str]:  # noqa: ANN401 - pyarrow has no types
    """Ordered categories without a list of them: the file has nothing but the cells."""
    kinds = {field.name: field.type for field in file.schema_arrow}
    ordered = {name for name, kind in kinds.items() if getattr(kind, "ordered", False)}
    about = file.metadata
    groups = [about.row_group(i) for i in range(about.num_row_groups if ordered else 0)]
    columns = [group.column(k) for group in groups for k in range(group.num_columns)]
    listless = {one.path_in_schema for one in columns if not one.has_dictionary_page}
    return ordered & listless


def _order_lost(names: Sequence[str]) -> str:
    return (
        f"The order of the categories of {listed(map(shown, names))} was not written to Parquet, "
        "which here has no dictionaries: they are read as categories. Name the levels from low to "
        f"high if their order counts, for example {typing(names[0], 'low<high')}."
    )


def row_groups(path: str) -> list[int]:
    """The rows of each row group of a file of Parquet."""
    with _opened_parquet(path) as file:
        about = file.metadata
        return [about.row_group(i).num_rows for i in range(about.num_row_groups)]


def unreachable(path: str, error: OSError) -> FileFormatError:
    """The refusal of a file that is not there, or not for us."""
    if error.errno is None and codec_of(path) is not None:
        # It was reached, and those who unpack it stumbled.
        return _damaged(path, f"compressed by {codec_of(path)}", error)
    return FileFormatError(
        f"The file {shown_path(path)} cannot be read: {error.strerror or error}. Check that it is "
        "a file and that you may read it; on a cluster every worker must reach it under this path."
    )


def _opened_csv(path: str) -> CsvFile:
    try:
        return CsvFile(path)
    except OSError as error:
        raise unreachable(path, error) from error


def _opened_parquet(path: str) -> Any:  # noqa: ANN401 - pyarrow has no types
    import pyarrow.parquet as pq

    try:
        with open(path, "rb"):
            # Only whether it can be: arrow's own words for that are as many as its file systems.
            pass
        # Buffered, or whole columns of a row group would be held, whatever their size.
        return pq.ParquetFile(path, pre_buffer=False, buffer_size=BUFFER_BYTES)
    except (FileNotFoundError, PermissionError) as error:
        raise unreachable(path, error) from error
    except (pa.ArrowException, OSError) as error:
        raise _damaged(path, "Parquet", error) from error


def _schema_and_batches(path: str) -> Iterator[Any]:
    """What a file of arrow holds, in the form for files or in that for streams."""
    try:
        with open(path, "rb") as file:
            start = file.read(6)
            file.seek(0)
            if start == b"ARROW1":
                reader = pa.ipc.open_file(file)
                batches = map(reader.get_batch, range(reader.num_record_batches))
            else:
                reader = pa.ipc.open_stream(file)
                batches = iter(reader)
            yield reader.schema
            yield from batches
    except (FileNotFoundError, PermissionError) as error:
        raise unreachable(path, error) from error
    except (pa.ArrowException, OSError) as error:
        raise _damaged(path, "Feather", error) from error


_INDEX = re.compile(r"__index_level_[0-9]+__")
"""What pandas calls an index without a name in a file; in memory it is no column either."""


def _names_of(schema: Any) -> list[str]:  # noqa: ANN401 - of arrow
    try:
        return [name for name in schema.names if not _INDEX.fullmatch(name)]
    except UnicodeDecodeError as error:
        raise DataError(
            f"The column name {shown(error.object)} is not UTF-8. Rename the column."
        ) from error


def _damaged(path: str, kind: str, error: BaseException) -> FileFormatError:
    return FileFormatError(
        f"The file {shown_path(path)} is damaged or not {kind} ({first_line(error)}). "
        "Write it again, or rename it if it is in another format."
    )
