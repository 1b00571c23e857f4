"""How names and edges look, the same in every picture, and what pictures ask of a bootstrap."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Protocol, runtime_checkable
from unicodedata import combining, east_asian_width

from tamis.errors import SettingError
from tamis.result import LOOKS, Edge, Result, show

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


THINNEST, WIDEST = 0.8, 5.0
FAINTEST = 0.15


def widths_of(edges: Iterable[Edge]) -> dict[tuple[str, str], float]:
    """The width of each edge's line in points: by the root of its gain, which may differ by
    orders of magnitude; the largest gain is the widest."""
    edges = list(edges)
    largest = max((gain_of(edge) for edge in edges), default=0.0)
    return {
        (e.parent, e.child): width_of_gain(gain_of(e), largest) * LOOKS[e.warrant].weight
        for e in edges
    }


def dashes_of(warrant: str, width: float) -> tuple[float, ...]:
    """Dashes and gaps of a line of this width, in points; nothing for a solid line.

    They grow more slowly than the width: dashes of wide lines would be longer than short lines.
    """
    return tuple(round(length * (0.8 + 0.35 * width), 2) for length in LOOKS[warrant].dash)


def width_of_gain(gain: float, largest: float) -> float:
    """The width of an edge with this gain where the largest is that."""
    share = gain / largest if largest > 0 else 0.0
    return THINNEST + (WIDEST - THINNEST) * math.sqrt(min(share, 1.0))


def opacity_of(share: float) -> float:
    """The opacity of an edge that came back in this share of resamples; it never vanishes."""
    return FAINTEST + (1.0 - FAINTEST) * min(max(share, 0.0), 1.0)


def gain_of(edge: Edge) -> float:
    """The gain as far as it can be drawn: estimates may fall below 0."""
    return edge.gain if math.isfinite(edge.gain) and edge.gain > 0 else 0.0


@runtime_checkable
class Confidence(Protocol):
    """How often parts of a graph came back from resampled rows."""

    @property
    def n(self) -> int:
        """The number of resamples."""

    @property
    def edges(self) -> Mapping[tuple[str, str], float]:
        """The share of resamples with parent → child; what never came is absent or 0."""

    @property
    def layers(self) -> Mapping[str, Mapping[int, float]]:
        """For each column, the share of resamples that put it in each layer, from 1."""

    def skeleton(self, a: str, b: str) -> float:
        """The share of resamples with an edge between the two, either way."""


def require_of(result: Result, confidence: object) -> None:
    """Refuse what is no confidence, or that of a graph with other columns."""
    if not isinstance(confidence, Confidence):
        raise SettingError(
            "confidence must be what bootstrap() returns, not a value of type "
            f"{type(confidence).__name__}"
        )
    named = {*confidence.layers, *(name for pair in confidence.edges for name in pair)}
    if not named <= set(result.names):
        raise SettingError(
            "the confidence is not of this result: their columns differ; call bootstrap() of the "
            "same model"
        )
