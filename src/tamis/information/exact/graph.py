"""A directed acyclic graph as bit sets: who can say anything about whom, given what.

A set of nodes is an integer whose bit k stands for node k: unions, intersections and tests of
membership then cost one operation whatever the size, and a set is its own key in a dictionary.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from graphlib import TopologicalSorter

Graph = dict[int, int]
"""An undirected graph: for each node the set of its neighbours."""


def node_set(nodes: Iterable[int]) -> int:
    """Some nodes as a set of bits."""
    found = 0
    for k in nodes:
        found |= 1 << k
    return found


def members(nodes: int) -> list[int]:
    """The nodes of a set, in order."""
    found = []
    while nodes:
        lowest = nodes & -nodes
        found.append(lowest.bit_length() - 1)
        nodes ^= lowest
    return found


class Dag:
    """Parents, children and ancestors of every node, and what follows from them alone."""

    def __init__(self, parents: Sequence[Iterable[int]]) -> None:
        self.parents = [node_set(sources) for sources in parents]
        self.children = [0] * len(parents)
        self.ancestors = [0] * len(parents)
        for k in TopologicalSorter(dict(enumerate(parents))).static_order():
            self.ancestors[k] = 1 << k
            for p in parents[k]:
                self.children[p] |= 1 << k
                self.ancestors[k] |= self.ancestors[p]

    def ancestral(self, nodes: int) -> int:
        """The nodes with all their ancestors; the rest of the network does not touch them."""
        found = 0
        while nodes:
            k = nodes.bit_length() - 1
            found |= self.ancestors[k]
            nodes &= ~found
        return found

    def reached(self, start: int, given: int) -> int:
        """The nodes that are not d-separated from the start by the given ones: Bayes' ball.

        The start must not be given. Members of ``given`` are reached too, if the others of them
        do not stand between: these matter to the start, and given them the rest do not.
        """
        up, down = start, 0
        seen_up = seen_down = 0
        while up or down:
            seen_up |= up
            seen_down |= down
            # From below the ball goes on everywhere, from above it falls on; a given node stops
            # the first and throws back the second.
            passed = up & ~given
            above = passed | (down & given)
            below = passed | (down & ~given)
            up = self._parents_of(above) & ~seen_up
            down = self._children_of(below) & ~seen_down
        return seen_up | seen_down

    def moral(self, nodes: int) -> Graph:
        """The moral graph of an ancestral set: every family of a child is joined."""
        graph = dict.fromkeys(members(nodes), 0)
        for k in graph:
            family = self.parents[k] | 1 << k
            for member in members(family):
                graph[member] |= family
        return {k: around & ~(1 << k) for k, around in graph.items()}

    def marginal(self, nodes: int) -> Graph:
        """The graph of the nodes once all others are summed out.

        Those summed out fall into connected parts, and each leaves a table over all of the nodes
        it touches. Nodes that stay unjoined are independent given those that stand between.
        """
        graph = self.moral(self.ancestral(nodes))
        hidden = node_set(graph) & ~nodes
        while hidden:
            part, boundary = _part(graph, hidden & -hidden, hidden)
            hidden &= ~part
            boundary &= nodes
            for k in members(boundary):
                graph[k] |= boundary
        return {k: graph[k] & nodes & ~(1 << k) for k in members(nodes)}

    def _parents_of(self, nodes: int) -> int:
        found = 0
        for k in members(nodes):
            found |= self.parents[k]
        return found

    def _children_of(self, nodes: int) -> int:
        found = 0
        for k in members(nodes):
            found |= self.children[k]
        return found


def _part(graph: Graph, start: int, within: int) -> tuple[int, int]:
    """The part of ``within`` that is connected with the start, and all that it touches."""
    part, touched, new = start, 0, start
    while new:
        around = 0
        for k in members(new):
            around |= graph[k]
        touched |= around
        new = around & within & ~part
        part |= new
    return part, touched
