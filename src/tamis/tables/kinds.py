"""What kind of column a column is, as it shows or as the user says, and if its levels will do.

Columns that name or date the rows are recognised here too, by name, text and numbers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from itertools import islice
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
from tamis.tables.refusals import ColumnRefused, Problem, dropping, ignoring, listed, refusal, shown
from tamis.tables.table import AnyTable, ColumnKind, Label, Table, in_memory

_MONTH = "(?:0?[1-9]|1[0-2])"
_DAY = "(?:0?[1-9]|[12][0-9]|3[01])"
_YEAR = "(?:1[5-9]|20|21)[0-9]{2}"
_NAME = "(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_CLOCK = r"(?:[01]?[0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\.[0-9]+)?)?"
_ZONE = r"(?:Z| ?UTC|[+-][0-9]{2}:?[0-9]{2})?"
_FORMS = (
    rf"{_YEAR}([-/.]){_MONTH}\1{_DAY}(?:[T ]{_CLOCK}{_ZONE})?",
    rf"{_DAY}([-/.]){_MONTH}\1(?:{_YEAR}|[0-9]{{2}})(?: {_CLOCK})?",
    rf"{_MONTH}([-/.]){_DAY}\1(?:{_YEAR}|[0-9]{{2}})(?: {_CLOCK})?",
    rf"{_YEAR}[-/](?:0[1-9]|1[0-2])",
    rf"(?:0[1-9]|1[0-2])[-/]{_YEAR}",
    rf"{_YEAR}-?M(?:0?[1-9]|1[0-2])",
    rf"{_YEAR}[- ]?Q[1-4]",
    rf"Q[1-4][- /]?{_YEAR}",
    rf"{_YEAR}-?W[0-5][0-9](?:-?[1-7])?",
    rf"{_DAY}[-. ]+{_NAME}[-., ]+(?:{_YEAR}|[0-9]{{2}})(?: {_CLOCK})?",
    rf"{_NAME}[-. ]+{_DAY},? +{_YEAR}(?: {_CLOCK})?",
    rf"{_NAME}[-., ]+{_YEAR}",
    rf"{_CLOCK}(?: ?[ap]\.?m\.?)?",
)
_FEWEST = 3
"""Fewer different values than this may look like dates by chance."""
_LOOKED_AT = 1000

SPANS = {"day": (15000101, 22001231), "month": (150001, 220012)}


def are_dates(labels: Iterable[str]) -> bool:
    """Whether these different texts are all dates, months or times in one of the usual forms."""
    texts = [label.strip() for label in islice(labels, _LOOKED_AT)]
    if len(texts) < _FEWEST:
        return False
    # Compiled when the first texts are asked about, and kept by `re`.
    patterns = (re.compile(form, re.IGNORECASE) for form in _FORMS)
    return any(all(map(pattern.fullmatch, texts)) for pattern in patterns)


def are_written_days(values: NDArray[np.float64]) -> bool:
    """Whether numbers are all days such as 20240131, or all months such as 202401."""
    if len(values) == 0:
        return False
    low, high = float(values.min()), float(values.max())
    for form, (first, last) in SPANS.items():
        if first <= low and high <= last and (np.trunc(values) == values).all():
            return _are_calendar(np.unique(values.astype(np.int64)), form)
    return False


def _are_calendar(written: NDArray[np.int64], form: str) -> bool:
    """Whether the last digits of every value are those of a month, or a month and a day."""
    # With six values the chance that all end so is below one in a million.
    if len(written) < 2 * _FEWEST:
        return False
    months = written % 100 if form == "month" else written // 100 % 100
    days = written % 100 if form == "day" else np.ones_like(written)
    return bool(((months >= 1) & (months <= 12) & (days >= 1) & (days <= 31)).all())


FEWEST_ROWS = 10
"""In a table shorter than this nearly everything happens by chance."""
NAMES_ROWS = (
    r"(^|[^a-z])(id|ids|uid|uuid|guid|index|idx|key|rowid|seqn|serial)($|[^a-z])|identifier"
    r"|^unnamed: ?\d+$|(^|[^a-z])(number|nr|no|num)\.?$"
    r"|^(case|doc|p|pat|patient|person|record|row|seq|study|subj|subject|user)_?(id|no|nr|num)$"
    r"|^(id|pid)(no|nr|num)$|^(case|patient|subject|respondent|participant)$"
)
"""What identifiers are called."""


def grave_notes(table: AnyTable) -> Iterator[str]:
    """A word on columns that a table was made with although they name or date its rows.

    Cheap: only columns whose range, name or first label asks for it are looked through.
    """
    for k, name in enumerate(table.names):
        if k in table.told or k in table.missing:
            continue
        why = _row_name(name, table, k)
        if why is not None:
            yield (
                f"Column {shown(name)} {why}: leave it out with {ignoring([name])} "
                f"({dropping([name])}), or name its kind if it is data like the others."
            )


def _row_name(name: str, table: AnyTable, k: int) -> str | None:
    labels = table.levels[k]
    if labels and isinstance(labels[0], str):
        texts = [label for label in labels if isinstance(label, str)]
        grave = many_values(len(texts), table.n_rows) and are_dates(texts)
        return "holds dates or times as text" if grave else None
    if labels and type(labels[0]) is not int:
        return None
    if labels and not are_written_days(np.array(labels, dtype=np.float64)):
        return None
    if labels:
        return "holds dates written as whole numbers"
    return why_row_name(name, table.numbers(k)) if in_memory(table) else None


def why_row_name(name: str, numbers: NDArray[np.float64]) -> str | None:
    """Why numbers name or date the rows, if they do."""
    if len(numbers) == 0 or not float(numbers[0]).is_integer():
        # None but whole numbers do, and of others nearly every first one says so.
        return None
    if is_running(numbers):
        return f"is a running number, {numbers.min():.15g} to {numbers.max():.15g}"
    if are_written_days(numbers):
        return "holds dates written as whole numbers"
    if _numbers_rows(numbers):
        return f"numbers the rows with gaps, {numbers.min():.15g} to {numbers.max():.15g}"
    if is_called(NAMES_ROWS, name) and _all_different(numbers):
        return "has another whole number in every row, and the name of an identifier"
    return None


def is_running(numbers: NDArray[np.float64]) -> bool:
    """Whether numbers are consecutive whole ones, each once, in any order."""
    n = len(numbers)
    if n < FEWEST_ROWS:
        return False
    low, high = float(numbers.min()), float(numbers.max())
    # First what settles nearly every column at the price of one pass.
    if high - low != n - 1 or low != np.trunc(low) or (np.trunc(numbers) != numbers).any():
        return False
    return bool((np.bincount((numbers - low).astype(np.intp), minlength=n) == 1).all())


def _numbers_rows(numbers: NDArray[np.float64]) -> bool:
    """Whether numbers are whole, each once, and most of those within their range: sorted or so
    many that drawn values would repeat themselves."""
    n = len(numbers)
    if n < 2 * FEWEST_ROWS or float(numbers.max()) - float(numbers.min()) >= 2 * n:
        return False
    steps = np.diff(numbers)
    is_sorted = bool((steps > 0).all() or (steps < 0).all())
    return (is_sorted or n >= 5 * FEWEST_ROWS) and _all_different(numbers)


def _all_different(numbers: NDArray[np.float64]) -> bool:
    if len(numbers) < FEWEST_ROWS or (np.trunc(numbers) != numbers).any():
        return False
    return len(np.unique(numbers)) == len(numbers)


def is_called(names: str, name: str) -> bool:
    """Whether a name has one of these words, in any way of joining words."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name)
    return re.search(names, words.lower()) is not None


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
