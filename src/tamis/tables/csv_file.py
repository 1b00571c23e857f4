"""CSV files as batches of text: read by pyarrow, and by the standard library where it stumbles.

The quick reader takes what is regular. At the first sign of anything else the slow one goes on
where it stopped, and either reads it or says what is wrong and on which line.
"""

from __future__ import annotations

import csv
import io
import os
import re
from array import array
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import chain
from typing import IO, TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv
from numpy.typing import NDArray

from tamis.errors import FileFormatError
from tamis.tables.paths import codec_of, ending_of
from tamis.tables.refusals import shown_path

if TYPE_CHECKING:
    from _csv import Reader

_CHUNK = 4096
"""Rows that the standard library reads before they are handed on."""
_HEADER_LINES = 100
_BOM = b"\xef\xbb\xbf"
_MARKS = (b"\0", b'"', b"\r")
"""What needs a closer look."""

Batch: TypeAlias = list[Any]
"""Some rows: an array of strings a column."""


class CsvFile:
    """A CSV file with a header, in UTF-8, maybe compressed; it can be read more than once."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._content = None
        if not os.path.isfile(path):
            # A pipe is read once and for all.
            with open(path, "rb") as file:
                self._content = file.read()
        self._broken = False
        """Whether a cell was seen that holds a line break."""
        with self._text() as file:
            lines = _without_nul(path, self._decoded(file))
            opening = _header_lines(lines)
            self._delimiter = _delimiter(path, "".join(opening))
            reader = self._reader(opening, lines)
            self.names = _names(path, self._header(reader))
            self._header_lines = reader.line_num

    @property
    def is_pipe(self) -> bool:
        """Whether the bytes were there to be read once, and are held since."""
        return self._content is not None

    def batches(self) -> Iterator[Batch]:
        """All rows in order; every call begins again."""
        done = 0
        for batch in self._quick():
            if batch is None:
                yield from self._slow(done)
                return
            done += len(batch[0])
            yield batch

    def line_of(self, row: int) -> int:
        """The line on which a row ends that has been read."""
        return int(self._lines[row]) if self._broken else self._header_lines + row + 1

    def _quick(self) -> Iterator[Batch | None]:
        """By pyarrow; None at the end if it cannot be trusted with what follows."""
        names = [str(k) for k in range(len(self.names))]
        with self._bytes() as file:
            looked_over = _LookedOver(file, self._delimiter)
            try:
                reader = arrow_csv.open_csv(
                    pa.PythonFile(looked_over, mode="r"),
                    # Its threads cost more than they bring where batches are taken one by one.
                    arrow_csv.ReadOptions(
                        column_names=names, skip_rows=self._header_lines, use_threads=False
                    ),
                    arrow_csv.ParseOptions(
                        delimiter=self._delimiter,
                        newlines_in_values=looked_over.begins_quoted,
                    ),
                    arrow_csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string())),
                )
                for batch in reader:
                    if looked_over.irregular or _any_too_long(batch):
                        break
                    self._broken |= looked_over.broken
                    yield batch.columns
                else:
                    if not looked_over.irregular:
                        return
            except pa.ArrowInvalid:
                # What is wrong, if anything is, the slow reader can say.
                pass
        self._broken = True
        yield None

    def _slow(self, done: int) -> Iterator[Batch]:
        """By the standard library, from this row on."""
        for rows, _ in self._rows(done):
            yield [pa.array(cells, pa.string()) for cells in zip(*rows, strict=True)]

    def _rows(self, done: int = 0) -> Iterator[tuple[list[list[str]], list[int]]]:
        """Rows in chunks with their lines; raises what is wrong with them."""
        with self._text() as file:
            reader = self._reader(_without_nul(self.path, self._decoded(file)))
            self._header(reader)
            try:
                yield from _chunks(self.path, reader, len(self.names), done)
            except csv.Error as error:
                raise _not_csv(self.path, reader.line_num, error) from error

    @cached_property
    def _lines(self) -> array[int]:
        found = array("Q")
        for _, lines in self._rows():
            found.extend(lines)
        return found

    def _header(self, reader: Reader) -> list[str]:
        try:
            return next(reader, [])
        except csv.Error as error:
            raise _not_csv(self.path, reader.line_num, error) from error

    def _reader(self, *lines: Iterable[str]) -> Reader:
        # Strict: a quote that is never closed is an error, and not the rest of the file.
        return csv.reader(chain(*lines), delimiter=self._delimiter, strict=True)

    def _decoded(self, file: Iterable[str]) -> Iterator[str]:
        try:
            yield from file
        except UnicodeDecodeError as error:
            raise self._not_utf8() from error

    def _text(self) -> io.TextIOWrapper:
        return io.TextIOWrapper(self._bytes(), encoding="utf-8-sig", newline="")

    def _bytes(self) -> Any:  # noqa: ANN401 - a file of Python's or of arrow's
        if self._content is not None:
            file: IO[bytes] = io.BytesIO(self._content)
        else:
            file = open(self.path, "rb")  # noqa: SIM115 - closed by whoever asked for it
        codec = codec_of(self.path)
        return file if codec is None else pa.CompressedInputStream(file, codec)

    def _not_utf8(self) -> FileFormatError:
        # The decoder that failed worked ahead of the lines, so the place is looked for again.
        offset, place = 0, ""
        with io.BufferedReader(self._bytes()) as file:
            for number, line in enumerate(file, start=1):
                try:
                    line.decode()
                except UnicodeDecodeError as error:
                    place = f" at line {number}, byte {offset + error.start} of the file"
                    break
                offset += len(line)
        return FileFormatError(
            f"The file {shown_path(self.path)} is not UTF-8{place}. Save it as CSV in UTF-8."
        )


class _LookedOver:
    """Bytes on their way to pyarrow, looked over for what it takes and the standard library does
    not: NUL, blank lines, and quotes that are not around a whole cell. Line ends at the end stay
    behind."""

    closed = False

    def __init__(self, file: Any, delimiter: str) -> None:  # noqa: ANN401 - Python's or arrow's
        self._file = file
        self._ahead: bytes = file.read(2**20).removeprefix(_BOM)
        self._held = b""
        self._around = np.zeros(256, dtype=np.bool_)
        """What may stand before and after a quoted cell, or a quote that is doubled."""
        self._around[[ord(delimiter), *b'\r\n"']] = True
        self._inside = False
        self._last = ord(delimiter)
        self.begins_quoted = b'"' in self._ahead
        self.broken = False
        """Whether there was a line break within quotes."""
        self.irregular = False

    def read(self, size: int) -> bytes:
        """At most this number of bytes; none at the end, and where what follows is irregular."""
        while len(self._held) < size:
            n = size - len(self._held)
            data, self._ahead = self._ahead[:n], self._ahead[n:]
            data = data or self._file.read(n)
            if not data:
                self.irregular |= self._inside
                return b""
            found = self._held + data
            lines = found.rstrip(b"\r\n")
            self._held = found[len(lines) :]
            if lines:
                self._look(lines)
                return b"" if self.irregular else lines
        self.irregular = True
        return b""

    def close(self) -> None:
        """The file is closed by whoever opened it."""
        self.closed = True

    def _look(self, data: bytes) -> None:
        if self._inside or any(mark in data for mark in _MARKS) or self._last in b'"\r':
            # With a byte before, which the last look could not see beyond.
            found = np.frombuffer(bytes([self._last]) + data, dtype=np.uint8)
            self.irregular = b"\0" in data or not self._is_regular(found)
        else:
            ends = np.frombuffer(data, dtype=np.uint8) == ord("\n")
            doubled = (ends[1:] & ends[:-1]).any()
            self.irregular = bool(doubled or (ends[0] and self._last == ord("\n")))
        self._last = data[-1]

    def _is_regular(self, found: NDArray[np.uint8]) -> bool:
        """Whether each quote begins a cell, ends it, or is one of two within it, and no line is
        blank, with so much before that has been looked at."""
        ended = self._last == ord('"') and not self._inside
        quotes = np.flatnonzero(found[1:] == ord('"')) + 1
        opening, closing = quotes[int(self._inside) :: 2], quotes[1 - int(self._inside) :: 2]
        ends = (found == ord("\n")) | (found == ord("\r"))
        breaks = np.flatnonzero(ends)
        within = (np.searchsorted(quotes, breaks) + self._inside) % 2 == 1
        self._inside = bool((len(quotes) + self._inside) % 2)
        self.broken |= bool(within.any())
        if self.broken and not self.begins_quoted:
            # The reader was told that lines are rows.
            return False
        lines = breaks[~within & (breaks + 1 < len(found))]
        pairs = (found[lines] == ord("\r")) & (found[lines + 1] == ord("\n"))
        after = closing[closing + 1 < len(found)] + 1
        return bool(
            self._around[found[opening - 1]].all()
            and self._around[found[after]].all()
            and (not ended or self._around[found[1]])
            and not (ends[lines + 1] & ~pairs).any()
        )


def _any_too_long(batch: Any) -> bool:  # noqa: ANN401 - of arrow
    longest = csv.field_size_limit()
    return any(
        # Bytes are no fewer than characters.
        column.nbytes > longest and pc.max(pc.utf8_length(column)).as_py() > longest
        for column in batch.columns
    )


def _not_csv(path: str, line: int, error: csv.Error) -> FileFormatError:
    # The standard library tells its errors apart by their texts only.
    if str(error).startswith("field larger than"):
        return FileFormatError(
            f"Line {line} of {shown_path(path)} holds a cell that is too long, of more than "
            f"{csv.field_size_limit()} characters. Shorten it; if a quote was left open before "
            "it, close the quote."
        )
    return FileFormatError(
        f"The file {shown_path(path)} is not CSV at line {line}: {error}. "
        "Close every quote, and double the quotes inside quoted cells."
    )


def _header_lines(lines: Iterator[str]) -> list[str]:
    # A quoted name may hold line breaks; a stray quote must not pull in the whole file.
    opening: list[str] = []
    for line in lines:
        opening.append(line)
        quotes = sum(part.count('"') for part in opening)
        if quotes % 2 == 0 or len(opening) == _HEADER_LINES:
            break
    return opening


def _delimiter(path: str, header: str) -> str:
    if ending_of(path) == ".tsv":
        return "\t"
    unquoted = re.sub(r'"[^"]*"?', "", header)
    return next((mark for mark in ",;\t" if mark in unquoted), ",")


def _names(path: str, header: list[str]) -> tuple[str, ...]:
    if _is_blank(header):
        raise FileFormatError(
            f"The file {shown_path(path)} is empty or starts with a blank line. "
            "Its first line must hold the names of the columns."
        )
    return tuple(name.strip() for name in header)


def _chunks(
    path: str, reader: Reader, width: int, done: int
) -> Iterator[tuple[list[list[str]], list[int]]]:
    """The rows after the first ``done``, and the line on which each ends."""
    rows: list[list[str]] = []
    lines: list[int] = []
    blank_line = 0
    for row in reader:
        if len(row) != width and _is_blank(row):
            blank_line = blank_line or reader.line_num
            continue
        if len(row) != width or blank_line:
            raise _broken_row(path, reader.line_num, len(row), width, blank_line)
        if done:
            done -= 1
            continue
        rows.append(row)
        lines.append(reader.line_num)
        if len(rows) == _CHUNK:
            yield rows, lines
            rows, lines = [], []
    if rows:
        yield rows, lines


def _is_blank(row: list[str]) -> bool:
    return not row or (len(row) == 1 and not row[0].strip())


def _broken_row(path: str, line: int, fields: int, width: int, blank_line: int) -> FileFormatError:
    if blank_line:
        return FileFormatError(
            f"Line {blank_line} of {shown_path(path)} is blank, but rows follow it. "
            "Remove the line, or complete it."
        )
    return FileFormatError(
        f"Line {line} of {shown_path(path)} has {fields} fields where the header has {width}. "
        "Complete the row, and quote cells that hold the separator."
    )


def _without_nul(path: str, file: Iterable[str]) -> Iterator[str]:
    # The standard library passes NUL through, but no text file holds it.
    for number, line in enumerate(file, start=1):
        if "\0" in line:
            raise FileFormatError(
                f"Line {number} of {shown_path(path)} holds a NUL byte: the file is damaged or not "
                "text. Save it as CSV in UTF-8."
            )
        yield line
