"""Random DAGs and mixed graphs, and libraries that compare graphs too."""

from __future__ import annotations

import warnings
from importlib import import_module
from importlib.util import find_spec
from itertools import combinations

import hypothesis.strategies as st
import networkx as nx
import numpy as np
import pytest


def library(module):
    """A module of an optional library; the test is skipped if it is not installed."""
    if find_spec(module.partition(".")[0]) is None:
        pytest.skip(f"{module} is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return import_module(module)


@st.composite
def mixed_graphs(draw, n_nodes=4, kinds=("", "→", "←", "-")):
    """A networkx.DiGraph over 0, 1, …: each pair has any kind of edge, cycles and all."""
    graph = nx.DiGraph()
    graph.add_nodes_from(range(n_nodes))
    for i, j in combinations(range(n_nodes), 2):
        kind = draw(st.sampled_from(kinds))
        if kind in ("→", "-"):
            graph.add_edge(i, j)
        if kind in ("←", "-"):
            graph.add_edge(j, i)
    return graph


@st.composite
def dags(draw, n_nodes=5):
    """A DAG over 0, 1, … with any order."""
    order = draw(st.permutations(range(n_nodes)))
    graph = nx.DiGraph()
    graph.add_nodes_from(range(n_nodes))
    for i, j in combinations(order, 2):
        if draw(st.booleans()):
            graph.add_edge(i, j)
    return graph


def random_dag(n_nodes, share, seed):
    rng = np.random.default_rng(seed)
    order = rng.permutation(n_nodes).tolist()
    graph = nx.DiGraph()
    graph.add_nodes_from(range(n_nodes))
    graph.add_edges_from(edge for edge in combinations(order, 2) if rng.random() < share)
    return graph


def matrix_of(graph):
    return nx.to_numpy_array(graph, nodelist=sorted(graph), dtype=np.int8)


def to_causal_learn(graph):
    """A GeneralGraph of causal-learn with the same edges."""
    general = library("causallearn.graph.GeneralGraph").GeneralGraph
    edges, ends = library("causallearn.graph.Edge"), library("causallearn.graph.Endpoint")
    nodes = [library("causallearn.graph.GraphNode").GraphNode(f"X{i}") for i in sorted(graph)]
    made = general(nodes)
    for i, j in combinations(sorted(graph), 2):
        forth, back = graph.has_edge(i, j), graph.has_edge(j, i)
        if forth or back:
            marks = [ends.Endpoint.ARROW if there and not again else ends.Endpoint.TAIL
                     for there, again in ((back, forth), (forth, back))]  # fmt: skip
            made.add_edge(edges.Edge(nodes[i], nodes[j], *marks))
    return made


def edges_of_causal_learn(general):
    """Its edges as pairs of numbers, an undirected one in both directions."""
    found = set()
    for edge in general.get_graph_edges():
        i, j = (int(node.get_name().removeprefix("X")) for node in (edge.node1, edge.node2))
        marks = edge.get_endpoint1().name, edge.get_endpoint2().name
        found |= {
            ("TAIL", "ARROW"): {(i, j)},
            ("ARROW", "TAIL"): {(j, i)},
            ("TAIL", "TAIL"): {(i, j), (j, i)},
        }[marks]
    return found


def to_gadjid(graph):
    """gadjid's matrix: 1 for an arrow from row to column, 2 for an undirected edge."""
    matrix = matrix_of(graph)
    return np.where(matrix & matrix.T, 2, matrix).astype(np.int8)
