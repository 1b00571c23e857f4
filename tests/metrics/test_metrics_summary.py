"""All scores at once, and the structural intervention distance."""

from __future__ import annotations

import dataclasses
import sys

import naive_metrics
import networkx as nx
import pytest
from hypothesis import given
from made_mixed_graphs import dags, library, matrix_of

import tamis
from tamis.errors import SettingError
from tamis.metrics import layer_errors, order_errors, scores, shd, sid, to_cpdag

CHAIN = nx.DiGraph([("a", "b"), ("b", "c")])
REVERSED = nx.DiGraph([("c", "b"), ("b", "a")])


def test_a_cpdag_has_no_layers_and_no_order():
    found = scores(to_cpdag(CHAIN), CHAIN)
    assert (found.shd, found.shd_strict) == (0, 2)
    assert (found.edges.f1, found.edges_strict.f1, found.skeleton.f1) == (1.0, 0.0, 1.0)
    assert (found.orientation.precision, found.orientation.recall) == (1.0, 0.0)
    assert found.order_errors is found.layer_errors is found.layer_inversions is found.sid is None


def test_a_dag_has_layers_but_no_order():
    found = scores(REVERSED, CHAIN)
    assert (found.shd, found.layer_errors, found.layer_inversions) == (2, 2, 3)
    assert found.order_errors is None


def test_a_model_has_everything():
    network = tamis.BayesianNetwork.example("orchard")
    model = tamis.TAM().fit(network.sample(500, seed=1))
    found = scores(model, network)
    assert found == scores(model.result_, network)
    assert found.shd == shd(model, network) == found.shd_strict
    assert found.order_errors == order_errors(model.order_, network)
    assert found.layer_errors == layer_errors(model.layers_, network)


def test_scores_are_frozen_and_become_one_row():
    found = scores(CHAIN, CHAIN)
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.shd = 1
    row = found.to_dict()
    assert row["shd"] == 0
    assert row["skeleton_precision"] == row["edges_strict_f1"] == 1.0
    assert (row["edges_right"], row["edges_learned"], row["edges_true"]) == (2, 2, 2)
    assert row["sid"] is None
    assert all(value is None or isinstance(value, int | float) for value in row.values())


@given(dags(4), dags(4))
def test_sid_counts_the_effects_that_come_out_wrong(learned, true):
    library("gadjid")
    assert naive_metrics.sid(learned, true) == sid(learned, true)
    assert sid(matrix_of(learned), matrix_of(true)) == sid(learned, true)
    assert scores(learned, true, sid=True).sid == sid(learned, true)


def test_sid_is_not_symmetric_and_knows_which_graph_is_true():
    library("gadjid")
    empty = nx.DiGraph()
    empty.add_nodes_from("abc")
    assert sid(CHAIN, empty) == 0
    assert sid(empty, CHAIN) == 3
    assert sid(CHAIN, REVERSED) == 6


def test_sid_needs_dags():
    library("gadjid")
    with pytest.raises(SettingError, match="sid needs a DAG, but of the learned graph the edge"):
        sid(to_cpdag(CHAIN), CHAIN)
    assert scores(to_cpdag(CHAIN), CHAIN, sid=True).sid is None


def test_without_gadjid_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "gadjid", None)
    with pytest.raises(SettingError, match=r"sid needs gadjid.*pip install 'tamis\[sid\]'"):
        sid(CHAIN, CHAIN)
    with pytest.raises(SettingError, match="gadjid"):
        scores(CHAIN, CHAIN, sid=True)
    assert scores(CHAIN, CHAIN).sid is None
