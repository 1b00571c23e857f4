"""Columns that name or date the rows: running numbers, identifiers, and dates without a type."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from tamis.tables.columns import many_values
from tamis.tables.dates import are_dates, are_written_days
from tamis.tables.refusals import dropping, ignoring, shown
from tamis.tables.table import AnyTable, in_memory

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
