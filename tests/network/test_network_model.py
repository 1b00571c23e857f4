"""A network is checked when it is made, and frozen from then on."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from made_networks import networks

from tamis.errors import DataError
from tamis.network import BayesianNetwork

NAMES = ("lawn", "rain", "sprinkler")
LEVELS = (("dry", "wet"), (False, True), (0, 1, 2))
PARENTS = ((2, 1), (), (1,))
TABLES = (
    np.array([[[0.9, 0.1], [0.2, 0.8]], [[0.5, 0.5], [0.1, 0.9]], [[0.3, 0.7], [0.0, 1.0]]]),
    np.array([0.7, 0.3]),
    np.array([[0.5, 0.3, 0.2], [0.9, 0.1, 0.0]]),
)


def lawn(**changes):
    fields = {"names": NAMES, "levels": LEVELS, "parents": PARENTS, "tables": TABLES}
    return BayesianNetwork(**{**fields, **changes})


def with_table(k, table):
    return lawn(tables=(*TABLES[:k], np.array(table), *TABLES[k + 1 :]))


def test_the_graph_the_layers_and_the_order_follow_the_parents():
    network = lawn()
    assert set(network.graph.edges) == {
        ("sprinkler", "lawn"),
        ("rain", "lawn"),
        ("rain", "sprinkler"),
    }
    assert list(network.graph.nodes) == list(NAMES)
    assert network.layers == (("rain",), ("sprinkler",), ("lawn",))
    assert network.order == (1, 2, 0)
    assert network.parents_of("lawn") == ("sprinkler", "rain")
    assert network.n_variables == 3
    assert network.n_parameters == 6 * 1 + 1 + 2 * 2


@given(networks())
def test_order_puts_parents_first_and_layers_are_generations(network):
    place = {k: i for i, k in enumerate(network.order)}
    assert sorted(network.order) == list(range(network.n_variables))
    assert all(place[p] < place[k] for k, given in enumerate(network.parents) for p in given)
    assert [set(layer) for layer in network.layers] == [
        set(layer) for layer in nx.topological_generations(network.graph)
    ]


def test_nothing_can_be_changed_and_nothing_is_shared():
    given_table = TABLES[1].copy()
    network = lawn(tables=(TABLES[0], given_table, TABLES[2]))
    given_table[0] = 5
    assert network == lawn()
    with pytest.raises(ValueError, match="read-only"):
        network.tables[1][0] = 0.5
    with pytest.raises(FrozenInstanceError):
        network.names = ("other",)
    with pytest.raises(nx.NetworkXError, match="Frozen"):
        network.graph.add_edge("rain", "shoes")


@pytest.mark.parametrize(
    "changes",
    [
        {"names": ("lawn", "rain", "hose")},
        {"levels": (LEVELS[0], (0, 1), LEVELS[2])},
        {"levels": (("wet", "dry"), *LEVELS[1:])},
        {"tables": (TABLES[0], np.array([0.7 - 1e-15, 0.3]), TABLES[2])},
        {"parents": ((2, 1), (), ()), "tables": (*TABLES[:2], TABLES[2][0])},
    ],
)
def test_networks_that_differ_in_anything_are_not_equal(changes):
    assert lawn(**changes) != lawn()


def test_rows_that_nearly_sum_to_one_are_rescaled_and_others_keep_every_bit():
    kept = np.array([0.1] * 10)  # whose sum is 0.9999999999999999
    assert BayesianNetwork(["a"], [range(10)], [()], [kept]).tables[0].tolist() == kept.tolist()
    rescaled = with_table(1, [0.7, 0.3000005]).tables[1]
    assert rescaled.tolist() == [0.7 / 1.0000005, 0.3000005 / 1.0000005]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"names": ()}, "at least one variable"),
        ({"names": "abc"}, "not the string 'abc'"),
        ({"names": ("lawn", " ", "rain")}, "name ' ' is empty"),
        ({"names": ("lawn", 3, "rain")}, "name 3 is not a string"),
        ({"names": ("lawn", "rain", "rain")}, "Several variables are called 'rain'"),
        ({"names": ("lawn", "rain", "\ud800")}, "lone surrogate"),
        ({"levels": LEVELS[:2]}, "3 names but 2 lists of levels"),
        ({"levels": ((), *LEVELS[1:])}, "'lawn' has no levels"),
        ({"levels": ("dw", *LEVELS[1:])}, "not the string 'dw'"),
        ({"levels": (("dry", "dry"), *LEVELS[1:])}, "'lawn' has the level 'dry' twice"),
        ({"levels": ((True, 0), *LEVELS[1:])}, "levels of 'lawn' are of several types"),
        ({"levels": ((0.5, 1.5), *LEVELS[1:])}, "level of 'lawn' is 0.5"),
        ({"levels": (("\udfff", "x"), *LEVELS[1:])}, r"'\\udfff' of 'lawn' holds a lone surrogate"),
        ({"parents": PARENTS[:2]}, "3 names but 2 parent sets"),
        ({"parents": ((2, 3), (), (1,))}, r"parents of 'lawn' are \(2, 3\).*from 0 to 2"),
        ({"parents": ((2, -1), (), (1,))}, r"parents of 'lawn' are \(2, -1\)"),
        ({"parents": ((1, 1), (), (1,))}, r"parents of 'lawn' are \(1, 1\).*different"),
        ({"parents": (("rain",), (), (1,))}, r"parents of 'lawn' are \('rain',\); give the pos"),
        ({"parents": ((0,), (), (1,))}, "cycle: 'lawn' → 'lawn'"),
        ({"parents": ((2,), (0,), (1,))}, "cycle: 'lawn' → 'rain' → 'sprinkler' → 'lawn'"),
        ({"tables": TABLES[:2]}, "3 names but 2 tables"),
        ({"tables": (TABLES[0].transpose(1, 0, 2), *TABLES[1:])}, r"'lawn' has shape \(2, 3, 2\)"),
        ({"tables": (TABLES[0], ["x", "y"], TABLES[2])}, "table of 'rain' is not an array of num"),
        ({"tables": (TABLES[0], [[0.5], [1, 2]], TABLES[2])}, "table of 'rain' is not an array"),
    ],
)
def test_what_makes_no_network_is_refused_with_its_name(changes, message):
    with pytest.raises(DataError, match=message):
        lawn(**changes)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ([0.5, 0.3, 0.1], "sum to 0.9, which misses 1 by 0.1"),
        ([0.5, 0.3, 0.200002], "sum to 1.000002, which misses 1 by 2e-06"),
        ([1.2, -0.2, 0.0], "hold -0.2, which is negative"),
        ([0.5, np.nan, 0.5], "hold nan, which is not a number"),
        ([0.5, np.inf, 0.5], "hold inf, which is not a number"),
        ([0.0, 0.0, 0.0], "sum to 0, which misses 1 by 1"),
        ([1e308, 1e308, 0.0], "sum to inf, which misses 1 by inf"),
    ],
)
def test_a_row_that_is_no_distribution_is_named(row, message):
    with pytest.raises(DataError, match=rf"of 'sprinkler' given 'rain' = True {message}\."):
        with_table(2, [[0.5, 0.3, 0.2], row])
