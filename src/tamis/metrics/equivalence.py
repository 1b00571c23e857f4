"""The completed PDAG of a DAG: what all Markov equivalent DAGs have in common.

Chickering (1995), "A transformational characterization of equivalent Bayesian network
structures": edges are visited in an order in which each can be decided from those before it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, overload

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from tamis.metrics.graphs import Matrix, Mixed, read_graph


@overload
def to_cpdag(dag: NDArray[Any]) -> NDArray[np.int8]: ...  # type: ignore[overload-overlap]
@overload
def to_cpdag(dag: object) -> nx.DiGraph[Any]: ...
def to_cpdag(dag: object) -> nx.DiGraph[Any] | NDArray[np.int8]:
    """The CPDAG of a DAG: an edge stays directed if all equivalent DAGs direct it alike.

    A matrix gives a matrix; anything else that holds a DAG gives a ``networkx.DiGraph`` over
    the same nodes. An undirected edge is there in both directions.
    """
    read = read_graph(dag, "given")
    read.require_dag("given", "to_cpdag")
    compelled = _compelled(read)
    matrix = read.matrix | (read.matrix & ~compelled).T
    if read.nodes is None:
        return matrix.astype(np.int8)
    graph: nx.DiGraph[Any] = nx.DiGraph()
    graph.add_nodes_from(read.nodes)
    graph.add_edges_from((read.nodes[i], read.nodes[j]) for i, j in np.argwhere(matrix).tolist())
    return graph


def _compelled(dag: Mixed) -> Matrix:
    """The edges that every equivalent DAG has in the same direction."""
    edge = dag.matrix
    compelled, decided = np.zeros_like(edge), np.zeros_like(edge)
    for x, y in _ordered_edges(dag):
        if decided[x, y]:
            continue
        forced = np.flatnonzero(compelled[:, x])
        # w → x forced and w not a parent of y: turning x → y would make a new collider at x.
        if not edge[forced, y].all():
            compelled[:, y], decided[:, y] = edge[:, y], edge[:, y]
            continue
        # w → x → y forced through x and w → y: the other direction would close a cycle.
        compelled[forced, y] = decided[forced, y] = True
        others = edge[:, y] & ~edge[:, x]
        others[x] = False
        # A parent of y that is no parent of x meets x → y in a collider, or hangs on one.
        rest = edge[:, y] & ~decided[:, y]
        compelled[rest, y] = others.any()
        decided[rest, y] = True
    return compelled


def _ordered_edges(dag: Mixed) -> Iterator[tuple[int, int]]:
    """Children in topological order; for each its parents, the latest first."""
    order = list(nx.topological_sort(dag.positions()))
    rank = np.argsort(order)
    for child in order:
        parents = np.flatnonzero(dag.matrix[:, child])
        for parent in parents[np.argsort(-rank[parents])].tolist():
            yield parent, child
