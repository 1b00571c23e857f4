"""Encoded columns become a table, once names, shape and numbers of levels are in order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import numpy as np

from tamis.data.columns import Codes, Column, measure, smallest_unsigned, too_many_levels
from tamis.data.refusals import ColumnRefused, Problem, listed, refusal, shown
from tamis.data.table import Table
from tamis.errors import DataError

Source = TypeVar("Source")

_NO_CODES: Codes = np.zeros(1, dtype=np.uint8)
"""Of a measured column: one zero, which fills its row of the codes."""


def build_table(
    names: Iterable[object],
    n_rows: int,
    sources: Iterable[Source],
    encode: Callable[[Source], Column],
    *,
    measured: bool,
) -> Table:
    """The table whose k-th column is the k-th source, encoded.

    With ``measured``, numbers that cannot be levels are kept as measured columns.
    All columns are tried before any is refused, so that one error names every bad column.
    """
    checked = check_names(names)
    if n_rows < 2:
        raise DataError(
            f"The table with columns {listed(map(shown, checked))} needs at least 2 rows, "
            f"but has {n_rows or 'none'}. Add rows: dependence is counted over them."
        )
    columns: list[Column] = []
    refused: list[tuple[str, ColumnRefused]] = []
    for name, source in zip(checked, sources, strict=True):
        try:
            columns.append(_settle(source, encode, n_rows, measured=measured))
        except ColumnRefused as why:
            refused.append((name, why))
    if refused:
        raise refusal(refused)
    return Table(
        checked,
        tuple(column.levels for column in columns),
        _stack(columns, n_rows),
        {k: column.numbers for k, column in enumerate(columns) if column.numbers is not None},
    )


def check_names(names: Iterable[object]) -> tuple[str, ...]:
    """At least two names as strings, none of them empty, repeated or impossible to write."""
    texts = tuple("" if name is None else str(name) for name in names)
    if len(texts) < 2:
        found = f"only {shown(texts[0])}" if texts else "none"
        raise DataError(
            f"The table needs at least 2 columns, but has {found}. Add the columns to relate; "
            "if they are there, check how they are separated."
        )
    empty = [k for k, text in enumerate(texts) if not text.strip()]
    if empty:
        positions = listed(str(k + 1) for k in empty)
        raise DataError(
            f"The name of column {positions} of {len(texts)} is empty. Give every column a name, "
            "or drop it if it is an index that was saved with the table."
        )
    repeated = [text for text, count in Counter(texts).items() if count > 1]
    if repeated:
        raise DataError(
            f"Several columns share the name {listed(map(shown, repeated))}. "
            "Rename them so that every name is used once; names are compared as strings."
        )
    unwritable = [text for text in texts if not _writable(text)]
    if unwritable:
        raise DataError(
            f"The column name {listed(map(shown, unwritable))} holds a lone surrogate, which "
            "UTF-8 cannot write. Rename the column."
        )
    return texts


def _settle(
    source: Source, encode: Callable[[Source], Column], n_rows: int, *, measured: bool
) -> Column:
    """The column as the table will hold it: with levels, or else with numbers."""
    try:
        return check_levels(encode(source), n_rows)
    except ColumnRefused as why:
        if not measured or why.numbers is None:
            raise
        return Column((), _NO_CODES, measure(why.numbers))


def check_levels(column: Column, n_rows: int) -> Column:
    """The same column, if its levels can be told apart, counted and written."""
    n_levels = len(column.levels)
    labels: tuple[Any, ...] = column.levels
    if isinstance(labels[0], str):
        # First, because blanks can make an identifier of any column.
        _refuse_blank_twins(labels)
    if too_many_levels(n_levels, n_rows):
        seen = f"has {n_levels} levels in {n_rows} rows"
        raise ColumnRefused(Problem.IDENTIFIER, seen, column.numbers)
    if isinstance(labels[0], str) and not _writable("".join(labels)):
        worst = next(label for label in labels if not _writable(label))
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


def _writable(text: str) -> bool:
    # isascii is stored with the string; encoding is not.
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _stack(columns: Sequence[Column], n_rows: int) -> Codes:
    most = max(len(column.levels) for column in columns)
    # Filled row by row, so that nothing of the user's memory lives on in the table.
    codes: Codes = np.empty((len(columns), n_rows), dtype=smallest_unsigned(most))
    for k, column in enumerate(columns):
        codes[k] = column.codes
    return codes
