"""Greedy orders of elimination: the node that looks cheapest goes next.

To eliminate a node is to join its neighbours with each other and to remove it. The best order
is hard to find; these two rules of thumb are close to it on most networks, and neither is
always the better one.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from tamis.information.exact.graph import Graph, members, node_set


class Turn(NamedTuple):
    """A node and the neighbours it has when its turn has come."""

    node: int
    around: int


Cost = Callable[[Graph, int], int]


def smallest_table(graph: Graph, nodes: int, levels: Sequence[int]) -> list[Turn]:
    """Eliminate ``nodes``, always the one whose table with its neighbours is the smallest.

    The neighbours that a node has in the end make up its table, so the cost is exact.
    """

    def cells(graph: Graph, k: int) -> int:
        return math.prod([levels[other] for other in members(graph[k])], start=levels[k])

    return _greedily(graph, nodes, cells, far=False)


def fewest_links(graph: Graph, nodes: int, levels: Sequence[int]) -> list[Turn]:
    """Eliminate ``nodes``, always the one that joins the fewest cells not joined before."""

    def links(graph: Graph, k: int) -> int:
        around = graph[k]
        return sum(
            levels[one] * levels[two]
            for one in members(around)
            for two in members(around & ~graph[one] & ~(1 << one))
        )

    return _greedily(graph, nodes, links, far=True)


def _greedily(graph: Graph, nodes: int, cost: Cost, *, far: bool) -> list[Turn]:
    """``far`` says that new links change the cost of neighbours of neighbours as well."""
    graph = dict(graph)
    costs = {k: cost(graph, k) for k in members(nodes)}
    waiting = [(value, k) for k, value in costs.items()]
    heapq.heapify(waiting)
    left = node_set(graph)
    turns: list[Turn] = []
    while waiting:
        value, k = heapq.heappop(waiting)
        if costs.get(k) != value:
            continue
        around = graph[k]
        if around | 1 << k == left:
            # From here on all touch all, and one order is as good as another.
            return turns + _in_order(list(costs), left)
        del costs[k], graph[k]
        left &= ~(1 << k)
        turns.append(Turn(k, around))
        _join(graph, around, without=k)
        for other in members(_two_steps(graph, around) if far else around):
            if other in costs and (renewed := cost(graph, other)) != costs[other]:
                costs[other] = renewed
                heapq.heappush(waiting, (renewed, other))
    return turns


def _in_order(nodes: list[int], left: int) -> list[Turn]:
    turns = []
    for k in sorted(nodes):
        left &= ~(1 << k)
        turns.append(Turn(k, left))
    return turns


def _join(graph: Graph, around: int, without: int) -> None:
    for k in members(around):
        graph[k] = (graph[k] | around) & ~(1 << k) & ~(1 << without)


def _two_steps(graph: Graph, nodes: int) -> int:
    found = nodes
    for k in members(nodes):
        found |= graph[k]
    return found
