"""Which DAG of an equivalence class: the one whose noise entropies are spread most evenly.

Equivalent DAGs have the same total of noise entropies e_k = H(X_k | parents of k); they differ in
how it is spread over the nodes. Condition C3 of the paper says that all e_k are equal. Here they
are exchangeable: draws from one normal law of unknown location and scale. With the reference prior
1/sigma on both, the marginal likelihood of a DAG's e_1, ..., e_d is proportional to

    SS^(-(d - 1) / 2),    SS = sum of (e_k - mean)^2, and their variances as estimates,

and the probability of a direction is the weight of the members that have it. C3 is the limit in
which one member has all the weight; where noise entropies differ widely, or units are arbitrary,
all members weigh about the same. docs/directions.md has the derivation.

Entropies of measurements carry the logarithm of a unit. Whether the units of a table are such that
they can be compared is a second question, with an answer of its own: either they are arbitrary,
and the entropies scatter widely and say nothing, or they are not, and scatter by less.

The power of SS is a mixture over a precision t of exp(-t SS / 2). Given t the chain components of
the class are independent of each other, so that they are listed one by one and joined by an
integral over t. Columns whose entropies cannot be compared form groups with a law of their own.
"""

from __future__ import annotations

import heapq
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import networkx as nx
import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from tamis.constants import constants
from tamis.information.interface import NUMBERS, Context, Floats, Source
from tamis.knowledge import Constraints
from tamis.metrics.equivalence import compelled_edges

Edge = tuple[int, int]
"""A parent and its child."""
Parents = Mapping[int, Collection[int]]

CLAIMED = 0.9
"""A direction is claimed from this probability on,"""
NOT_CLAIMED = 0.89
"""and this is the most that is said of one that only the number of members speaks for."""
SMALLEST = 1e-18
"""What stands for an SS of 0, which only a known network has."""
WIDTHS = 8.0
"""The integral over the precision goes so many widths of its law beyond the largest and the
smallest SS,"""
PER_WIDTH = 3.0
"""in steps of which so many are one width."""


@dataclass(frozen=True)
class Directions:
    """The likeliest member of an equivalence class, and how likely each arrow is."""

    parents: dict[int, frozenset[int]]
    """Of every node in that member."""
    compelled: set[Edge]
    """The arrows that all members have."""
    probabilities: dict[Edge, float]
    """Of each direction of the other edges."""

    def of(self, parent: int, child: int) -> float:
        """The probability of an arrow of any member."""
        return 1.0 if (parent, child) in self.compelled else self.probabilities[parent, child]


def directions(
    information: Source,
    parents: Parents,
    constraints: Constraints | None = None,
    *,
    same_units: bool = False,
) -> Directions:
    """The members of a DAG's equivalence class, weighed by their noise entropies.

    With ``same_units`` those of numbers are said to be comparable; otherwise they speak as far as
    the table shows that they are.

    Members that ``constraints`` rule out do not count. If they rule out all, as they may for a DAG
    whose own arrows they forbid, none is left out.
    """
    order = topological(parents)
    compelled = compelled_edges(order, parents)
    noise = NoiseEntropies(information, parents)
    components = _components(parents, compelled, noise, constraints)
    shares = _shares(noise, parents, components)
    chosen = {k: frozenset(members) for k, members in parents.items()}
    for component, share in zip(components, shares, strict=True):
        chosen |= component.parents(int(np.argmax(share)))
    if not same_units:
        shares = _doubted(noise, parents, components, shares, chosen)
    found: dict[Edge, float] = {}
    for component, share in zip(components, shares, strict=True):
        found |= component.probabilities(share)
    # Knowledge may leave members that share more than the class does.
    shared = {edge for one in components for edge in one.shared()} if constraints else set()
    return Directions(chosen, compelled | shared, found)


def evenness(information: Source, parents: Parents) -> float:
    """ln of the weight of one DAG: how evenly its noise entropies are spread.

    It compares DAGs of different classes too, where these fit alike.
    """
    noise = NoiseEntropies(information, parents)
    return -math.fsum(
        (size - 1) / 2 * math.log(max(spread, SMALLEST))
        for size, spread in zip(noise.sizes, noise.spreads(parents), strict=True)
    )


def unit_probability(information: Source, parents: Parents) -> float:
    """How likely it is that the units of a table's numbers can be compared, if this is its DAG;
    1 where nothing has a unit."""
    noise = NoiseEntropies(information, parents)
    return _comparable(noise, parents) if any(noise.has_units) else 1.0


class NoiseEntropies:
    """The noise entropies of nodes, as squares about the mean of their group.

    The mean is that of one DAG; in a class without groups all members have it, and with groups it
    differs little.
    """

    def __init__(self, information: Source, parents: Parents) -> None:
        self._information = information
        self._known: dict[Context, float] = {}
        kinds = information.entropy_kinds()
        varying = [k for k in parents if information.varies(k)]
        counted = [k for k in varying if kinds[k] is not None]
        named = sorted({str(kinds[k]) for k in counted})
        # One column alone has nobody to be compared with.
        named = [kind for kind in named if sum(kinds[k] == kind for k in counted) > 1]
        self.group_of: dict[int, int | None] = {
            k: named.index(str(kinds[k])) if k in counted and kinds[k] in named else None
            for k in parents
        }
        self.has_units = [kind == NUMBERS for kind in named]
        self.sizes = [sum(g == i for g in self.group_of.values()) for i in range(len(named))]
        per_node = information.entropy_variance / information.n_rows
        self.variances = [size * per_node for size in self.sizes]
        contexts = self.contexts(parents)
        self.know(contexts)
        self._means = []
        for group, size in enumerate(self.sizes):
            own = (self._known[one] for one in contexts if self.group_of[one.target] == group)
            self._means.append(math.fsum(own) / size)

    def contexts(self, parents: Parents) -> list[Context]:
        """Those of the nodes whose entropies are compared."""
        return [
            Context(k, _sorted(members))
            for k, members in parents.items()
            if self.group_of[k] is not None
        ]

    def know(self, contexts: Iterable[Context]) -> None:
        """Ask for what is not known yet, in one batch."""
        fresh = [
            one
            for one in dict.fromkeys(contexts)
            if one not in self._known and self.group_of[one.target] is not None
        ]
        if fresh:
            self._known.update(zip(fresh, self._information.entropies(fresh).tolist(), strict=True))

    def squares(self, contexts: Iterable[Context]) -> Floats:
        """The sum of squares of each group over these nodes."""
        found = np.zeros(len(self.sizes))
        for one in contexts:
            group = self.group_of[one.target]
            if group is not None:
                found[group] += (self._known[one] - self._means[group]) ** 2
        return found

    def spreads(self, parents: Parents) -> Floats:
        """The SS of each group in a DAG, with the variances of the estimates."""
        contexts = self.contexts(parents)
        self.know(contexts)
        return self.squares(contexts) + self.variances


class Component(ABC):
    """Nodes joined by edges that can be turned, and the members of the class that turn them."""

    nodes: list[int]
    squares: Floats
    """Of each member the sum of squares of each group."""
    allowed: NDArray[np.bool_]
    """Which members knowledge leaves."""
    is_whole: bool = True
    """Whether all members are listed."""

    @abstractmethod
    def parents(self, member: int) -> dict[int, frozenset[int]]:
        """Of the nodes of the component, in this member."""

    @abstractmethod
    def sums(self, weights: Floats) -> dict[Edge, float]:
        """The sum of the weights of the members that have each arrow."""

    def rule_out(self, constraints: Constraints) -> None:
        """Leave out the members that knowledge does not allow, unless it allows none."""
        for i in range(len(self.allowed)):
            self.allowed[i] = _is_allowed(self.parents(i), constraints)
        if not self.allowed.any():
            self.allowed[:] = True

    def probabilities(self, share: Floats) -> dict[Edge, float]:
        """The probability of each arrow: the share of the members that have it.

        Of a class with many members most may have an arrow, as all but one of a star's have the
        one to a leaf. That is no word of the entropies: an arrow is only claimed if they would
        claim it from even odds.
        """
        before = self.sums(self.allowed / self.allowed.sum())
        return {edge: _stated(one, before[edge]) for edge, one in self.sums(share).items()}

    def shared(self) -> set[Edge]:
        """The arrows that all members have that knowledge leaves."""
        if not self.is_whole:
            return set()
        everyone = float(self.allowed.sum())
        found = self.sums(self.allowed.astype(np.float64))
        return {edge for edge, one in found.items() if one == everyone}


class Tree(Component):
    """A chain component that is a tree: it has a member for each node that may be the root.

    Two roots that are neighbours differ in the arrow between them alone.
    """

    def __init__(
        self,
        nodes: Sequence[int],
        edges: Sequence[Edge],
        outside: tuple[int, ...],
        noise: NoiseEntropies,
    ) -> None:
        self._graph: nx.Graph[int] = nx.Graph(edges)
        self._outside = outside
        self._above = {k: p for p, k in nx.bfs_edges(self._graph, nodes[0])}
        self.nodes = [nodes[0], *self._above]
        at = {k: i for i, k in enumerate(self.nodes)}
        alone = {k: Context(k, outside) for k in self.nodes}
        under = {(p, k): Context(k, _sorted((*outside, p))) for a in edges for p, k in (a, a[::-1])}
        noise.know((*alone.values(), *under.values()))
        self.squares = np.zeros((len(self.nodes), len(noise.sizes)))
        first = [alone[nodes[0]], *(under[p, k] for k, p in self._above.items())]
        self.squares[0] = noise.squares(first)
        for k, p in self._above.items():
            turned = noise.squares((alone[k], under[k, p])) - noise.squares((alone[p], under[p, k]))
            self.squares[at[k]] = self.squares[at[p]] + turned
        self.allowed = np.ones(len(self.nodes), dtype=bool)

    def parents(self, member: int) -> dict[int, frozenset[int]]:
        """Of the nodes of the component, with this root."""
        found = {self.nodes[member]: frozenset(self._outside)}
        for parent, k in nx.bfs_edges(self._graph, self.nodes[member]):
            found[k] = frozenset((*self._outside, parent))
        return found

    def sums(self, weights: Floats) -> dict[Edge, float]:
        """An arrow points away from the root: the weight of the roots on its parent's side."""
        below = dict(zip(self.nodes, weights.tolist(), strict=True))
        for k in reversed(self.nodes[1:]):
            below[self._above[k]] += below[k]
        found = {}
        for k, p in self._above.items():
            found[p, k], found[k, p] = below[self.nodes[0]] - below[k], below[k]
        return found


class Listed(Component):
    """Any other chain component: its members, one after the other, those of least SS first.

    From a member to the next an edge is turned whose ends have the same other parents; all members
    are reached like that (Chickering, 1995).
    """

    def __init__(
        self,
        nodes: Sequence[int],
        edges: Sequence[Edge],
        outside: tuple[int, ...],
        start: Parents,
        noise: NoiseEntropies,
    ) -> None:
        self.nodes = list(nodes)
        self._outside = outside
        place = {k: i for i, k in enumerate(self.nodes)}
        self._edges = [(place[a], place[b]) for a, b in edges]
        first = tuple(sum(1 << place[p] for p in start[k] if p in place) for k in self.nodes)
        self._members, rows = [], []
        for member, squares in self._walk(first, noise):
            self._members.append(member)
            rows.append(squares)
        self.squares = np.array(rows).reshape(len(rows), len(noise.sizes))
        self.allowed = np.ones(len(rows), dtype=bool)

    def parents(self, member: int) -> dict[int, frozenset[int]]:
        """Of the nodes of the component, in this member."""
        return {
            k: frozenset(self._context(i, bits).given)
            for i, (k, bits) in enumerate(zip(self.nodes, self._members[member], strict=True))
        }

    def sums(self, weights: Floats) -> dict[Edge, float]:
        """The weight of the members that have each arrow."""
        found: dict[Edge, float] = {}
        for one, weight in zip(self._members, weights.tolist(), strict=True):
            for a, b in self._edges:
                p, k = (a, b) if one[b] >> a & 1 else (b, a)
                edge = self.nodes[p], self.nodes[k]
                found[edge] = found.get(edge, 0.0) + weight
                found.setdefault(edge[::-1], 0.0)
        return found

    def _context(self, i: int, bits: int) -> Context:
        inside = (k for j, k in enumerate(self.nodes) if bits >> j & 1)
        return Context(self.nodes[i], _sorted((*self._outside, *inside)))

    def _walk(
        self, first: tuple[int, ...], noise: NoiseEntropies
    ) -> Iterator[tuple[tuple[int, ...], Floats]]:
        contexts = [self._context(i, bits) for i, bits in enumerate(first)]
        noise.know(contexts)
        seen = {first}
        squares = noise.squares(contexts)
        waiting = [(float(squares.sum()), first, squares)]
        for _ in range(constants.most_members):
            if not waiting:
                return
            _, one, squares = heapq.heappop(waiting)
            yield one, squares
            turned = [(p, k) for p, k in self._turnable(one) if _turned(one, p, k) not in seen]
            changes = [self._change(one, p, k) for p, k in turned]
            noise.know(context for pair in changes for context in (*pair[0], *pair[1]))
            for (p, k), (before, after) in zip(turned, changes, strict=True):
                other = _turned(one, p, k)
                seen.add(other)
                moved = squares - noise.squares(before) + noise.squares(after)
                heapq.heappush(waiting, (float(moved.sum()), other, moved))
        self.is_whole = not waiting

    def _turnable(self, one: tuple[int, ...]) -> Iterator[Edge]:
        for a, b in self._edges:
            p, k = (a, b) if one[b] >> a & 1 else (b, a)
            if one[k] == one[p] | 1 << p:
                yield p, k

    def _change(self, one: tuple[int, ...], p: int, k: int) -> tuple[list[Context], list[Context]]:
        before = [self._context(p, one[p]), self._context(k, one[k])]
        return before, [self._context(p, one[p] | 1 << k), self._context(k, one[p])]


def topological(parents: Parents, place: Callable[[int], int] | None = None) -> list[int]:
    """An order in which parents come first; of several the one that goes by position, or by the
    place of each node in another order."""
    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_nodes_from(parents)
    graph.add_edges_from((p, k) for k, members in parents.items() for p in members)
    return list(nx.lexicographical_topological_sort(graph, key=place))


def _components(
    parents: Parents,
    compelled: set[Edge],
    noise: NoiseEntropies,
    constraints: Constraints | None,
) -> list[Component]:
    """The chain components: what hangs together by edges that can be turned."""
    open_edges = [(p, k) for k, members in parents.items() for p in members]
    graph: nx.Graph[int] = nx.Graph(edge for edge in open_edges if edge not in compelled)
    found: list[Component] = []
    for part in sorted(map(sorted, nx.connected_components(graph))):
        edges = sorted((min(e), max(e)) for e in graph.subgraph(part).edges)
        # All nodes of a component have the same parents outside of it.
        outside = _sorted(p for p in parents[part[0]] if (p, part[0]) in compelled)
        component: Component
        if len(edges) == len(part) - 1:
            component = Tree(part, edges, outside, noise)
        else:
            component = Listed(part, edges, outside, parents, noise)
        if constraints is not None:
            component.rule_out(constraints)
        found.append(component)
    return found


def _shares(
    noise: NoiseEntropies,
    parents: Parents,
    components: Sequence[Component],
    without: int | None = None,
) -> list[Floats]:
    """The share of every member of every component in the weight of all: an integral over t.

    The entropies of the group ``without`` say nothing.
    """
    groups = [g for g in range(len(noise.sizes)) if g != without]
    if not groups or not components:
        return [one.allowed / one.allowed.sum() for one in components]
    inside = {k for one in components for k in one.nodes}
    rest = noise.squares(one for one in noise.contexts(parents) if one.target not in inside)
    rest = (rest + noise.variances)[groups]
    sizes = [noise.sizes[g] for g in groups]
    listed = [one.squares[one.allowed][:, groups] for one in components]
    grids = [
        _precisions(
            size,
            rest[g] + sum(float(one[:, g].min()) for one in listed),
            rest[g] + sum(float(one[:, g].max()) for one in listed),
        )
        for g, size in enumerate(sizes)
    ]
    t = np.array(list(product(*grids)))
    freedom = (np.array(sizes) - 1) / 2
    weight = np.log(t) @ freedom - t @ rest / 2
    exponents = [-one @ t.T / 2 for one in listed]
    totals = [logsumexp(one, axis=0) for one in exponents]
    weight += np.sum(totals, axis=0)
    at = np.exp(weight - logsumexp(weight))
    found = []
    for component, one, total in zip(components, exponents, totals, strict=True):
        share = np.zeros(len(component.allowed))
        share[component.allowed] = np.exp(one - total) @ at
        found.append(share / share.sum())
    return found


def _doubted(
    noise: NoiseEntropies,
    parents: Parents,
    components: Sequence[Component],
    shares: Sequence[Floats],
    chosen: Parents,
) -> list[Floats]:
    """The shares, mixed with those that hold if the units of numbers are arbitrary."""
    if not any(noise.has_units) or not components:
        return list(shares)
    sure = _comparable(noise, chosen)
    blind = _shares(noise, parents, components, without=noise.has_units.index(True))
    return [sure * one + (1 - sure) * other for one, other in zip(shares, blind, strict=True)]


def _comparable(noise: NoiseEntropies, parents: Parents) -> float:
    group = noise.has_units.index(True)
    return comparable(float(noise.spreads(parents)[group]), noise.sizes[group])


def comparable(spread: float, size: int) -> float:
    """The probability that units can be compared, if the noise entropies of so many columns have
    this sum of squares about their mean; before they were seen it was one half."""
    finest, widest = constants.finest_spread, constants.arbitrary_spread
    scales = np.geomspace(finest, widest, 1 + round(math.log(widest / finest) / 0.05))
    fits = -(size - 1) * np.log(scales) - spread / (2 * scales**2)
    return float(1 / (1 + np.exp(fits[-1] - logsumexp(fits) + math.log(len(fits)))))


def _stated(share: float, before: float) -> float:
    """The share of an arrow, held below what is claimed unless the entropies alone claim as much;
    ``before`` is the share if all members weighed the same."""
    share = min(max(share, 0.0), 1.0)
    if not 0.0 < before < 1.0 or NOT_CLAIMED > share > 1 - NOT_CLAIMED:
        return share
    kept, lost = share * (1 - before), (1 - share) * before
    even = kept / (kept + lost)
    if share > 0.5:
        return share if even >= CLAIMED else NOT_CLAIMED
    return share if even <= 1 - CLAIMED else 1 - NOT_CLAIMED


def _precisions(size: int, least: float, most: float) -> Floats:
    """The precisions at which members with these sums of squares have their weight, evenly spaced
    in ln t, in which that weight has a width of sqrt(2 / (size - 1))."""
    width = math.sqrt(2 / (size - 1))
    mode = [math.log((size - 1) / max(one, SMALLEST)) for one in (most, least)]
    start, stop = mode[0] - WIDTHS * width, mode[1] + WIDTHS * width
    return np.exp(np.linspace(start, stop, 1 + math.ceil(PER_WIDTH * (stop - start) / width)))


def _is_allowed(parents: Parents, constraints: Constraints) -> bool:
    blocked, waits = constraints.blocked, constraints.waits
    return not any(
        blocked[k] >> p & 1 or waits[p] >> k & 1 for k, own in parents.items() for p in own
    )


def _turned(one: tuple[int, ...], p: int, k: int) -> tuple[int, ...]:
    """The member with p -> k turned around."""
    found = list(one)
    found[k], found[p] = one[p], one[p] | 1 << k
    return tuple(found)


def _sorted(nodes: Iterable[int]) -> tuple[int, ...]:
    return tuple(sorted(nodes))
