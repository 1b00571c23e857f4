"""One column of an array, of labels or of Python objects becomes codes and levels, or numbers."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator, Sequence
from decimal import Decimal
from enum import Enum, auto
from fractions import Fraction
from functools import cache
from itertools import compress
from typing import Any, NamedTuple, SupportsFloat

import numpy as np
from numpy.typing import NDArray

from tamis.tables.refusals import ColumnRefused, Problem, at_row, missing, shown
from tamis.tables.table import ColumnKind, Label

Codes = NDArray[np.unsignedinteger]

MANY = 20
"""Whole numbers that take more values than this, or in a short table than the square root of its
rows, are numbers."""

LARGEST_INTEGER = 2**64 - 1
SMALLEST_INTEGER = -(2**63)
"""Integer labels fit a 64-bit type, signed or unsigned, so that every output can hold them."""


class Column(NamedTuple):
    """The levels of one column, each of which occurs, and the level of every row.

    ``numbers`` are the values of a column of numbers whose levels are too many; a continuous column
    has nothing else.
    """

    levels: tuple[Label, ...]
    codes: Codes
    numbers: NDArray[Any] | None = None
    kind: ColumnKind = "category"


@cache
def smallest_unsigned(n_levels: int) -> np.dtype[np.unsignedinteger]:
    """The smallest unsigned type that can number this many levels."""
    return np.min_scalar_type(max(n_levels - 1, 0))


def too_many_levels(n_levels: int, n_rows: int) -> bool:
    """Whether a column has too many levels to be a category: an identifier, or continuous."""
    # Two levels are always fine: a table of two or three rows may well hold a binary column.
    return n_levels > 2 and 2 * n_levels > n_rows


def many_values(n_values: int, n_rows: int) -> bool:
    """Whether whole numbers take too many values to be categories."""
    return n_values**2 > min(n_rows, MANY**2)


def encode_integers(values: NDArray[np.integer]) -> Column:
    """Integer levels in increasing order."""
    return _of_numbers(values, *_ranked(values))


def _ranked(values: NDArray[np.integer]) -> tuple[tuple[int, ...], Codes]:
    low, high = int(values.min()), int(values.max())
    span = high - low + 1
    if span <= 2:
        return tuple(range(low, high + 1)), (values != low).view(np.uint8)
    # A lookup table costs one pass over its span; sorting only wins when values are scattered.
    if span > 4 * len(values) + 1024:
        found, codes = np.unique(values, return_inverse=True)
        return tuple(found.tolist()), codes.astype(smallest_unsigned(len(found)))
    # Small types would overflow, and no signed type holds all of uint64.
    wide = np.uint64 if values.dtype.kind == "u" else np.int64
    offsets = np.subtract(values, low, dtype=wide).astype(np.intp, copy=False)
    present = np.bincount(offsets, minlength=span) > 0
    if present.all():
        return tuple(range(low, high + 1)), offsets.astype(smallest_unsigned(span))
    found = np.flatnonzero(present)
    ranks = np.zeros(span, dtype=smallest_unsigned(len(found)))
    ranks[found] = np.arange(len(found), dtype=ranks.dtype)
    return tuple(low + offset for offset in found.tolist()), ranks[offsets]


def encode_booleans(values: NDArray[np.bool_]) -> Column:
    """Boolean levels, False before True."""
    levels, codes = _ranked(values.view(np.uint8))
    return Column(tuple(map(bool, levels)), codes)


def encode_floats(values: NDArray[np.floating]) -> Column:
    """Integer levels from floats that hold nothing but integers."""
    finite = np.isfinite(values)
    if not finite.all():
        raise _not_finite(values)
    fractional = np.trunc(values) != values
    if fractional.any():
        raise continuous(float(values[fractional.argmax()]), values)
    low, high = int(values.min()), int(values.max())
    if low < SMALLEST_INTEGER or high > LARGEST_INTEGER:
        # Floats of this size are whole by necessity, and so may well be measurements.
        raise too_large(low if low < SMALLEST_INTEGER else high, values)
    # The values are kept as they came: as integers, 0.0 and -0.0 are the same.
    if high < 2**63:
        return _of_numbers(values, *_ranked(values.astype(np.int64)))
    found, codes = np.unique(values, return_inverse=True)
    levels = tuple(int(level) for level in found.tolist())
    return _of_numbers(values, levels, codes.astype(smallest_unsigned(len(found))))


def _of_numbers(values: NDArray[Any], levels: tuple[int, ...], codes: Codes) -> Column:
    # Kept only if they are of use: they are a copy of the user's column, or the column itself.
    return Column(levels, codes, values if too_many_levels(len(levels), len(values)) else None)


def measure(numbers: NDArray[Any]) -> NDArray[np.float64]:
    """The numbers as a continuous column keeps them: finite, and in memory of its own."""
    with np.errstate(over="ignore"):
        # Wider types than this may hold what becomes infinite here.
        values = np.array(numbers, dtype=np.float64, order="C")
    if not np.isfinite(values).all():
        raise _not_finite(values)
    return values


def encode_labels(
    codes: NDArray[np.integer], labels: Sequence[Label], *, ordered: bool = False
) -> Column:
    """Levels from codes into a list of labels, of which some may not occur or occur twice.

    The order of the labels is kept only if it was given a meaning.
    """
    present = np.bincount(codes, minlength=len(labels)) > 0
    occurring: dict[Any, None] = dict.fromkeys(
        label for label, occurs in zip(labels, present.tolist(), strict=True) if occurs
    )
    levels = list(occurring) if ordered else sorted(occurring)
    rank = {level: k for k, level in enumerate(levels)}
    ranks = np.array([rank.get(label, 0) for label in labels], smallest_unsigned(len(levels)))
    return Column(tuple(levels), ranks.take(codes), kind="ordinal" if ordered else "category")


def encode_texts(codes: NDArray[np.integer], texts: Sequence[str]) -> Column:
    """Levels from codes into different texts, each of which occurs."""
    levels = sorted(texts)
    rank = {level: k for k, level in enumerate(levels)}
    ranks = np.array([rank[text] for text in texts], smallest_unsigned(len(levels)))
    return Column(tuple(levels), ranks.take(codes))


def continuous(value: float | str, numbers: NDArray[Any] | None = None) -> ColumnRefused:
    """The refusal of a column in which this non-integer number was seen."""
    return ColumnRefused(
        Problem.CONTINUOUS, f"holds numbers that are not integers, such as {value}", numbers
    )


def infinite(where: str) -> ColumnRefused:
    """The refusal of a column with an infinite value."""
    return ColumnRefused(Problem.INFINITE, f"holds an infinite value ({where})")


def too_large(value: int, numbers: NDArray[Any] | None = None) -> ColumnRefused:
    """The refusal of a column with an integer that no 64-bit type holds."""
    return ColumnRefused(
        Problem.TOO_LARGE,
        f"holds an integer that does not fit in 64 bits ({shown(value)})",
        numbers,
    )


def _not_finite(values: NDArray[np.floating]) -> ColumnRefused:
    nan = np.isnan(values)
    if nan.any():
        return missing(nan)
    return infinite(at_row(int(np.isinf(values).argmax())))


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


_BLOCK = 64
"""How many columns are gathered at once: a row-major array is read by cache lines, not cells,
and a whole transposed copy would double the memory."""


def columns_of(values: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """The columns of a two-dimensional array, each contiguous."""
    if isinstance(values, np.ma.MaskedArray):
        yield from values.T
        return
    # np.asarray strips np.matrix, whose rows are matrices again.
    transposed = np.asarray(values).T
    for start in range(0, len(transposed), _BLOCK):
        yield from np.ascontiguousarray(transposed[start : start + _BLOCK])


def encode_array(values: NDArray[Any]) -> Column:
    """Levels from a one-dimensional array of any type."""
    if values.ndim != 1:
        raise ColumnRefused(Problem.UNSUPPORTED, f"holds arrays of shape {values.shape[1:]}")
    if isinstance(values, np.ma.MaskedArray):
        masked = np.ma.getmaskarray(values)
        if masked.any():
            raise missing(masked)
        values = values.data
    match values.dtype.kind:
        case "i" | "u":
            return encode_integers(values)
        case "b":
            return encode_booleans(values)
        case "f":
            return encode_floats(values)
        case "O" | "U" | "T":
            return encode_cells(values.tolist())
    cells = values.astype("datetime64[us]").tolist() if values.dtype.kind == "M" else None
    seen = f"holds values of type {values.dtype.name}"
    raise ColumnRefused(Problem.UNSUPPORTED, seen, cells=cells)
