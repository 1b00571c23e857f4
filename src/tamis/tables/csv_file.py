"""A CSV file becomes a table, read in chunks of rows by the standard library."""

from __future__ import annotations

import csv
import os
import re
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, count
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis.errors import FileFormatError
from tamis.tables.assemble import Encoding, build_table
from tamis.tables.columns import (
    LARGEST_INTEGER,
    SMALLEST_INTEGER,
    Codes,
    Column,
    continuous,
    encode_labels,
    infinite,
    smallest_unsigned,
    too_many_levels,
)
from tamis.tables.reading import Reading
from tamis.tables.refusals import ColumnRefused, Problem, missing, shown, shown_path
from tamis.tables.table import Label, Table

if TYPE_CHECKING:
    from _csv import Reader

MISSING_MARKERS = ("", "NA", "N/A", "NaN", "nan", "null", "NULL")
"""Cells that stand for a missing value; "None" is not among them, being a common level."""

_CHUNK = 512
"""Rows gathered before their cells are numbered: few enough to stay in the cache."""
_HEADER_LINES = 100
_INTEGER = re.compile(r"-?(0|[1-9][0-9]{0,19})(\.0*)?")
_INFINITE = re.compile(r"[+-]?inf(inity)?", re.IGNORECASE)
_NUMBER = re.compile(
    r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|" + _INFINITE.pattern, re.IGNORECASE
)
_CODE = re.compile(r"[+-]?(0[0-9]+|[0-9]{20,})")
"""Digits that are no quantity: with leading zeros, or more of them than an integer label has."""


class _GrowingColumn:
    """One column while its file is read: distinct cells are kept once, rows as codes."""

    def __init__(self) -> None:
        # Numbers a cell at first sight, without leaving C.
        self.numbers: defaultdict[str, int] = defaultdict(count().__next__)
        self.chunks: list[Codes] = []

    def extend(self, cells: Sequence[str]) -> None:
        codes = np.fromiter(map(self.numbers.__getitem__, cells), np.uint32, len(cells))
        self.chunks.append(codes.astype(smallest_unsigned(len(self.numbers))))

    def cells(self, lines: NDArray[np.uint64]) -> _Cells:
        """The whole column, which stood on these lines."""
        codes = np.concatenate(self.chunks) if self.chunks else np.zeros(0, dtype=np.uint8)
        return _Cells(codes, list(self.numbers), lines)


class _Cells(NamedTuple):
    """A column as it was read: a code a row, the text of each code, and the line of each row."""

    codes: Codes
    texts: list[str]
    lines: NDArray[np.uint64]


def read_csv(path: str, how: Reading) -> Table:
    """The table in a CSV file with a header, in UTF-8."""
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            return _read_lines(path, _without_nul(path, file), how)
    except UnicodeDecodeError as error:
        raise _not_utf8(path) from error


def header_of(path: str) -> tuple[str, ...]:
    """The names in the first line of a CSV file."""
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            opening = _header_lines(_without_nul(path, file))
        delimiter = _delimiter(path, "".join(opening))
        return _names(path, next(csv.reader(opening, delimiter=delimiter, strict=True), []))
    except csv.Error as error:
        raise _not_csv(path, 1, error) from error
    except UnicodeDecodeError as error:
        raise _not_utf8(path) from error


def _read_lines(path: str, lines: Iterator[str], how: Reading) -> Table:
    opening = _header_lines(lines)
    # Strict: a quote that is never closed is an error, and not the rest of the file.
    reader = csv.reader(
        chain(opening, lines), delimiter=_delimiter(path, "".join(opening)), strict=True
    )
    try:
        names = _names(path, next(reader, []))
        columns = [_GrowingColumn() for _ in names]
        line_of_row = array("Q")
        for rows in _chunks(path, reader, len(names), line_of_row):
            for column, cells in zip(columns, zip(*rows, strict=True), strict=True):
                column.extend(cells)
    except csv.Error as error:
        raise _not_csv(path, reader.line_num, error) from error
    lines_read = np.array(line_of_row, dtype=np.uint64)
    sources = (column.cells(lines_read) for column in columns)
    return build_table(names, len(line_of_row), sources, Encoding(_encode, _take), how)


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
    if path.lower().endswith(".tsv"):
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
    path: str, reader: Reader, width: int, line_of_row: array[int]
) -> Iterator[list[list[str]]]:
    rows: list[list[str]] = []
    blank_line = 0
    for row in reader:
        if len(row) != width and _is_blank(row):
            blank_line = blank_line or reader.line_num
            continue
        if len(row) != width or blank_line:
            raise _broken_row(path, reader.line_num, len(row), width, blank_line)
        rows.append(row)
        line_of_row.append(reader.line_num)
        if len(rows) == _CHUNK:
            yield rows
            rows = []
    if rows:
        yield rows


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


def _encode(column: _Cells) -> Column:
    codes, texts, lines = column
    markers = [code for code, cell in enumerate(texts) if cell.strip() in MISSING_MARKERS]
    if markers:
        absent = np.isin(codes, markers)
        first = int(absent.argmax())
        cell = texts[int(codes[first])]
        reads = f"reads {shown(cell)}" if cell else "is empty"
        raise missing(absent, f"on line {lines[first]}, which {reads}")
    return _encode_texts(codes, texts)


def _take(column: _Cells, rows: NDArray[np.bool_]) -> _Cells:
    """The column with these rows, and with no text that they do not have."""
    present, codes = np.unique(column.codes[rows], return_inverse=True)
    texts = [column.texts[code] for code in present.tolist()]
    return _Cells(codes.astype(smallest_unsigned(len(texts))), texts, column.lines[rows])


def _encode_texts(codes: Codes, texts: list[str]) -> Column:
    try:
        column = encode_labels(codes, _labels(texts))
    except ColumnRefused as why:
        if why.problem is Problem.CONTINUOUS:
            why.numbers = _numbers(texts)[codes]
        raise
    if too_many_levels(len(column.levels), len(codes)) and _are_quantities(texts):
        return Column(column.levels, column.codes, _numbers(texts)[codes])
    return column


def _numbers(texts: list[str]) -> NDArray[np.float64]:
    return np.array([float(text) for text in texts])


def _are_quantities(texts: list[str]) -> bool:
    # No cell has a fraction, or there would be no labels; 12e30 is a quantity, 007 is not.
    if all(_integer(text) is not None for text in texts):
        return True
    trimmed = [text.strip() for text in texts]
    return all(map(_NUMBER.fullmatch, trimmed)) and not any(map(_CODE.fullmatch, trimmed))


def _labels(texts: list[str]) -> Sequence[Label]:
    """What the distinct cells of a column mean: integers where nothing is lost by it."""
    numbers = [text.strip() for text in texts]
    if not all(map(_NUMBER.fullmatch, numbers)) or all(map(_INFINITE.fullmatch, numbers)):
        return texts
    for number in numbers:
        if _INFINITE.fullmatch(number):
            raise infinite(shown(number))
        # Digits alone are whole however many; as floats they might be infinite.
        if not (number.lstrip("+-").isdigit() or float(number).is_integer()):
            raise continuous(number)
    integers = [integer for integer in map(_integer, texts) if integer is not None]
    # Leading zeros, signs and exponents belong to labels: one such cell keeps them all as text.
    return integers if len(integers) == len(texts) else texts


def _integer(text: str) -> int | None:
    if text == "-0" or not _INTEGER.fullmatch(text):
        return None
    number = int(text.partition(".")[0])
    return number if SMALLEST_INTEGER <= number <= LARGEST_INTEGER else None


def _without_nul(path: str, file: Iterable[str]) -> Iterator[str]:
    # The standard library passes NUL through, but no text file holds it.
    for number, line in enumerate(file, start=1):
        if "\0" in line:
            raise FileFormatError(
                f"Line {number} of {shown_path(path)} holds a NUL byte: the file is damaged or not "
                "text. Save it as CSV in UTF-8."
            )
        yield line


def _not_utf8(path: str) -> FileFormatError:
    # The decoder that failed worked ahead of the lines, so the place is looked for again;
    # but a pipe was read once and for all, and opening it again would wait for ever.
    place = _undecodable_place(path) if os.path.isfile(path) else ""
    return FileFormatError(
        f"The file {shown_path(path)} is not UTF-8{place}. Save it as CSV in UTF-8."
    )


def _undecodable_place(path: str) -> str:
    offset = 0
    with open(path, "rb") as file:
        for number, line in enumerate(file, start=1):
            try:
                line.decode()
            except UnicodeDecodeError as error:
                return f" at line {number}, byte {offset + error.start} of the file"
            offset += len(line)
    return ""
