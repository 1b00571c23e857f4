"""A table is looked at before anything is learned from it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from tamis.errors import FileFormatError
from tamis.tables.assemble import Missing, require_missing
from tamis.tables.kinds import Told, checked_types
from tamis.tables.packed_file import PackedFile
from tamis.tables.paths import PACKED_ENDING, are_small, ending_of, find_parts, is_several
from tamis.tables.plan import Plan, plan_of
from tamis.tables.read import names_in
from tamis.tables.refusals import shown_path
from tamis.tables.suspicions import look_at

FIRST_ROWS = 100_000
"""How many rows of a Dask data frame are looked at."""


def inspect(
    data: object, *, types: Mapping[str, Told] | Plan | None = None, missing: Missing = "error"
) -> Plan:
    """What each column of a table would be taken for, and what is suspicious about it.

    Nothing is learned, and nothing is refused because of what a column holds: a column that
    `tamis.TAM` could not read is left out of the plan, which says why and what to do. It looks for
    identifiers, dates and times, constant columns, copies and recodings of other columns, columns
    that are functions of others, columns that are mostly missing, values such as -999 that may
    stand for a missing one, codes that look like numbers, numbers written as text, and levels
    written in two ways.

    Parameters
    ----------
    data : data frame, array, mapping or path
        What `tamis.TAM.fit` takes. Of a folder or a pattern the first file is looked at, of a Dask
        data frame the first 100,000 rows.
    types : mapping, Plan or None
        The kinds of columns that are known, as in `tamis.TAM`.
    missing : {"error", "drop", "level", "pairwise"}
        What is to be done about missing values. The plan shows how many rows each choice leaves.

    Returns
    -------
    Plan
        One `ColumnPlan` a column; print it, edit it and hand it to ``tamis.TAM(types=plan)``.

    Examples
    --------
    >>> import tamis
    >>> days = [f"2024-01-{day:02}" for day in range(1, 21)]
    >>> plan = tamis.inspect({"day": days, "sunny": [True, False] * 10})
    >>> plan["day"].kind
    'ignore'
    >>> print(plan["day"].suspicions[0].what)
    holds dates or times as text, such as '2024-01-01'
    """
    require_missing(missing)
    told = checked_types(types)
    table, notes = _rows_here(data)
    return plan_of(look_at(table, told), told, missing, notes)


def column_names(source: str) -> tuple[str, ...]:
    """The names of the columns that a path leads to."""
    if ending_of(source) == PACKED_ENDING:
        return PackedFile(source).header.names
    return names_in(source)


def _rows_here(data: object) -> tuple[object, tuple[str, ...]]:
    """Rows that can be looked at in memory, and a word on those that are left elsewhere."""
    if isinstance(data, str | os.PathLike):
        return _one_file(os.fsdecode(data))
    if type(data).__module__.split(".")[0] in ("dask", "dask_expr") and hasattr(data, "head"):
        return _first_rows(data)
    return data, ()


def _one_file(path: str) -> tuple[str, tuple[str, ...]]:
    if ending_of(path) == PACKED_ENDING:
        raise FileFormatError(
            f"{shown_path(path)} is packed: its columns have been typed. Inspect the table that it "
            "was packed from."
        )
    if not is_several(path):
        return path, ()
    parts = find_parts(path)
    if len(parts) == 1 or are_small(parts):
        return path, ()
    return parts[0], (f"Of {len(parts):,} files the first was looked at.",)


def _first_rows(frame: Any) -> tuple[object, tuple[str, ...]]:  # noqa: ANN401 - Dask has no types
    rows = frame.head(FIRST_ROWS, npartitions=-1)
    note = f"Of a Dask data frame the first {len(rows):,} rows were looked at."
    return rows, (note,) if len(rows) == FIRST_ROWS else ()
