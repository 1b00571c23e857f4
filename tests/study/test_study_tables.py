"""The tables that studies draw: graphs, families, published networks and public tables."""

import hashlib
from importlib.util import find_spec

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from study.families import FAMILIES, GRAPHS, Drawn, draw
from study.networks import published, read
from study.public import PUBLIC, halves, in_levels, packaged, public


def parents(drawn: Drawn, name: str) -> pd.DataFrame:
    return drawn.frame[sorted(drawn.graph.predecessors(name))]


def regressed(drawn: Drawn, name: str) -> pd.Series:
    given = np.column_stack([parents(drawn, name), np.ones(len(drawn.frame))])
    return drawn.frame[name] - given @ np.linalg.lstsq(given, drawn.frame[name])[0]


@pytest.mark.parametrize("m", [1, 2])
@pytest.mark.parametrize("graph", GRAPHS)
def test_graphs_are_dags_of_the_expected_size(graph, m):
    drawn = [draw("mod", nodes=40, rows=5, seed=k, graph=graph, m=m).graph for k in range(30)]
    assert all(nx.is_directed_acyclic_graph(one) and len(one) == 40 for one in drawn)
    edges = [one.number_of_edges() for one in drawn]
    if graph == "er":
        assert abs(np.mean(edges) - 60) < 4 * np.sqrt(60 / 30)
    else:
        degree = m if graph.startswith("sf") else 1
        assert set(edges) == {40 * degree - degree * (degree + 1) // 2}
        assert graph.startswith("tree") or max(max(dict(g.out_degree).values()) for g in drawn) == m


@pytest.mark.parametrize(
    ("graph", "share"),
    [("tree", 0.25), ("tree-by-label", 1 / 3), ("sf", 0.5), ("sf-igraph", 2 / 3)],
)
def test_two_edges_of_three_nodes_meet_as_often_as_the_construction_says(graph, share):
    drawn = [draw("mod", nodes=3, rows=2, seed=k, graph=graph).graph for k in range(600)]
    met = np.mean([max(dict(one.in_degree).values()) == 2 for one in drawn])
    assert abs(met - share) < 0.07


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_draws(family):
    drawn, again, other = (draw(family, nodes=12, rows=200, seed=k) for k in (1, 1, 2))
    pd.testing.assert_frame_equal(drawn.frame, again.frame)
    assert nx.utils.graphs_equal(drawn.graph, again.graph)
    assert not drawn.frame.equals(other.frame)
    assert list(drawn.frame) == list(drawn.graph) == sorted(drawn.graph)
    assert drawn.frame.nunique().min() > 1
    assert all(one.isalpha() for one in drawn.frame.select_dtypes(object).to_numpy().flat)
    assert np.isfinite(drawn.frame.select_dtypes("number")).all(axis=None)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_share_of_missing_cells_is_as_asked_and_the_rest_stays(family):
    whole, gaps = (draw(family, nodes=10, rows=1000, seed=3, missing=one) for one in (0, 0.3))
    assert nx.utils.graphs_equal(whole.graph, gaps.graph)
    missing = gaps.frame.isna()
    assert abs(missing.to_numpy().mean() - 0.3) < 0.03
    for name, column in gaps.frame.items():
        assert column.dropna().tolist() == whole.frame[name][~missing[name]].tolist()
        assert column.dtype == ("Int64" if whole.frame[name].dtype.kind == "i" else column.dtype)
    assert draw(family, nodes=5, rows=9, seed=1, missing=1).frame.count().min() == 1


def test_a_seed_gives_the_same_table_for_ever():
    drawn = draw("mod", nodes=8, rows=100, seed=7)
    said = drawn.frame.to_csv(index=False) + repr(sorted(drawn.graph.edges))
    assert hashlib.sha256(said.encode()).hexdigest()[:16] == "17de050d5b167a9d"


@pytest.mark.parametrize("p", [0.2, 0.4])
@pytest.mark.parametrize("family", ["mod", "add"])
def test_noise_of_mod_and_add_is_that_of_the_paper(family, p):
    drawn = draw(family, nodes=12, rows=4000, seed=5, p=p)
    for name in drawn.graph:
        rest = drawn.frame[name] - parents(drawn, name).sum(axis=1)
        z = 1 - rest % 2 if family == "mod" else rest
        assert set(z) == {0, 1}
        assert abs(z.mean() - p) < 5 * np.sqrt(p * (1 - p) / 4000)


@pytest.mark.parametrize(("family", "least"), [("gaussian", 0.5), ("equal-noise", 1.0)])
def test_noise_of_numbers_has_the_deviation_that_is_said(family, least):
    drawn = draw(family, nodes=15, rows=5000, seed=2)
    deviations = [regressed(drawn, name).std() for name in drawn.graph]
    assert 0.95 * least < min(deviations) <= max(deviations) < 1.05 / least


def test_a_parent_of_app_c7_is_uncorrelated_with_its_child():
    drawn = draw("unfaithful", nodes=99, rows=20_000, seed=4)
    child = next(one for one in drawn.graph if drawn.graph.out_degree(one) == 0)
    z = next(one for one in drawn.graph if drawn.graph.out_degree(one) == 2)
    assert drawn.graph.has_edge(z, child)
    correlations = drawn.frame.corr()[child].drop(child)
    assert abs(correlations[z]) < 4 / np.sqrt(20_000)
    assert correlations.drop(z).min() > 0.3


@pytest.mark.parametrize("name", ["asia", "alarm"])
def test_tables_of_published_networks_have_the_frequencies_of_the_network(name):
    if find_spec("pgmpy") is None:
        pytest.skip("the networks are in the wheel of pgmpy 1.1.0")
    network, drawn = read(name), published(name, 20_000, 1)
    assert nx.is_isomorphic(drawn.graph, network.graph)
    found = [one.value_counts(normalize=True) for _, one in drawn.frame.items()]
    families = zip(network.tables, network.parents, range(len(network.names)), strict=True)
    factors = [part for table, given, k in families for part in (table, [*given, k])]
    for k, own in enumerate(network.levels):
        shares = np.einsum(*factors, [k], optimize="greedy")
        true = pd.Series(shares, list(map(str, own)))
        assert min(one.sub(true, fill_value=0).abs().max() for one in found) < 0.015


def test_what_is_not_there_is_refused_with_what_to_do():
    with pytest.raises(ValueError, match="no family 'gausian'; there are logistic"):
        draw("gausian", nodes=5, rows=5, seed=1)
    with pytest.raises(ModuleNotFoundError, match="pip install no_such_package"):
        packaged("no_such_package", "table.csv")


@pytest.mark.parametrize("name", PUBLIC)
def test_public_tables_are_read_whole_and_in_levels(name):
    try:
        frame = public(name, cut=False)
    except ModuleNotFoundError as missing:
        pytest.skip(str(missing))
    assert 60 <= len(frame) <= 30_000
    assert 4 <= frame.shape[1] <= 40
    assert frame.nunique().min() > 1
    levels = public(name, cut=True)
    assert (levels.isna() == frame.isna()).all(axis=None)
    assert all(isinstance(one, str) for one in levels.to_numpy()[levels.notna().to_numpy()])
    first, second = halves(frame, 3)
    assert len(first) == len(frame) // 2
    rows = pd.util.hash_pandas_object
    assert sorted([*rows(first, False), *rows(second, False)]) == sorted(rows(frame, False))


def test_levels_are_about_equal_and_what_ties_leave_is_halved():
    numbers = pd.Series(np.arange(90.0))
    assert set(in_levels(numbers).value_counts()) == {30}
    mostly = in_levels(numbers.where(numbers > 59, 0))
    assert dict(mostly.value_counts()) == {"low": 60, "middle": 15, "high": 15}
