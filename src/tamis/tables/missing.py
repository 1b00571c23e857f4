"""What is done about missing values: rows left out, a level of their own, or kept as missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from tamis.errors import DataError
from tamis.tables.columns import Codes, Column, smallest_unsigned
from tamis.tables.refusals import (
    enough_left,
    listed,
    missing,
    refusal,
    shown,
)
from tamis.tables.sources import Source, Sources, columns_or_refusal
from tamis.tables.table import Table

LEVEL = "(missing)"
"""What a missing value is called where it is a level."""

Flags = NDArray[np.bool_]


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
