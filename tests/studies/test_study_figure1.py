"""Figure 1: the network fits the paper's text, and the loops are those it tells."""

from __future__ import annotations

from itertools import pairwise

import pytest

import tamis
from tamis.information.exact import ExactInformation
from tamis.information.interface import Context
from tamis.studies import figures
from tamis.studies.figures import BEFORE, IN_LAYER, MASKED, REMAINING

NAMES = [f"X{k}" for k in range(1, 7)]


@pytest.fixture(scope="module")
def result():
    return figures.learned()


def test_the_marginal_entropies_rise_from_the_first_node_to_the_last():
    network = figures.example()
    information = ExactInformation(network.names, network.parents, network.tables)
    contexts = [Context(network.names.index(name), ()) for name in NAMES]
    entropies = list(information.entropies(contexts))
    assert entropies == sorted(entropies)
    assert min(b - a for a, b in pairwise(entropies)) > 0.02


def test_the_conditions_hold_but_not_that_of_equal_entropies():
    found = tamis.check(figures.example())
    words = {key: condition.word for key, condition in found.conditions.items()}
    assert (words["C1"], words["C2"], words["C3"], words["PPS"]) == (
        "holds", "holds", "fails", "holds",
    )  # fmt: skip
    assert found.searches["node"].guaranteed


def test_the_network_is_found(result):
    assert set(result.graph.edges) == set(figures.example().graph.edges)


def test_the_loops_are_those_of_the_text(result):
    first = [step for step in figures.steps(result) if step.layer == 1]
    assert [(step.admitted, step.newly_masked) for step in first] == [
        ("X1", ("X2", "X3")),
        ("X4", ("X5",)),
        ("X6", ()),
    ]
    states = [[step.states[name] for name in NAMES] for step in first]
    assert states == [
        [IN_LAYER, MASKED, MASKED, REMAINING, REMAINING, REMAINING],
        [IN_LAYER, MASKED, MASKED, IN_LAYER, MASKED, REMAINING],
        [IN_LAYER, MASKED, MASKED, IN_LAYER, MASKED, IN_LAYER],
    ]


def test_later_layers_follow_from_the_trace(result):
    later = [step for step in figures.steps(result) if step.layer > 1]
    assert [str(step) for step in later] == [
        "layer 2, loop 1: X2 enters, X3 masked",
        "layer 2, loop 2: X5 enters",
        "layer 3, loop 1: X3 enters",
    ]
    assert later[0].states["X1"] == BEFORE


def test_it_is_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    steps = figures.draw(tmp_path / "figure1.png")
    assert len(steps) == 6
    assert (tmp_path / "figure1.png").stat().st_size > 10_000
    with pytest.raises(tamis.SettingError, match="a figure ends in"):
        figures.draw(tmp_path / "figure1.txt")


def test_other_searches_have_other_loops():
    other = tamis.TAM("sieve").fit(figures.example().sample(500, seed=1)).result_
    with pytest.raises(tamis.SettingError, match="those of search='node', not of 'sieve'"):
        figures.steps(other)
