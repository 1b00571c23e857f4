"""The structural Hamming distance against its definition and against two libraries."""

from __future__ import annotations

import naive_metrics
import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_mixed_graphs import dags, library, matrix_of, mixed_graphs, to_causal_learn, to_gadjid

from tamis.metrics import shd

CONVENTIONS = ["favourable", "strict"]


@given(mixed_graphs(), mixed_graphs(), st.sampled_from(CONVENTIONS))
def test_the_distance_is_the_number_of_pairs_with_different_edges(learned, true, undirected):
    ref = naive_metrics.shd(learned, true, undirected)
    comp = shd(learned, true, undirected=undirected)
    assert ref == comp


@pytest.mark.parametrize(
    ("learned", "favourable", "strict"),
    [
        ([(0, 1), (1, 2)], 0, 0),
        ([(1, 0), (1, 2)], 1, 1),
        ([(0, 1), (1, 0), (1, 2)], 0, 1),
        ([(0, 1)], 1, 1),
        ([(0, 1), (1, 2), (0, 2)], 1, 1),
        ([(0, 1), (1, 2), (0, 2), (2, 0)], 1, 1),
        ([], 2, 2),
    ],
    ids=["right", "reversed", "undirected", "missing", "added", "added undirected", "empty"],
)
def test_each_kind_of_mistake_against_a_chain(learned, favourable, strict):
    graph = nx.DiGraph(learned)
    graph.add_nodes_from(range(3))
    chain = nx.DiGraph([(0, 1), (1, 2)])
    assert shd(graph, chain) == favourable
    assert shd(graph, chain, undirected="favourable") == favourable
    assert shd(graph, chain, undirected="strict") == strict


@given(mixed_graphs(), mixed_graphs())
def test_the_strict_distance_is_that_of_causal_learn(learned, true):
    ref = library("causallearn.graph.SHD").SHD(to_causal_learn(true), to_causal_learn(learned))
    assert ref.get_shd() == shd(learned, true, undirected="strict")


@given(dags(), dags())
def test_the_distance_of_dags_is_that_of_gadjid(learned, true):
    _, ref = library("gadjid").shd(to_gadjid(true), to_gadjid(learned))
    assert ref == shd(learned, true) == shd(learned, true, undirected="strict")


@given(mixed_graphs(), mixed_graphs(), st.sampled_from(CONVENTIONS))
def test_the_distance_is_symmetric_bounded_and_0_to_itself(one, other, undirected):
    distance = shd(one, other, undirected=undirected)
    assert distance == shd(other, one, undirected=undirected)
    assert 0 <= distance <= 6
    assert shd(one, one, undirected=undirected) == 0


@given(mixed_graphs(), mixed_graphs())
def test_favourable_is_never_above_strict_and_is_the_same_without_undirected_edges(one, other):
    favourable, strict = shd(one, other), shd(one, other, undirected="strict")
    assert favourable <= strict
    arrows = [nx.DiGraph(), nx.DiGraph()]
    for graph, kept in zip((one, other), arrows, strict=True):
        kept.add_nodes_from(graph)
        kept.add_edges_from((i, j) for i, j in graph.edges if not graph.has_edge(j, i))
    assert shd(*arrows) == shd(*arrows, undirected="strict")


@given(dags(), dags(), dags())
def test_the_distance_of_dags_obeys_the_triangle_inequality(a, b, c):
    assert shd(a, c) <= shd(a, b) + shd(b, c)


@given(mixed_graphs(), mixed_graphs(), st.permutations(range(4)))
def test_relabelling_and_reordering_both_graphs_changes_nothing(learned, true, order):
    names = {i: f"node {k}" for i, k in enumerate(order)}
    moved = nx.relabel_nodes(learned, names), nx.relabel_nodes(true, names)
    assert shd(*moved) == shd(learned, true)
    shuffled = matrix_of(learned)[np.ix_(order, order)], matrix_of(true)[np.ix_(order, order)]
    assert shd(*shuffled) == shd(learned, true)
