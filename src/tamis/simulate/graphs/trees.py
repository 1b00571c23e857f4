"""Polytrees: uniform random trees whose edges point either way (app. I of the paper)."""

from __future__ import annotations

import heapq

import numpy as np

from tamis.errors import SettingError
from tamis.simulate.graphs.graph import Arrows, Graph, labelled
from tamis.simulate.options import whole
from tamis.simulate.streams import Purpose, Seed, Stream

DIRECTIONS = ("coins", "labels")


def tree(d: int, *, directions: str = "coins", seed: Seed) -> Graph:
    """All d^(d-2) trees over the names are equally likely. ``directions`` says how edges point:

    - "coins": either way, each equally likely, as in the paper's text;
    - "labels": from the larger label of the construction to the smaller, as in the authors'
      program; the nodes are named at random all the same.

    One seed has the same edges both ways. Theorem poly says that polytrees satisfy the PPS
    condition; noisy parities of fair coins on them do not (docs/departures.md).
    """
    d, chance = whole("d", d, 1), Stream(seed, Purpose.GRAPH)
    if directions not in DIRECTIONS:
        listed = " or ".join(map(repr, DIRECTIONS))
        raise SettingError(f"directions must be {listed}, not {directions!r}")
    edges = uniform_tree(d, chance)
    if directions == "labels":
        return labelled(d, np.sort(edges, axis=1)[:, ::-1], seed)
    return labelled(d, directed(edges, chance), seed)


def uniform_tree(d: int, chance: Stream) -> Arrows:
    """The edges of a tree, from a random Prüfer sequence."""
    if d < 2:
        return np.empty((0, 2), dtype=np.int64)
    return np.array(decoded(chance.below(d, d - 2).tolist()), dtype=np.int64)


def decoded(sequence: list[int]) -> list[tuple[int, int]]:
    """The tree that a Prüfer sequence stands for.

    A node occurs once less often than it has edges. So the nodes that do not occur any more
    are leaves, and the smallest of them hangs on the next node of the sequence.
    """
    d = len(sequence) + 2
    missing = [1] * d
    for node in sequence:
        missing[node] += 1
    leaves = [node for node in range(d) if missing[node] == 1]
    edges = []
    for node in sequence:
        edges.append((heapq.heappop(leaves), node))
        missing[node] -= 1
        if missing[node] == 1:
            heapq.heappush(leaves, node)
    return [*edges, (heapq.heappop(leaves), heapq.heappop(leaves))]


def directed(edges: Arrows, chance: Stream) -> Arrows:
    """Each edge as it stands or turned round, by a fair coin; on a tree no cycle can arise."""
    turned = chance.coins(0.5, len(edges))
    return np.where(turned[:, np.newaxis], edges[:, ::-1], edges)
