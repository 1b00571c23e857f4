"""What kind of column a column is, as it shows or as the user says, and if its levels will do."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Protocol, get_args, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from tamis.errors import DataError, SettingError
from tamis.tables.columns import (
    Codes,
    Column,
    encode_dates,
    encode_floats,
    encode_labels,
    many_values,
    measure,
    smallest_unsigned,
    too_many_levels,
)
from tamis.tables.refusals import ColumnRefused, Problem, listed, refusal, shown
from tamis.tables.row_names import are_dates
from tamis.tables.table import ColumnKind, Label, Table

_CURRENCY = "(?:[$€£¥₹]|USD|EUR|GBP|CHF)"
_DIGITS = r"(?:[1-9][0-9]{0,2}([.,'’ \u00a0\u202f])[0-9]{3}(?:\1[0-9]{3})*|[0-9]+)"
"""With a mark before every three digits, or without any."""
_AMOUNT = re.compile(
    rf"[+-]?\s?(?:{_CURRENCY}\s?)?{_DIGITS}(?:[.,][0-9]+)?(?:\s?(?:%|{_CURRENCY}))?"
)
_PLAIN = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")


def written_amount(labels: Sequence[str]) -> str | None:
    """One of these texts that is no plain number, if all of them are amounts for a reader."""
    texts = [label.strip() for label in labels]
    example = next((text for text in texts if not _PLAIN.fullmatch(text)), None)
    # The example first: it settles nearly every column of text.
    if example is None or not _AMOUNT.fullmatch(example):
        return None
    return example if all(map(_AMOUNT.fullmatch, texts)) else None


def check_levels(column: Column, n_rows: int) -> Column:
    """Check that the levels of a column can be told apart, counted and written."""
    n_levels = len(column.levels)
    labels: tuple[Any, ...] = column.levels
    if isinstance(labels[0], str):
        # First, because blanks can make an identifier of any column.
        _refuse_blank_twins(labels)
    if too_many_levels(n_levels, n_rows):
        seen = f"has {n_levels} levels in {n_rows} rows"
        raise ColumnRefused(Problem.IDENTIFIER, seen, column.numbers)
    if isinstance(labels[0], str) and not is_writable("".join(labels)):
        worst = next(label for label in labels if not is_writable(label))
        raise ColumnRefused(Problem.UNWRITABLE, f"holds a lone surrogate, in {shown(worst)}")
    return column


def _refuse_blank_twins(labels: Sequence[str]) -> None:
    seen: dict[str, str] = {}
    for label in labels:
        twin = seen.setdefault(label.strip(), label)
        if twin is not label:
            raise ColumnRefused(
                Problem.BLANKS,
                f"has levels that differ only by the blanks around them, {shown(twin)} and "
                f"{shown(label)}",
            )


def is_writable(text: str) -> bool:
    """Whether UTF-8 can hold the text."""
    # isascii is stored with the string; encoding is not.
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


RULE = (
    "Numbers with fractions are numbers; whole numbers are numbers if they take more than 20 "
    "values (in a short table, more than the square root of its rows), otherwise categories; "
    "ordered categoricals are ordinal; text and truth values are categories."
)
"""How the kind of a column is found, in one sentence."""

IGNORE = "ignore"
"""What is said of a column that is to be left out."""
TYPES: tuple[str, ...] = (*get_args(ColumnKind), IGNORE)

Told = str | list[Label]
"""What a user says of a column: a kind, or the levels of an ordinal column from low to high."""

_NO_CODES: Codes = np.zeros(1, dtype=np.uint8)
"""Of a continuous column: one zero, which fills its row of the codes."""


@runtime_checkable
class NamesKinds(Protocol):
    """Something that knows the kinds of columns, such as a `tamis.Plan`."""

    @property
    def types(self) -> Mapping[str, Told]:
        """What is told of columns, by name."""


def checked_types(types: object) -> dict[str, Told]:
    """Kinds by column name, if that is what this is; None for none."""
    if types is None:
        return {}
    if isinstance(types, NamesKinds):
        types = types.types
    if not isinstance(types, Mapping):
        raise SettingError(
            "types must be a tamis.Plan or a mapping such as {'grade': 'ordinal', 'id': 'ignore'}, "
            f"not {types!r}"
        )
    return {str(name): checked_type(name, kind) for name, kind in types.items()}


def checked_type(name: object, told: object) -> Told:
    """A kind, or the levels of an ordinal column in their order."""
    if isinstance(told, str) and told in TYPES:
        return told
    if not isinstance(told, list | tuple):
        choices = ", ".join(map(repr, TYPES))
        raise SettingError(
            f"types: column {name!r} must be one of {choices}, or a list of its levels from low "
            f"to high, not {told!r}"
        )
    order = [_plain_label(name, label) for label in told]
    texts = list(map(_text, order))
    twice = next((text for k, text in enumerate(texts) if text in texts[:k]), None)
    if twice is not None:
        raise SettingError(f"types: the order of column {name!r} names the level {twice!r} twice")
    if len(order) < 2:
        raise SettingError(f"types: the order of column {name!r} needs two levels, not {told!r}")
    return order


def require_known(types: Iterable[str], names: Sequence[str]) -> None:
    """Refuse kinds of columns that are not there."""
    known = set(names)
    unknown = [name for name in types if name not in known]
    if unknown:
        close = get_close_matches(unknown[0], names, n=1)
        what = f"Did you mean {shown(close[0])}?" if close else ""
        what = what or f"The columns are {listed(map(shown, names))}."
        raise DataError(f"types: there is no column {listed(map(shown, unknown))}. {what}")


def settled(
    encode: Callable[[], Column], n_rows: int, told: Told | None, continuous: bool
) -> Column:
    """A column as the table will hold it, its kind ``told`` or found: with levels, or else with
    numbers, which is refused unless ``continuous`` ones are wanted."""
    try:
        column = _checked(encode(), n_rows, told)
    except ColumnRefused as why:
        cells = why.cells
        if cells is not None and told not in (None, "number"):
            return settled(lambda: encode_dates(cells), n_rows, told, continuous)
        if why.numbers is None or (told is None and not continuous):
            raise
        if told is None or told == "number":
            return Column((), _NO_CODES, measure(why.numbers), "number")
        column = check_levels(_levels_of(why, n_rows), n_rows)
    if isinstance(told, list):
        return _in_order(column, told)
    # Repeated often enough, the levels of few rows are few.
    return Column(column.levels, column.codes, None, kind_of(column, n_rows, told))


def _checked(column: Column, n_rows: int, told: Told | None) -> Column:
    try:
        return check_levels(column, n_rows)
    except ColumnRefused as why:
        labels = [label for label in column.levels if isinstance(label, str)]
        if told is None and why.problem is Problem.IDENTIFIER and are_dates(labels):
            seen = f"holds dates or times as text, such as {shown(labels[0])}"
            raise ColumnRefused(Problem.DATE, seen) from why
        amount = written_amount(labels) if why.problem is Problem.IDENTIFIER else None
        if amount is not None:
            seen = f"holds numbers written as text, such as {shown(amount)}"
            raise ColumnRefused(Problem.AMOUNT, seen) from why
        raise


def _in_order(column: Column, order: Sequence[Label]) -> Column:
    """The column with its levels in this order, ordinal."""
    ranks = {_text(label): rank for rank, label in enumerate(order)}
    unknown = [label for label in column.levels if _text(label) not in ranks]
    if unknown:
        shown_order = shown(" < ".join(ranks))
        raise ColumnRefused(
            Problem.ORDER,
            f"has the level {listed(map(shown, unknown))}, which its order {shown_order} lacks",
        )
    places = sorted(range(len(column.levels)), key=lambda k: ranks[_text(column.levels[k])])
    new = np.empty(len(places), dtype=smallest_unsigned(len(places)))
    new[places] = np.arange(len(places), dtype=new.dtype)
    return Column(tuple(column.levels[k] for k in places), new[column.codes], None, "ordinal")


def _plain_label(name: object, label: object) -> Label:
    if isinstance(label, np.generic):
        label = label.item()
    if isinstance(label, float):
        label = int(label) if label.is_integer() else f"{label:.15g}"
    if not isinstance(label, str | int):
        raise SettingError(
            f"types: the order of column {name!r} holds {label!r}, which is no level: levels are "
            "strings, numbers or truth values"
        )
    return label


def _text(label: Label) -> str:
    """A level by its text, as the command and files name it."""
    return str(label)


def kind_of(column: Column, n_rows: int, told: str | None = None) -> ColumnKind:
    """The kind of a column that has levels, as it was told or else by the rule."""
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


def require_levels(table: Table) -> None:
    """Raise ``DataError`` if any column of the table is continuous, naming all that are."""
    if table.continuous:
        raise refusal(
            [
                (table.names[k], _why(table.numbers(k)[table.present(k)]))
                for k in sorted(table.continuous)
            ]
        )


def _why(numbers: NDArray[np.float64]) -> ColumnRefused:
    try:
        # As if the column were read anew, so that the refusal is the one for its values.
        check_levels(encode_floats(numbers), len(numbers))
    except ColumnRefused as why:
        return why
    # Numbers that fell together when they became floats, or a table made by hand.
    return ColumnRefused(Problem.CONTINUOUS, f"holds continuous numbers, such as {numbers[0]}")
