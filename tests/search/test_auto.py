"""The default: the best of several searches, refined; one answer with its reasons."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import tamis
from tamis.metrics import shd
from tamis.search.auto import REFINED, RESTS_ON, TRIED
from tamis.simulate import draw


def alarm(n: int = 5000, seed: int = 0) -> pd.DataFrame:
    """Three coins and a rare alarm that needs two of them: the alarm is the least uncertain."""
    rng = np.random.default_rng(seed)
    coins = rng.integers(0, 2, (3, n))
    rings = rng.random(n) < np.array([0.01, 0.02, 0.2, 0.5])[coins.sum(axis=0)]
    return pd.DataFrame({"rings": rings, **dict(zip("abc", coins, strict=True))})


def tree(seed: int = 1):
    return draw("tree", "mod", d=12, n=2000, seed=seed, p=0.2)


def test_every_search_is_ranked_and_the_answer_comes_first():
    model = tamis.TAM().fit(tree().data)
    best, *others = model.ranking_
    assert {run.search for run in model.ranking_} - {REFINED} == set(TRIED)
    assert best.chosen
    assert not any(run.chosen for run in others)
    assert [run.score for run in others] == sorted((run.score for run in others), reverse=True)
    assert best.rests_on == RESTS_ON[best.search]
    assert best.n_edges == model.graph_.number_of_edges()
    assert model.result_.search == best.search
    assert shd(model.graph_, tree().graph) == 0


def test_the_answer_is_that_of_the_chosen_search_with_the_same_settings():
    made = tree(2)
    model = tamis.TAM(alpha=0.1).fit(made.data)
    assert model.result_.search in TRIED
    alone = tamis.TAM(
        model.result_.search, alpha=0.1, look_ahead=model.result_.settings["look_ahead"]
    ).fit(made.data)
    assert set(alone.graph_.edges) == set(model.graph_.edges)
    assert alone.layers_ == model.layers_


def test_the_likelihood_overrules_the_entropies_where_they_mislead():
    model = tamis.TAM().fit(alarm())
    true = {(coin, "rings") for coin in "abc"}
    assert set(tamis.TAM("sequential").fit(alarm()).graph_.edges) != true
    assert set(model.graph_.edges) == true
    assert model.result_.search == REFINED
    assert model.trace_.moves[0].before == "rings"
    # All equivalent graphs share the collider, so its directions have support all the same.
    assert all(edge.identified for edge in model.result_.edges)
    assert "moved before rings" in model.explain(model.trace_.moves[0].name)
    assert [sorted(layer) for layer in model.layers_] == [["a", "b", "c"], ["rings"]]


def test_directions_that_nothing_supports_are_marked():
    """The edge between z and w can be turned, and the entropies have been overruled elsewhere."""
    table = alarm()
    rng = np.random.default_rng(3)
    table["z"] = rng.integers(0, 2, len(table))
    table["w"] = table.z ^ (rng.random(len(table)) < 0.3)
    model = tamis.TAM().fit(table)
    assert model.result_.search == REFINED
    marks = nx.get_edge_attributes(model.graph_, "identified")
    turnable = {edge for edge in model.cpdag_.edges if edge[::-1] in model.cpdag_.edges}
    assert turnable
    for edge, supported in marks.items():
        assert supported == (edge not in turnable)


def test_a_lead_within_noise_is_no_support():
    rng = np.random.default_rng(4)
    x = rng.integers(0, 2, 2000)
    y = x ^ (rng.random(2000) < 0.1)
    model = tamis.TAM().fit({"x": x, "y": y})  # both are fair coins
    assert [edge.identified for edge in model.result_.edges] == [False]
    clear = tamis.TAM().fit({"x": rng.random(2000) < 0.1, "y": y})
    assert clear.graph_.number_of_edges() == 0
    rare = rng.random(2000) < 0.1
    copy = rare ^ (rng.random(2000) < 0.1)
    assert [e.identified for e in tamis.TAM().fit({"x": rare, "y": copy}).result_.edges] == [True]


def test_the_cpdag_holds_both_directions_of_what_can_be_turned():
    table = alarm()
    rng = np.random.default_rng(3)
    table["z"] = rng.random(len(table)) < 0.2
    table["w"] = table.z ^ (rng.random(len(table)) < 0.2)
    shared = set(tamis.TAM().fit(table).cpdag_.edges)
    assert shared == {(coin, "rings") for coin in "abc"} | {("z", "w"), ("w", "z")}


@pytest.mark.parametrize("model", ["mod", "add"])
def test_the_order_of_the_columns_plays_no_part(model):
    made = draw("er", model, d=8, n=800, seed=5, p=0.2, edges=10)
    table = pd.DataFrame(made.data)
    first = tamis.TAM().fit(table)
    other = tamis.TAM().fit(table[table.columns[::-1]])
    assert set(first.graph_.edges) == set(other.graph_.edges)
    assert first.ranking_ == other.ranking_


def test_sums_are_read_as_numbers_and_parities_as_levels():
    added = draw("er", "add", d=10, n=1000, seed=6, p=0.2, edges=20)
    model = tamis.TAM().fit(added.data)
    assert model.result_.settings["information"] == "gaussian"
    assert {run.information for run in model.ranking_} == {"counts", "gaussian"}
    assert shd(model.graph_, added.graph) == 0
    only = tamis.TAM(information="counts").fit(added.data)
    assert {run.information for run in only.ranking_} == {"counts"}
    parity = draw("er", "mod", d=10, n=1000, seed=6, p=0.2, edges=20)
    assert tamis.TAM().fit(parity.data).result_.settings["information"] == "counts"


def test_codes_that_are_no_numbers_are_counted():
    """Three colours coded 0, 1, 2 in an order that means nothing."""
    rng = np.random.default_rng(7)
    colour = rng.integers(0, 3, 3000)
    size = np.where(rng.random(3000) < 0.8, np.array([0, 2, 0])[colour], rng.integers(0, 3, 3000))
    model = tamis.TAM().fit({"colour": colour, "size": size})
    assert model.result_.settings["information"] == "counts"
    assert model.graph_.number_of_edges() == 1


def test_a_sum_of_parities_of_four_is_found_within_the_budget():
    made = draw("er", "mod", d=12, n=1000, seed=8, p=0.2, edges=24)
    model = tamis.TAM().fit(made.data)
    assert max(dict(made.graph.in_degree).values()) >= 4
    assert model.result_.settings["look_ahead"] >= 4
    assert shd(model.graph_, made.graph) <= 1


def test_alpha_is_the_level_of_the_whole_graph():
    model = tamis.TAM(alpha=0.02).fit(tree().data)
    rule = model.result_.settings["boundary_rule"]
    assert rule == {"rule": "permutation", "alpha": 0.02, "whole_graph": True}
    second = next(s for s in model.trace_.selections if s.name == model.order_[-1])
    step = (second.taken or (second.refused,))[0]
    before = (
        len(model.order_) - len(model.layers_[-1]) if model.result_.search != "sequential" else 11
    )
    assert step.threshold == pytest.approx(0.02 / 12 / before)  # of twelve nodes, and candidates


def test_false_parents_are_about_as_rare_as_alpha_says():
    """Every node is tested anew when the set of its candidates grows, about ln d times over."""
    rng = np.random.default_rng(9)
    false = [
        tamis.TAM(alpha=0.1).fit(rng.integers(0, 2, (500, 10))).graph_.number_of_edges()
        for _ in range(200)
    ]
    assert 0.08 < np.mean(false) < 0.1 * np.log(10) + 0.07


@pytest.mark.parametrize(
    ("parameters", "complaint"),
    [
        ({"boundary": "none"}, "always selects boundaries"),
        ({"backward": "together"}, "one at a time"),
        ({"alpha": 0.05, "boundary_rule": 0.01}, "alpha or boundary_rule"),
        ({"alpha": 0.05, "search": "reference"}, "fixed"),
        ({"alpha": 2}, "alpha must be"),
        ({"look_ahead": 7}, "look_ahead must be"),
        ({"information": "guess"}, "information must be"),
    ],
)
def test_what_has_no_meaning_is_refused(parameters, complaint):
    with pytest.raises(tamis.SettingError, match=complaint):
        tamis.TAM(**parameters).fit(alarm())


def test_a_result_of_auto_comes_back_from_its_file(tmp_path):
    model = tamis.TAM().fit(alarm())
    model.save(str(tmp_path / "run.json"))
    loaded = tamis.load(tmp_path / "run.json")
    assert loaded == model.result_
    assert loaded.search == REFINED


@pytest.mark.parametrize("kind", ["copy", "sum", "one-hot"])
def test_whole_numbers_that_depend_linearly_are_counted_and_said_so(kind):
    rng = np.random.default_rng(10)
    a, b = rng.integers(0, 4, (2, 500))
    third = {"copy": a, "sum": a + b, "one-hot": 3 - a}[kind]
    model = tamis.TAM().fit({"a": a, "b": b, "c": third})
    assert model.result_.settings["information"] == "counts"
    assert any("linear function" in note for note in model.result_.warnings)
    assert model.graph_.number_of_edges() >= 1


def test_looking_ahead_is_a_matter_of_counts():
    made = draw("er", "add", d=6, n=500, seed=11, p=0.2, edges=6)
    model = tamis.TAM(look_ahead=2).fit(made.data)
    assert model.result_.settings["information"] == "counts"
    assert model.result_.settings["look_ahead"] == 2


def test_columns_of_many_levels_take_no_more_room_than_their_rows():
    rng = np.random.default_rng(12)
    x = np.round(150 * rng.normal(size=(3, 3000))).astype(int)
    x[1] += x[0]
    model = tamis.TAM().fit(dict(zip("abc", x.astype(str), strict=True)))
    assert nx.is_directed_acyclic_graph(model.graph_)


def test_the_same_dag_stands_for_counts_that_were_not_searched():
    added = draw("er", "add", d=10, n=1000, seed=6, p=0.2, edges=20)
    ranking = tamis.TAM().fit(added.data).ranking_
    counted = [run for run in ranking if run.information == "counts"]
    assert [run.search for run in counted] == ["the same DAG"]
    assert "not searched" in counted[0].rests_on


def test_what_levels_are_called_plays_no_part():
    rng = np.random.default_rng(0)
    for _ in range(20):
        a, b = rng.integers(0, 3, (2, 400))
        c = np.where(rng.random(400) < 0.4, (a + b) % 3, rng.integers(0, 3, 400))
        found = [
            set(tamis.TAM().fit({k: [names[i] for i in v] for k, v in columns}).graph_.edges)
            for columns in [[("a", a), ("b", b), ("c", c)]]
            for names in ("xyz", "zyx", "yxz")
        ]
        assert found[0] == found[1] == found[2]


def test_whole_numbers_too_large_for_floats_are_counted():
    rng = np.random.default_rng(1)
    x = rng.integers(0, 3, 500)
    y = np.where(rng.random(500) < 0.8, x, rng.integers(0, 3, 500))
    model = tamis.TAM().fit({"x": x + 2**60, "y": y + 2**60})
    assert model.result_.settings["information"] == "counts"
    assert model.graph_.number_of_edges() == 1
