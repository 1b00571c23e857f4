"""The structural Hamming distance, in the paper's convention and in the strict one."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

import numpy as np

from tamis.errors import SettingError
from tamis.metrics.pairs import matched

Edge = tuple[str, str]
"""A parent and its child."""

Undirected = Literal["favourable", "strict"]
"""What an undirected edge counts as: see ``shd``."""


def shd(learned: object, true: object, *, undirected: Undirected = "favourable") -> int:
    """The structural Hamming distance: pairs of nodes whose edge must be added, removed or changed.

    A reversed edge counts 1. An undirected edge against a directed one counts 0 if
    ``undirected`` is "favourable", the paper's convention (section 5: the correct orientation
    is assumed), and 1 if it is "strict". Where the other graph has no edge an undirected one
    counts 1 in both. The distance is symmetric.
    """
    pair = matched(learned, true)
    adjacent = pair.adjacent_in_learned | pair.adjacent_in_true
    agreeing = pair.agreeing(favourable=is_favourable(undirected))
    return int(np.count_nonzero(adjacent & ~agreeing))


def is_favourable(undirected: str) -> bool:
    """The setting as a yes or no; anything else is refused."""
    if undirected not in ("favourable", "strict"):
        raise SettingError(f"undirected must be 'favourable' or 'strict', not {undirected!r}")
    return undirected == "favourable"


def edge_distance(learned: Collection[Edge], true: Collection[Edge]) -> int:
    """The structural Hamming distance of two DAGs over the same nodes, given as their edges."""
    pairs = {frozenset(edge) for edge in set(learned) ^ set(true)}
    return len(pairs)
