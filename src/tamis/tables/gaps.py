"""What is done about missing values: rows left out, a level of its own, or gaps that are kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from tamis.errors import DataError
from tamis.tables.columns import Codes, Column, smallest_unsigned
from tamis.tables.refusals import ColumnRefused, Problem, listed, missing, refusal, shown
from tamis.tables.sources import Settled, Source, Sources, columns_or_refusal
from tamis.tables.table import Table

LEVEL = "(missing)"
"""What a missing value is called where it is a level."""

Flags = NDArray[np.bool_]


def left_out(
    given: Sources[Source], outcomes: Sequence[Column | ColumnRefused]
) -> tuple[Flags | None, str]:
    """Which rows have no missing value, None for all of them, and a note on the others."""
    absent = {
        name: given.absent(source, one)
        for name, source, one in zip(given.names, given.columns, outcomes, strict=True)
        if isinstance(one, ColumnRefused) and one.absent is not None
    }
    if not absent:
        return None, ""
    rows = ~np.logical_or.reduce(list(absent.values()))
    worst = _by_count(absent)
    n_left = int(rows.sum())
    if n_left < 2:
        raise DataError(
            f"missing='drop' leaves {n_left or 'none'} of {given.n_rows} rows, and at least 2 are "
            f"needed: {worst}. Drop the columns that are missing most, or use "
            "missing='pairwise' or 'level'."
        )
    return rows, (
        f"missing='drop' left out {given.n_rows - n_left} of {given.n_rows} rows: {worst}."
    )


def settle_levels(
    given: Sources[Source], *, as_level: bool
) -> tuple[list[Column], dict[int, Flags]]:
    """Every column over all rows, and the gaps of those that have any; in a gap the code is 0,
    or with ``as_level`` that of a level of its own."""
    settled = [_checked(one) for one in given.settle_present()]
    columns = columns_or_refusal(given.names, [one.outcome for one in settled])
    gaps = {k: one.absent for k, one in enumerate(settled) if one.absent is not None}
    for k, absent in gaps.items():
        columns[k] = _over_all_rows(columns[k], absent, as_level=as_level)
    return columns, gaps


def gap_notes(
    names: Sequence[str], gaps: Mapping[int, Flags], *, as_level: bool
) -> tuple[str, ...]:
    """What the analyst should know about values that are missing and stay so."""
    if not gaps:
        return ()
    n_rows = len(next(iter(gaps.values())))
    done = (
        f"Missing values are a level of their own, {shown(LEVEL)}"
        if as_level
        else "Each test uses the rows in which none of its columns is missing"
    )
    seen = _by_count({names[k]: absent for k, absent in gaps.items()})
    return (f"{done}: of {n_rows} rows {seen}.",)


def require_complete(table: Table) -> None:
    """Raise ``DataError`` if anything is missing in a table, naming all columns where it is."""
    if table.missing:
        raise refusal([(table.names[k], missing(table.missing[k])) for k in sorted(table.missing)])


def _by_count(absent: Mapping[str, Flags]) -> str:
    """The columns that are missing most, first."""
    counts = sorted((-int(flags.sum()), name) for name, flags in absent.items())
    return listed(f"column {shown(name)} is missing in {-count}" for count, name in counts)


def _checked(one: Settled) -> Settled:
    """The same, unless a column with gaps has no levels."""
    if one.absent is None:
        return one
    if one.absent.all():
        why = ColumnRefused(Problem.NOTHING, f"is missing in all {len(one.absent)} rows")
        return Settled(why, one.absent)
    if not isinstance(one.outcome, ColumnRefused) and one.outcome.numbers is not None:
        count = f"{int(one.absent.sum())} of {len(one.absent)} rows"
        why = ColumnRefused(Problem.MISSING_NUMBERS, f"is continuous, and missing in {count}")
        return Settled(why, one.absent)
    return one


def _over_all_rows(column: Column, absent: Flags, *, as_level: bool) -> Column:
    n_levels = len(column.levels)
    codes: Codes = np.zeros(len(absent), dtype=smallest_unsigned(n_levels + as_level))
    codes[~absent] = column.codes
    if not as_level:
        return Column(column.levels, codes)
    codes[absent] = n_levels
    # Labels are of one type, and this one is text.
    labels = tuple(map(str, column.levels))
    own = LEVEL
    while own in {label.strip() for label in labels}:
        own = f"({own})"
    return Column((*labels, own), codes)
