"""The completed PDAG of a DAG: what all Markov equivalent DAGs have in common.

Chickering (1995), "A transformational characterization of equivalent Bayesian network
structures": edges are visited in an order in which each can be decided from those before it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from tamis.metrics.graphs import Matrix, Mixed, read_graph

if TYPE_CHECKING:
    import networkx as nx


@overload
def to_cpdag(dag: NDArray[Any]) -> NDArray[np.int8]: ...  # type: ignore[overload-overlap]
@overload
def to_cpdag(dag: object) -> nx.DiGraph[Any]: ...
def to_cpdag(dag: object) -> nx.DiGraph[Any] | NDArray[np.int8]:
    """Find the CPDAG of a DAG: an edge stays directed if all equivalent DAGs direct it alike.

    Parameters
    ----------
    dag : graph
        A DAG in any form that `tamis.metrics` lists.

    Returns
    -------
    networkx.DiGraph or array
        A matrix for a matrix, and otherwise a graph over the same nodes. An undirected edge is
        there in both directions.

    Examples
    --------
    >>> import tamis
    >>> sorted(tamis.metrics.to_cpdag({"a": [], "b": ["a"]}).edges)
    [('a', 'b'), ('b', 'a')]
    >>> sorted(tamis.metrics.to_cpdag({"a": [], "b": [], "c": ["a", "b"]}).edges)
    [('a', 'c'), ('b', 'c')]
    """
    read = read_graph(dag, "given")
    read.require_dag("given", "to_cpdag")
    compelled = _compelled(read)
    matrix = read.matrix | (read.matrix & ~compelled).T
    if read.nodes is None:
        return matrix.astype(np.int8)
    import networkx as nx

    graph: nx.DiGraph[Any] = nx.DiGraph()
    graph.add_nodes_from(read.nodes)
    graph.add_edges_from((read.nodes[i], read.nodes[j]) for i, j in np.argwhere(matrix).tolist())
    return graph


def _compelled(dag: Mixed) -> Matrix:
    """The edges that every equivalent DAG has in the same direction."""
    import networkx as nx

    order = list(nx.topological_sort(dag.positions()))
    parents = {k: np.flatnonzero(dag.matrix[:, k]).tolist() for k in order}
    compelled = np.zeros_like(dag.matrix)
    for parent, child in compelled_edges(order, parents):
        compelled[parent, child] = True
    return compelled


def compelled_edges(
    order: Sequence[int], parents: Mapping[int, Collection[int]]
) -> set[tuple[int, int]]:
    """The edges (parent, child) that every equivalent DAG has in the same direction.

    ``order`` is a topological order. Children are visited in it, and the parents of each from the
    latest to the earliest.
    """
    rank = {k: i for i, k in enumerate(order)}
    into: dict[int, set[int]] = {}
    for y in order:
        family = set(parents[y])
        forced: set[int] = set()
        decided: set[int] = set()
        for x in sorted(family, key=rank.__getitem__, reverse=True):
            if x in decided:
                continue
            # w → x forced and w not a parent of y: turning x → y would make a new collider at x.
            if not into[x] <= family:
                forced = family
                break
            # w → x → y forced through x and w → y: the other direction would close a cycle.
            forced |= into[x]
            decided |= into[x]
            # A parent of y that is no parent of x meets x → y in a collider, or hangs on one.
            if family - set(parents[x]) - {x}:
                forced |= family - decided
            decided = family
        into[y] = forced
    return {(parent, child) for child, forced in into.items() for parent in forced}
