"""How an edge looks, the same in every picture: by gain, warrant and share of resamples."""

from __future__ import annotations

import math
from collections.abc import Iterable

from tamis.result import LOOKS, Edge

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
