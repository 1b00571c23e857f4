"""Tables drawn from small networks whose CPDAG every method should find."""

from __future__ import annotations

import networkx as nx
import numpy as np

from tamis import BayesianNetwork

N_ROWS = 2000

FLIP = np.array([[0.85, 0.15], [0.2, 0.8]])
EITHER = np.array([[[0.95, 0.05], [0.3, 0.7]], [[0.25, 0.75], [0.03, 0.97]]])


def network(parents, tables):
    names = tuple(parents)
    places = tuple(tuple(names.index(p) for p in parents[name]) for name in names)
    levels = tuple(tuple(range(tables[name].shape[-1])) for name in names)
    return BayesianNetwork(names, levels, places, tuple(tables[name] for name in names))


CHAIN = network(
    {"c": ["b"], "a": [], "d": ["c"], "b": ["a"]},
    {"a": np.array([0.6, 0.4]), "b": FLIP, "c": FLIP, "d": FLIP},
)

# a → c ← b and c → d: every edge is compelled. The names test quoting on the way.
COLLIDER = network(
    {'b "2"': [], " d": ["c\nx"], "a, 1": [], "c\nx": ["a, 1", 'b "2"']},
    {'b "2"': np.array([0.5, 0.5]), " d": FLIP, "a, 1": np.array([0.6, 0.4]), "c\nx": EITHER},
)


def additive(graph, n_rows, seed, p=0.2):
    """The paper's ADD model: the sum of the parents and a Bernoulli variable."""
    rng = np.random.default_rng(seed)
    columns = {}
    for node in nx.lexicographical_topological_sort(graph, key=str):
        noise = (rng.random(n_rows) < p).astype(np.int64)
        columns[node] = noise + sum(columns[parent] for parent in graph.predecessors(node))
    return {name: columns[name] for name in graph}
