"""Whether the levels of a column can be told apart, counted and written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tamis.tables.columns import Column, too_many_levels
from tamis.tables.refusals import ColumnRefused, Problem, shown


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
