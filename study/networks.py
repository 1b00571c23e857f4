"""Tables drawn from the published networks of the bnlearn repository, by numpy alone."""

from __future__ import annotations

from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

import networkx as nx
import numpy as np

from study import check, stream
from study.families import Drawn, Rng, Values, anonymous
from tamis import BayesianNetwork

NETWORKS = (
    *("asia", "cancer", "earthquake", "sachs", "survey"),
    *("alarm", "barley", "child", "insurance", "mildew", "water"),
    *("hailfinder", "hepar2", "win95pts", "andes", "diabetes", "link", "pathfinder", "pigs"),
    *("munin", "munin1", "munin2", "munin3", "munin4"),
)


def published(name: str, rows: int, seed: int) -> Drawn:
    """Rows of a network; levels are called as in its file, columns and their order are not."""
    network = read(name)
    rng = stream(seed, name, rows)
    dag = nx.empty_graph(len(network.names), create_using=nx.DiGraph)
    dag.add_edges_from((parent, k) for k, given in enumerate(network.parents) for parent in given)
    codes = np.zeros((len(dag), rows), dtype=np.int64)
    for k in nx.topological_sort(dag):
        codes[k] = sampled(network.tables[k], codes[list(network.parents[k])], rng)
    labels = (np.array([str(label) for label in own], dtype=object) for own in network.levels)
    return anonymous([own[row] for own, row in zip(labels, codes, strict=True)], dag, rng)


def sampled(table: Values, parents: Values, rng: Rng) -> Values:
    """The node's codes; the axes of its table are the parents, a row of codes each, and itself."""
    state = np.zeros(parents.shape[1], dtype=np.int64)
    for arity, codes in zip(table.shape, parents, strict=False):
        state = state * arity + codes
    # The last sum is not needed; rounding may leave it a little below 1.
    below = table.reshape(-1, table.shape[-1]).cumsum(axis=1)[:, :-1]
    return np.asarray((rng.random((len(state), 1)) >= below[state]).sum(axis=1))


@lru_cache(maxsize=4)
def read(name: str) -> BayesianNetwork:
    """The network of a file in pgmpy's wheel, which need not be imported."""
    check("network", name, NETWORKS)
    spec = find_spec("pgmpy")
    for root in (spec.submodule_search_locations or ()) if spec is not None else ():
        for path in Path(root, "utils", "example_models").rglob(f"{name}.bif*"):
            return BayesianNetwork.read(path)
    raise ModuleNotFoundError(
        f"the file of the network {name!r} is not here: pip install 'pgmpy==1.1.0', the last "
        "release whose wheel holds the networks"
    )
