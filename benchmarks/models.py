"""The paper's graphs and models, as small as a benchmark needs them."""

from __future__ import annotations

from typing import TypeVar

import networkx as nx
import numpy as np
from numpy.typing import NDArray

Node = TypeVar("Node")


def random_graph(kind: str, d: int, seed: int) -> nx.DiGraph[int]:
    """A DAG on d nodes: "tree" (uniform, random directions), "er1" or "er2" (d or 2d edges
    expected), "sf1" or "sf2" (preferential attachment, edges from the new node to the old)."""
    rng = np.random.default_rng([seed, d, 1])
    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_nodes_from(range(d))
    order = rng.permutation(d).tolist()
    if kind == "tree":
        tree = nx.from_prufer_sequence(rng.integers(0, d, d - 2).tolist())
        edges = [(a, b) if rng.random() < 0.5 else (b, a) for a, b in tree.edges]
    elif kind.startswith("er"):
        share = int(kind[2:]) * d / (d * (d - 1) / 2)
        edges = [(i, j) for j in range(d) for i in range(j) if rng.random() < share]
    else:
        grown = nx.barabasi_albert_graph(d, int(kind[2:]), seed=int(rng.integers(2**31)))
        edges = [(max(a, b), min(a, b)) for a, b in grown.edges]
    graph.add_edges_from((order[a], order[b]) for a, b in edges)
    return graph


def sample(
    graph: nx.DiGraph[int], model: str, n: int, seed: int, p: float = 0.2
) -> NDArray[np.int64]:
    """n rows of the "mod" or the "add" model with Ber(p) noise."""
    rng = np.random.default_rng([seed, n, 2])
    rows = np.zeros((n, len(graph)), dtype=np.int64)
    for k in nx.lexicographical_topological_sort(graph):
        total = rows[:, sorted(graph.predecessors(k))].sum(axis=1)
        z = rng.random(n) < p
        rows[:, k] = np.where(z, total % 2, 1 - total % 2) if model == "mod" else total + z
    return rows


def shd(truth: nx.DiGraph[Node], learned: set[tuple[Node, Node]]) -> int:
    """Edges to add, remove or turn: the paper's distance, for DAGs."""
    true_edges = set(truth.edges)
    skeleton = {frozenset(e) for e in true_edges}
    found = {frozenset(e) for e in learned}
    turned = sum(frozenset(e) in skeleton and e not in true_edges for e in learned)
    return len(skeleton ^ found) + turned
