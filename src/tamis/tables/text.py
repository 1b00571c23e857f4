"""Cells of text, as CSV has them: which are missing, and what the others mean."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from operator import or_
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tamis.tables.columns import (
    LARGEST_INTEGER,
    SMALLEST_INTEGER,
    Codes,
    Column,
    continuous,
    encode_floats,
    encode_labels,
    infinite,
    smallest_unsigned,
    too_many_levels,
)
from tamis.tables.refusals import ColumnRefused, Problem, missing, shown
from tamis.tables.table import Label

MISSING_MARKERS = ("", "NA", "N/A", "NaN", "nan", "null", "NULL")
"""Cells that stand for a missing value; "None" is not among them, being a common level."""

_SAMPLE = 1000
"""How many cells are read to see whether a column repeats itself."""
_INTEGER = re.compile(r"-?(0|[1-9][0-9]{0,19})(\.0*)?")
_SAFE_INTEGERS = r"^(0|-?[1-9][0-9]{0,14})(\.0*)?$"
"""Cells that are integers to every reader, and to floats without loss."""
_INFINITE = re.compile(r"[+-]?inf(inity)?", re.IGNORECASE)
_NUMBER = re.compile(
    r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|" + _INFINITE.pattern, re.IGNORECASE
)
_CODE = re.compile(r"[+-]?(0[0-9]+|[0-9]{20,})")
"""Digits that are no quantity: with leading zeros, or more of them than an integer label has."""

Strings: TypeAlias = Any
"""An array of strings of arrow, which has no types."""


class Holds(NamedTuple):
    """What there is among some cells, none of them missing."""

    label: bool = False
    fraction: bool = False
    infinite: bool = False
    code: bool = False

    def merge(self, other: Holds) -> Holds:
        """What either of the two holds."""
        return Holds(*map(or_, self, other))


@dataclass(frozen=True)
class TextColumn:
    """A column of text: a code a row and the text of each code where cells repeat, or else the
    cells themselves; and where each of the original rows stands, in words."""

    codes: Codes
    texts: Sequence[str]
    cells: Strings | None
    where: Callable[[int], object]
    rows: NDArray[np.int64] | None = None
    """Which of the original rows these are, where they are not all of them."""


class TextReader:
    """A column of text while its file is read, a batch of cells at a time."""

    def __init__(self) -> None:
        self._codes: dict[str, int] = {}
        self._chunks: list[Codes] = []
        self._cells: list[Strings] | None = None

    def add(self, cells: Strings) -> None:
        """Take the cells of the rows that follow."""
        if self._cells is None and not self._chunks and not repeats(cells):
            self._cells = []
        if self._cells is not None:
            self._cells.append(cells)
            return
        codes, texts = distinct(cells)
        known = self._codes
        own = [known.setdefault(text, len(known)) for text in texts]
        self._chunks.append(np.array(own, dtype=smallest_unsigned(len(known)))[codes])

    def column(self, where: Callable[[int], object]) -> TextColumn:
        """The whole column."""
        if self._cells is not None:
            cells = pa.chunked_array(self._cells, pa.string())
            return TextColumn(np.zeros(0, dtype=np.uint8), [], cells, where)
        codes = np.concatenate(self._chunks) if self._chunks else np.zeros(0, dtype=np.uint8)
        return TextColumn(codes, list(self._codes), None, where)


def take_text(column: TextColumn, rows: NDArray[np.bool_]) -> TextColumn:
    """The column with these rows, and with no text that they do not have."""
    kept = np.flatnonzero(rows) if column.rows is None else column.rows[rows]
    if column.cells is not None:
        return replace(column, cells=column.cells.filter(pa.array(rows)), rows=kept)
    present, codes = np.unique(column.codes[rows], return_inverse=True)
    texts = [column.texts[code] for code in present.tolist()]
    narrow = codes.astype(smallest_unsigned(len(texts)))
    return replace(column, codes=narrow, texts=texts, rows=kept)


def encode_text(column: TextColumn) -> Column:
    """Integer levels where nothing is lost by it, and otherwise those of the text."""
    codes, texts = column.codes, column.texts
    if column.cells is not None:
        found = numbers_in(column.cells)
        if found is not None and np.isfinite(found).all() and _are_safe(column.cells, found):
            return _of_numbers(column.cells, found)
        codes, texts = distinct(column.cells)
    markers = [code for code, cell in enumerate(texts) if is_missing(cell)]
    if markers:
        absent = np.isin(codes, markers)
        raise missing(absent, _first_place(column, absent, codes, texts))
    try:
        return encode_texts(codes, texts, len(codes))
    except ColumnRefused as why:
        if why.problem is not Problem.INFINITE:
            raise
        endless = np.isin(codes, np.flatnonzero(np.isinf(_numbers(texts))))
        raise infinite(_first_place(column, endless, codes, texts)) from why


def _first_place(
    column: TextColumn, found: NDArray[np.bool_], codes: NDArray[Any], texts: Sequence[str]
) -> str:
    """Where the first of these rows stands, and what it reads."""
    first = int(found.argmax())
    row = first if column.rows is None else int(column.rows[first])
    cell = texts[int(codes[first])]
    return f"{column.where(row)}, where the cell {f'reads {shown(cell)}' if cell else 'is empty'}"


def encode_texts(codes: NDArray[Any], texts: Sequence[str], n_rows: int) -> Column:
    """The column of these codes into texts, none of them missing, in a table of ``n_rows`` rows."""
    try:
        column = encode_labels(codes, labels_of(texts))
    except ColumnRefused as why:
        if why.problem is Problem.CONTINUOUS:
            values = _numbers(texts)
            endless = np.isinf(values)
            if endless.any():
                raise infinite(shown(texts[int(endless.argmax())])) from why
            why.numbers = values[codes]
        raise
    if too_many_levels(len(column.levels), n_rows) and are_quantities(texts):
        return Column(column.levels, column.codes, _numbers(texts)[codes])
    return column


def is_missing(cell: str) -> bool:
    """Whether a cell stands for a missing value."""
    return cell.strip() in MISSING_MARKERS


def repeats(cells: Strings) -> bool:
    """Whether the first cells are so few different ones that it is worth to number them."""
    sample = cells.slice(0, _SAMPLE)
    return 2 * len(sample.unique()) <= max(len(sample), 40)


def distinct(cells: Strings) -> tuple[NDArray[Any], list[str]]:
    """A code for each cell, and the text of each code, in the order in which they are met."""
    single = _single_bytes(cells)
    if single is not None:
        return single
    found = cells.dictionary_encode()
    if isinstance(found, pa.ChunkedArray):
        found = found.unify_dictionaries().combine_chunks()
    # Not by to_numpy, which imports pandas.
    return np.from_dlpack(found.indices), found.dictionary.to_pylist()


def numbers_in(cells: Strings) -> NDArray[np.float64] | None:
    """The numbers, if every cell is one, infinite ones among them."""
    try:
        found = cells.cast(pa.float64())
        whole = isinstance(found, pa.Array) and not found.null_count
        values = np.asarray(np.from_dlpack(found) if whole else found.to_numpy(), dtype=float)
    except pa.ArrowInvalid:
        trimmed = pc.utf8_trim_whitespace(cells)
        return None if trimmed.equals(cells) else numbers_in(trimmed)
    return None if np.isnan(values).any() else values


def held_by(cells: Strings, values: NDArray[np.float64] | None) -> Holds:
    """What there is among cells, of which these are the numbers if they are any."""
    if values is None:
        return Holds(label=True)
    finite = np.isfinite(values)
    if (np.trunc(values) != values)[finite].any():
        # Among fractions, codes are numbers.
        return Holds(fraction=True, infinite=not finite.all())
    codes = pc.match_substring_regex(pc.utf8_trim_whitespace(cells), f"^({_CODE.pattern})$")
    return Holds(infinite=not finite.all(), code=bool(pc.any(codes).as_py()))


def labels_of(texts: Sequence[str]) -> Sequence[Label]:
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


def are_quantities(texts: Sequence[str]) -> bool:
    """Whether cells without a fraction are quantities: 12e30 is one, 007 is not."""
    if all(_integer(text) is not None for text in texts):
        return True
    trimmed = [text.strip() for text in texts]
    return all(map(_NUMBER.fullmatch, trimmed)) and not any(map(_CODE.fullmatch, trimmed))


def _single_bytes(cells: Strings) -> tuple[NDArray[Any], list[str]] | None:
    """Codes and texts if every cell is one ASCII character, which needs no hashing; else None."""
    if not isinstance(cells, pa.StringArray) or not len(cells):
        return None
    _, ends, data = cells.buffers()
    places = np.frombuffer(ends, dtype=np.int32)[cells.offset : cells.offset + len(cells) + 1]
    first, after = int(places[0]), int(places[-1])
    if after - first != len(cells) or not (np.diff(places) == 1).all():
        return None
    found = np.frombuffer(data, dtype=np.uint8)[first:after]
    present = np.flatnonzero(np.bincount(found, minlength=128))
    # In the order in which they are met, as everywhere.
    order = sorted(present.tolist(), key=lambda byte: int((found == byte).argmax()))
    rank = np.zeros(256, dtype=np.uint8)
    rank[order] = np.arange(len(order))
    return rank[found], [chr(byte) for byte in order]


def _are_safe(cells: Strings, values: NDArray[np.float64]) -> bool:
    """Whether the numbers say all that the cells do: some have fractions, or all are integers."""
    if (np.trunc(values) != values).any():
        return True
    return bool(pc.all(pc.match_substring_regex(cells, _SAFE_INTEGERS)).as_py())


def _of_numbers(cells: Strings, values: NDArray[np.float64]) -> Column:
    fractional = np.trunc(values) != values
    if fractional.any():
        raise continuous(cells[int(fractional.argmax())].as_py().strip(), values)
    return encode_floats(values)


def _numbers(texts: Sequence[str]) -> NDArray[np.float64]:
    return np.array([float(text) for text in texts])


def _integer(text: str) -> int | None:
    if text == "-0" or not _INTEGER.fullmatch(text):
        return None
    number = int(text.partition(".")[0])
    return number if SMALLEST_INTEGER <= number <= LARGEST_INTEGER else None
