"""Columns before they are a table, encoded where they are present, what to do where they are not,
and the weights of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from tamis.errors import DataError
from tamis.tables.columns import Codes, Column, smallest_unsigned
from tamis.tables.kinds import Told, settled
from tamis.tables.refusals import (
    ColumnRefused,
    at_row,
    enough_left,
    listed,
    missing,
    refusal,
    shown,
    what_drop_leaves,
)
from tamis.tables.table import Table

MOST_CELLS = 2**30
"""Frequencies may repeat the rows of a table up to this number of cells, a byte or more each; a
number with a fraction takes the room of eight."""

LARGEST = 1e150
"""Weights beyond this have sums and squares that a float may not hold."""

Floats = NDArray[np.float64]


def read_weights(values: object, n_rows: int) -> Floats:
    """A sequence of numbers as weights, one a row: finite, not negative, and not all 0."""
    weights = _numbers(values)
    if weights.shape != (n_rows,):
        raise DataError(
            f"The weights have shape {weights.shape}, but the table has {n_rows} rows. Give one "
            "weight a row."
        )
    return check_weights(weights, "The weights")


def check_weights(weights: Floats, what: str) -> Floats:
    """Check that the weights mean something, and return them; ``what`` begins the message."""
    for wrong, seen in ((np.isnan(weights), "missing"), (np.isinf(weights), "infinite")):
        if wrong.any():
            raise DataError(
                f"{what} are {seen} in {int(wrong.sum())} of {len(weights)} rows (first "
                f"{at_row(int(wrong.argmax()))}). Give every row a weight, 0 to leave it out."
            )
    if (weights < 0).any():
        row = int((weights < 0).argmax())
        raise DataError(
            f"{what} hold {weights[row]:g} {at_row(row)}. A weight is 0, which leaves its row "
            "out, or more."
        )
    if weights.max(initial=0.0) > LARGEST:
        raise DataError(
            f"{what} go up to {weights.max():g}, whose sum a float may not hold. Divide them all "
            "by the same number."
        )
    if not (weights > 0).any():
        raise DataError(f"{what} are zero in every row. Give at least two rows a weight above 0.")
    return weights


def are_frequencies(weights: Floats) -> bool:
    """Whether all are whole numbers, and so say how often a row occurs."""
    return bool((np.trunc(weights) == weights).all())


def effective_rows(weights: Floats) -> float:
    """Kish's effective number of rows, (sum w)^2 / sum w^2 (Kish, 1965)."""
    scaled = weights / weights.max()
    return float(scaled.sum() ** 2 / (scaled**2).sum())


def with_weights(table: Table, weights: Floats | None) -> Table:
    """The table with its rows repeated by frequencies, or with survey weights beside them."""
    if weights is None:
        return table
    if (weights == weights[0]).all() and not are_frequencies(weights):
        # Rows that all stand for the same share of a population are plain rows.
        return table
    if are_frequencies(weights):
        return _repeated(table, weights)
    effective = effective_rows(weights)
    if effective < 2:
        raise DataError(
            f"By the weights {table.n_rows} rows are worth {effective:.1f} (Kish's effective "
            "number), and 2 are needed: one row outweighs all others. Check the weights."
        )
    note = (
        f"Rows have survey weights: {table.n_rows} rows are worth {effective:.0f} (Kish's "
        "effective number). Clusters and strata of the survey are not known to tamis."
    )
    return replace(table, weights=weights / weights.mean(), notes=(*table.notes, note))


def _repeated(table: Table, weights: Floats) -> Table:
    total = float(weights.sum())
    most = MOST_CELLS // (table.n_variables + 7 * len(table.continuous))
    if total > most:
        raise DataError(
            f"Whole weights are frequencies, and these make {total:.4g} rows of {table.n_rows}, "
            f"more than the {most} that {table.n_variables} columns of this kind "
            "may have. If they say how many people a row stands for, divide them by their mean: "
            "then they are survey weights."
        )
    if (weights == 1).all():
        return table
    note = (
        f"Whole weights are frequencies: {table.n_rows} rows count as {int(total)}. If they are "
        "survey weights instead, divide them by their mean."
    )
    rows = np.repeat(np.arange(table.n_rows), weights.astype(np.int64))
    return replace(table.arrange(rows), notes=(*table.notes, note))


def _numbers(values: object) -> Floats:
    try:
        array = _array(values)
        if array.dtype.kind == "O":
            # Missing values of any library read as nan, and are refused as such.
            array = np.array([_number(value) for value in array.ravel()]).reshape(array.shape)
        if array.dtype.kind not in "iufb":
            raise ValueError(f"values of type {array.dtype}")
        return array.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError(
            f"The weights must be a sequence of numbers, one a row, not {shown(values)} ({error})."
        ) from None


def _array(values: Any) -> NDArray[Any]:  # noqa: ANN401 - whatever holds weights
    try:
        return np.asarray(values)
    except BaseException as error:  # of the library that holds them, as polars' of 128 bits
        # In some versions of polars that is a panic, which is no Exception.
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        if not isinstance(values, Iterable):
            raise TypeError(f"a {type(values).__name__} is no array") from None
        return np.array(list(values), dtype=object)


def _number(value: Any) -> float:  # noqa: ANN401 - whatever stands in the sequence
    if value is None or type(value).__name__ in {"NAType", "NaTType"}:
        return float("nan")
    return float(value)


Source = TypeVar("Source")
Flags = NDArray[np.bool_]


class Encoding(NamedTuple, Generic[Source]):
    """How a reader turns what it has of a column into levels, and how it picks rows of it."""

    encode: Callable[[Source], Column]
    take: Callable[[Source, Flags], Source]

    def rows_of(self, source: Source, rows: Flags | None) -> Source:
        """These rows of a column, None for all."""
        return source if rows is None else self.take(source, rows)


class Settled(NamedTuple):
    """A column, or why there is none; and where it is missing, if anywhere: the column is then
    that of the other rows."""

    outcome: Column | ColumnRefused
    absent: Flags | None = None


@dataclass(frozen=True)
class Sources(Generic[Source]):
    """Named columns of the same rows, not encoded yet."""

    names: tuple[str, ...]
    columns: Iterable[Source]
    encoding: Encoding[Source]
    n_rows: int
    continuous: bool
    """Whether numbers that cannot be levels are kept as continuous columns."""
    weights: Floats | None = None
    types: Mapping[str, Told] = field(default_factory=dict)
    """The kinds that the user has named, by column."""

    def kept(self) -> Sources[Source]:
        """A copy whose columns can be gone through more than once."""
        return replace(self, columns=list(self.columns))

    def take(self, rows: Flags) -> Sources[Source]:
        """These columns with some of the rows."""
        if rows.all():
            return self
        return replace(
            self,
            columns=[self.encoding.take(column, rows) for column in self.columns],
            n_rows=int(rows.sum()),
            weights=None if self.weights is None else self.weights[rows],
        )

    def with_weights(self, weights: Floats) -> Sources[Source]:
        """These columns with weighted rows."""
        return replace(self, weights=weights)

    def without(self, name: str) -> tuple[Floats, Sources[Source]]:
        """The numbers of one column, and the other columns."""
        if name not in self.names:
            raise DataError(
                f"There is no column {shown(name)} to take the weights from. The columns are "
                f"{listed(map(shown, self.names))}."
            )
        columns = list(self.columns)
        place = self.names.index(name)
        numbers = self._numbers(name, columns.pop(place))
        others = tuple(other for other in self.names if other != name)
        return numbers, replace(self, names=others, columns=columns)

    @property
    def n_counted(self) -> int:
        """The number of rows, each as often as its frequency says."""
        return self._n_counted(None)

    def settle(self) -> list[Column | ColumnRefused]:
        """Every column as the table will hold it, or why it cannot."""
        n_counted = self.n_counted
        return [self._try(one, n_counted, self._told(name)) for name, one in self._named()]

    def settle_present(self) -> list[Settled]:
        """Every column as it is in the rows in which it is not missing."""
        return [self._present(one, self._told(name)) for name, one in self._named()]

    def _named(self) -> Iterable[tuple[str, Source]]:
        return zip(self.names, self.columns, strict=True)

    def _told(self, name: str) -> Told | None:
        return self.types.get(name)

    def _present(self, source: Source, told: Told | None) -> Settled:
        def encode(rows: Flags | None) -> Column:
            chosen = self.encoding.rows_of(source, rows)
            n_counted = self._n_counted(rows)
            return settled(lambda: self.encoding.encode(chosen), n_counted, told, self.continuous)

        return where_present(encode)

    def _n_counted(self, rows: Flags | None) -> int:
        if self.weights is None or not are_frequencies(self.weights):
            return self.n_rows if rows is None else int(rows.sum())
        return int((self.weights if rows is None else self.weights[rows]).sum())

    def _try(self, source: Source, n_counted: int, told: Told | None) -> Column | ColumnRefused:
        try:
            return settled(lambda: self.encoding.encode(source), n_counted, told, self.continuous)
        except ColumnRefused as why:
            return why

    def _numbers(self, name: str, source: Source) -> Floats:
        """A column of weights, missing ones as nan."""
        told = f"Column {shown(name)} cannot hold the weights: "
        found_in = replace(self, continuous=True)._present(source, None)
        found = np.full(self.n_rows, np.nan)
        present = slice(None) if found_in.absent is None else ~found_in.absent
        column = found_in.outcome
        if isinstance(column, ColumnRefused):
            if found_in.absent is not None and found_in.absent.all():
                return found
            raise DataError(f"{told}it {column.seen}. Weights are numbers.")
        if column.numbers is not None:
            found[present] = column.numbers
            return found
        if any(isinstance(label, str) for label in column.levels):
            raise DataError(f"{told}it holds {shown(column.levels[0])}. Weights are numbers.")
        found[present] = np.array(column.levels, dtype=np.float64)[column.codes]
        return found


def where_present(encode: Callable[[Flags | None], Column]) -> Settled:
    """A column in the rows that have it, or why there is none; ``encode`` reads it in these rows,
    None for all. A null and a NaN are found one after the other, so it may take several looks."""
    absent: Flags | None = None
    while True:
        try:
            return Settled(encode(None if absent is None else ~absent), absent)
        except ColumnRefused as why:
            if why.absent is None:
                return Settled(why, absent)
            seen = np.zeros(len(why.absent), dtype=np.bool_) if absent is None else absent.copy()
            seen[np.flatnonzero(~seen)[why.absent]] = True
            absent = seen
        if absent.all():
            return Settled(missing(absent), absent)


def columns_or_refusal(
    names: Sequence[str], outcomes: Sequence[Column | ColumnRefused]
) -> list[Column]:
    """The columns, if none is refused."""
    columns = [one for one in outcomes if not isinstance(one, ColumnRefused)]
    if len(columns) < len(outcomes):
        named = zip(names, outcomes, strict=True)
        refused = [(name, one) for name, one in named if isinstance(one, ColumnRefused)]
        raise DataError(f"{refusal(refused)}{what_drop_leaves(one for _, one in refused)}")
    return columns


LEVEL = "(missing)"
"""What a missing value is called where it is a level."""


def left_out(absent: Mapping[str, Flags], *, however_many: bool) -> tuple[Flags, str]:
    """Which rows have no missing value, by where columns are missing, and a note on the others.

    Unless rows are to be left out ``however_many`` they are, at least half of them must remain.
    """
    _require_values(absent)
    rows = ~np.logical_or.reduce(list(absent.values()))
    n_left, n_rows = int(rows.sum()), len(rows)
    if n_left < 2 or not (however_many or enough_left(n_left, n_rows)):
        raise _too_few(absent, n_left, n_rows)
    return rows, (
        f"missing='drop' left out {n_rows - n_left} of {n_rows} rows: {_by_count(absent)}."
    )


def _require_values(absent: Mapping[str, Flags]) -> None:
    """Refuse columns that are missing in all rows: nothing that can be done about rows helps."""
    empty = [(name, missing(flags)) for name, flags in absent.items() if flags.all()]
    if empty:
        raise refusal(empty)


def settle_present(
    given: Sources[Source], *, as_level: bool
) -> tuple[list[Column], dict[int, Flags]]:
    """Every column over all rows, and where it is missing, for those that are anywhere.

    There codes are 0 and numbers nan; with ``as_level`` a category has a level of its own
    instead, and is missing nowhere any more.
    """
    settled = given.settle_present()
    columns = columns_or_refusal(given.names, [one.outcome for one in settled])
    absent = {k: one.absent for k, one in enumerate(settled) if one.absent is not None}
    for k, flags in absent.items():
        own_level = as_level and columns[k].kind != "number"
        columns[k] = _with_level(columns[k], flags) if own_level else _spread(columns[k], flags)
    return columns, absent


def still_missing(
    columns: Sequence[Column], absent: Mapping[int, Flags], *, as_level: bool
) -> dict[int, Flags]:
    """Where columns are missing after ``settle_present``: with ``as_level`` numbers only."""
    return {k: flags for k, flags in absent.items() if not as_level or columns[k].kind == "number"}


def missing_notes(
    names: Sequence[str], absent: Mapping[int, Flags], kept: Mapping[int, Flags]
) -> tuple[str, ...]:
    """What the analyst should know about missing values: those that are ``kept`` as such, and
    the others, which are a level."""
    levels = {names[k]: flags for k, flags in absent.items() if k not in kept}
    numbers = {names[k]: flags for k, flags in kept.items()}
    notes = []
    if levels:
        done = f"Missing values are a level of their own, {shown(LEVEL)}"
        notes.append(f"{done}: of {_rows_of(levels)} rows {_by_count(levels)}.")
    if numbers:
        done = "Numbers have no such level" if levels else "No row was left out for missing values"
        notes.append(
            f"{done}; each test uses what is present: of {_rows_of(numbers)} rows "
            f"{_by_count(numbers)}."
        )
    return tuple(notes)


def require_complete(table: Table) -> None:
    """Raise ``DataError`` if anything is missing in a table, naming all columns where it is."""
    if table.missing:
        raise refusal([(table.names[k], missing(table.missing[k])) for k in sorted(table.missing)])


def _rows_of(absent: Mapping[str, Flags]) -> int:
    return len(next(iter(absent.values())))


def _by_count(absent: Mapping[str, Flags]) -> str:
    """The columns that are missing most, first."""
    counts = sorted((-int(flags.sum()), name) for name, flags in absent.items())
    return listed(f"column {shown(name)} is missing in {-count}" for count, name in counts)


def _too_few(absent: Mapping[str, Flags], n_left: int, n_rows: int) -> DataError:
    """Hardly any row would be left; says which columns are to blame, and what else can be done."""
    told = f"missing='drop' leaves {n_left or 'none'} of {n_rows} rows: {_by_count(absent)}."
    worst, n_then = _worst_columns(absent)
    ways = []
    if enough_left(n_then, n_rows) and len(worst) < len(absent):
        ignored = ", ".join(f"{name!r}: 'ignore'" for name in worst)
        ways.append(
            f"leave out {listed(map(shown, worst))}, without which {n_then} rows have everything "
            f"(types={{{ignored}}}; on the command line --drop {shown(','.join(worst))})"
        )
    ways.append("use all rows with missing='pairwise' or 'level'")
    if n_left >= 2:
        ways.append("learn from those rows all the same with missing='drop-anyway'")
    return DataError(f"{told} {_sentence(ways)}.")


def _worst_columns(absent: Mapping[str, Flags]) -> tuple[list[str], int]:
    """The fewest columns, those that are missing most, without which half of the rows have
    everything; and how many rows that are."""
    order = sorted(absent, key=lambda name: (-int(absent[name].sum()), name))
    n_rows = _rows_of(absent)
    for n_worst in range(1, len(order)):
        rest = np.logical_or.reduce([absent[name] for name in order[n_worst:]])
        n_then = n_rows - int(rest.sum())
        if enough_left(n_then, n_rows):
            return order[:n_worst], n_then
    return order, n_rows


def _sentence(ways: Sequence[str]) -> str:
    joined = f"{', '.join(ways[:-1])}, or {ways[-1]}" if len(ways) > 1 else ways[0]
    return joined[0].upper() + joined[1:]


def _spread(column: Column, absent: Flags) -> Column:
    """The column of the rows that have it, over all rows."""
    codes: Codes = np.zeros(len(absent), dtype=column.codes.dtype)
    if column.numbers is None:
        codes[~absent] = column.codes
        return Column(column.levels, codes, None, column.kind)
    numbers = np.full(len(absent), np.nan)
    numbers[~absent] = column.numbers
    return Column(column.levels, codes, numbers, column.kind)


def _with_level(column: Column, absent: Flags) -> Column:
    """A column of levels in which missing is one more level, which no order has a place for."""
    n_levels = len(column.levels)
    codes: Codes = np.full(len(absent), n_levels, dtype=smallest_unsigned(n_levels + 1))
    codes[~absent] = column.codes
    # Labels are of one type, and this one is text.
    labels = tuple(map(str, column.levels))
    own = LEVEL
    while own in {label.strip() for label in labels}:
        own = f"({own})"
    return Column((*labels, own), codes)
