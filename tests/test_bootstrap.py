"""Confidence by resampling: shares that add up, files that go on, calls that are refused."""

from __future__ import annotations

import math

import networkx as nx
import numpy as np
import pytest

import tamis
from tamis import bootstrap
from tamis.bootstrap import Confidence

CSV = "examples/sprinkler.csv"


@pytest.fixture(scope="module")
def model(sprinkler) -> tamis.TAM:
    return sprinkler


@pytest.fixture(scope="module")
def confidence(model) -> Confidence:
    return model.bootstrap(24)


def test_shares_are_those_of_the_graphs_of_the_resamples(model, confidence):
    """Against the plain way: draw the rows, fit a model on them, count."""
    from tamis.bootstrap import _rows
    from tamis.tables import read_table

    table = read_table(CSV)
    arrows: dict[tuple[str, str], int] = {}
    layers: dict[tuple[str, int], int] = {}
    for i in range(24):
        rows = _rows(table.n_rows, 1, i, "half")
        assert len(rows) == len(set(rows)) == table.n_rows // 2
        columns = {
            name: np.array(table.levels[k], dtype=object)[table.codes[k, rows]].tolist()
            for k, name in enumerate(table.names)
        }
        found = tamis.TAM(max_boundary=4).fit(columns)
        for arrow in found.graph_.edges:
            arrows[arrow] = arrows.get(arrow, 0) + 1
        for j, layer in enumerate(found.layers_, start=1):
            for name in layer:
                layers[name, j] = layers.get((name, j), 0) + 1
    assert confidence.edges == {arrow: count / 24 for arrow, count in arrows.items()}
    assert {
        (name, j): share
        for name, shares in confidence.layers.items()
        for j, share in shares.items()
    } == {where: count / 24 for where, count in layers.items()}


def test_drawing_with_replacement_draws_as_many_rows():
    from tamis.bootstrap import _rows

    rows = _rows(1000, 1, 0, "rows")
    assert len(rows) == 1000
    assert 580 < len(set(rows.tolist())) < 680
    assert rows.max() < 1000


def test_no_column_has_many_more_parents_in_a_resample_than_in_the_graph(monkeypatch):
    from tamis import bootstrap

    drawn = []
    kept = bootstrap._resample
    monkeypatch.setattr(
        bootstrap, "_resample", lambda *given: drawn.append(kept(*given)) or drawn[-1]
    )
    model = tamis.TAM(n_jobs=1).fit(CSV)
    most = max(map(len, model.parents_.values()))
    for more in (0, -1):
        monkeypatch.setattr(bootstrap, "MORE_PARENTS", more)
        model.bootstrap(8, scheme="rows")
        sizes = [sum(child == k for _, child in one.edges) for one in drawn for k in range(7)]
        assert max(sizes) == most + more
        drawn.clear()


def test_what_is_certain_is_sure(model, confidence):
    assert confidence.n == 24
    for arrow in model.graph_.edges:
        assert confidence.edges[arrow] > 0.9
    for shares in confidence.layers.values():
        assert sum(shares.values()) == pytest.approx(1)
    averaged = confidence.graph(0.5)
    assert set(averaged.edges) == set(model.graph_.edges)
    assert averaged.edges["rain", "lawn"]["probability"] == confidence.edges["rain", "lawn"]
    assert confidence.skeleton("lawn", "rain") == confidence.skeleton("rain", "lawn") > 0.9
    assert confidence.direction("rain", "lawn") == pytest.approx(1)
    assert math.isnan(confidence.direction("season", "shoes"))


@pytest.mark.parametrize("scheme", ["half", "rows"])
def test_neither_jobs_nor_the_order_of_columns_play_a_part(scheme, monkeypatch):
    # However soon they are done, all resamples but the first few are drawn by other processes.
    monkeypatch.setattr(bootstrap, "WORTH_PROCESSES", 0.0)
    table = tamis.simulate.draw("er", "mod", d=6, n=300, seed=3, edges=6).data
    turned = dict(reversed(table.items()))
    one = tamis.TAM(n_jobs=1).fit(table).bootstrap(20, seed=4, scheme=scheme)
    two = tamis.TAM(n_jobs=2).fit(turned).bootstrap(20, seed=4, scheme=scheme)
    assert one.edges == two.edges
    assert one.layers == two.layers
    other = tamis.TAM(n_jobs=1).fit(table).bootstrap(20, seed=5, scheme=scheme)
    assert other.edges != one.edges


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"n": 0}, "n must be a whole number from 1 to 1,000,000"),
        ({"n": 2.5}, "n must be"),
        ({"n": True}, "n must be"),
        ({"seed": -1}, "seed must be"),
        ({"scheme": "jackknife"}, "'half' .* or 'rows'"),
        ({"search": "best"}, "search must be one of"),
    ],
)
def test_odd_arguments_are_refused(model, wrong, words):
    with pytest.raises(tamis.SettingError, match=words):
        model.bootstrap(**{"n": 2, **wrong})


def test_names_and_thresholds_are_checked(confidence):
    with pytest.raises(tamis.SettingError, match="no column 'snow'"):
        confidence.skeleton("snow", "rain")
    with pytest.raises(tamis.SettingError, match="threshold must be"):
        confidence.graph(0)


def test_the_averaged_graph_has_no_cycle():
    names = ("a", "b", "c")
    circle = Confidence(
        names, 3, 1, "node", "half", {("a", "b"): 0.9, ("b", "c"): 0.8, ("c", "a"): 0.7}, {}
    )
    assert set(circle.graph(0.5).edges) == {("a", "b"), ("b", "c")}
    assert nx.is_directed_acyclic_graph(circle.graph(0.01))


@pytest.mark.parametrize("search", ["auto", "sequential", "layer"])
def test_other_searches_and_numbers_can_be_resampled(search):
    rng = np.random.default_rng(0)
    a = rng.normal(size=400)
    b = a + 2 * rng.normal(size=400)
    model = tamis.TAM(search, n_jobs=1).fit({"a": a, "b": b, "c": b + 3 * rng.normal(size=400)})
    sure = model.bootstrap(10)
    assert sure.edges["a", "b"] > 0.8
    assert set(sure.graph(0.5).edges) == set(model.graph_.edges)


def test_knowledge_holds_in_every_resample():
    table = tamis.simulate.draw("er", "mod", d=6, n=200, seed=1, edges=8).data
    names = sorted(table)
    known = {"tiers": [names[3:], names[:3]], "required": [(names[4], names[0])]}
    sure = tamis.TAM(knowledge=known, n_jobs=1).fit(table).bootstrap(16)
    assert sure.edges[names[4], names[0]] == 1
    assert not any(parent in names[:3] and child in names[3:] for parent, child in sure.edges)
