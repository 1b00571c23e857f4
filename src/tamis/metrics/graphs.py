"""Whatever holds a graph becomes a matrix with or without names; two graphs have nodes matched."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tamis.errors import SettingError
from tamis.tables.refusals import listed, shown

if TYPE_CHECKING:
    import networkx as nx


Matrix = NDArray[np.bool_]
Node = Hashable

ACCEPTED = (
    "an adjacency matrix, a networkx graph, a mapping from nodes to parents, a fitted TAM, a "
    "Result or a BayesianNetwork"
)


@dataclass(frozen=True)
class Mixed:
    """Arrows and undirected edges: ``matrix[i, j]`` alone is i → j, with ``matrix[j, i]`` i - j.

    ``nodes`` is None if the nodes are known by position only.
    """

    nodes: tuple[Node, ...] | None
    matrix: Matrix

    @property
    def size(self) -> int:
        """The number of nodes."""
        return len(self.matrix)

    @property
    def names(self) -> tuple[str, ...] | None:
        """The nodes as text, which is how they are compared."""
        return None if self.nodes is None else tuple(map(str, self.nodes))

    @property
    def arrows(self) -> Matrix:
        """The directed edges alone."""
        arrows: Matrix = self.matrix & ~self.matrix.T
        return arrows

    @property
    def is_dag(self) -> bool:
        """Whether every edge is directed and none closes a cycle."""
        import networkx as nx

        return nx.is_directed_acyclic_graph(self.positions())

    def positions(self) -> nx.DiGraph[int]:
        """The graph over positions."""
        import networkx as nx

        graph: nx.DiGraph[int] = nx.DiGraph()
        graph.add_nodes_from(range(self.size))
        graph.add_edges_from((i, j) for i, j in np.argwhere(self.matrix).tolist())
        return graph

    def require_dag(self, role: str, purpose: str) -> None:
        """Refuse a graph with undirected edges or a cycle."""
        if self.is_dag:
            return
        undirected = np.argwhere(np.triu(self.matrix & self.matrix.T))
        if len(undirected):
            i, j = undirected[0].tolist()
            seen = f"the edge between {self.shown(i)} and {self.shown(j)} is undirected"
        else:
            import networkx as nx

            cycle = [self.shown(i) for i, _ in nx.find_cycle(self.positions())]
            seen = f"it has the cycle {' → '.join([*cycle, cycle[0]])}"
        raise SettingError(f"{purpose} needs a DAG, but of the {role} graph {seen}")

    def shown(self, position: int) -> str:
        """A node as it appears in a message."""
        return shown(position if self.nodes is None else self.nodes[position])


def read_graph(graph: object, role: str) -> Mixed:
    """The graph in ``graph``; ``role`` is how messages call it."""
    if isinstance(graph, np.ndarray):
        return Mixed(None, _checked(graph, role))
    import networkx as nx

    if isinstance(graph, nx.Graph):
        return _from_networkx(graph, role)
    if isinstance(graph, Mapping):
        return _from_parents(graph, role)
    # By attribute and not by type: the estimator and results lie above this package.
    held = getattr(graph, "graph_", getattr(graph, "graph", None))
    if isinstance(held, nx.Graph):
        return _from_networkx(held, role)
    raise SettingError(f"the {role} graph is {_what(graph)}; give {ACCEPTED}")


def _checked(matrix: NDArray[Any], role: str) -> Matrix:
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise SettingError(
            f"the {role} adjacency matrix has shape {matrix.shape}; it must be square"
        )
    strange = matrix[(matrix != 0) & (matrix != 1)]
    if strange.size:
        raise SettingError(
            f"the {role} adjacency matrix holds {shown(strange[0].item())}; entries are 0 or 1, "
            "A[i, j] = 1 for i → j and both A[i, j] and A[j, i] for an undirected edge"
        )
    return _without_loops(np.asarray(matrix != 0), role, None)


def _without_loops(matrix: Matrix, role: str, nodes: tuple[Node, ...] | None) -> Matrix:
    loops = np.flatnonzero(matrix.diagonal())
    if loops.size:
        first = Mixed(nodes, matrix).shown(int(loops[0]))
        raise SettingError(f"the {role} graph has an edge from {first} to itself; remove it")
    return matrix


def _from_networkx(graph: nx.Graph[Any], role: str) -> Mixed:
    if graph.is_multigraph():
        kind = type(graph).__name__
        raise SettingError(f"the {role} graph is a {kind}; give a DiGraph, one edge a direction")
    nodes = tuple(graph.nodes)
    place = {node: i for i, node in enumerate(nodes)}
    matrix = np.zeros((len(nodes), len(nodes)), dtype=np.bool_)
    for tail, head in graph.edges:
        matrix[place[tail], place[head]] = True
    if not graph.is_directed():
        matrix |= matrix.T
    return Mixed(nodes, _without_loops(matrix, role, nodes))


def _from_parents(parents: Mapping[Any, Iterable[Any]], role: str) -> Mixed:
    import networkx as nx

    graph: nx.DiGraph[Any] = nx.DiGraph()
    graph.add_nodes_from(parents)
    for child, listed_parents in parents.items():
        if isinstance(listed_parents, str) or not isinstance(listed_parents, Iterable):
            raise SettingError(
                f"the {role} graph gives {shown(listed_parents)} as the parents of "
                f"{shown(child)}; give a list of nodes, empty for none"
            )
        graph.add_edges_from((parent, child) for parent in listed_parents)
    if len(graph) > len(parents):
        strange = [shown(node) for node in graph if node not in parents]
        raise SettingError(
            f"the {role} graph names parents that are not among its nodes: {listed(strange)}; "
            "every node needs an entry, empty for none"
        )
    return _from_networkx(graph, role)


def _what(graph: object) -> str:
    kind = type(graph).__name__
    if getattr(graph, "timed_out", False) or getattr(graph, "failure", None):
        return f"a {kind} that found none: it failed or ran out of time"
    if hasattr(graph, "fit") and not hasattr(graph, "graph_"):
        return f"a {kind} that has not learned yet: call its fit"
    return f"a value of type {kind}"


@dataclass(frozen=True)
class Pair:
    """Two graphs over the same nodes in the same order, looked at pair by pair.

    The matrices of the properties are filled above the diagonal only: one entry a pair.
    """

    learned: Mixed
    true: Mixed

    @property
    def adjacent_in_learned(self) -> Matrix:
        """The pairs with any edge in the learned graph."""
        return _pairs(self.learned.matrix | self.learned.matrix.T)

    @property
    def adjacent_in_true(self) -> Matrix:
        """The pairs with any edge in the true graph."""
        return _pairs(self.true.matrix | self.true.matrix.T)

    @property
    def adjacent_in_both(self) -> Matrix:
        """The pairs with an edge in each graph, of whatever kind."""
        return self.adjacent_in_learned & self.adjacent_in_true

    def agreeing(self, *, favourable: bool) -> Matrix:
        """The pairs with the same edge in both graphs.

        Favourably, an undirected edge is the same as any edge between its nodes.
        """
        learned, true = self.learned.matrix, self.true.matrix
        same: Matrix = (learned == true) & (learned == true).T
        if favourable:
            same = same | (learned & learned.T) | (true & true.T)
        return self.adjacent_in_both & same


def _pairs(symmetric: Matrix) -> Matrix:
    pairs: Matrix = np.triu(symmetric, 1)
    return pairs


def matched(learned: object, true: object) -> Pair:
    """Both graphs with the nodes of the learned one put in the order of the true one."""
    left, right = read_graph(learned, "learned"), read_graph(true, "true")
    names, wanted = left.names, right.names
    if names is None or wanted is None:
        require_same_size(left, right)
        return Pair(left, right)
    place = positions_of(wanted, "true")
    require_same_names(positions_of(names, "learned"), place)
    order = np.argsort([place[name] for name in names])
    return Pair(Mixed(right.nodes, left.matrix[np.ix_(order, order)]), right)


def positions_of(names: Iterable[str], role: str) -> dict[str, int]:
    """Where each name stands; refused if one stands twice."""
    place: dict[str, int] = {}
    for i, name in enumerate(names):
        if place.setdefault(name, i) != i:
            raise SettingError(
                f"two nodes of the {role} graph are called {shown(name)}; names are compared as "
                "text, so give them different ones"
            )
    return place


def require_same_names(learned: Mapping[str, int], true: Mapping[str, int]) -> None:
    """Refuse graphs over different nodes, and say which."""
    missing = [shown(name) for name in true if name not in learned]
    added = [shown(name) for name in learned if name not in true]
    seen = [f"{listed(added)} only in the learned"] if added else []
    seen += [f"{listed(missing)} only in the true"] if missing else []
    if seen:
        raise SettingError(
            f"the two graphs have different nodes: {'; '.join(seen)}. Rename, add or remove "
            "nodes until both have the same"
        )


def require_same_size(learned: Mixed, true: Mixed) -> None:
    """Refuse graphs of different sizes where positions are all there is to go by."""
    if learned.size != true.size:
        raise SettingError(
            f"the learned graph has {learned.size} nodes and the true one {true.size}; without "
            "names on both they are matched by position, so the numbers must agree"
        )
