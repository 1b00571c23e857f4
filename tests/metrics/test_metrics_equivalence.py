"""The CPDAG of a DAG against all DAGs of its class and against two libraries."""

from __future__ import annotations

from collections import defaultdict
from functools import cache

import naive_metrics
import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from made_mixed_graphs import (
    dags,
    edges_of_causal_learn,
    library,
    random_dag,
    to_causal_learn,
)

from tamis import BayesianNetwork
from tamis.errors import SettingError
from tamis.metrics import shd, to_cpdag


@cache
def classes(n_nodes):
    """All DAGs, by skeleton and v-structures."""
    found = defaultdict(list)
    for dag in naive_metrics.all_dags(n_nodes):
        found[naive_metrics.skeleton(dag), naive_metrics.v_structures(dag)].append(dag)
    return found


@pytest.mark.parametrize(
    ("n_nodes", "n_dags", "n_classes"), [(2, 3, 2), (3, 25, 11), (4, 543, 185)]
)
def test_an_edge_is_directed_if_all_equivalent_dags_agree(n_nodes, n_dags, n_classes):
    assert sum(map(len, classes(n_nodes).values())) == n_dags
    assert len(classes(n_nodes)) == n_classes
    for members in classes(n_nodes).values():
        ref = set().union(*(dag.edges for dag in members))
        for dag in members:
            assert set(to_cpdag(dag).edges) == ref


@pytest.mark.parametrize("n_nodes", [3, 4])
def test_dags_share_a_cpdag_exactly_if_they_have_the_same_d_separations(n_nodes):
    by_separations, by_cpdag = {}, {}
    for dag in naive_metrics.all_dags(n_nodes):
        cpdag = frozenset(to_cpdag(dag).edges)
        separations = naive_metrics.separations(dag)
        assert by_separations.setdefault(separations, cpdag) == cpdag
        assert by_cpdag.setdefault(cpdag, separations) == separations
    assert len(by_separations) == len(by_cpdag) == len(classes(n_nodes))


@pytest.mark.parametrize("seed", range(8))
def test_the_cpdag_is_the_essential_graph_of_pyagrum(seed):
    gum = library("pyagrum")
    dag = random_dag(9, share=0.15 + 0.1 * (seed % 4), seed=seed)
    network = gum.BayesNet()
    ids = [network.add(f"v{i}", 2) for i in sorted(dag)]
    for i, j in dag.edges:
        network.addArc(ids[i], ids[j])
    essential = gum.EssentialGraph(network)
    ref = set(essential.arcs()) | {pair for a, b in essential.edges() for pair in ((a, b), (b, a))}
    assert set(to_cpdag(dag).edges) == ref


@pytest.mark.parametrize("seed", range(8))
def test_the_cpdag_is_that_of_causal_learn(seed):
    dag2cpdag = library("causallearn.utils.DAG2CPDAG").dag2cpdag
    dag = random_dag(9, share=0.15 + 0.1 * (seed % 4), seed=100 + seed)
    ref = edges_of_causal_learn(dag2cpdag(to_causal_learn(dag)))
    assert set(to_cpdag(dag).edges) == ref


@given(dags())
def test_a_cpdag_is_at_favourable_distance_0_from_its_dag(dag):
    cpdag = to_cpdag(dag)
    assert shd(cpdag, dag) == 0
    undirected = sum(cpdag.has_edge(j, i) for i, j in dag.edges)
    assert shd(cpdag, dag, undirected="strict") == undirected


def test_a_matrix_gives_a_matrix_and_names_survive():
    collider = np.array([[0, 1, 0, 0], [0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0]])
    np.testing.assert_array_equal(to_cpdag(collider), collider)
    chain = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]])
    np.testing.assert_array_equal(to_cpdag(chain), chain + chain.T)
    named = to_cpdag(nx.DiGraph([("a b", ("t", 1)), (("t", 1), "ü")]))
    assert list(named) == ["a b", ("t", 1), "ü"]
    assert named.number_of_edges() == 4


def test_a_network_has_a_cpdag():
    network = BayesianNetwork.example("orchard")
    cpdag = to_cpdag(network)
    assert set(cpdag) == set(network.names)
    assert shd(cpdag, network) == 0


def test_what_is_no_dag_is_refused():
    with pytest.raises(SettingError, match="the edge between 'a' and 'b' is undirected"):
        to_cpdag(nx.DiGraph([("a", "b"), ("b", "a")]))
    with pytest.raises(SettingError, match="it has the cycle 0 → 1 → 2 → 0"):
        to_cpdag(np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]]))
