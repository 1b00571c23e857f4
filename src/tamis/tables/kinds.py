"""What kind of column a column is: what it holds says so, or the user does.

Numbers with fractions are numbers. Whole numbers are numbers if they take more than 20 values (in
a short table, more than the square root of its rows), and otherwise categories. Ordered
categoricals are ordinal; text and truth values are categories.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, get_args

import numpy as np

from tamis.errors import SettingError
from tamis.tables.columns import (
    Codes,
    Column,
    encode_labels,
    many_values,
    measure,
    too_many_levels,
)
from tamis.tables.levels import check_levels
from tamis.tables.refusals import ColumnRefused, Problem, shown
from tamis.tables.table import Kind

IGNORE = "ignore"
"""What is said of a column that is to be left out."""
TYPES: tuple[str, ...] = (*get_args(Kind), IGNORE)

_NO_CODES: Codes = np.zeros(1, dtype=np.uint8)
"""Of a continuous column: one zero, which fills its row of the codes."""


def checked_types(types: object) -> dict[str, str]:
    """Kinds by column name, if that is what this is; None for none."""
    if types is None:
        return {}
    if not isinstance(types, Mapping):
        raise SettingError(
            f"types must be a mapping such as {{'grade': 'ordinal', 'id': 'ignore'}}, not {types!r}"
        )
    for name, kind in types.items():
        if not isinstance(kind, str) or kind not in TYPES:
            choices = ", ".join(map(repr, TYPES))
            raise SettingError(f"types: column {name!r} must be one of {choices}, not {kind!r}")
    return {str(name): kind for name, kind in types.items()}


def settled(
    encode: Callable[[], Column], n_rows: int, told: str | None, continuous: bool
) -> Column:
    """A column as the table will hold it, its kind ``told`` or found: with levels, or else with
    numbers, which is refused unless ``continuous`` ones are wanted."""
    try:
        found = encode()
        column = check_levels(found, n_rows)
    except ColumnRefused as why:
        if why.numbers is None or (told is None and not continuous):
            raise
        if told in ("category", "ordinal"):
            column = check_levels(_levels_of(why, n_rows), n_rows)
        else:
            return Column((), _NO_CODES, measure(why.numbers), "number")
    # Repeated often enough, the levels of few rows are few.
    return Column(column.levels, column.codes, None, _kind_of(column, n_rows, told))


def _kind_of(column: Column, n_rows: int, told: str | None) -> Kind:
    label = column.levels[0]
    if told == "number":
        if isinstance(label, str):
            raise ColumnRefused(
                Problem.NO_NUMBER, f"is to be a number, and holds labels such as {shown(label)}"
            )
        return "number"
    if told == "ordinal" or (told is None and column.kind == "ordinal"):
        return "ordinal"
    many = type(label) is int and many_values(len(column.levels), n_rows)
    return "number" if told is None and many else "category"


def _levels_of(why: ColumnRefused, n_rows: int) -> Column:
    """Levels of numbers that are to have some, in their order."""
    numbers: Any = why.numbers
    # There is one zero, whatever its sign.
    values, codes = np.unique(np.asarray(numbers, dtype=np.float64) + 0.0, return_inverse=True)
    if too_many_levels(len(values), n_rows):
        raise ColumnRefused(why.problem, f"{why.seen}, {len(values)} different ones")
    return encode_labels(codes, [f"{value:.15g}" for value in values.tolist()], ordered=True)
