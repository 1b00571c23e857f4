"""One column of Python objects becomes codes and levels, or continuous numbers."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from decimal import Decimal
from enum import Enum, auto
from fractions import Fraction
from itertools import compress
from typing import Any, SupportsFloat

import numpy as np
from numpy.typing import NDArray

from tamis.tables.columns import (
    LARGEST_INTEGER,
    SMALLEST_INTEGER,
    Column,
    continuous,
    encode_booleans,
    encode_floats,
    encode_integers,
    infinite,
    smallest_unsigned,
    too_large,
    too_many_levels,
)
from tamis.tables.refusals import ColumnRefused, Problem, at_row, missing, shown
from tamis.tables.table import Label


class CellKind(Enum):
    """What a cell is, whatever library made it."""

    MISSING = auto()
    STRING = auto()
    BOOLEAN = auto()
    INTEGER = auto()
    FLOAT = auto()
    OTHER = auto()


def encode_cells(cells: Sequence[Any]) -> Column:
    """Levels from Python or numpy scalars, all of one kind."""
    # Types, not values: cells may be unhashable, and 1, 1.0 and True are equal.
    kinds = {type_: cell_kind_of(type_) for type_ in set(map(type, cells))}
    _refuse_other(cells, kinds)
    _refuse_missing(cells, kinds)
    found = set(kinds.values())
    if found == {CellKind.STRING}:
        return _encode_strings(cells, plain=set(kinds) == {str})
    if found == {CellKind.BOOLEAN}:
        return encode_booleans(np.array(cells, dtype=np.bool_))
    if found == {CellKind.INTEGER}:
        plain = set(kinds) == {int}
        return _encode_integers(cells if plain else [operator.index(cell) for cell in cells])
    if found == {CellKind.FLOAT}:
        return encode_floats(np.array(cells, dtype=np.float64))
    if found == {CellKind.INTEGER, CellKind.FLOAT}:
        return _encode_whole(cells)
    raise mixed(cells)


def encode_dates(cells: Sequence[Any]) -> Column:
    """Levels from dates and times, in their order, by their text: days alone where no time of day
    says more."""
    texts = date_texts(cells)
    midnight = " 00:00:00"
    if all(text is None or text.partition("+")[0].endswith(midnight) for text in texts):
        texts = [None if text is None else text.replace(midnight, "") for text in texts]
    return encode_cells(texts)


def date_texts(cells: Sequence[Any]) -> list[str | None]:
    """What dates and times read, None where they are missing."""
    missing = {type_ for type_ in set(map(type, cells)) if cell_kind_of(type_) is CellKind.MISSING}
    return [None if type(cell) in missing else str(cell) for cell in cells]


def take_cells(cells: Sequence[Any], rows: NDArray[np.bool_]) -> Sequence[Any]:
    """The cells of these rows."""
    return list(compress(cells, rows.tolist()))


def plain_labels(categories: Sequence[Any]) -> list[Label]:
    """The categories as labels: what is no string, integer or boolean goes by its text.

    Calling values categories is what turns intervals and dates into levels, and so what the
    advice on such columns asks for.
    """
    kinds = {cell_kind_of(type(category)) for category in categories}
    if len(kinds) > 1:
        raise mixed(categories)
    if kinds <= {CellKind.STRING, CellKind.BOOLEAN, CellKind.INTEGER}:
        column = encode_cells(categories)
        return [column.levels[code] for code in column.codes.tolist()]
    if kinds == {CellKind.FLOAT} and all(float(category).is_integer() for category in categories):
        return [int(category) for category in categories]
    return [str(category) for category in categories]


def cell_kind_of(type_: type) -> CellKind:
    """The kind of all cells of this type."""
    # pandas marks missing values with types of its own, known here by name
    # because pandas may not be installed.
    if type_ is type(None) or type_.__name__ in {"NAType", "NaTType"}:
        return CellKind.MISSING
    if issubclass(type_, str):
        return CellKind.STRING
    if issubclass(type_, bool | np.bool_):
        return CellKind.BOOLEAN
    if issubclass(type_, np.timedelta64):
        # numpy counts durations among its integers.
        return CellKind.OTHER
    if issubclass(type_, int | np.integer):
        return CellKind.INTEGER
    if issubclass(type_, float | np.floating):
        return CellKind.FLOAT
    return CellKind.OTHER


def mixed(cells: Sequence[Any]) -> ColumnRefused:
    """The refusal of cells of several kinds, with an example of the first two."""
    examples: dict[CellKind, object] = {}
    for cell in cells:
        examples.setdefault(cell_kind_of(type(cell)), cell)
    pair = [f"{type(cell).__name__} ({shown(cell)})" for cell in list(examples.values())[:2]]
    return ColumnRefused(Problem.MIXED, f"mixes {' and '.join(pair)}")


def _refuse_other(cells: Sequence[Any], kinds: dict[type, CellKind]) -> None:
    other = sorted(type_.__name__ for type_, kind in kinds.items() if kind is CellKind.OTHER)
    if other:
        seen = f"holds values of type {other[0]}"
        raise ColumnRefused(Problem.UNSUPPORTED, seen, _exact_numbers(cells, kinds), cells=cells)


def _exact_numbers(cells: Sequence[Any], kinds: dict[type, CellKind]) -> NDArray[np.float64] | None:
    """Decimals and fractions as floats, if floats of this kind would be continuous."""
    numeric = {CellKind.INTEGER, CellKind.FLOAT, CellKind.MISSING}
    if not all(kind in numeric or issubclass(t, Decimal | Fraction) for t, kind in kinds.items()):
        return None
    values = np.array(
        [math.nan if kinds[type(cell)] is CellKind.MISSING else _float(cell) for cell in cells]
    )
    # NaN is no integer either, so that missing values are refused as such.
    if (np.trunc(values) != values).any() or too_many_levels(len(np.unique(values)), len(values)):
        return values
    return None


def _float(cell: SupportsFloat) -> float:
    try:
        return float(cell)
    except OverflowError:
        return math.inf
    except ValueError:
        # A decimal has one NaN that may not be touched.
        return math.nan


def _refuse_missing(cells: Sequence[Any], kinds: dict[type, CellKind]) -> None:
    suspects = {
        type_ for type_, kind in kinds.items() if kind in {CellKind.MISSING, CellKind.FLOAT}
    }
    if not suspects:
        return
    # Only NaN differs from itself; the markers of pandas are not asked.
    absent = np.array(
        [
            type(cell) in suspects and (kinds[type(cell)] is CellKind.MISSING or cell != cell)
            for cell in cells
        ],
        dtype=np.bool_,
    )
    if absent.any():
        raise missing(absent)


def _encode_strings(cells: Sequence[Any], *, plain: bool) -> Column:
    # Subclasses may print or compare as they like; their text is the label.
    texts = cells if plain else [str.__str__(cell) for cell in cells]
    levels = sorted(set(texts))
    rank = {level: k for k, level in enumerate(levels)}
    codes = np.fromiter(
        map(rank.__getitem__, texts), dtype=smallest_unsigned(len(levels)), count=len(texts)
    )
    return Column(tuple(levels), codes)


def _encode_integers(values: Sequence[int]) -> Column:
    try:
        return encode_integers(np.array(values, dtype=np.int64))
    except OverflowError:
        return _encode_large_integers(values)


def _encode_whole(cells: Sequence[Any]) -> Column:
    try:
        return _encode_integers([_integer(cell, row) for row, cell in enumerate(cells)])
    except ColumnRefused as why:
        why.numbers = np.array([_float(cell) for cell in cells])
        raise


def _encode_large_integers(values: Sequence[int]) -> Column:
    low, high = min(values), max(values)
    if low < SMALLEST_INTEGER or high > LARGEST_INTEGER:
        raise too_large(low if low < SMALLEST_INTEGER else high)
    levels = sorted(set(values))
    rank = {level: k for k, level in enumerate(levels)}
    codes = np.array([rank[value] for value in values], dtype=smallest_unsigned(len(levels)))
    many = too_many_levels(len(levels), len(values))
    return Column(tuple(levels), codes, np.array(values, dtype=np.float64) if many else None)


def _integer(cell: SupportsFloat, row: int) -> int:
    # Not by way of an array of floats, which would round large integers.
    if isinstance(cell, int | np.integer):
        return operator.index(cell)
    number = float(cell)
    if math.isinf(number):
        raise infinite(at_row(row))
    if not number.is_integer():
        raise continuous(number)
    return int(number)
