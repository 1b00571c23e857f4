"""What the graph alone decides: against networkx, and without touching a table."""

import itertools

import known
import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.information import inference
from tamis.information.exact import ExactInformation
from tamis.information.interface import Context
from tamis.information.separation import Dag, members, node_set

seeds = st.integers(0, 2**32 - 1)


def as_networkx(parents):
    graph = nx.DiGraph()
    graph.add_nodes_from(range(len(parents)))
    graph.add_edges_from((p, k) for k, sources in enumerate(parents) for p in sources)
    return graph


def subsets(nodes):
    nodes = list(nodes)
    return [set(s) for r in range(len(nodes) + 1) for s in itertools.combinations(nodes, r)]


@given(seeds)
def test_the_ball_reaches_what_is_not_d_separated(seed):
    _, parents, _ = known.random_network(seed, d=6)
    graph, dag = as_networkx(parents), Dag(parents)
    start = seed % 6
    for inside in subsets(set(range(6)) - {start}):
        found = members(dag.reached(1 << start, node_set(inside)))
        # A member of the condition is reached when the others do not stand between.
        ref = [
            k
            for k in range(6)
            if k == start or not nx.is_d_separator(graph, start, k, inside - {k})
        ]
        assert found == ref


@given(seeds)
def test_two_start_nodes_reach_what_either_does_not_have_separated(seed):
    _, parents, _ = known.random_network(seed, d=6)
    graph, dag = as_networkx(parents), Dag(parents)
    for inside in subsets({2, 3, 4, 5}):
        found = members(dag.reached(0b11, node_set(inside)))
        rest = set(range(2, 6))
        ref = [k for k in rest if not nx.is_d_separator(graph, {0, 1}, {k}, inside - {k})]
        assert found == [0, 1, *ref]


@given(seeds)
def test_the_questions_asked_of_a_source_follow_the_graph(seed):
    network = known.random_network(seed, d=6, arities=(2,))
    graph, information = as_networkx(network[1]), ExactInformation(*network)
    rng = np.random.default_rng(seed)
    for _ in range(20):
        k, *rest = rng.permutation(6).tolist()
        size = rng.integers(0, 5)
        inside, others = set(rest[:size]), set(rest[size:])
        found = information.relevant(k, inside)
        assert found == tuple(
            sorted(s for s in inside if not nx.is_d_separator(graph, k, s, inside - {s}))
        )
        assert nx.is_d_separator(graph, {k}, inside - set(found), set(found)) or (
            set(found) == inside
        )
        assert information.separated(k, others, inside) == nx.is_d_separator(
            graph, {k}, others, inside
        )


@given(seeds)
def test_what_stays_unjoined_is_separated_by_all_the_rest(seed):
    _, parents, _ = known.random_network(seed, d=6)
    graph, dag = as_networkx(parents), Dag(parents)
    for kept in subsets(range(6)):
        marginal = dag.marginal(node_set(kept))
        for one, two in itertools.combinations(sorted(kept), 2):
            apart = nx.is_d_separator(graph, one, two, kept - {one, two})
            assert (marginal[one] >> two & 1) == (marginal[two] >> one & 1) == (not apart)


def test_what_the_graph_decides_costs_no_table(monkeypatch):
    def refuse(*_):
        raise AssertionError("a table was made")

    monkeypatch.setattr(inference, "contracted", refuse)
    information = ExactInformation(*known.chain(50))
    assert information.gain(49, range(40), [45]) == 0.0
    assert information.gain(0, [49], [25]) == 0.0
    assert information.separated(0, [49], [25])
    with pytest.raises(AssertionError, match="a table was made"):
        information.gain(0, [49], [])


def test_a_row_of_gains_is_zero_exactly_where_the_graph_separates():
    information = ExactInformation(*known.network([(), (0,), (1,), (1,), (), (3, 4)], [2] * 6))
    row = information.cmi([Context(2, (3,))])[0]
    assert (row > 0).tolist() == [True, True, False, False, False, False]
    row = information.cmi([Context(2, (5,))])[0]
    assert (row > 0).tolist() == [True, True, False, True, True, False]
