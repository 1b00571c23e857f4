"""Comparisons of graphs: agreement, distances, changes, files and pictures."""

from __future__ import annotations

import csv
import io
import json
from itertools import combinations

import hypothesis.strategies as st
import naive_comparison as naive
import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings

import tamis
from tamis.comparison import Compared, compare_graphs
from tamis.comparison.model import changes_between
from tamis.comparison.picture import kinds_in, layout_of
from tamis.errors import FileFormatError, SettingError

NAMES = "abcd"
CHAIN = {"a": [], "b": ["a"], "c": ["b"]}
FORK = {"a": ["b"], "b": [], "c": ["b"]}
COLLIDER = {"a": [], "b": ["a", "c"], "c": []}


@st.composite
def mixed_graphs(draw, names=NAMES):
    pairs = combinations(names, 2)
    kinds = {pair: draw(st.sampled_from([None, ">", "<", "-"])) for pair in pairs}
    return {pair: kind for pair, kind in kinds.items() if kind is not None}


def networkx_of(graph, names=NAMES):
    made = nx.DiGraph()
    made.add_nodes_from(names)
    for (a, b), kind in graph.items():
        made.add_edges_from([(a, b)] if kind == ">" else [(b, a)] if kind == "<" else [])
        made.add_edges_from([(a, b), (b, a)] if kind == "-" else [])
    return made


def kind_of(graph, a, b):
    """What a naive graph has from a to b."""
    kind = graph.get((a, b) if a < b else (b, a))
    turned = {">": "<", "<": ">"}
    kind = kind if a < b else turned.get(kind, kind)
    return {">": "forward", "<": "backward", "-": "undirected"}.get(kind)


@given(st.lists(mixed_graphs(), min_size=2, max_size=4))
@settings(deadline=None, max_examples=80)
def test_agreement_counts_every_edge_of_every_graph(graphs):
    found = compare_graphs([networkx_of(graph) for graph in graphs])
    assert {frozenset((e.parent, e.child)) for e in found.agreement} == {
        frozenset(pair) for graph in graphs for pair in graph
    }
    for edge in found.agreement:
        kinds = [kind_of(graph, edge.parent, edge.child) for graph in graphs]
        assert edge.graphs == len(graphs)
        assert edge.edge == len(kinds) - kinds.count(None)
        assert (edge.forward, edge.backward, edge.undirected) == tuple(
            kinds.count(kind) for kind in ("forward", "backward", "undirected")
        )
        assert edge.forward >= edge.backward
    assert [e.edge for e in found.agreement] == sorted(e.edge for e in found.agreement)[::-1]


@given(mixed_graphs(), mixed_graphs(), st.sets(st.sampled_from(NAMES), min_size=1))
@settings(deadline=None, max_examples=150)
def test_distances_are_those_of_brute_force_over_the_shared_columns(one, other, kept):
    second = naive.within(other, kept)
    found = compare_graphs({"one": networkx_of(one), "other": networkx_of(second, sorted(kept))})
    expected = naive.distance(
        naive.within(naive.cpdag(one, NAMES), kept), naive.cpdag(second, kept)
    )
    assert found.distances == {("one", "other"): expected, ("other", "one"): expected}
    assert set(found.shared) == kept
    lacking = tuple(name for name in NAMES if name not in kept)
    assert found.lacking == ({"other": lacking} if lacking else {})


@given(mixed_graphs(), mixed_graphs(), st.sets(st.sampled_from(NAMES), min_size=1))
@settings(deadline=None, max_examples=150)
def test_every_edge_has_one_change_and_it_is_the_right_one(before, after, kept):
    after = naive.within(after, kept)
    found = compare_graphs([networkx_of(before), networkx_of(after, sorted(kept))]).changes()
    told = [(pair, kind) for kind in found.__slots__ for pair in getattr(found, kind)]
    assert {frozenset(pair) for pair, _ in told} == {frozenset(p) for p in {*before, *after}}
    assert len(told) == len({*before, *after})
    for (a, b), kind in told:
        was, now = kind_of(before, a, b), kind_of(after, a, b)
        expected = {
            "apart": not {a, b} <= kept,
            "appeared": was is None and now in ("forward", "undirected"),
            "vanished": now is None and was in ("forward", "undirected"),
            "turned": (was, now) == ("backward", "forward"),
            "directed": (was, now) == ("undirected", "forward"),
            "undirected": (was, now) == ("forward", "undirected"),
            "same": was == now and was in ("forward", "undirected"),
        }
        assert expected[kind]
    assert found.n == sum(kind not in ("same", "apart") for _, kind in told)


def test_changes_the_other_way_round_are_the_opposite():
    there = changes_between(*compare_graphs([CHAIN, COLLIDER]).graphs)
    back = changes_between(*reversed(compare_graphs([CHAIN, COLLIDER]).graphs))
    assert there.turned == (("c", "b"),)
    assert back.turned == (("b", "c"),)
    assert there.same == back.same == (("a", "b"),)


def test_graphs_of_one_class_are_at_no_distance_and_still_have_turned_arrows():
    found = compare_graphs([CHAIN, FORK, COLLIDER])
    first, second, third = (graph.name for graph in found.graphs)
    assert found.distances[first, second] == 0
    assert found.distances[first, third] == 2
    assert found.changes().turned == (("b", "a"),)
    assert found.mean_distance(third) == 2.0


def test_the_truth_is_held_against_every_graph():
    found = compare_graphs({"chain": CHAIN, "collider": COLLIDER}, truth=FORK)
    assert found.to_truth["chain"].shd == 1
    assert found.to_truth["chain"].cpdag == 0
    assert found.to_truth["collider"].cpdag == 2
    assert found.to_truth["collider"].skeleton_f1 == 1.0
    assert [edge.truth for edge in found.agreement if {edge.parent, edge.child} == {"a", "b"}] == [
        "backward"
    ]
    assert found.rows()[0]["cpdag_distance"] == 0


def test_an_edge_that_only_the_truth_has_is_listed_as_in_no_graph():
    found = compare_graphs([{"a": [], "b": []}], truth={"a": ["b"], "b": []})
    (edge,) = found.agreement
    assert (edge.parent, edge.child, edge.edge, edge.truth) == ("b", "a", 0, "forward")


def test_an_edge_is_counted_among_the_graphs_that_have_both_columns():
    found = compare_graphs([CHAIN, {"a": [], "b": ["a"]}])
    edges = {(edge.parent, edge.child): edge for edge in found.agreement}
    assert (edges["a", "b"].edge, edges["a", "b"].graphs) == (2, 2)
    assert (edges["b", "c"].edge, edges["b", "c"].graphs) == (1, 1)


def test_equal_names_are_numbered():
    assert [g.name for g in compare_graphs([CHAIN, FORK, COLLIDER]).graphs] == [
        "dict", "dict (2)", "dict (3)",
    ]  # fmt: skip


def test_the_representation_is_short_and_says_what_there_is():
    failed = Compared("slow", problem="stopped")
    found = tamis.Comparison((*compare_graphs([CHAIN, FORK]).entries, failed))
    assert repr(found) == (
        "<Comparison of 2 graphs, 1 without a graph: 3 columns, 2 pairs with an edge, 2 in all "
        "graphs>"
    )


def test_an_entry_without_a_graph_is_a_row_and_takes_no_part():
    failed = Compared("slow", seconds=3.0, problem="stopped")
    found = tamis.Comparison((*compare_graphs([CHAIN, FORK]).entries, failed))
    assert found.rows()[2] == {
        "name": "slow", "n_edges": None, "seconds": 3.0, "problem": "stopped",
        "mean_distance": None,
    }  # fmt: skip
    assert {edge.graphs for edge in found.agreement} == {2}


def test_columns_that_only_one_graph_names_can_be_isolated_in_a_list_of_edges(tmp_path):
    (tmp_path / "edges.csv").write_text("parent,child\na,b\n")
    found = compare_graphs([CHAIN, tmp_path / "edges.csv"])
    assert found.lacking == {}
    assert found.changes().vanished == (("b", "c"),)


@pytest.mark.parametrize(
    ("graphs", "why"),
    [
        ([CHAIN], "at least two graphs"),
        ([CHAIN, {"x": []}], "no column in common: 'dict' has a, b, c"),
        ([CHAIN, np.eye(3)], "edge from 0 to itself"),
        ([CHAIN, np.zeros((3, 3))], "whose columns have no names"),
        ([CHAIN, 3], "a value of type int"),
        ([CHAIN, tamis.TAM()], "has not learned yet"),
    ],
)
def test_what_cannot_be_compared_is_refused(graphs, why):
    with pytest.raises(SettingError, match=why):
        compare_graphs(graphs)


def test_a_name_that_no_graph_has_is_refused():
    with pytest.raises(SettingError, match="has no 'x'; it has 'dict', 'dict \\(2\\)'"):
        compare_graphs([CHAIN, FORK]).changes("dict", "x")


def test_files_hold_what_the_comparison_says(tmp_path):
    found = compare_graphs({'say "hi"': CHAIN, "=1+1": COLLIDER}, truth=FORK)
    found.save(tmp_path / "c.json", tmp_path / "c.csv")
    written = json.loads((tmp_path / "c.json").read_text())
    assert written == json.loads(json.dumps(found.to_dict()))
    assert written["distances"] == [{"graphs": ['say "hi"', "=1+1"], "cpdag_distance": 2}]
    rows = list(csv.DictReader(io.StringIO((tmp_path / "c.csv").read_text())))
    assert [row['in say "hi"'] for row in rows] == [row['in say "hi"'] for row in found.edge_rows()]


def test_files_are_written_all_or_none(tmp_path):
    found = compare_graphs([CHAIN, FORK])
    for name, why in (("c.gif", "must say the format"), ("no/c.csv", "no directory")):
        with pytest.raises(SettingError, match=why):
            found.save(tmp_path / "c.json", tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_comparison_without_any_edge_can_be_written_and_drawn(tmp_path):
    found = compare_graphs([{"a": [], "b": []}, {"a": [], "b": []}])
    found.save(tmp_path / "c.csv", tmp_path / "c.svg")
    assert (tmp_path / "c.csv").read_text() == '"parent","child"\n'


@given(st.lists(mixed_graphs(), min_size=2, max_size=3))
@settings(deadline=None, max_examples=40)
def test_every_edge_of_every_graph_has_a_route_in_the_drawing(graphs):
    found = compare_graphs([networkx_of(graph) for graph in graphs])
    layout = layout_of(found)
    assert set(layout.boxes) == set(NAMES)
    routed = {frozenset(pair) for pair in layout.routes}
    for graph, made in zip(graphs, found.graphs, strict=True):
        kinds = kinds_in(found, made)
        assert {frozenset(pair) for pair in kinds} <= routed
        missing = {pair for pair, kind in kinds.items() if kind == "less"}
        assert missing == set(graphs[0]) - set(graph)


def test_panels_have_every_column_at_the_same_place():
    pytest.importorskip("matplotlib")
    figure = compare_graphs({"one": CHAIN, "$other$": COLLIDER}).plot()
    places = [{t.get_text(): t.get_position() for t in axes.texts} for axes in figure.axes]
    assert places[0] == places[1]
    assert set(places[0]) == {"a", "b", "c"}
    assert [axes.get_title() for axes in figure.axes] == [
        "one\n2 edges",
        "$other$\n2 edges, 1 turned",
    ]


def test_hostile_names_are_drawn_as_text(tmp_path):
    pytest.importorskip("matplotlib")
    names = ["<script>alert(1)</script>", "$x^2$", "two\nlines", "a & b"]
    graph = {name: names[:k] for k, name in enumerate(names)}
    compare_graphs({"<b>$1$": graph, "2": {name: [] for name in names}}).save(tmp_path / "c.svg")
    text = (tmp_path / "c.svg").read_text()
    assert "<script" not in text
    assert "&lt;script&gt;" in text
    assert "&lt;b&gt;$1$" in text


def test_the_same_comparison_gives_the_same_bytes(tmp_path):
    pytest.importorskip("matplotlib")
    found = compare_graphs([CHAIN, COLLIDER])
    for name in ("c.svg", "c.png", "c.pdf"):
        found.save(tmp_path / name)
        first = (tmp_path / name).read_bytes()
        found.save(tmp_path / name)
        assert (tmp_path / name).read_bytes() == first


def test_without_matplotlib_a_picture_is_refused_with_the_extra(tmp_path, monkeypatch):
    monkeypatch.setattr("tamis.drawing.pictures.find_spec", lambda name: None)
    with pytest.raises(SettingError, match=r"tamis\[plot\]"):
        compare_graphs([CHAIN, FORK]).save(tmp_path / "c.json", tmp_path / "c.svg")
    assert list(tmp_path.iterdir()) == []


def test_a_path_that_is_no_graph_is_refused_by_its_ending():
    with pytest.raises(FileFormatError, match=r"one of \.json, \.graphml, \.csv, \.bif"):
        compare_graphs([CHAIN, "graph.txt"])
