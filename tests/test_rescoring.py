"""Change an arrow and score again: the costs, against brute force and closed forms; refusals."""

from __future__ import annotations

import math
from itertools import permutations
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tamis
from tamis.constants import constants
from tamis.errors import SettingError
from tamis.metrics.equivalence import to_cpdag
from tamis.network import GaussianNetwork
from tamis.rescoring import with_edges
from tamis.settings import Settings

EXAMPLE = Path(__file__).parents[1] / "examples" / "sprinkler.csv"


@pytest.fixture(scope="module")
def model(sprinkler):
    return sprinkler


def lines(n: int = 300, seed: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    x = rng.normal(0, 2, n)
    y = x + rng.normal(0, 1, n)
    return pd.DataFrame({"x": x, "y": y, "z": 2 - y + rng.normal(0, 1.5, n)})


# The numbers


def test_the_score_before_is_the_one_that_the_search_compared(model):
    found = model.with_edges(EXAMPLE, remove=[("rain", "lawn")])
    assert found.before == pytest.approx(model.ranking_[0].score, rel=1e-12)
    numbers = tamis.TAM(n_jobs=1).fit(lines())
    (edge, *_) = numbers.graph_.edges
    found = numbers.with_edges(lines(), remove=[edge])
    assert found.before == pytest.approx(numbers.ranking_[0].score, rel=1e-12)


def test_the_cost_is_the_sum_over_the_changed_families(model):
    found = model.with_edges(
        EXAMPLE, add=[("season", "lawn")], remove=[("rain", "lawn")], turn=[("road", "traffic")]
    )
    assert {one.child for one in found.families} == {"lawn", "road", "traffic"}
    assert found.cost == pytest.approx(sum(one.cost for one in found.families), abs=1e-8)
    assert found.cost == found.before - found.after > 0
    assert set(found.parents["lawn"]) == {"sprinkler", "season"}
    assert found.parents["traffic"] == ()
    assert set(found.parents["road"]) == {"rain", "traffic"}
    assert found.n_rows == 2000


def test_there_and_back_costs_nothing(model):
    settings = Settings.from_dict(model.result_.settings)
    there = model.with_edges(EXAMPLE, remove=[("rain", "lawn")])
    back = with_edges(there.parents, settings, EXAMPLE, add=[("rain", "lawn")])
    assert back.cost == pytest.approx(-there.cost, rel=1e-12)
    assert back.after == pytest.approx(there.before, rel=1e-12)


def test_the_cost_of_a_linear_gaussian_arrow_is_that_of_bic_at_its_price():
    rows = lines()
    model = tamis.TAM(n_jobs=1, information="gaussian").fit(rows)
    (edge, *_) = model.graph_.edges
    found = model.with_edges(rows, remove=[edge])
    parents = {name: list(given) for name, given in model.parents_.items()}

    def bic(graph):
        n, total = len(rows), 0.0
        for child, given_ in graph.items():
            design = np.column_stack([np.ones(n), rows[given_]])
            rest = rows[child] - design @ np.linalg.lstsq(design, rows[child], rcond=None)[0]
            fit = -0.5 * n * (math.log(2 * math.pi * np.mean(rest**2)) + 1)
            total += fit - 0.5 * constants.moment_price * math.log(n) * len(given_)
        return total

    without = {**parents, edge[1]: [one for one in parents[edge[1]] if one != edge[0]]}
    assert found.cost == pytest.approx(bic(parents) - bic(without) - math.log(3), rel=1e-6)


@st.composite
def dags(draw, names=("a", "b", "c", "d")):
    order = draw(st.permutations(names))
    return {
        child: tuple(p for p in order[:i] if draw(st.booleans())) for i, child in enumerate(order)
    }


def table_of(kind: str) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(7)
    if kind == "gaussian":
        values = rng.normal(size=(80, 4)) @ rng.normal(size=(4, 4))
        return {name: values[:, k] for k, name in enumerate("abcd")}
    levels = rng.integers(0, 3, (80, 4))
    return {name: np.where(levels[:, k] == 2, levels[:, 0], levels[:, k]) for k, name in
            enumerate("abcd")}  # fmt: skip


@given(dags(), st.sampled_from(["counts", "gaussian"]), st.data())
def test_equivalent_graphs_score_alike(parents, information, data):
    graph = nx.DiGraph()
    graph.add_nodes_from(parents)
    graph.add_edges_from((p, child) for child, given_ in parents.items() for p in given_)
    turnable = [e for e in graph.edges if nx.is_directed_acyclic_graph(turned(graph, e))]
    if not turnable:
        return
    edge = data.draw(st.sampled_from(turnable))
    same = set(to_cpdag(graph).edges) == set(to_cpdag(turned(graph, edge)).edges)
    found = with_edges(
        parents, Settings(information=information), table_of(information), turn=[edge]
    )
    if same:
        assert found.cost == pytest.approx(0.0, abs=1e-6)
        assert "no better and no worse" in str(found)
    else:
        assert abs(found.cost) > 1e-6


def turned(graph, edge):
    other = graph.copy()
    other.remove_edge(*edge)
    other.add_edge(*reversed(edge))
    return other


def test_the_learned_graph_is_not_improved_by_any_single_removal(model):
    for edge in model.graph_.edges:
        assert model.with_edges(EXAMPLE, remove=[edge]).cost > 0


def test_mixed_columns_are_scored_too():
    rows = lines(400).assign(g=np.where(np.arange(400) % 2, "u", "v"))
    rows["z"] += np.where(rows["g"] == "u", 3.0, 0.0)
    model = tamis.TAM(n_jobs=1).fit(rows)
    assert model.graph_.has_edge("g", "z") or model.graph_.has_edge("z", "g")
    edge = ("g", "z") if model.graph_.has_edge("g", "z") else ("z", "g")
    found = model.with_edges(rows, remove=[edge])
    assert found.cost > 10
    fitted = [
        GaussianNetwork.fit({c: list(p) for c, p in parents.items()}, rows).log_likelihood(rows)
        for parents in (model.result_.parents, found.parents)
    ]
    assert fitted[0] > fitted[1]


# Where it can be asked


def test_results_saved_runs_and_models_answer_alike(model, tmp_path):
    model.save(str(tmp_path / "run.json"))
    change = {"turn": [("season", "rain")], "add": [("season", "lawn")]}
    first = model.with_edges(EXAMPLE, **change)
    assert model.result_.with_edges(EXAMPLE, **change) == first
    assert tamis.load(tmp_path / "run.json").with_edges(EXAMPLE, **change) == first


def test_rows_that_stay_in_blocks_are_scored_there(model):
    in_blocks = tamis.TAM("sequential", memory="1GB").fit(EXAMPLE)
    (edge, *_) = in_blocks.graph_.edges
    found = in_blocks.with_edges(EXAMPLE, remove=[edge])
    again = tamis.TAM("sequential").fit(EXAMPLE).with_edges(EXAMPLE, remove=[edge])
    assert found.cost == pytest.approx(again.cost, rel=1e-12)


def test_a_table_with_other_rows_or_more_columns_will_do(model):
    frame = pd.read_csv(EXAMPLE)
    change = {"remove": [("rain", "lawn")]}
    more = frame.assign(extra=frame["rain"])[[*reversed(frame.columns), "extra"]]
    assert model.with_edges(more, **change).cost == pytest.approx(
        model.with_edges(EXAMPLE, **change).cost, rel=1e-12
    )
    half = model.with_edges(frame[:1000], **change)
    assert half.n_rows == 1000
    with pytest.raises(SettingError, match="no column 'lawn', which the graph has"):
        model.with_edges(frame.drop(columns="lawn"), **change)


def test_weights_count_as_in_the_fit():
    rows = pd.DataFrame(table_of("counts"))
    weights = np.tile([1, 3], 40)
    model = tamis.TAM("sequential").fit(rows, sample_weight=weights)
    change = {"add": [next(e for e in permutations("abcd", 2) if acyclic_with(model, e))]}
    repeated = rows.loc[rows.index.repeat(weights)]
    assert model.with_edges(rows, sample_weight=weights, **change).cost == pytest.approx(
        model.with_edges(repeated, **change).cost, rel=1e-9
    )


def acyclic_with(model, edge):
    graph = model.graph_
    if graph.has_edge(*edge):
        return False
    graph.add_edge(*edge)
    return nx.is_directed_acyclic_graph(graph)


# What is said


def test_it_says_what_changed_what_it_costs_and_where(model):
    found = model.with_edges(EXAMPLE, remove=[("rain", "lawn")], add=[("season", "lawn")])
    text = str(found)
    assert text.startswith("With 'season' -> 'lawn'; without 'rain' -> 'lawn': ")
    assert f"{found.cost:.2f} nats worse" in text
    assert f"from {found.before:.2f} to {found.after:.2f} nats, on 2000 rows" in text
    assert "'lawn' given 'sprinkler', 'season'" in text
    assert repr(found) == f"<Rescored: 2 arrows changed, {found.cost:.2f} nats worse>"
    settings_ = Settings.from_dict(model.result_.settings)
    back = with_edges(found.parents, settings_, EXAMPLE, add=[("rain", "lawn")])
    assert "nats better" in repr(back)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"add": [("lawn", "season")]}, r"a cycle: 'lawn' → 'season' → .*'lawn'"),
        ({"add": [("rain", "lawn")]}, "arrow 'rain' -> 'lawn' is there already"),
        ({"add": [("rain", "rain")]}, "a cycle: 'rain' → 'rain'"),
        ({"remove": [("lawn", "rain")]}, "no arrow 'lawn' -> 'rain'; it points the other way"),
        ({"remove": [("season", "shoes")]}, "no arrow .* the parents of 'shoes' are: 'lawn'"),
        ({"turn": [("shos", "lawn")]}, "no column 'shos'; did you mean 'shoes'"),
        ({"turn": [("rain", "lawn")], "remove": [("rain", "lawn")]}, "removed and turned: do one"),
        ({"remove": [("rain", "lawn")] * 2}, "remove names the arrow 'rain' -> 'lawn' twice"),
        ({}, "name at least one arrow"),
        ({"add": "ab"}, "add must be a list of pairs"),
        ({"add": ["ab"]}, "add must hold pairs"),
        ({"add": [("a", "b", "c")]}, "pairs of names"),
        ({"turn": [(1, 2)]}, "pairs of names"),
        ({"turn": 5}, "turn must be a list of pairs"),
    ],
)
def test_what_cannot_be_changed_is_refused_by_name(model, change, said):
    with pytest.raises(SettingError, match=said):
        model.with_edges(EXAMPLE, **change)
