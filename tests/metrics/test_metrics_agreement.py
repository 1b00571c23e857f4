"""Precision and recall against their definitions and against causal-learn."""

from __future__ import annotations

import naive_metrics
import networkx as nx
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from made_mixed_graphs import library, mixed_graphs, to_causal_learn

from tamis.metrics import (
    PrecisionRecall,
    edge_scores,
    orientation_scores,
    shd,
    skeleton_scores,
)


@given(mixed_graphs(), mixed_graphs(), st.sampled_from(["favourable", "strict"]))
def test_edges_are_counted_pair_by_pair(learned, true, undirected):
    ref = PrecisionRecall(*naive_metrics.counts(learned, true, undirected))
    assert ref == edge_scores(learned, true, undirected=undirected)


@given(mixed_graphs(), mixed_graphs())
def test_directions_are_counted_where_both_have_an_edge(learned, true):
    ref = PrecisionRecall(*naive_metrics.orientation(learned, true))
    assert ref == orientation_scores(learned, true)


@given(mixed_graphs(), mixed_graphs())
def test_the_skeleton_forgets_directions(learned, true):
    ref = PrecisionRecall(
        *naive_metrics.counts(nx.Graph(learned).to_directed(), true, "favourable")
    )
    assert ref == skeleton_scores(learned, true)
    assert ref == skeleton_scores(nx.Graph(learned), nx.Graph(true))


@given(mixed_graphs(), mixed_graphs())
def test_adjacencies_are_those_of_causal_learn(learned, true):
    assume(learned.edges and true.edges)
    confusion = library("causallearn.graph.AdjacencyConfusion").AdjacencyConfusion
    ref = confusion(to_causal_learn(true), to_causal_learn(learned))
    comp = skeleton_scores(learned, true)
    assert ref.get_adj_tp() == comp.right
    assert ref.get_adj_precision() == pytest.approx(comp.precision)
    assert ref.get_adj_recall() == pytest.approx(comp.recall)


@given(mixed_graphs(), mixed_graphs())
def test_the_distance_follows_from_edges_and_skeleton(learned, true):
    edges, skeleton = edge_scores(learned, true), skeleton_scores(learned, true)
    wrong_way = skeleton.right - edges.right
    assert shd(learned, true) == edges.learned + edges.true - 2 * skeleton.right + wrong_way


@given(mixed_graphs(), mixed_graphs())
def test_exchanging_the_graphs_exchanges_precision_and_recall(one, other):
    for measure in (skeleton_scores, orientation_scores, edge_scores):
        forth, back = measure(one, other), measure(other, one)
        assert (forth.precision, forth.recall) == (back.recall, back.precision)
        assert 0 <= forth.f1 <= 1
        assert forth.f1 == back.f1


@pytest.mark.parametrize(
    ("right", "learned", "true", "precision", "recall", "f1"),
    [
        (2, 4, 3, 1 / 2, 2 / 3, 4 / 7),
        (0, 0, 3, 1.0, 0.0, 0.0),
        (0, 3, 0, 0.0, 1.0, 0.0),
        (0, 0, 0, 1.0, 1.0, 1.0),
        (0, 3, 2, 0.0, 0.0, 0.0),
    ],
    ids=["usual", "nothing learned", "nothing true", "both empty", "all wrong"],
)
def test_empty_sides_are_not_mistakes(right, learned, true, precision, recall, f1):
    scores = PrecisionRecall(right, learned, true)
    assert scores.precision == pytest.approx(precision)
    assert scores.recall == pytest.approx(recall)
    assert scores.f1 == pytest.approx(f1)


def test_an_undirected_edge_claims_no_direction():
    truth = nx.DiGraph([("a", "b"), ("b", "c")])
    learned = nx.DiGraph([("a", "b"), ("b", "a"), ("c", "b")])
    assert orientation_scores(learned, truth) == PrecisionRecall(right=0, learned=1, true=2)
