"""What counts as a graph, how two are matched, and what is refused."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import tamis
from tamis.errors import SettingError
from tamis.metrics import shd, skeleton_scores

CHAIN = nx.DiGraph([("a", "b"), ("b", "c")])


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(1)
    a = rng.random(500) < 0.2
    b = a ^ (rng.random(500) < 0.2)
    c = b ^ (rng.random(500) < 0.2)
    return tamis.TAM().fit({"a": a, "b": b, "c": c})


def network():
    tables = [np.array([0.8, 0.2]), *[np.array([[0.8, 0.2], [0.2, 0.8]])] * 2]
    return tamis.BayesianNetwork(("a", "b", "c"), ((0, 1),) * 3, ((), (0,), (1,)), tuple(tables))


def test_every_form_of_one_graph_is_at_distance_0_from_every_other(model):
    forms = [
        CHAIN,
        np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]]),
        np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], dtype=bool),
        np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]),
        {"a": [], "b": ["a"], "c": ("b",)},
        network(),
        model,
        model.result_,
    ]
    for one in forms:
        for other in forms:
            assert shd(one, other, undirected="strict") == 0


def test_an_undirected_graph_has_undirected_edges():
    assert shd(nx.Graph(CHAIN), CHAIN) == 0
    assert shd(nx.Graph(CHAIN), CHAIN, undirected="strict") == 2


def test_names_match_whatever_their_order_and_positions_match_by_order():
    other_way = nx.DiGraph()
    other_way.add_nodes_from(["c", "b", "a"])
    other_way.add_edges_from(CHAIN.edges)
    assert shd(other_way, CHAIN) == 0
    # By position c → b → a is the chain.
    assert shd(nx.to_numpy_array(other_way), CHAIN) == 2


def test_names_are_compared_as_text():
    assert shd(nx.DiGraph([(0, 1)]), nx.DiGraph([("0", "1")])) == 0


def test_graphs_without_nodes_or_edges_are_graphs():
    assert shd(np.zeros((0, 0)), nx.DiGraph()) == 0
    assert skeleton_scores(np.zeros((3, 3)), np.zeros((3, 3))).f1 == 1.0


def test_different_nodes_are_listed():
    learned = nx.DiGraph([("a", "b"), ("b", "x")])
    with pytest.raises(SettingError) as caught:
        shd(learned, nx.DiGraph([("a", "b"), ("b", "c"), ("c", "d")]))
    assert "'x' only in the learned; 'c', 'd' only in the true" in str(caught.value)
    with pytest.raises(SettingError, match="learned graph has 2 nodes and the true one 3"):
        shd(np.zeros((2, 2)), CHAIN)


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (np.zeros((2, 3)), r"shape \(2, 3\); it must be square"),
        (np.zeros(3), r"shape \(3,\); it must be square"),
        (np.array([[0, -1], [1, 0]]), "holds -1; entries are 0 or 1"),
        (np.array([[0, 0.4], [0, 0]]), "holds 0.4; entries are 0 or 1"),
        (np.array([[0, np.nan], [0, 0]]), "holds nan; entries are 0 or 1"),
        (np.array([[0, 0], [0, 1]]), "edge from 1 to itself"),
        (nx.DiGraph([("a", "a")]), "edge from 'a' to itself"),
        (nx.MultiDiGraph([("a", "b")]), "is a MultiDiGraph; give a DiGraph"),
        ({"a": [], "b": ["c"]}, "names parents that are not among its nodes: 'c'"),
        ({"a": [], "b": "a"}, "gives 'a' as the parents of 'b'; give a list"),
        (nx.DiGraph([(1, "1")]), "two nodes of the true graph are called '1'"),
        (tamis.TAM(), "is a TAM that has not learned yet: call its fit"),
        ([("a", "b")], "is a value of type list; give an adjacency matrix"),
        (None, "is a value of type NoneType"),
    ],
)
def test_what_is_no_graph_is_refused_with_the_reason(graph, message):
    with pytest.raises(SettingError, match=message):
        shd(nx.DiGraph([("1", "b")]), graph)
