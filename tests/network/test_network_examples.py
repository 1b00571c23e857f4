"""The networks that come with tamis show what they say they show."""

from __future__ import annotations

import math
from dataclasses import asdict
from itertools import combinations

import networkx as nx
import pytest
from made_networks import read_by_agrum, read_by_pgmpy

import naive
from tamis.errors import SettingError
from tamis.network import BayesianNetwork
from tamis.network.bif import render


def joint_of(network):
    arities = [len(labels) for labels in network.levels]
    parents, tables = (dict(enumerate(x)) for x in (network.parents, network.tables))
    return naive.joint_of(arities, parents, tables)


def conditions_of(name, tolerance=1e-9):
    network = BayesianNetwork.example(name)
    parents = dict(enumerate(network.parents))
    return asdict(naive.check_conditions(joint_of(network), parents, tolerance))


def information_of(name):
    """H and I by name."""
    network = BayesianNetwork.example(name)
    entropy, gain = naive.from_joint(joint_of(network))

    def at(*names):
        return tuple(sorted(network.names.index(x) for x in names))

    def H(target, *given):  # noqa: N802 - the paper's symbol
        return entropy(*at(target), at(*given))

    def I(target, other, *given):  # noqa: E743, N802 - the paper's symbol
        return gain(*at(target), at(other), at(*given))

    return H, I


def test_the_examples_are_listed_with_a_sentence_each():
    listed = BayesianNetwork.examples()
    assert list(listed) == ["orchard", "night_shift", "m1", "m2", "diamond"]
    assert all(20 < len(text) < 100 and text.endswith(".") for text in listed.values())
    with pytest.raises(SettingError, match="no example 'asia'; there are orchard, night_shift, m1"):
        BayesianNetwork.example("asia")


@pytest.mark.parametrize("name", BayesianNetwork.examples())
def test_others_read_the_examples_too(name, tmp_path):
    network = BayesianNetwork.example(name)
    network.write(tmp_path / "x.bif")
    for others in (read_by_agrum(tmp_path / "x.bif"), read_by_pgmpy(render(network))):
        for k, variable in enumerate(network.names):
            states, parents, table = others[variable]
            assert (states, parents) == (network.levels[k], network.parents_of(variable))
            assert table == pytest.approx(network.tables[k], abs=1e-6)


def test_in_the_orchard_every_condition_holds_by_a_margin():
    conditions = conditions_of("orchard", tolerance=0.005)
    assert conditions.pop("equal") is False
    assert all(conditions.values()), conditions


def test_the_orchard_is_faithful_to_its_graph():
    network = BayesianNetwork.example("orchard")
    _, I = information_of("orchard")  # noqa: E741 - the paper's symbol
    for a, b in combinations(network.names, 2):
        rest = [name for name in network.names if name not in (a, b)]
        for size in range(len(rest) + 1):
            for given in combinations(rest, size):
                separated = nx.is_d_separator(network.graph, {a}, {b}, set(given))
                assert (I(a, b, *given) < 1e-9) == separated
                assert separated or I(a, b, *given) > 1e-5


def test_by_night_the_effects_are_less_uncertain_than_their_cause():
    H, _ = information_of("night_shift")
    numbers = [round(H(name), 3) for name in ("shift", "fault", "call_out")]
    assert numbers == [0.688, 0.112, 0.186]
    conditions = conditions_of("night_shift")
    failing = {name for name, holds in conditions.items() if not holds}
    assert failing == {"equal", "main", "general", "uneq1", "greedy", "sieve"}


def h(p):
    return -p * math.log(p) - (1 - p) * math.log(1 - p)


def test_m1_has_the_numbers_of_the_paper():
    H, I = information_of("m1")  # noqa: E741 - the paper's symbol
    assert H("X1") == pytest.approx(h(0.2))
    assert H("X1") == pytest.approx(0.500, abs=0.001)
    assert H("X2") == pytest.approx(0.733, abs=0.001)
    assert H("X3") == pytest.approx(0.77899, abs=0.00002)
    assert H("X2", "X1") == pytest.approx(h(0.1))
    assert h(0.1) == pytest.approx(0.325, abs=0.001)
    assert H("X3", "X1") == pytest.approx(h(0.2))
    assert H("X4", "X1") == pytest.approx(0.52599, abs=0.00001)
    assert H("X4") == pytest.approx(0.87, abs=0.005)
    assert H("X4", "X1", "X2") == pytest.approx(0.325, abs=0.001)
    assert H("X4", "X1", "X2") < H("X3", "X1", "X2") < H("X4", "X1")
    assert I("X1", "X4") > 0.1


def test_m1_meets_c1_and_c2_but_not_the_order_by_least_entropy():
    conditions = conditions_of("m1")
    failing = {name for name, holds in conditions.items() if not holds}
    assert failing == {"equal", "positive", "uneq1", "greedy"}


def test_m1_adds_a_coin_whose_bias_hangs_on_x3():
    network = BayesianNetwork.example("m1")
    levels = [[int(label) for label in labels] for labels in network.levels]
    for i, x2 in enumerate(levels[1]):
        for j, x3 in enumerate(levels[2]):
            p = 1 / (1 + math.exp(-(0.01 * x3 + math.log(0.1 / 0.9))))
            wanted = [{x2: 1 - p, x2 + 1: p}.get(x4, 0) for x4 in levels[3]]
            assert network.tables[3][i, j].tolist() == pytest.approx(wanted, abs=1e-15)
            assert 0.1 <= p <= 0.1021


def test_m2_cancels_two_paths_and_only_the_order_by_least_entropy_survives():
    H, I = information_of("m2")  # noqa: E741 - the paper's symbol
    assert I("X1", "X4") == pytest.approx(0, abs=1e-12)
    assert I("X1", "X4", "X2") > 0.01
    # X4 = Z2 + Z3 + Z4
    assert H("X4", "X2", "X3") == pytest.approx(h(0.1))
    conditions = conditions_of("m2")
    assert not conditions["main"]
    assert conditions["uneq1"]
    assert conditions["greedy"]


def test_the_rows_of_m2_that_are_made_up_are_never_reached():
    network = BayesianNetwork.example("m2")
    joint = joint_of(network)
    reached = joint.sum(axis=(0, 3)) > 0
    made_up = (network.tables[3] == 0.25).all(axis=-1)
    assert (reached != made_up).all()


def test_in_the_diamond_z_and_y_are_independent_though_linked():
    H, I = information_of("diamond")  # noqa: E741 - the paper's symbol
    assert I("Z", "Y") == pytest.approx(0, abs=1e-12)
    for name in ("X1", "X2"):
        assert I("Z", name) > 0.05
        assert I("Y", name, "Z") > 0.01
    assert nx.has_path(BayesianNetwork.example("diamond").graph, "Z", "Y")
    conditions = conditions_of("diamond")
    assert conditions["positive"]
    assert conditions["pps"]
    assert not conditions["main"]
    assert H("Z") < H("Y")  # so it is C2 that fails, not C1


def test_the_diamond_is_logistic_with_parameters_that_trade_places():
    def logit(p):
        return math.log(p / (1 - p))

    network = BayesianNetwork.example("diamond")
    (a1, both1), (a2, both2) = ([logit(row[1]) for row in network.tables[k]] for k in (1, 2))
    assert (both1, both2) == (pytest.approx(a2), pytest.approx(a1))
    y = [[logit(p) for p in row] for row in network.tables[3][..., 1]]
    assert y == [pytest.approx([-3, -1]), pytest.approx([-1, 1])]
