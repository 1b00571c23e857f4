"""What a directed acyclic graph says about entropies: who matters to whom, and how the entropy of
many variables is a sum of entropies of few.

A set of nodes is an integer whose bit k stands for node k: unions, intersections and tests of
membership then cost one operation whatever the size, and a set is its own key in a dictionary.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from graphlib import TopologicalSorter
from typing import NamedTuple

from tamis.information.kept import Kept

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


Terms = Mapping[int, int]
"""Sets of variables, and how often the entropy of each is added; less than 0 to subtract."""

SPLITS = 4096
"""Splits remembered: the questions of a row share most of theirs."""


def combined(*signed: tuple[int, Terms]) -> dict[int, int]:
    """The sum of some terms with their signs; what cancels is gone and never computed."""
    total: dict[int, int] = {}
    for times, terms in signed:
        for variables, count in terms.items():
            total[variables] = total.get(variables, 0) + times * count
    return {variables: count for variables, count in total.items() if count}


class Splitter:
    """Splits entropies of one network by the chain rule; sets of variables are sets of bits.

    Where the variables Q of a question do not all touch each other, eliminating them one by one
    gives

        H(Q) = sum over k in Q of H(k | its neighbours at its turn),

    because given these a variable is independent of all that come later. Each term is a difference
    of joint entropies of smaller sets, and these are split in the same way until all touch all.
    """

    def __init__(self, dag: Dag, levels: Sequence[int]) -> None:
        self._dag = dag
        self._levels = levels
        self._joints: Kept[int, Terms] = Kept(SPLITS)
        self._conditionals: Kept[tuple[int, int], Terms] = Kept(SPLITS)

    def joint(self, variables: int) -> Terms:
        """H(variables)."""
        return self._joints.recall(variables, self._joint)

    def conditional(self, variables: int, given: int) -> Terms:
        """H(variables | given), with nothing in it that does not matter."""
        return self._conditionals.recall((variables, given), self._conditional)

    def _joint(self, variables: int) -> Terms:
        graph = self._dag.marginal(variables)
        if all(around | 1 << k == variables for k, around in graph.items()):
            return {variables: 1} if variables else {}
        # Every variable has two levels or more, so the smallest table leaves someone out,
        # all parts are smaller than the whole, and the recursion ends.
        turns = smallest_table(graph, variables, self._levels)
        chain = combined(*((1, {around | 1 << k: 1, around: -1}) for k, around in turns))
        return combined(*((count, self.joint(part)) for part, count in chain.items()))

    def _conditional(self, question: tuple[int, int]) -> Terms:
        variables, given = question[0] & ~question[1], question[1]
        relevant = self._dag.reached(variables, given) & given
        together = self.joint(variables | relevant)
        if not relevant:
            return together
        # If all touch all, a table of everything is made anyway and is summed for the given.
        apart = {relevant: 1} if len(together) == 1 else self.joint(relevant)
        return combined((1, together), (-1, apart))


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
    """Join the neighbours of the node that looks cheapest with each other, and remove it. The best
    order is hard to find; both costs come close to it on most networks, and neither is always the
    better one. ``far`` says that new links change the cost of neighbours of neighbours as well."""
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
