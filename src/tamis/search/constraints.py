"""What a search must not do, as `tamis.knowledge` says it, and sets of nodes as numbers."""

from __future__ import annotations

from collections.abc import Iterable

from tamis.knowledge import Constraints as Constraints


def as_bits(nodes: Iterable[int]) -> int:
    """A set of nodes as a number with one bit for each: quick to compare, small to keep."""
    bits = 0
    for k in nodes:
        bits |= 1 << k
    return bits
