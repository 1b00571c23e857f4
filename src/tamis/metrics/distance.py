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
    """Compute the structural Hamming distance between two graphs.

    It counts the pairs of nodes whose edge must be added, removed or changed; a reversed edge
    counts 1. The distance is symmetric.

    Parameters
    ----------
    learned, true : graph
        Graphs in any form that `tamis.metrics` lists.
    undirected : {"favourable", "strict"}
        What an undirected edge against a directed one counts: 0 if "favourable", the paper's
        convention (section 6: the correct orientation is assumed), and 1 if "strict". Where the
        other graph has no edge, an undirected edge counts 1 in both.

    Returns
    -------
    int
        0 for equal graphs.

    Examples
    --------
    >>> import tamis
    >>> tamis.metrics.shd({"a": ["b"], "b": [], "c": []}, {"a": [], "b": ["a"], "c": ["b"]})
    2
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
    """Compute the structural Hamming distance between two DAGs that are given as edges.

    Parameters
    ----------
    learned, true : collection of (parent, child)
        The edges of DAGs over the same nodes.

    Returns
    -------
    int
        The number of pairs whose edge differs.

    Examples
    --------
    >>> import tamis
    >>> tamis.metrics.edge_distance([("b", "a")], [("a", "b"), ("b", "c")])
    2
    """
    pairs = {frozenset(edge) for edge in set(learned) ^ set(true)}
    return len(pairs)
