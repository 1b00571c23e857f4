"""Random DAGs: each family is a function of its options and a seed.

Generated nodes are called v1, v2, ... with zeros in front, so that names sort as numbers do
(v01 to v50 for fifty nodes). Which node gets which name is drawn, all ways equally likely:
neither the name of a column nor its place says anything about the order of the graph.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from graphlib import TopologicalSorter
from itertools import pairwise
from typing import Any, Self

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from tamis.errors import DataError, SettingError
from tamis.network.parts import checked_names, checked_parents
from tamis.plugins import whole
from tamis.portable import log
from tamis.simulate.options import flag, number, wholes
from tamis.simulate.streams import Purpose, Seed, Stream

Arrows = NDArray[np.int64]
"""A row an arrow: from the first node to the second, by the numbers of the construction."""


@dataclass(frozen=True)
class Graph:
    """A DAG: the names of its nodes and, for each, the positions of its parents.

    Parameters
    ----------
    names : tuple of str
        The nodes.
    parents : tuple of tuples of int
        The parents of each node, as positions in ``names``.

    Raises
    ------
    DataError
        If names repeat, a position does not exist, or there is a cycle.

    Examples
    --------
    >>> import tamis
    >>> tamis.simulate.Graph(("rain", "wet"), ((), (0,))).edges
    (('rain', 'wet'),)
    """

    names: tuple[str, ...]
    parents: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", checked_names(self.names))
        object.__setattr__(self, "parents", checked_parents(self.names, self.parents))

    def __repr__(self) -> str:
        return f"<Graph: {len(self.names)} nodes, {self.n_edges} edges>"

    @property
    def n_edges(self) -> int:
        """The number of arrows."""
        return sum(map(len, self.parents))

    @cached_property
    def order(self) -> tuple[int, ...]:
        """All positions, parents before children."""
        return tuple(TopologicalSorter(dict(enumerate(self.parents))).static_order())

    @cached_property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """The arrows as (parent, child), child by child in the order of the names."""
        return tuple(
            (self.names[p], self.names[k]) for k, given in enumerate(self.parents) for p in given
        )

    def to_networkx(self) -> nx.DiGraph[str]:
        """Convert the graph to networkx."""
        graph: nx.DiGraph[str] = nx.DiGraph()
        graph.add_nodes_from(self.names)
        graph.add_edges_from(self.edges)
        return graph

    @classmethod
    def from_networkx(cls, graph: nx.DiGraph[Any]) -> Self:
        """Read the DAG over the nodes of a graph of networkx, whose nodes are strings."""
        if not isinstance(graph, nx.DiGraph) or graph.is_multigraph():
            raise SettingError(f"graph must be a networkx.DiGraph, not {type(graph).__name__}")
        return cls.from_dict({"names": list(graph.nodes), "edges": list(graph.edges)})

    def to_dict(self) -> dict[str, Any]:
        """Convert the graph to what JSON can hold."""
        return {"names": list(self.names), "edges": [list(edge) for edge in self.edges]}

    @classmethod
    def from_dict(cls, contents: Mapping[str, Any]) -> Self:
        """Read the graph that ``to_dict`` wrote."""
        names, edges = _contents(contents)
        place = {name: k for k, name in enumerate(names)}
        parents: list[list[int]] = [[] for _ in names]
        for start, end in edges:
            if start not in place or end not in place:
                raise DataError(f"The edge {[start, end]!r} joins names that are no nodes.")
            parents[place[end]].append(place[start])
        return cls(names, tuple(map(tuple, parents)))


def _contents(contents: Mapping[str, Any]) -> tuple[tuple[str, ...], list[tuple[Any, Any]]]:
    try:
        names = checked_names(contents["names"])
        return names, [(start, end) for start, end in contents["edges"]]
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(
            "A graph is written as {'names': [name, ...], 'edges': [[parent, child], ...]}; "
            f"seen: {contents!r}."
        ) from error


def labelled(d: int, arrows: Arrows, seed: Seed) -> Graph:
    """The graph of a construction over 0 to d - 1, its nodes named at random."""
    place = Stream(seed, Purpose.LABELS).permutation(d).tolist()
    parents: list[list[int]] = [[] for _ in range(d)]
    for start, end in arrows.tolist():
        parents[place[end]].append(place[start])
    return Graph(node_names(d), tuple(tuple(sorted(given)) for given in parents))


def node_names(d: int) -> tuple[str, ...]:
    """v1 to vd, with as many zeros in front as make them sort."""
    width = len(str(d))
    return tuple(f"v{k:0{width}d}" for k in range(1, d + 1))


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


def polyforest(
    d: int, *, components: int | None = None, drop: float | None = None, seed: Seed
) -> Graph:
    """A uniform random tree without some of its edges, the others pointing either way.

    Either ``components`` says how many trees are left, all sets of edges of that size being
    equally likely to go; or every edge goes independently with probability ``drop``. Forests
    made so are not uniform over all forests: small trees beside a large one are the rule.
    """
    d = whole("d", d, 1)
    if (components is None) == (drop is None):
        raise SettingError("polyforest needs either components or drop, and not both")
    chance = Stream(seed, Purpose.GRAPH)
    edges = uniform_tree(d, chance)
    if components is not None:
        if whole("components", components, 1) > d:
            raise SettingError(f"components must be at most d, which is {d}, not {components!r}")
        kept = edges[chance.permutation(len(edges))[int(components) - 1 :]]
    else:
        kept = edges[~chance.coins(number("drop", drop, 0, 1), len(edges))]
    return labelled(d, directed(kept, chance), seed)


_BATCH = 1024


def er(d: int, *, edges: float, seed: Seed) -> Graph:
    """Each of the d (d - 1) / 2 pairs is joined independently, along a random order.

    ``edges`` is the *expected* number of edges, as in the paper, which does not say which number
    it takes; its authors' program draws exactly that many. The order is that of the construction,
    whose nodes are named at random.
    """
    d = whole("d", d, 1)
    pairs = d * (d - 1) // 2
    share = number("edges", edges, 0, pairs) / max(pairs, 1)
    joined = each_with(share, pairs, Stream(seed, Purpose.GRAPH))
    return labelled(d, pairs_at(joined), seed)


def each_with(share: float, total: int, chance: Stream) -> NDArray[np.int64]:
    """Numbers below ``total``, each taken independently with probability ``share``.

    Drawn by the gaps between them, which are geometric: the work grows with those taken and
    not with ``total``, which is 5e7 for 10 000 nodes.
    """
    if share == 1.0:
        return np.arange(total)
    if 1.0 - share == 1.0:
        return np.arange(0)
    rate = log(np.array([1.0 - share]))[0]
    taken, last = [np.arange(0)], -1
    while last < total:
        gaps = np.floor(log(chance.inner_uniforms(_BATCH)) / rate)
        steps = np.minimum(gaps, total).astype(np.int64) + 1
        taken.append(last + np.cumsum(steps))
        last = int(taken[-1][-1])
    found = np.concatenate(taken)
    return found[found < total]


def pairs_at(places: NDArray[np.int64]) -> Arrows:
    """The pairs (i, j) with i < j at these places of the list 01, 02, 12, 03, 13, 23, 04, ..."""
    j = np.floor((1.0 + np.sqrt(1.0 + 8.0 * places)) / 2.0).astype(np.int64)
    # Near a whole number the root may be rounded to the wrong side.
    j -= j * (j - 1) // 2 > places
    j += j * (j + 1) // 2 <= places
    return np.stack([places - j * (j - 1) // 2, j], axis=1)


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


def chain(d: int, *, seed: Seed) -> Graph:
    """One directed path through all nodes; only the names are drawn."""
    places = np.arange(whole("d", d, 1))
    return labelled(len(places), np.stack([places[:-1], places[1:]], axis=1), seed)


def layered(*, widths: Sequence[int], extra: float = 0.2, seed: Seed) -> Graph:
    """``widths`` says how many nodes each layer has, sources first.

    Every later node has one parent in the layer before, all equally likely; every other node
    there is a parent too with probability ``extra``. So the layers are exactly as asked.
    """
    widths, extra = wholes("widths", widths, 1), number("extra", extra, 0, 1)
    chance, first, arrows = Stream(seed, Purpose.GRAPH), 0, [np.empty((0, 2), dtype=np.int64)]
    for before, width in pairwise(widths):
        arrows.append(_between(before, width, extra, chance) + np.array([first, first + before]))
        first += before
    return labelled(sum(widths), np.concatenate(arrows), seed)


def _between(before: int, width: int, extra: float, chance: Stream) -> Arrows:
    joined = chance.coins(extra, before * width).reshape(before, width)
    joined[chance.below(before, width), np.arange(width)] = True
    return np.argwhere(joined)


GRAPHS: dict[str, Callable[..., Graph]] = {
    "tree": tree,
    "er": er,
    "sf": sf,
    "chain": chain,
    "layered": layered,
    "polyforest": polyforest,
}
"""The families by the names they are asked for."""
