"""The members of an equivalence class, one chain component at a time.

A chain component is what hangs together by edges that can be turned. The components of a class can
be turned independently of each other, so each lists its own members, with what their noise
entropies contribute to the sums of squares.
"""

from __future__ import annotations

import heapq
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import and_

import numpy as np
from numpy.typing import NDArray

from tamis.constants import constants
from tamis.information.interface import Context, Floats
from tamis.knowledge import Constraints
from tamis.search.noise import NoiseEntropies, Parents

Edge = tuple[int, int]
"""A parent and its child."""

CLAIMED = 0.9
"""A direction is claimed from this probability on,"""
NOT_CLAIMED = 0.89
"""and this is the most that is said of one that only the number of members speaks for."""

TAIL = 0.01
"""A list that was cut is long enough if its second half has no more of the weight than this."""

ASKED_AHEAD = 256
"""Up to this number of families of a chain component are asked for in one batch before the walk."""


class Component(ABC):
    """Nodes joined by edges that can be turned, and the members of the class that turn them."""

    nodes: list[int]
    squares: Floats
    """Of each member the sum of squares of each group."""
    allowed: NDArray[np.bool_]
    """Which members knowledge leaves."""
    is_whole: bool = True
    """Whether all members are listed."""
    is_cut: bool = False
    """Whether the list ended where members were left that knowledge allows."""

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
        claim it from even odds. Nor is it one that all listed members have an arrow, if the list
        ends before the weight does.
        """
        before = self.sums(self.allowed / self.allowed.sum())
        is_cut = self.is_cut and float(share[len(share) // 2 :].sum()) > TAIL
        return {edge: _stated(one, before[edge], is_cut) for edge, one in self.sums(share).items()}

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
        self._neighbours = _neighbours(edges)
        self._outside = outside
        self._above = {k: p for p, k in _breadth_first(self._neighbours, nodes[0])}
        self.nodes = [nodes[0], *self._above]
        at = {k: i for i, k in enumerate(self.nodes)}
        alone = {k: Context(k, outside) for k in self.nodes}
        under = {(p, k): Context(k, _sorted((*outside, p))) for a in edges for p, k in (a, a[::-1])}
        noise.know((*alone.values(), *under.values()))
        self.squares = np.zeros((len(self.nodes), len(noise.sizes)))
        first = [alone[nodes[0]], *(under[p, k] for k, p in self._above.items())]
        self.squares[0] = noise.squares(first)
        for k, p in self._above.items():
            after, before = (alone[k], under[k, p]), (alone[p], under[p, k])
            turned = np.subtract(noise.squares(after), noise.squares(before))
            self.squares[at[k]] = self.squares[at[p]] + turned
        self.allowed = np.ones(len(self.nodes), dtype=bool)

    def parents(self, member: int) -> dict[int, frozenset[int]]:
        """Of the nodes of the component, with this root."""
        found = {self.nodes[member]: frozenset(self._outside)}
        for parent, k in _breadth_first(self._neighbours, self.nodes[member]):
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
    """Any other chain component: its members, one after the other, those that knowledge allows
    first, and of these those of least SS.

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
        constraints: Constraints | None = None,
    ) -> None:
        self.nodes = list(nodes)
        self._outside = outside
        self._barred = [_barred(k, self.nodes, constraints) for k in self.nodes]
        place = {k: i for i, k in enumerate(self.nodes)}
        self._edges = [(place[a], place[b]) for a, b in edges]
        first = tuple(sum(1 << place[p] for p in start[k] if p in place) for k in self.nodes)
        self._shares: dict[tuple[int, int], tuple[float, ...]] = {}
        families = self._families()
        self._asked_ahead = len(families) <= ASKED_AHEAD
        if self._asked_ahead:
            self._know(families, noise)
        self._members, turned, rows = [], [], []
        for member, edges_turned, squares in self._walk(first, noise):
            self._members.append(member)
            turned.append(edges_turned)
            rows.append(squares)
        self.squares = np.array(rows).reshape(len(rows), len(noise.sizes))
        self.allowed = np.ones(len(rows), dtype=bool)
        size = len(edges) // 8 + 1
        packed = np.frombuffer(b"".join(one.to_bytes(size, "little") for one in turned), np.uint8)
        bits = np.unpackbits(packed.reshape(-1, size), 1, len(edges), bitorder="little")
        as_first = [bool(first[b] >> a & 1) for a, b in self._edges]
        self._forward = bits != np.array(as_first)
        """Which members have which edges as they are listed."""

    def parents(self, member: int) -> dict[int, frozenset[int]]:
        """Of the nodes of the component, in this member."""
        return {
            k: frozenset(self._context(i, bits).given)
            for i, (k, bits) in enumerate(zip(self.nodes, self._members[member], strict=True))
        }

    def sums(self, weights: Floats) -> dict[Edge, float]:
        """The weight of the members that have each arrow."""
        found: dict[Edge, float] = {}
        for (a, b), has in zip(self._edges, self._forward.T, strict=True):
            edge = self.nodes[a], self.nodes[b]
            found[edge], found[edge[::-1]] = float(weights[has].sum()), float(weights[~has].sum())
        return found

    def _families(self) -> list[tuple[int, int]]:
        """Every node with every clique among its neighbours, which are the parents it has in the
        members of the class; more than ``ASKED_AHEAD`` are not listed to the end."""
        beside = [0] * len(self.nodes)
        for a, b in self._edges:
            beside[a] |= 1 << b
            beside[b] |= 1 << a
        found: list[tuple[int, int]] = []
        for i, near in enumerate(beside):
            cliques = [0]
            for j, others in enumerate(beside):
                if near >> j & 1 and len(found) + len(cliques) <= ASKED_AHEAD:
                    cliques += [one | 1 << j for one in cliques if not one & ~others]
            found += [(i, one) for one in cliques]
        return found

    def _context(self, i: int, bits: int) -> Context:
        inside = (k for j, k in enumerate(self.nodes) if bits >> j & 1)
        return Context(self.nodes[i], _sorted((*self._outside, *inside)))

    def _know(self, families: Iterable[tuple[int, int]], noise: NoiseEntropies) -> None:
        """Have the squares of nodes with these parents, all asked for in one batch."""
        fresh = {one: self._context(*one) for one in families if one not in self._shares}
        noise.know(fresh.values())
        for one, context in fresh.items():
            self._shares[one] = tuple(noise.squares((context,)))

    def _walk(
        self, first: tuple[int, ...], noise: NoiseEntropies
    ) -> Iterator[tuple[tuple[int, ...], int, tuple[float, ...]]]:
        """Members, which of their edges are turned, and their sums of squares."""
        shares, families = self._shares, list(enumerate(first))
        if not self._asked_ahead:
            self._know(families, noise)
        start = tuple(noise.squares(self._context(*one) for one in families))
        # Where knowledge allows few of many members, the list would be full before it has them.
        waiting = [(False, sum(start), first, 0, start)]
        seen = {0}
        for _ in range(constants.most_members):
            if not waiting:
                return
            *_, one, turned, squares = heapq.heappop(waiting)
            yield one, turned, squares
            changes = []
            for e, (a, b) in enumerate(self._edges):
                p, k = (a, b) if one[b] >> a & 1 else (b, a)
                above, edges = one[p], turned ^ 1 << e
                if one[k] == above | 1 << p and edges not in seen:
                    seen.add(edges)
                    after = (p, above | 1 << k), (k, above)
                    changes.append((edges, ((p, above), (k, one[k])), after))
            if not self._asked_ahead:
                self._know((family for change in changes for family in change[2]), noise)
            for edges, (p_before, k_before), (p_after, k_after) in changes:
                other = list(one)
                other[p_after[0]], other[k_after[0]] = p_after[1], k_after[1]
                own = shares[p_before], shares[k_before], shares[p_after], shares[k_after]
                each = zip(squares, *own, strict=True)
                moved = tuple([total - (v + w) + (x + y) for total, v, w, x, y in each])
                barred = any(map(and_, other, self._barred))
                heapq.heappush(waiting, (barred, sum(moved), tuple(other), edges, moved))
        self.is_whole = not waiting
        self.is_cut = bool(waiting) and not waiting[0][0]


def topological(parents: Parents, place: Callable[[int], int] | None = None) -> list[int]:
    """An order in which parents come first; of several the one that goes by position, or by the
    place of each node in another order."""
    children: dict[int, list[int]] = {k: [] for k in parents}
    for k, members in parents.items():
        for p in members:
            children[p].append(k)
    rank = {k: (k if place is None else place(k), i) for i, k in enumerate(parents)}
    missing = {k: len(members) for k, members in parents.items()}
    due = [(rank[k], k) for k, n in missing.items() if n == 0]
    heapq.heapify(due)
    order: list[int] = []
    while due:
        order.append(heapq.heappop(due)[1])
        for k in children[order[-1]]:
            missing[k] -= 1
            if missing[k] == 0:
                heapq.heappush(due, (rank[k], k))
    return order


def _neighbours(edges: Iterable[Edge]) -> dict[int, list[int]]:
    """The neighbours of each node that has any, in the order of the edges."""
    found: dict[int, list[int]] = {}
    for a, b in edges:
        found.setdefault(a, []).append(b)
        found.setdefault(b, []).append(a)
    return found


def _breadth_first(neighbours: Mapping[int, Sequence[int]], root: int) -> Iterator[Edge]:
    """The edges by which the nodes that hang together with a root are reached, nearest first."""
    seen = {root}
    due = deque([root])
    while due:
        node = due.popleft()
        for other in neighbours[node]:
            if other not in seen:
                seen.add(other)
                due.append(other)
                yield node, other


def _parts(neighbours: Mapping[int, Sequence[int]]) -> list[list[int]]:
    """What hangs together, each part sorted."""
    found: list[list[int]] = []
    seen: set[int] = set()
    for root in sorted(neighbours):
        if root not in seen:
            part = sorted((root, *(k for _, k in _breadth_first(neighbours, root))))
            seen.update(part)
            found.append(part)
    return found


def chain_components(
    parents: Parents,
    compelled: set[Edge],
    noise: NoiseEntropies,
    constraints: Constraints | None,
) -> list[Component]:
    """The chain components: what hangs together by edges that can be turned."""
    open_edges = [(p, k) for k, members in parents.items() for p in members]
    neighbours = _neighbours(edge for edge in open_edges if edge not in compelled)
    found: list[Component] = []
    for part in _parts(neighbours):
        edges = sorted((k, other) for k in part for other in neighbours[k] if k < other)
        # All nodes of a component have the same parents outside of it.
        outside = _sorted(p for p in parents[part[0]] if (p, part[0]) in compelled)
        component: Component
        if len(edges) == len(part) - 1:
            component = Tree(part, edges, outside, noise)
        else:
            component = Listed(part, edges, outside, parents, noise, constraints)
        if constraints is not None:
            component.rule_out(constraints)
        found.append(component)
    return found


def _stated(share: float, before: float, is_cut: bool) -> float:
    """The share of an arrow, held below what is claimed unless the entropies alone claim as much;
    ``before`` is the share if all members weighed the same."""
    share = min(max(share, 0.0), 1.0)
    if not 0.0 < before < 1.0:
        return min(max(share, 1 - NOT_CLAIMED), NOT_CLAIMED) if is_cut else share
    if NOT_CLAIMED > share > 1 - NOT_CLAIMED:
        return share
    kept, lost = share * (1 - before), (1 - share) * before
    even = kept / (kept + lost)
    if share > 0.5:
        return share if even >= CLAIMED else NOT_CLAIMED
    return share if even <= 1 - CLAIMED else 1 - NOT_CLAIMED


def _barred(k: int, nodes: Sequence[int], constraints: Constraints | None) -> int:
    """Which of the nodes cannot be parents of k, a bit for each."""
    if constraints is None:
        return 0
    own = ((i, p) for i, p in enumerate(nodes) if not _is_allowed({k: {p}}, constraints))
    return sum(1 << i for i, _ in own)


def _is_allowed(parents: Parents, constraints: Constraints) -> bool:
    blocked, waits = constraints.blocked, constraints.waits
    return not any(
        blocked[k] >> p & 1 or waits[p] >> k & 1 for k, own in parents.items() for p in own
    )


def _sorted(nodes: Iterable[int]) -> tuple[int, ...]:
    return tuple(sorted(nodes))
