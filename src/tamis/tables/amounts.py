"""Numbers that are written as text: amounts of money, shares in percent, decimal commas."""

from __future__ import annotations

import re
from collections.abc import Sequence

_CURRENCY = "(?:[$€£¥₹]|USD|EUR|GBP|CHF)"
_DIGITS = r"(?:[1-9][0-9]{0,2}([.,'’ \u00a0\u202f])[0-9]{3}(?:\1[0-9]{3})*|[0-9]+)"
"""With a mark before every three digits, or without any."""
_AMOUNT = re.compile(
    rf"[+-]?\s?(?:{_CURRENCY}\s?)?{_DIGITS}(?:[.,][0-9]+)?(?:\s?(?:%|{_CURRENCY}))?"
)
_PLAIN = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")


def written_amount(labels: Sequence[str]) -> str | None:
    """One of these texts that is no plain number, if all of them are amounts for a reader."""
    texts = [label.strip() for label in labels]
    example = next((text for text in texts if not _PLAIN.fullmatch(text)), None)
    # The example first: it settles nearly every column of text.
    if example is None or not _AMOUNT.fullmatch(example):
        return None
    return example if all(map(_AMOUNT.fullmatch, texts)) else None
