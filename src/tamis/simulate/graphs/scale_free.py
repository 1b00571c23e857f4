"""Scale-free graphs by preferential attachment (Barabási-Albert; app. I of the paper)."""

from __future__ import annotations

import numpy as np

from tamis.simulate.graphs.graph import Graph, labelled
from tamis.simulate.options import flag, whole
from tamis.simulate.streams import Purpose, Seed, Stream


def sf(d: int, *, m: int = 1, new_to_old: bool = True, seed: Seed) -> Graph:
    """Each new node is joined to ``m`` different earlier ones, likelier those with many edges.

    The first nodes are joined to all before them, so that there are m d - m (m + 1) / 2 edges.
    ``new_to_old`` is the direction of the authors' program: hubs are old, and collect
    parents; a MOD or ADD hub then depends on very many. Otherwise hubs have many children and no
    node has more than ``m`` parents.
    """
    d, m, new_to_old = whole("d", d, 1), whole("m", m, 1), flag("new_to_old", new_to_old)
    pairs = attached(d, m, Stream(seed, Purpose.GRAPH))
    arrows = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return labelled(d, arrows if new_to_old else arrows[:, ::-1], seed)


def attached(d: int, m: int, chance: Stream) -> list[tuple[int, int]]:
    """The edges as (new, old), in the order of growth."""
    edges: list[tuple[int, int]] = []
    # A node stands here once for each of its edges: an even draw prefers the well-connected.
    ends: list[int] = []
    for new in range(1, d):
        olds = range(new) if new <= m else _different(ends, m, chance)
        for old in olds:
            edges.append((new, old))
            ends += (new, old)
    return edges


def _different(ends: list[int], m: int, chance: Stream) -> list[int]:
    """m different nodes; one that comes again is drawn again."""
    found: dict[int, None] = {}
    while len(found) < m:
        found[ends[int(chance.below(len(ends), 1)[0])]] = None
    return list(found)
