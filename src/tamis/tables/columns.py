"""One column of numbers or labels becomes codes and levels, or continuous numbers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

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
