"""Dates and times that are written as text, or as whole numbers such as 20240131."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice

import numpy as np
from numpy.typing import NDArray

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
