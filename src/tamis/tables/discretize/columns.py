"""Which columns of a table are numbers, and what these are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis.errors import DataError
from tamis.tables.columns import Column, measure, too_many_levels
from tamis.tables.discretize.gaps import Floats, Ints
from tamis.tables.discretize.request import Request
from tamis.tables.refusals import ColumnRefused, refusal, shown
from tamis.tables.sources import where_present

Flags = NDArray[np.bool_]
Encode = Callable[[Flags | None], Column]
"""Reads one column in these rows, None for all, or raises ``ColumnRefused``."""


class _Labelled(Exception):  # noqa: N818 - a message between functions, never seen by users
    """A column that was asked for by name holds labels."""


class Chosen(NamedTuple):
    """The numbers to be cut, by name, and the codes of the target if there is one; where they
    are missing, numbers are nan and codes -1."""

    numbers: dict[str, Floats]
    target: Ints | None


def choose(
    request: Request, columns: Mapping[str, Encode], numeric: Callable[[str], bool]
) -> Chosen:
    """The columns the request names, or all of numbers; all bad ones are refused at once.

    ``numeric`` tells whether a column that cannot be read was meant to hold numbers; one that was
    not is none of our business.
    """
    request.check_names(list(columns))
    names = [name for name in columns if name != request.target]
    numbers: dict[str, Floats] = {}
    refused: list[tuple[str, ColumnRefused]] = []
    for name in names if request.columns is None else request.columns:
        try:
            found = _numbers(columns[name], explicit=request.columns is not None)
        except _Labelled as why:
            raise DataError(
                f"Column {shown(name)} {why}; only numbers can be cut. Leave it out of columns."
            ) from None
        except ColumnRefused as why:
            if request.columns is not None or numeric(name):
                refused.append((name, why))
            continue
        if found is not None:
            numbers[name] = found
    if refused:
        raise refusal(refused)
    if not numbers:
        raise DataError(
            "No column is of the kind 'number', so there is nothing to cut. Name the columns that "
            "are to be cut all the same, with columns=[...]."
        )
    return Chosen(numbers, None if request.target is None else _target(request.target, columns))


def _over_all(values: NDArray[Any], absent: Flags | None, missing: float) -> NDArray[Any]:
    """The values of the rows that have them, and of the others that they are missing."""
    if absent is None:
        return values
    found = np.full(len(absent), missing, dtype=values.dtype)
    found[~absent] = values
    return found


def _numbers(encode: Encode, *, explicit: bool) -> Floats | None:
    """The numbers of a column, or None if it holds levels and was not asked for by name."""
    column, absent = where_present(encode)
    if isinstance(column, ColumnRefused):
        if column.numbers is None:
            raise column
        return _over_all(measure(column.numbers), absent, np.nan)
    found = _numbers_of(column, explicit=explicit)
    return None if found is None else _over_all(found, absent, np.nan)


def _numbers_of(column: Column, *, explicit: bool) -> Floats | None:
    if column.kind != "number" and not explicit:
        return None
    for label in column.levels:
        if isinstance(label, str):
            raise _Labelled(f"holds labels such as {shown(label)}")
    levels: Floats = np.array(column.levels, dtype=np.float64)
    return levels[column.codes]


def _target(name: str, columns: Mapping[str, Encode]) -> Ints:
    column, absent = where_present(columns[name])
    if isinstance(column, ColumnRefused):
        raise DataError(
            f"The target {shown(name)} {column}. It must hold levels: choose another, or "
            "discretise it first."
        )
    if too_many_levels(len(column.levels), len(column.codes)):
        raise DataError(
            f"The target {shown(name)} has {len(column.levels)} levels in {len(column.codes)} "
            "rows. Choose one with fewer levels, or discretise it first."
        )
    codes: Ints = _over_all(column.codes.astype(np.int64), absent, -1)
    return codes
