"""Tables are counts, with a prior if one is wanted."""

from __future__ import annotations

import warnings
from collections import Counter

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_networks import outside

from tables import rows, table_of
from tamis.errors import DataError, SettingError
from tamis.network import BayesianNetwork

pandas = pytest.importorskip("pandas")

DATA = {
    "rain": ["no", "no", "no", "yes", "yes", "no"],
    "lawn": ["dry", "dry", "wet", "wet", "wet", "dry"],
    "other": [0, 1, 0, 1, 0, 1],
}


@st.composite
def graphs_over(draw, table):
    order = draw(st.permutations(table.names))
    graph = nx.DiGraph()
    graph.add_nodes_from(draw(st.permutations(order)))
    for i, name in enumerate(order[1:], start=1):
        for parent in draw(st.lists(st.sampled_from(order[:i]), max_size=3, unique=True)):
            graph.add_edge(parent, name)
    return graph


def counted(table, network, k, prior):
    """One table by counting rows one at a time."""
    family = (*network.parents[k], k)
    found = Counter(tuple(table.codes[j, i] for j in family) for i in range(table.n_rows))
    counts = np.full(network.tables[k].shape, float(prior))
    for cell, count in found.items():
        counts[cell] += count
    total = counts.sum(axis=-1, keepdims=True)
    return np.where(total > 0, counts / np.where(total > 0, total, 1), 1 / counts.shape[-1])


@given(rows(), st.data(), st.sampled_from([0, 0.5, 1, 3.0]))
def test_tables_are_counts_plus_the_prior(made, data, prior):
    table = table_of(made)
    graph = data.draw(graphs_over(table))
    network = BayesianNetwork.fit(graph, table, prior=prior)
    assert (network.names, network.levels) == (table.names, table.levels)
    assert set(network.graph.edges) == set(graph.edges)
    for k in range(network.n_variables):
        np.testing.assert_allclose(
            network.tables[k], counted(table, network, k, prior), rtol=1e-12, atol=0
        )


@given(rows(), st.data())
def test_an_equivalent_sample_size_is_spread_over_the_cells(made, data):
    table = table_of(made)
    network = BayesianNetwork.fit(data.draw(graphs_over(table)), table, equivalent_sample_size=10)
    for k, fitted in enumerate(network.tables):
        np.testing.assert_allclose(
            fitted, counted(table, network, k, 10 / fitted.size), rtol=1e-12, atol=0
        )


@pytest.mark.parametrize(
    ("ours", "estimator", "settings"),
    [
        ({}, "MaximumLikelihoodEstimator", {}),
        ({"prior": 1}, "BayesianEstimator", {"prior_type": "K2"}),
        (
            {"equivalent_sample_size": 7},
            "BayesianEstimator",
            {"prior_type": "BDeu", "equivalent_sample_size": 7},
        ),
    ],
)
def test_pgmpy_fits_the_same_tables(ours, estimator, settings):
    orchard = BayesianNetwork.example("orchard")
    frame = pandas.DataFrame(orchard.sample(300, seed=8))
    fitted = BayesianNetwork.fit(orchard.graph, frame, **ours)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = outside("pgmpy.models").DiscreteBayesianNetwork(orchard.graph.edges)
        kind = getattr(outside("pgmpy.estimators"), estimator)
        model.add_cpds(*kind(model, frame).get_parameters(n_jobs=1, **settings))
        theirs = BayesianNetwork.from_pgmpy(model)
    for name in orchard.names:
        mine, other = (net.tables[net.names.index(name)] for net in (fitted, theirs))
        axes = [theirs.parents_of(name).index(p) for p in fitted.parents_of(name)]
        np.testing.assert_allclose(mine, other.transpose(*axes, len(axes)), atol=1e-12)


def test_a_configuration_that_never_occurs_gets_the_uniform_row():
    data = {"a": [0, 0, 1, 1], "b": [0, 0, 1, 1], "c": [0, 1, 1, 1]}
    network = BayesianNetwork.fit({"c": ["a", "b"]}, data)
    assert network.tables[2].tolist() == [[[0.5, 0.5], [0.5, 0.5]], [[0.5, 0.5], [0.0, 1.0]]]


def test_a_fit_to_many_rows_comes_back_to_the_network():
    orchard = BayesianNetwork.example("orchard")
    fitted = BayesianNetwork.fit(orchard.graph, orchard.sample(200_000, seed=1))
    for name in orchard.names:
        k, j = orchard.names.index(name), fitted.names.index(name)
        ranks = [[orchard.levels[p].index(x) for x in sorted(orchard.levels[p])]
                 for p in (*orchard.parents[k], k)]  # fmt: skip
        true = orchard.tables[k][np.ix_(*ranks)]
        axes = [orchard.parents_of(name).index(p) for p in fitted.parents_of(name)]
        np.testing.assert_allclose(fitted.tables[j], true.transpose(*axes, len(axes)), atol=0.03)


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        ({"lawn": ["snow"]}, "node 'snow' that is not a column"),
        ({"snow": []}, "node 'snow' that is not a column"),
        (nx.DiGraph([("lawn", "snow")]), "node 'snow' that is not a column"),
        ({"lawn": ["rain"], "rain": ["lawn"]}, "cycle: 'rain' → 'lawn' → 'rain'"),
        ({"lawn": ["lawn"]}, "cycle: 'lawn' → 'lawn'"),
        ({"lawn": ["rain", "rain"]}, "A parent of 'lawn' is named twice"),
        ({}, "no nodes"),
        (nx.DiGraph(), "no nodes"),
    ],
)
def test_a_graph_that_does_not_fit_the_table_is_refused(graph, message):
    with pytest.raises(DataError, match=message):
        BayesianNetwork.fit(graph, DATA)


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        ({"lawn": "rain"}, "the parents of 'lawn' must be a list of names, not 'rain'"),
        ({"lawn": None}, r"the parents of 'lawn' must be .* write \[\]"),
        (nx.Graph(), "must be a networkx.DiGraph or a mapping .* not Graph"),
        (nx.MultiDiGraph(), "not MultiDiGraph"),
        ([("rain", "lawn")], "not list"),
    ],
)
def test_what_is_no_graph_is_refused(graph, message):
    with pytest.raises(SettingError, match=message):
        BayesianNetwork.fit(graph, DATA)


@pytest.mark.parametrize("bad", [-1, float("nan"), float("inf"), "1", True, None])
def test_a_prior_that_is_no_amount_is_refused(bad):
    with pytest.raises(SettingError, match="prior must be a number from 0 on"):
        BayesianNetwork.fit({"lawn": ["rain"]}, DATA, prior=bad)
    if bad is not None:
        with pytest.raises(SettingError, match="equivalent_sample_size must be a number from 0 on"):
            BayesianNetwork.fit({"lawn": ["rain"]}, DATA, equivalent_sample_size=bad)
