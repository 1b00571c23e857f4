"""A DAG as models need it: names, and the parents of each by position.

Generated nodes are called v1, v2, ... with zeros in front, so that names sort as numbers do
(v01 to v50 for fifty nodes). Which node gets which name is drawn, all ways equally likely:
neither the name of a column nor its place says anything about the order of the graph.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from graphlib import TopologicalSorter
from typing import Any, Self

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from tamis.errors import DataError, SettingError
from tamis.network.checks import checked_names, checked_parents
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
