"""Names as they fit into a box: one line, not too long, still different from each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from unicodedata import combining, east_asian_width

from tamis.result import show

LONGEST = 22
"""The width of the longest label, in letters of ordinary width."""
NO_NAME = "(no name)"


def name_in_full(name: str) -> str:
    """A name as one line of text; an empty one is seen, too."""
    return show(name) or NO_NAME


def width_of(text: str) -> int:
    """The width of a text in letters of ordinary width; those of East Asia take two."""
    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def labels_of(names: Iterable[str]) -> dict[str, str]:
    """A label for each name, shortened in the middle; equal ones are numbered."""
    names = list(names)
    shortened = {name: _shortened(name_in_full(name)) for name in names}
    shared = Counter(shortened.values())
    taken = {label for label, times in shared.items() if times == 1}
    labels = {}
    # By name, so that the order of the columns plays no part.
    for name in sorted(names):
        label = shortened[name]
        labels[name] = label if label in taken and shared[label] == 1 else _numbered(label, taken)
        taken.add(labels[name])
    return labels


def _shortened(text: str) -> str:
    if width_of(text) <= LONGEST:
        return text
    head, tail = _fitting(text, LONGEST * 3 // 5), _fitting(text[::-1], LONGEST * 2 // 5 - 1)
    return head + "…" + tail[::-1]


def _fitting(text: str, width: int) -> str:
    """The longest beginning of a text that is no wider than this."""
    used = 0
    for i, character in enumerate(text):
        used += width_of(character)
        if used > width:
            return text[:i]
    return text


def _numbered(label: str, taken: set[str]) -> str:
    number = 1
    while f"{label} #{number}" in taken:
        number += 1
    return f"{label} #{number}"
