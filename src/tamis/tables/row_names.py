"""Columns that name or date the rows: running numbers, identifiers, and dates without a type."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from tamis.tables.columns import many_values
from tamis.tables.refusals import dropping, ignoring, shown
from tamis.tables.table import AnyTable, in_memory

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
