"""Networks go to networkx and pgmpy and come back the same."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_networks import networks, outside, words

from tamis.errors import DataError
from tamis.network import BayesianNetwork

COLLIDER = BayesianNetwork(
    ["c", "b", "a"],
    [["lo", "mid", "hi"], [True, False], [2, 1]],
    [(2, 1), (), ()],
    [np.arange(1, 13).reshape(2, 2, 3) / [[[6], [15]], [[24], [33]]], [0.5, 0.5], [0.25, 0.75]],
)


@given(networks() | networks(labels=st.integers(0, 9)))
def test_a_graph_of_networkx_holds_all_there_is(network):
    graph = network.to_networkx()
    assert BayesianNetwork.from_networkx(graph) == network
    assert set(graph.edges) == set(network.graph.edges)


def changed(**attributes):
    graph = COLLIDER.to_networkx()
    graph.nodes["c"].update(attributes)
    return graph


def lacking(*fields):
    graph = COLLIDER.to_networkx()
    for field in fields:
        del graph.nodes["c"][field]
    return graph


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (lacking("levels"), "node 'c' has no 'levels'"),
        (lacking("table"), "node 'c' has no 'table'"),
        (lacking("parents"), "come from .* but its 'parents' are None"),
        (changed(parents=("a",)), r"'parents' are \('a',\)"),
        (changed(parents=("a", "b", "b")), "edges into 'c' come from"),
        (changed(levels=("lo", "hi")), "table of 'c' has shape"),
    ],
)
def test_a_graph_without_all_there_is_is_refused(graph, message):
    with pytest.raises(DataError, match=message):
        BayesianNetwork.from_networkx(graph)


def to_pgmpy(network):
    outside("pgmpy.models")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return network.to_pgmpy()


@given(networks(names=words, labels=words) | networks(names=words, labels=st.integers(0, 9)))
def test_a_model_of_pgmpy_holds_all_there_is(network):
    model = to_pgmpy(network)
    assert set(model.nodes) == set(network.names)
    assert BayesianNetwork.from_pgmpy(model) == network


def test_pgmpy_sees_the_same_probabilities_under_the_same_states():
    model = to_pgmpy(COLLIDER)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert model.check_model()
    cpd = model.get_cpds("c")
    assert cpd.get_value(c="hi", a=1, b=False) == pytest.approx(COLLIDER.tables[0][1, 1, 2])
    assert cpd.get_value(c="lo", a=1, b=True) == pytest.approx(COLLIDER.tables[0][1, 0, 0])


def made_in_pgmpy(values, **changes):
    """a → b, by default with the states of a in another order in the table of b."""
    states = {"b": ["x", "y"], "a": ["on", "off"], **changes}
    factors = outside("pgmpy.factors.discrete")
    model = outside("pgmpy.models").DiscreteBayesianNetwork([("a", "b")])
    own = factors.TabularCPD("a", 2, [[0.25], [0.75]], state_names={"a": ["off", "on"]})
    child = factors.TabularCPD(
        "b", 2, values, evidence=["a"], evidence_card=[2], state_names=states
    )
    model.add_cpds(own, child)
    return model


def test_every_table_of_pgmpy_may_list_the_states_in_its_own_order():
    network = BayesianNetwork.from_pgmpy(made_in_pgmpy([[0.9, 0.2], [0.1, 0.8]]))
    assert network.levels[0] == ("off", "on")
    assert network.tables[1].tolist() == [[0.2, 0.8], [0.9, 0.1]]


def test_rounded_tables_of_pgmpy_are_rescaled_and_others_refused():
    network = BayesianNetwork.from_pgmpy(made_in_pgmpy([[0.9, 0.2], [0.095, 0.8]]))
    assert network.tables[1][1].tolist() == [0.9 / 0.995, 0.095 / 0.995]
    model = made_in_pgmpy([[0.9, 0.2], [0.1, 0.8]])
    model.get_cpds("b").values[0, 0] = 0.5
    with pytest.raises(DataError, match=r"of 'b' given 'a' = 'on' sum to 0\.6"):
        BayesianNetwork.from_pgmpy(model)
