"""Why a column is refused, and how several refusals become one message that says the cure."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.errors import DataError

LISTED = 5
"""How many columns or names one message lists before it says how many more there are."""

_WIDTH = 60
_PATH_WIDTH = 200
_OF_TIME = re.compile(r"holds values of type (date|time|period|duration)", re.IGNORECASE)
"""How every library calls the types of dates, times and spans of time."""


class Problem(Enum):
    """What can be wrong with a column; the value is the advice that ends the message.

    In it ``{ignore}`` and ``{drop}`` stand for the setting and the option that leave the refused
    columns out. Missing values come last: what dropping rows leaves is said after them.
    """

    UNSUPPORTED = (
        "Levels are strings, integers or booleans: convert to a string or a category first."
    )
    DATE = (
        "A date or a time is neither a level nor a number: leave the column out with {ignore} "
        "({drop}), turn it into a number, such as the days since the first one, or call it a "
        "category if its days repeat."
    )
    AMOUNT = (
        "Write such numbers as 1234.56, with a point before decimals and no other sign, so that "
        "they are read as numbers."
    )
    ORDER = "Name every level in the order of an ordinal column, the lowest first."
    MIXED = "Give all cells of a column one type, for example by converting them to strings."
    NO_NUMBER = "Call it a category or ordinal, or give every label a number."
    NOTHING = "What is empty says nothing: drop the column, or leave it out with {ignore} ({drop})."
    INFINITE = "Replace infinite values or drop those rows."
    CONTINUOUS = (
        "Continuous columns need a continuous information source, such as "
        "information='gaussian': choose that, or discretise them first, with "
        "tamis.discretize."
    )
    TOO_LARGE = "Convert such integers to strings."
    UNWRITABLE = "UTF-8 cannot write such text: replace the lone surrogates."
    NOT_UTF8 = "Write the text again in UTF-8."
    BLANKS = "Trim the labels, so that every level is written one way."
    IDENTIFIER = (
        "A column with more levels than half the rows looks like an identifier: leave it out with "
        "{ignore} ({drop}), or group its levels."
    )
    MISSING = (
        "Every cell needs a value: fill them in, or say what is to be done: tamis.TAM(missing=...) "
        "and tamis learn --missing take 'pairwise' (each test uses what is present) and 'level' "
        "(a level of its own for categories; numbers as with 'pairwise')."
    )


class ColumnRefused(Exception):  # noqa: N818 - a message between modules, never seen by users
    """One column has no levels; raised by encoders, which do not know the column's name.

    ``numbers`` are its values if they can be continuous instead, in a table that takes them so;
    ``absent`` says where it is missing, if that is why; ``cells`` are dates and times, which can be
    categories by their text.
    """

    def __init__(
        self,
        problem: Problem,
        seen: str,
        numbers: NDArray[Any] | None = None,
        absent: NDArray[np.bool_] | None = None,
        cells: Sequence[Any] | None = None,
    ) -> None:
        super().__init__(seen)
        is_time = problem is Problem.UNSUPPORTED and _OF_TIME.match(seen)
        self.problem = Problem.DATE if is_time else problem
        self.seen = seen
        self.numbers = numbers
        self.absent = absent
        self.cells = cells if self.problem is Problem.DATE else None

    def __reduce__(self) -> tuple[type[ColumnRefused], tuple[Problem, str]]:
        """Between processes it travels as what there is to say, without the rows."""
        return type(self), (self.problem, self.seen)


def refusal(refused: Sequence[tuple[str, ColumnRefused]]) -> DataError:
    """One error for all refused columns: a sentence on what was seen and one on the cure."""
    sentences = []
    for problem in Problem:
        names = [name for name, why in refused if why.problem is problem]
        seen = [
            f"column {shown(name)} {why.seen}" for name, why in refused if why.problem is problem
        ]
        if seen:
            sentences.append(
                f"{_capitalised(listed(seen, separator='; '))}. {advice(problem, names)}"
            )
    return DataError(" ".join(sentences))


def advice(problem: Problem, names: Sequence[str]) -> str:
    """What to do about these columns."""
    return problem.value.replace("{ignore}", ignoring(names)).replace("{drop}", dropping(names))


def ignoring(names: Sequence[str]) -> str:
    """The setting that leaves these columns out."""
    pairs = ", ".join(f"{shown(name)}: 'ignore'" for name in names[:LISTED])
    return f"types={{{pairs}{', ...' if len(names) > LISTED else ''}}}"


def dropping(names: Sequence[str]) -> str:
    """The options of the command that leave these columns out."""
    options = " ".join(f"--drop {_argument(name)}" for name in names[:LISTED])
    return options + (" ..." if len(names) > LISTED else "")


def typing(name: str, kind: str) -> str:
    """The option of the command that names the kind of a column."""
    return f"--type {_argument(f'{name}={kind}')}"


def _argument(name: str) -> str:
    """A name as a shell takes it, on one line."""
    return shlex.quote(name) if name.isprintable() and len(name) <= _WIDTH else shown(name)


def enough_left(n_left: int, n_rows: int) -> bool:
    """Whether the rows without missing values are enough to stand for all."""
    return 2 * n_left >= n_rows


def what_drop_leaves(refused: Iterable[ColumnRefused]) -> str:
    """How many rows have everything, in a sentence; none where nothing is missing."""
    # Columns that are empty have to go in any case.
    absent = [why.absent for why in refused if why.absent is not None and not why.absent.all()]
    if not absent:
        return ""
    n_rows = len(absent[0])
    n_left = n_rows - int(np.logical_or.reduce(absent).sum())
    if enough_left(n_left, n_rows):
        return f" 'drop' leaves such rows out, and {n_left} of {n_rows} remain."
    return f" Too few rows have everything, {n_left or 'none'} of {n_rows}, to 'drop' the others."


def missing(absent: NDArray[np.bool_], where: str | None = None) -> ColumnRefused:
    """The refusal of a column with missing values, the first of them at ``where``."""
    if absent.all():
        return ColumnRefused(Problem.NOTHING, empty(len(absent)), absent=absent)
    where = where or at_row(int(absent.argmax()))
    seen = f"is missing in {int(absent.sum())} of {len(absent)} rows (first {where})"
    return ColumnRefused(Problem.MISSING, seen, absent=absent)


def empty(n_rows: int) -> str:
    """What is seen of a column that has no value."""
    return f"is missing in all {n_rows} rows"


def at_row(row: int) -> str:
    """Where a cell stands in a table held in memory."""
    return f"at row {row}, counting from 0"


def listed(items: Iterable[str], separator: str = ", ") -> str:
    """The first few items, and how many more there are."""
    items = list(items)
    rest = len(items) - LISTED
    return separator.join(items[:LISTED]) + (f" and {rest} more" if rest > 0 else "")


def count(number: int, thing: str) -> str:
    """A number of things, in the plural unless there is one."""
    return f"{number:,} {thing}" + ("" if number == 1 else "s")


def shown(value: object) -> str:
    """A value as it appears in a message: quoted, escaped and never long."""
    if isinstance(value, int) and value.bit_length() > 64:
        # Python refuses to print integers of several thousand digits.
        return f"an integer of {value.bit_length()} bits"
    text = repr(value)
    return text if len(text) <= _WIDTH else f"{text[:_WIDTH]}…"


def first_line(error: BaseException) -> str:
    """What an error of another library says, shown on one line."""
    return shown((str(error).splitlines() or [type(error).__name__])[0])


def shown_path(path: str) -> str:
    """A path as it appears in a message: if it is cut, the name of the file remains."""
    text = repr(path)
    return text if len(text) <= _PATH_WIDTH else f"…{text[-_PATH_WIDTH:]}"


def _capitalised(text: str) -> str:
    # str.capitalize would also lower the rest, and with it the user's names.
    return text[:1].upper() + text[1:]
