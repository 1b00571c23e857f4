"""Errors of orders and layers against their definitions."""

from __future__ import annotations

from itertools import permutations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_mixed_graphs import dags, matrix_of

from tamis import BayesianNetwork
from tamis.errors import SettingError
from tamis.metrics import layer_errors, layer_inversions, order_errors, varsortability

DIAMOND = nx.DiGraph([("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")])


@given(dags(), st.permutations(range(5)))
def test_an_edge_is_wrong_if_the_child_comes_first(dag, order):
    ref = sum(order.index(i) > order.index(j) for i, j in dag.edges)
    assert ref == order_errors(order, dag) == order_errors(order, matrix_of(dag))
    assert order_errors(order, dag) + order_errors(order[::-1], dag) == dag.number_of_edges()


@given(dags())
def test_a_topological_order_and_the_dags_own_layers_have_no_errors(dag):
    assert order_errors(list(nx.topological_sort(dag)), dag) == 0
    layers = [list(layer) for layer in nx.topological_generations(dag)]
    assert layer_errors(layers, dag) == layer_errors(dag, dag) == 0
    assert layer_inversions(layers, matrix_of(dag)) == layer_inversions(dag, dag) == 0


@given(dags(), dags())
def test_layers_are_compared_node_by_node_and_pair_by_pair(learned, true):
    ours, theirs = (
        {node: j for j, layer in enumerate(nx.topological_generations(dag)) for node in layer}
        for dag in (learned, true)
    )
    assert layer_errors(learned, true) == sum(ours[k] != theirs[k] for k in true)
    inverted = sum(theirs[i] < theirs[j] and ours[i] > ours[j] for i, j in permutations(true, 2))
    assert layer_inversions(learned, true) == inverted
    assert layer_inversions(learned, true) == layer_inversions(true, learned)
    matrices = matrix_of(learned), matrix_of(true)
    assert layer_errors(*matrices) == layer_errors(learned, true)


def test_orders_and_layers_of_a_diamond():
    assert order_errors(["a", "b", "c", "d"], DIAMOND) == 0
    assert order_errors(["b", "a", "d", "c"], DIAMOND) == 2
    assert layer_errors([["a"], ["b"], ["c"], ["d"]], DIAMOND) == 2
    assert layer_inversions([["a"], ["b"], ["c"], ["d"]], DIAMOND) == 0
    assert layer_inversions([["d"], ["b", "c"], ["a"]], DIAMOND) == 5


def test_undirected_true_edges_have_no_wrong_way():
    partly = nx.DiGraph([("a", "b"), ("b", "a"), ("b", "c")])
    assert order_errors(["c", "b", "a"], partly) == 1


def test_models_bring_their_own_order_and_layers():
    network = BayesianNetwork.example("orchard")
    assert order_errors(network, network) == 0
    assert layer_errors(network, network) == layer_inversions(network, network) == 0
    # Names on one side only: by position.
    matrix = nx.to_numpy_array(network.graph)
    assert order_errors(network, matrix) == 0
    assert layer_errors(matrix, network) == layer_errors(network, matrix) == 0
    with pytest.raises(SettingError, match="6 nodes and the true one 7"):
        order_errors(network, np.zeros((7, 7)))


def test_what_has_no_order_or_no_layers_is_refused():
    with pytest.raises(SettingError, match="a value of type DiGraph has no order"):
        order_errors(DIAMOND, DIAMOND)
    with pytest.raises(SettingError, match="'e' only in the learned; 'd' only in the true"):
        order_errors(["a", "b", "c", "e"], DIAMOND)
    with pytest.raises(SettingError, match="called 'a'"):
        order_errors(["a", "a", "b", "c", "d"], DIAMOND)
    with pytest.raises(SettingError, match="layers must be lists of nodes"):
        layer_errors(["a", "b", "c", "d"], DIAMOND)
    partly = nx.DiGraph([("a", "b"), ("b", "a"), ("b", "c"), ("c", "d")])
    with pytest.raises(SettingError, match="needs a DAG, but of the learned graph the edge"):
        layer_errors(partly, DIAMOND)
    with pytest.raises(SettingError, match="needs a DAG, but of the true graph the edge"):
        layer_inversions(DIAMOND, partly)


def test_paths_of_a_node_without_a_variance_do_not_count_in_varsortability():
    chain = {"a": [], "b": ["a"], "c": ["b"]}
    known = {"a": 1.0, "b": float("nan"), "c": 2.0}
    assert varsortability(chain, known) == 1.0
    assert varsortability(chain, known | {"a": 3.0}) == 0.0
    assert np.isnan(varsortability({"a": [], "b": ["a"]}, {"a": 1.0, "b": float("nan")}))
