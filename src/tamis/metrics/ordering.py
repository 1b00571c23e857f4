"""Errors of a learned order and of learned layers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.errors import SettingError
from tamis.metrics.graphs import (
    ACCEPTED,
    Mixed,
    Node,
    positions_of,
    read_graph,
    require_same_names,
    require_same_size,
)

Places = NDArray[np.int64]
"""For each node of the true graph, in its order, a place counted from 0."""


def order_errors(order: object, true: object) -> int:
    """Count the true edges that an order puts the wrong way, the child before the parent.

    Parameters
    ----------
    order : sequence, TAM, Result or BayesianNetwork
        Names in order, or positions if the true graph is a matrix; or a model that has an order.
    true : graph
        The true graph, in any form that `tamis.metrics` lists. Its undirected edges are not
        counted.

    Returns
    -------
    int
        0 if the order is right.

    Examples
    --------
    >>> import tamis
    >>> tamis.metrics.order_errors(["b", "a", "c"], {"a": [], "b": ["a"], "c": ["b"]})
    1
    """
    truth = read_graph(true, "true")
    sequence = order_of(order)
    if sequence is None:
        raise SettingError(
            f"a value of type {type(order).__name__} has no order; give a sequence of names, a "
            "fitted TAM, a Result or a BayesianNetwork"
        )
    place = _places([[node] for node in sequence], _graph_of(order), truth)
    tails, heads = np.nonzero(truth.arrows)
    return int(np.count_nonzero(place[tails] > place[heads]))


def layer_errors(learned: object, true: object) -> int:
    """Count the nodes that are in another layer than in the true DAG.

    Parameters
    ----------
    learned : sequence of layers, model or graph
        Layers, sources first; a model with layers (``TAM``, ``Result``), which are taken as the
        search found them; or any DAG.
    true : graph
        The true DAG, in any form that `tamis.metrics` lists.

    Returns
    -------
    int
        0 if all layers are right.

    Examples
    --------
    >>> import tamis
    >>> tamis.metrics.layer_errors([["a", "b"], ["c"]], {"a": [], "b": ["a"], "c": ["b"]})
    2
    """
    ours, theirs = _layer_places(learned, true)
    return int(np.count_nonzero(ours != theirs))


def layer_inversions(learned: object, true: object) -> int:
    """Count the pairs of nodes whose layers are the other way round than in the true DAG.

    A pair that shares a layer in either graph is not an inversion.

    Parameters
    ----------
    learned : sequence of layers, model or graph
        As in `layer_errors`.
    true : graph
        The true DAG, in any form that `tamis.metrics` lists.

    Returns
    -------
    int
        0 if no pair is the other way round.

    Examples
    --------
    >>> import tamis
    >>> tamis.metrics.layer_inversions([["c"], ["b"], ["a"]], {"a": [], "b": ["a"], "c": ["b"]})
    3
    """
    ours, theirs = _layer_places(learned, true)
    before = theirs[:, None] < theirs[None, :]
    return int(np.count_nonzero(before & (ours[:, None] > ours[None, :])))


def varsortability(dag: object, variances: Mapping[Any, float]) -> float:
    """Measure how far variances alone reveal the order of a DAG.

    It is the share of directed paths along which the variance grows. Paths of one length between
    two nodes count once, and ties count half (Reisach, Seiler and Weichwald, 2021).

    Parameters
    ----------
    dag : graph
        A DAG in any form that `tamis.metrics` lists.
    variances : mapping
        A number for each node: its variance, or anything that grows with it; nan for a node
        that has none, whose paths do not count.

    Returns
    -------
    float
        0.5 is chance; nan without a path that counts.

    Examples
    --------
    >>> import tamis
    >>> tamis.metrics.varsortability({"a": [], "b": ["a"]}, {"a": 1.0, "b": 2.0})
    1.0
    """
    read = read_graph(dag, "given")
    read.require_dag("given", "varsortability")
    nodes = range(len(read.matrix)) if read.nodes is None else read.nodes
    own = np.array([float(variances[node]) for node in nodes])
    from scipy.sparse import csr_array

    steps = csr_array(read.matrix.astype(np.int64))
    found = total = 0.0
    reached = steps
    while reached.nnz:
        a, b = reached.nonzero()
        counts = ~np.isnan(own[a] + own[b])
        a, b = a[counts], b[counts]
        found += np.count_nonzero(own[a] < own[b]) + np.count_nonzero(own[a] == own[b]) / 2
        total += len(a)
        reached = reached @ steps
        reached.data[:] = 1
    return float(found / total) if total else math.nan


def order_of(model: object) -> list[Node] | None:
    """The order that a model or a sequence holds, if any."""
    from tamis.network import BayesianNetwork

    if isinstance(model, BayesianNetwork):
        return [model.names[k] for k in model.order]
    held: Any = getattr(model, "order_", getattr(model, "order", model))
    return list(held) if _is_sequence(held) else None


def _layer_places(learned: object, true: object) -> tuple[Places, Places]:
    truth = read_graph(true, "true")
    truth.require_dag("true", "comparing layers")
    graph = _graph_of(learned)
    layers: Any = getattr(learned, "layers_", getattr(learned, "layers", learned))
    if not _is_sequence(layers) and graph is not None:
        graph.require_dag("learned", "comparing layers")
        layers = _layers_of(graph)
    if not all(map(_is_sequence, layers)):
        raise SettingError(f"layers must be lists of nodes, first to last, or give {ACCEPTED}")
    return _places(layers, graph, truth), _places(_layers_of(truth), truth, truth)


def _layers_of(dag: Mixed) -> list[list[Node]]:
    nodes = _nodes(dag)
    import networkx as nx

    return [[nodes[i] for i in layer] for layer in nx.topological_generations(dag.positions())]


def _nodes(graph: Mixed) -> tuple[Node, ...]:
    return tuple(range(graph.size)) if graph.nodes is None else graph.nodes


def _is_sequence(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _graph_of(learned: object) -> Mixed | None:
    """The graph behind an order or layers; a bare list has none."""
    return None if _is_sequence(learned) else read_graph(learned, "learned")


def _places(groups: Iterable[Iterable[Any]], graph: Mixed | None, truth: Mixed) -> Places:
    """Which group each node of the true graph is in; every node must be in exactly one."""
    known = tuple(map(str, _nodes(truth)))
    called = _names_by_position(graph, truth, known)
    names, group_of = [], []
    for j, group in enumerate(groups):
        for node in group:
            names.append(called.get(node, str(node)))
            group_of.append(j)
    place = positions_of(names, "learned")
    require_same_names(place, positions_of(known, "true"))
    return np.array([group_of[place[name]] for name in known], dtype=np.int64)


def _names_by_position(
    graph: Mixed | None, truth: Mixed, known: tuple[str, ...]
) -> Mapping[Node, str]:
    """What the true graph calls the learned nodes, if one of the two has positions only.

    A bare list is read in the language of the true graph.
    """
    if graph is None or (graph.nodes is not None and truth.nodes is not None):
        return {}
    require_same_size(graph, truth)
    return dict(zip(_nodes(graph), known, strict=True))
