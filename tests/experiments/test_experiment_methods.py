"""Methods by name, and the Gaussian peers of the unfaithful example."""

from __future__ import annotations

import sys

import pytest
from experiment_plans import ABSENT, EMPTY

import tamis
from tamis.baselines import available
from tamis.defaults import SEARCHES
from tamis.experiments import plans
from tamis.experiments.attempts import attempts
from tamis.experiments.cells import Draw
from tamis.experiments.datasets import Dataset
from tamis.experiments.methods import find_method, missing

needs_causal_learn = pytest.mark.skipif(
    not available()["pc"], reason="causal-learn is not installed"
)


def unfaithful(n):
    return plans.unfaithful(rows=(n,), replications=1).draws[0]


def ended(draw, *methods):
    return [report.row for report in attempts(draw, methods, None) if not report.begins]


def test_every_search_and_baseline_has_a_name():
    for name in (
        *SEARCHES,
        *available(),
        "node-gaussian",
        "sequential-pairs",
        "pc-fisher-z",
        EMPTY,
    ):
        find_method(name)
    for name in ("", "-gaussian", "pc-gaussian", "TAM", "no.such.module:NAME"):
        with pytest.raises(tamis.SettingError, match="method"):
            find_method(name)


def test_methods_that_cannot_run_are_named_with_what_they_need(monkeypatch):
    monkeypatch.setitem(sys.modules, "causallearn", None)
    assert missing(["node", EMPTY, ABSENT, "pc", "pc-fisher-z"]) == {
        ABSENT: "no_such_library",
        "pc": "causallearn, in the extra tamis[baselines]",
        "pc-fisher-z": "causallearn, in the extra tamis[baselines]",
    }


def test_the_papers_search_finds_the_unfaithful_example_from_moments():
    (row,) = ended(unfaithful(10_000), "node-gaussian")
    assert (row.status, row.reason, row.shd) == ("ok", "", 0)


@needs_causal_learn
def test_on_the_unfaithful_example_pc_does_not_see_an_edge_that_is_there():
    (row,) = ended(unfaithful(10_000), "pc-fisher-z")
    assert (row.status, row.shd, row.edges_true) == ("ok", 3, 4)
    assert row.library.startswith("causal-learn ")


@needs_causal_learn
def test_the_gaussian_peers_find_a_faithful_tree():
    draw = Draw("gaussian", "tree", 6, 5000, 0, 3)
    for name in ("pc-fisher-z", "ges-gaussian"):
        method = find_method(name)
        method.prepare()
        data = Dataset(draw)
        assert tamis.metrics.shd(method.learn(data).graph, data.graph) == 0


def test_discrete_methods_refuse_continuous_columns_in_words():
    rows = ended(unfaithful(100), "node", "equal-variance")
    assert {row.status for row in rows} == {"failed"}
    assert all("DataError" in row.reason for row in rows)
