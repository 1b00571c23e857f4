"""What is suspicious about one column as it is found, before anything about it is refused."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from tamis.tables.columns import Column, many_values, measure, too_many_levels
from tamis.tables.kinds import (
    FEWEST_ROWS,
    IGNORE,
    NAMES_ROWS,
    Told,
    are_dates,
    is_called,
    require_known,
    settled,
    why_row_name,
    written_amount,
)
from tamis.tables.read import columns_before_typing
from tamis.tables.refusals import (
    ColumnRefused,
    Problem,
    advice,
    dropping,
    listed,
    missing,
    shown,
    typing,
)
from tamis.tables.sources import Sources, where_present
from tamis.tables.table import Label

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Found:
    """One column: what its present values are, and what a table would hold of it."""

    name: str
    n_rows: int
    values: Column | ColumnRefused
    """Its levels however many they are, or why it has none."""
    held: Column | ColumnRefused
    """The column as it would be read, or why it would be refused."""
    absent: Flags | None = None
    """Where it is missing, if anywhere: all else is about the other rows."""

    @property
    def n_missing(self) -> int:
        """The number of rows in which it is missing."""
        return 0 if self.absent is None else int(self.absent.sum())

    @property
    def n_present(self) -> int:
        """The number of rows in which it is not."""
        return self.n_rows - self.n_missing

    @property
    def labels(self) -> tuple[Label, ...]:
        """Its different values, sorted; none of a column of numbers with fractions."""
        return () if isinstance(self.values, ColumnRefused) else self.values.levels

    @property
    def texts(self) -> list[str]:
        """Its different values if they are text."""
        return [label for label in self.labels if isinstance(label, str)]

    @cached_property
    def numbers(self) -> NDArray[np.float64] | None:
        """Its values as numbers, if that is what they are; truth values are not."""
        if isinstance(self.values, ColumnRefused):
            return None if self.values.numbers is None else measure(self.values.numbers)
        if not self.labels or type(self.labels[0]) is not int:
            return None
        return np.array(self.labels, dtype=np.float64)[self.values.codes]

    @cached_property
    def n_values(self) -> int:
        """The number of its different values."""
        return len(self.labels) or (0 if self.numbers is None else int(self.codes.max()) + 1)

    @cached_property
    def codes(self) -> NDArray[np.int32]:
        """Its different values by number, in their order; those of fractions too."""
        if isinstance(self.values, Column):
            return self.values.codes.astype(np.int32)
        if self.numbers is None:
            return np.zeros(0, dtype=np.int32)
        return np.unique(self.numbers, return_inverse=True)[1].astype(np.int32)

    def held_as(self, told: Told | None) -> Column | ColumnRefused:
        """The column as it would be read if this were told of it."""
        return _held(self.values, self.n_present, told)


def look_at(data: object, types: Mapping[str, Told]) -> list[Found]:
    """The columns of anything that holds a table, each with what was told of it."""
    given = columns_before_typing(data)
    require_known(types, given.names)
    return [
        _found(given, name, source, types.get(name))
        for name, source in zip(given.names, given.columns, strict=True)
    ]


def _found(given: Sources[Any], name: str, source: object, told: Told | None) -> Found:
    if not given.n_rows:
        # Of no rows nobody can say what they are, whatever the type.
        nothing = missing(np.zeros(0, dtype=np.bool_))
        return Found(name, 0, nothing, nothing, None)
    encoding = given.encoding
    values, absent = where_present(
        lambda rows: _with_numbers(lambda: encoding.encode(encoding.rows_of(source, rows)))
    )
    held = _held(values, given.n_rows - (0 if absent is None else int(absent.sum())), told)
    if isinstance(values, ColumnRefused) and values.cells is not None:
        # Dates have levels once they are called categories.
        values = held if isinstance(held, Column) else values
    return Found(name, given.n_rows, values, held, absent)


def _with_numbers(encode: Callable[[], Column]) -> Column:
    """The column; or what is wrong with its numbers, of which some may be missing."""
    try:
        return encode()
    except ColumnRefused as why:
        if why.numbers is not None:
            measure(why.numbers)
        raise


def _held(
    values: Column | ColumnRefused, n_present: int, told: Told | None
) -> Column | ColumnRefused:
    def encode() -> Column:
        if isinstance(values, ColumnRefused):
            raise values
        return values

    try:
        return settled(encode, n_present, told, continuous=True)
    except ColumnRefused as why:
        return why


Topic = Literal[
    "identifier",
    "date",
    "empty",
    "refused",
    "constant",
    "copy",
    "function",
    "code",
    "sentinel",
    "spelling",
]
TOPICS: tuple[Topic, ...] = get_args(Topic)


@dataclass(frozen=True)
class Suspicion:
    """What is suspicious about a column, and what to do about it.

    Attributes
    ----------
    topic : str
        What it is about, in one word.
    what : str
        What was seen.
    do : str
        What to do.
    grave : bool
        Whether no graph should be built on the column: `tamis.inspect` leaves it out of its plan.

    Examples
    --------
    >>> import tamis
    >>> plan = tamis.inspect({"id": range(1, 41), "smokes": ["yes", "no"] * 20})
    >>> suspicion = plan["id"].suspicions[0]
    >>> suspicion.topic, suspicion.grave
    ('identifier', True)
    """

    topic: Topic
    what: str
    do: str
    grave: bool = False

    def __str__(self) -> str:
        return f"{self.what}: {self.do}"


NEARLY_EMPTY = 0.5
"""A column is nearly empty if a larger share of its rows is missing."""
FEWEST_CODES = 20
"""A column of codes with at least this number of different texts is worth grouping."""

_NAMES_CODES = (
    r"(^|[^a-z])(zip|zipcode|postcode|postal|plz|fips|sic|naics|isic|icd|icd9|icd10|cpt|atc|code"
    r"|codes)($|[^a-z0-9])|_cd$|zip_?code|post_?code"
)
_ICD = re.compile(r"[A-Z][0-9]{2}(\.?[0-9A-Z]{1,4})?")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_MARKERS = {"?", "-", "--", ".", "na", "n/a", "nan", "null", "missing", "#n/a", "999", "-999"}
_SENTINEL = re.compile(r"-?(99+|88+|77+)(\.9+)?")
_SMALL_SENTINELS = (-1, -8, -9)
"""How numbers that stand for a missing value are written; small ones only where all others are
positive numbers."""
_FEWEST_SENTINELS = 3
"""In fewer rows than this, a value that is far from all others may have been measured."""
_IF_MISSING = "if that stands for a missing value, leave those cells empty"


def suspicions_of(column: Found) -> list[Suspicion]:
    """What is suspicious about a column by itself, the gravest first."""
    if not column.name.strip():
        what = "has no name"
        do = f"if it is an index that was saved with the table, {_left_out(column.name)}"
        return [Suspicion("refused", what, do, grave=True)]
    if column.n_present == 0:
        what = f"has no value in any of {column.n_rows} rows"
        return [Suspicion("empty", what, _left_out(column.name), grave=True)]
    about = _whole_row(column) or _identifier(column) or _refused(column)
    found = [] if about is None else [about]
    for look in (_nearly_empty, _constant, _spellings, _code, _amount, _spoilt, _sentinel):
        one = look(column)
        # Levels that cannot be told apart are both a refusal and a spelling.
        if one is not None and not (about is not None and about.topic == one.topic):
            found.append(one)
    return found


def after_told(suspicions: Iterable[Suspicion], kind: str) -> tuple[Suspicion, ...]:
    """What stays suspicious about a column once a user has named its kind."""
    settled = TOPICS if kind == IGNORE else ("identifier", "date", "code")
    return tuple(one for one in suspicions if one.topic not in settled)


def _whole_row(column: Found) -> Suspicion | None:
    """A date or a running number, which say when or in which order rows were written."""
    name, numbers = column.name, column.numbers
    held = column.held
    if isinstance(held, ColumnRefused) and held.problem is Problem.DATE:
        do = f"{_left_out(name)}, or turn it into a number, such as the days since the first one"
        if isinstance(column.held_as("category"), Column):
            do += f", or call it a category ({typing(name, 'category')})"
        return Suspicion("date", held.seen, do, grave=True)
    if are_dates(column.texts):
        what = f"holds dates or times as text, such as {shown(column.texts[0])}"
        do = f"{_left_out(name)}, or call it a category ({typing(name, 'category')})"
        return Suspicion("date", what, do, grave=many_values(len(column.texts), column.n_present))
    if numbers is None:
        return None
    why = why_row_name(name, numbers)
    if why is None:
        return None
    topic: Topic = "date" if "dates" in why else "identifier"
    return Suspicion(topic, why, _left_out(name), grave=True)


def _identifier(column: Found) -> Suspicion | None:
    if column.texts:
        return _text_identifier(column)
    numbers, name = column.numbers, column.name
    if numbers is None or (np.trunc(numbers) != numbers).any():
        return None
    if _increases(numbers):
        what = "has whole numbers that grow from row to row"
        return Suspicion("identifier", what, f"if they number the rows, {_left_out(name)}")
    return _repeated_identifier(column)


def _text_identifier(column: Found) -> Suspicion | None:
    n_values, n_rows = column.n_values, column.n_present
    if not too_many_levels(n_values, n_rows):
        return _repeated_identifier(column)
    if isinstance(column.held, ColumnRefused) and column.held.problem is Problem.AMOUNT:
        # Numbers, but for how they are written.
        return None
    do = _left_out(column.name)
    if n_values == n_rows:
        what = f"is text that differs in every row, such as {shown(column.texts[0])}"
        return Suspicion("identifier", what, do, grave=True)
    what = f"has {n_values:,} levels in {n_rows:,} rows"
    return Suspicion("identifier", what, f"{do}, or group its levels", grave=True)


def _repeated_identifier(column: Found) -> Suspicion | None:
    """The name of an identifier, and as many values as one that occurs in several rows has."""
    n_values, n_rows = column.n_values, column.n_present
    many = n_values > FEWEST_CODES and 20 * n_values > n_rows
    if not many or not is_called(NAMES_ROWS, column.name):
        return None
    what = f"is called like an identifier and has {n_values:,} values in {n_rows:,} rows"
    do = f"rows of one value may not be independent; {_left_out(column.name)}"
    return Suspicion("identifier", what, do)


def _refused(column: Found) -> Suspicion | None:
    """Anything else for which a table would not be made with the column."""
    held = column.held
    if not isinstance(held, ColumnRefused):
        return None
    topic: Topic = "spelling" if held.problem is Problem.BLANKS else "refused"
    do = advice(held.problem, [column.name]).rstrip(".")
    return Suspicion(topic, held.seen, do[:1].lower() + do[1:], grave=True)


def _nearly_empty(column: Found) -> Suspicion | None:
    if column.n_missing <= NEARLY_EMPTY * column.n_rows:
        return None
    share = column.n_missing / column.n_rows
    what = f"is missing in {share:.0%} of the rows"
    return Suspicion("empty", what, f"missing='drop' would lose them; {_left_out(column.name)}")


def _constant(column: Found) -> Suspicion | None:
    numbers = column.numbers
    if len(column.labels) == 1:
        value = shown(column.labels[0])
    elif not column.labels and numbers is not None and (numbers == numbers[0]).all():
        value = f"{numbers[0]:.15g}"
    else:
        return None
    return Suspicion("constant", f"has one value, {value}", _left_out(column.name))


def _spellings(column: Found) -> Suspicion | None:
    """Levels that are the same but for blanks and capital letters."""
    spelt: dict[str, list[str]] = {}
    for text in column.texts:
        spelt.setdefault(_folded(text), []).append(text)
    twins = [ways for ways in spelt.values() if len(ways) > 1]
    if not twins:
        return None
    pairs = listed(" and ".join(map(shown, ways)) for ways in twins)
    return Suspicion("spelling", f"writes one level in several ways, {pairs}", "write it one way")


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _code(column: Found) -> Suspicion | None:
    """Numbers that are names, and codes that would make too many levels."""
    held, name = column.held, column.name
    texts = column.texts
    if len(texts) > FEWEST_CODES and all(map(_ICD.fullmatch, texts)):
        what = f"holds {len(texts):,} codes such as {shown(texts[0])}"
        return Suspicion("code", what, "group them, for example by their first characters")
    if isinstance(held, ColumnRefused) or held.kind != "number" or column.numbers is None:
        return None
    whole = (np.trunc(column.numbers) == column.numbers).all()
    if not whole or not is_called(_NAMES_CODES, name):
        return None
    what = "is called like a code and would be read as a number"
    return Suspicion(
        "code", what, f"call it a category ({typing(name, 'category')}), or {_left_out(name)}"
    )


def _spoilt(column: Found) -> Suspicion | None:
    """Numbers among which a few texts make all of them text."""
    texts = column.texts
    odd = [text for text in texts if not _NUMBER.fullmatch(text.strip())]
    n_numbers = len(texts) - len(odd)
    if n_numbers > FEWEST_ROWS and 0 < len(odd) <= n_numbers // 10:
        what = f"holds numbers, but also {listed(map(shown, odd))}"
        return Suspicion("code", what, _IF_MISSING)
    markers = [text for text in texts if text.strip().casefold() in _MARKERS]
    if len(texts) > 2 and markers and n_numbers < len(texts):
        what = f"has the level {listed(map(shown, markers))}"
        return Suspicion("code", what, _IF_MISSING)
    return None


def _amount(column: Found) -> Suspicion | None:
    """Text that would be a category, although it is numbers for a reader."""
    if isinstance(column.held, ColumnRefused) or not many_values(column.n_values, column.n_present):
        return None
    example = written_amount(column.texts)
    if example is None:
        return None
    what = f"holds numbers written as text, such as {shown(example)}"
    do = advice(Problem.AMOUNT, [column.name]).rstrip(".")
    return Suspicion("code", what, do[:1].lower() + do[1:])


def _sentinel(column: Found) -> Suspicion | None:
    """Values at an end of the range, repeated, that look as if they stood for a missing one."""
    numbers = column.numbers
    if numbers is None or len(numbers) < 2 * FEWEST_ROWS:
        return None
    values, counts = np.unique(numbers, return_counts=True)
    many = many_values(len(values), len(numbers))
    odd = [
        f"{values[end]:.15g} in {counts[end]:,} rows"
        for end, rest in ((0, values[1:]), (-1, values[:-1]))
        if counts[end] >= _FEWEST_SENTINELS and _is_sentinel(float(values[end]), rest, many)
    ]
    return Suspicion("sentinel", f"holds {' and '.join(odd)}", _IF_MISSING) if odd else None


def _is_sentinel(value: float, rest: NDArray[np.float64], many: bool) -> bool:
    """Whether a value is written like a sentinel, and far from the rest or alone in its sign."""
    if len(rest) < 2:
        return False
    if value in _SMALL_SENTINELS:
        return many and bool(rest[0] > 0)
    if not _SENTINEL.fullmatch(f"{value:.15g}"):
        return False
    far = np.abs(value - rest).min() > np.ptp(rest) and abs(value) > 2 * np.abs(rest).max()
    return bool(far or (many and value < 0 <= rest[0]))


def _increases(numbers: NDArray[np.float64]) -> bool:
    """Whether whole numbers are larger in every next row, or smaller in every next row."""
    if len(numbers) < 2 * FEWEST_ROWS or (np.trunc(numbers) != numbers).any():
        return False
    with np.errstate(over="ignore"):
        steps = np.diff(numbers)
    return bool((steps > 0).all() or (steps < 0).all())


def _left_out(name: str) -> str:
    return f"leave it out ({dropping([name])})"
