"""One column of numbers or labels becomes codes and levels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.data.refusals import ColumnRefused, Problem, at_row, missing, shown
from tamis.data.table import Label

Codes = NDArray[np.unsignedinteger]

LARGEST_INTEGER = 2**64 - 1
SMALLEST_INTEGER = -(2**63)
"""Integer labels fit a 64-bit type, signed or unsigned, so that every output can hold them."""


@dataclass(frozen=True)
class Column:
    """The levels of one column, each of which occurs, and the level of every row."""

    levels: tuple[Label, ...]
    codes: Codes


def smallest_unsigned(n_levels: int) -> np.dtype[np.unsignedinteger]:
    """The smallest unsigned type that can number this many levels."""
    return np.min_scalar_type(max(n_levels - 1, 0))


def encode_integers(values: NDArray[np.integer]) -> Column:
    """Integer levels in increasing order."""
    low, high = int(values.min()), int(values.max())
    span = high - low + 1
    if span <= 2:
        return Column(tuple(range(low, high + 1)), (values != low).view(np.uint8))
    # A lookup table costs one pass over its span; sorting only wins when values are scattered.
    if span > 4 * len(values) + 1024:
        found, codes = np.unique(values, return_inverse=True)
        return Column(tuple(found.tolist()), codes.astype(smallest_unsigned(len(found))))
    # Small types would overflow, and no signed type holds all of uint64.
    wide = np.uint64 if values.dtype.kind == "u" else np.int64
    offsets = np.subtract(values, low, dtype=wide).astype(np.intp, copy=False)
    present = np.bincount(offsets, minlength=span) > 0
    if present.all():
        return Column(tuple(range(low, high + 1)), offsets.astype(smallest_unsigned(span)))
    found = np.flatnonzero(present)
    ranks = np.zeros(span, dtype=smallest_unsigned(len(found)))
    ranks[found] = np.arange(len(found), dtype=ranks.dtype)
    return Column(tuple(low + offset for offset in found.tolist()), ranks[offsets])


def encode_booleans(values: NDArray[np.bool_]) -> Column:
    """Boolean levels, False before True."""
    column = encode_integers(values.view(np.uint8))
    return Column(tuple(bool(level) for level in column.levels), column.codes)


def encode_floats(values: NDArray[np.floating]) -> Column:
    """Integer levels from floats that hold nothing but integers."""
    finite = np.isfinite(values)
    if not finite.all():
        raise _not_finite(values)
    fractional = np.trunc(values) != values
    if fractional.any():
        raise continuous(float(values[fractional.argmax()]))
    low, high = int(values.min()), int(values.max())
    if low < SMALLEST_INTEGER or high > LARGEST_INTEGER:
        raise too_large(low if low < SMALLEST_INTEGER else high)
    if high < 2**63:
        return encode_integers(values.astype(np.int64))
    found, codes = np.unique(values, return_inverse=True)
    return Column(
        tuple(int(level) for level in found.tolist()), codes.astype(smallest_unsigned(len(found)))
    )


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
    return Column(tuple(levels), ranks[codes])


def continuous(value: float | str) -> ColumnRefused:
    """The refusal of a column in which this non-integer number was seen."""
    return ColumnRefused(
        Problem.CONTINUOUS, f"holds numbers that are not integers, such as {value}"
    )


def infinite(where: str) -> ColumnRefused:
    """The refusal of a column with an infinite value."""
    return ColumnRefused(Problem.INFINITE, f"holds an infinite value ({where})")


def too_large(value: int) -> ColumnRefused:
    """The refusal of a column with an integer that no 64-bit type holds."""
    return ColumnRefused(
        Problem.TOO_LARGE, f"holds an integer that does not fit in 64 bits ({shown(value)})"
    )


def _not_finite(values: NDArray[np.floating]) -> ColumnRefused:
    nan = np.isnan(values)
    if nan.any():
        return missing(int(nan.sum()), len(values), at_row(int(nan.argmax())))
    return infinite(at_row(int(np.isinf(values).argmax())))
