"""Methods by name, what they are given, and how what they found is scored."""

from __future__ import annotations

import json
import sys

import networkx as nx
import numpy as np
import pytest
from study_plans import ABSENT, EMPTY, small_plan

import tamis
from tamis.baselines import Learned, available
from tamis.parameters import SEARCHES
from tamis.studies import load
from tamis.studies.attempts import (
    Dataset,
    attempts,
    cpdag_distance,
    find_method,
    in_order,
    scored,
    table_for,
)
from tamis.studies.running import missing

needs_causal_learn = pytest.mark.skipif(
    not available()["pc"], reason="causal-learn is not installed"
)


def unfaithful(n, method):
    """The row of one method on the paper's example."""
    ((run,),) = load("unfaithful", rows=(n,), replications=1, methods=[method]).draws
    (row,) = (message["row"] for message in attempts([vars(run)], None) if "row" in message)
    return tamis.studies.Row(**row)


def family(name, n=300):
    return load("families", models=[name], rows=[n], replications=1).draws[0][0]


def data_of(run):
    return Dataset(json.loads(run.settings))


def test_every_search_and_baseline_has_a_name():
    for name in (*SEARCHES, *available(), "node-gaussian", "sequential-pairs", "auto-labels",
                 EMPTY):  # fmt: skip
        find_method(name)
    for name in ("", "-gaussian", "pc-gaussian", "TAM", "no.such.module:NAME"):
        with pytest.raises(tamis.SettingError, match="method"):
            find_method(name)
    assert in_order(["own:X", "pc", "node", "sequential-gaussian", "sequential"]) == (
        "sequential", "sequential-gaussian", "node", "pc", "own:X",
    )  # fmt: skip


def test_methods_that_cannot_run_are_named_with_what_they_need(monkeypatch):
    monkeypatch.setitem(sys.modules, "causallearn", None)
    needs = "needs causallearn, which is not installed: pip install 'tamis[baselines]'"
    assert missing(small_plan(["node", EMPTY, ABSENT, "pc", "pc-fisher-z"])) == {
        ABSENT: "needs no_such_library, which is not installed",
        "pc": needs,
        "pc-fisher-z": needs,
    }


def test_whole_numbers_are_labels_to_all_but_auto():
    data = Dataset({"graph": "tree", "model": "add", "d": 5, "n": 200, "seed": 1})
    assert not table_for("auto", data).told
    for name in ("auto-labels", "sequential", "node", "hill-climbing"):
        table = table_for(name, data)
        assert set(table.kinds) == {"category"}
        assert len(table.told) == 5


def test_numbers_are_cut_for_methods_that_take_levels_only():
    data = data_of(family("gaussian"))
    assert len(table_for("auto", data).continuous) == 20
    cut = table_for("hill-climbing", data)
    assert not cut.continuous
    for k in range(20):
        assert np.bincount(cut.codes[k]).tolist() == [75] * 4


def test_standardised_columns_are_those_of_the_raw_ones():
    raw, standard = data_of(family("gaussian")), data_of(family("standardised"))
    for name, column in raw.columns.items():
        assert standard.columns[name].std() == pytest.approx(1)
        assert abs(np.corrcoef(column, standard.columns[name])[0, 1]) == pytest.approx(1)


def test_hidden_columns_are_left_out_and_their_children_known():
    run = family("hidden-logistic")
    settings = {k: v for k, v in json.loads(run.settings).items() if k != "hide"}
    whole = tamis.simulate.draw(**settings).graph
    data = data_of(run)
    assert len(data.columns) == 18
    assert set(data.graph.edges) == set(whole.subgraph(data.columns).edges)
    hidden = set(whole) - set(data.columns)
    first = max(whole.out_degree(one) for one in whole)
    assert first in {whole.out_degree(one) for one in hidden}
    children = {frozenset(set(whole.successors(one)) & set(data.columns)) for one in hidden}
    assert set(map(frozenset, data.hidden)) == children


def test_functions_of_columns_have_these_as_parents():
    data = data_of(family("functions"))
    assert len(data.columns) == 23
    for name, of in (("sum0", np.add), ("larger1", np.maximum)):
        parents = [data.columns[one] for one in data.graph.predecessors(name)]
        assert (of(*parents) == data.columns[name]).all()


def test_ordinal_columns_are_told_to_be():
    assert set(table_for("auto", data_of(family("ordinal"))).kinds) == {"ordinal"}


def test_scores_are_those_of_the_graph_with_directions_by_warrant():
    data = data_of(family("hidden-logistic"))
    names = tuple(data.columns)
    place = {name: k for k, name in enumerate(names)}
    adjacency = np.zeros((18, 18), dtype=np.int8)
    first, second, *_ = data.graph.edges
    pair = next(
        (a, b) for own in data.hidden for a in own for b in own
        if a < b and not data.graph.has_edge(a, b) and not data.graph.has_edge(b, a)
    )  # fmt: skip
    warrants = {}
    for (a, b), warrant in {first: "entropy", second[::-1]: "none", pair: "entropy"}.items():
        adjacency[place[a], place[b]] = 1
        warrants[place[a], place[b]] = warrant
    row = scored(family("hidden-logistic"), Learned(adjacency, warrants), names, data)
    counts = json.loads(row.directions)
    assert counts["entropy"] == [1, 1]
    assert counts["none"] == [0, 1]
    assert counts["hidden"][:2] == [1, 1]
    assert row.edges_learned == 3
    assert row.shd == data.graph.number_of_edges() - 2 + 1 + 1


def test_the_distance_of_classes_forgives_directions_that_do_not_show():
    chain = nx.DiGraph([("a", "b"), ("b", "c")])
    assert cpdag_distance(nx.DiGraph([("c", "b"), ("b", "a")]), chain) == 0
    assert cpdag_distance(nx.DiGraph([("a", "b"), ("c", "b")]), chain) == 2
    undirected = nx.DiGraph([("a", "b"), ("b", "a"), ("b", "c"), ("c", "b")])
    assert cpdag_distance(undirected, chain) == 0


def test_the_papers_search_finds_the_unfaithful_example_from_moments():
    row = unfaithful(10_000, "node-gaussian")
    assert (row.status, row.reason, row.shd) == ("ok", "", 0)


@needs_causal_learn
def test_on_the_unfaithful_example_pc_does_not_see_an_edge_that_is_there():
    row = unfaithful(10_000, "pc-fisher-z")
    assert (row.status, row.shd, row.edges_true) == ("ok", 3, 4)


@needs_causal_learn
def test_the_gaussian_peers_find_a_faithful_tree():
    made = tamis.simulate.draw("tree", "gaussian", d=6, n=5000, seed=3)
    for name in ("pc-fisher-z", "ges-gaussian"):
        assert tamis.metrics.shd(tamis.baselines.run(name, made.data), made.graph) == 0


def test_methods_for_levels_refuse_continuous_columns_in_words():
    row = unfaithful(100, "hill-climbing")
    assert row.status == "failed"
    assert "hill-climbing takes levels only, and column" in row.reason
