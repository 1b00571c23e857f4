"""Which columns of a table are continuous, and their numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from tamis.errors import DataError
from tamis.tables.columns import Column, measure, too_many_levels
from tamis.tables.discretize.gaps import Floats, Ints
from tamis.tables.discretize.plan import Plan
from tamis.tables.refusals import ColumnRefused, refusal, shown

Encode = Callable[[], Column]
"""Reads one column, or raises ``ColumnRefused``."""


class _Labelled(Exception):  # noqa: N818 - a message between functions, never seen by users
    """A column that was asked for by name holds labels."""


class Chosen(NamedTuple):
    """The numbers to be cut, by name, and the codes of the target if there is one."""

    numbers: dict[str, Floats]
    target: Ints | None


def choose(plan: Plan, columns: Mapping[str, Encode], numeric: Callable[[str], bool]) -> Chosen:
    """The columns the plan names, or all continuous ones; all bad ones are refused at once.

    ``numeric`` tells whether a column that cannot be read was meant to hold numbers; one that was
    not is none of our business.
    """
    plan.check_names(list(columns))
    names = [name for name in columns if name != plan.target]
    numbers: dict[str, Floats] = {}
    refused: list[tuple[str, ColumnRefused]] = []
    for name in names if plan.columns is None else plan.columns:
        try:
            found = _numbers(columns[name], explicit=plan.columns is not None)
        except _Labelled as why:
            raise DataError(
                f"Column {shown(name)} {why}; only numbers can be cut. Leave it out of columns."
            ) from None
        except ColumnRefused as why:
            if plan.columns is not None or numeric(name):
                refused.append((name, why))
            continue
        if found is not None:
            numbers[name] = found
    if refused:
        raise refusal(refused)
    if not numbers:
        raise DataError(
            "No column is continuous, so there is nothing to cut. Name the columns that are to be "
            "cut all the same, with columns=[...]."
        )
    return Chosen(numbers, None if plan.target is None else _target(plan.target, columns))


def _numbers(encode: Encode, *, explicit: bool) -> Floats | None:
    """The numbers of a column, or None if it holds levels and was not asked for by name."""
    try:
        column = encode()
    except ColumnRefused as why:
        if why.numbers is None:
            raise
        return measure(why.numbers)
    n_rows = len(column.codes)
    if column.numbers is not None and too_many_levels(len(column.levels), n_rows):
        return measure(column.numbers)
    if not explicit:
        return None
    for label in column.levels:
        if isinstance(label, str):
            raise _Labelled(f"holds labels such as {shown(label)}")
    levels: Floats = np.array(column.levels, dtype=np.float64)
    return levels[column.codes]


def _target(name: str, columns: Mapping[str, Encode]) -> Ints:
    try:
        column = columns[name]()
    except ColumnRefused as why:
        raise DataError(
            f"The target {shown(name)} {why}. It must hold levels: choose another, or discretise "
            "it first."
        ) from why
    if too_many_levels(len(column.levels), len(column.codes)):
        raise DataError(
            f"The target {shown(name)} has {len(column.levels)} levels in {len(column.codes)} "
            "rows. Choose one with fewer levels, or discretise it first."
        )
    return column.codes.astype(np.int64)
