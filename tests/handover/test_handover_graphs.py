"""The graph reaches networkx, DoWhy, Graphviz, GraphML, CSV and JSON with every name intact."""

from __future__ import annotations

import re
import warnings
from dataclasses import replace
from pathlib import Path

import networkx as nx
import pandas as pd
import pytest
from hostile_tables import learned, names, outside, tables
from hypothesis import given, settings

import tamis
from tamis import handover
from tamis.errors import SettingError
from tamis.formats import graph_files
from tamis.tables import read_table

EXAMPLE = Path(__file__).parents[2] / "examples" / "sprinkler.csv"


@pytest.fixture(scope="module")
def result(sprinkler):
    return sprinkler.result_


def doubted(result):
    """The same result, its first direction open and the others not."""
    warrants = ("none", "given", "entropy", *["equivalence"] * len(result.edges))
    edges = zip(result.edges, warrants, strict=False)
    return replace(result, edges=tuple(replace(edge, warrant=one) for edge, one in edges))


def pairs(result):
    return {(edge.parent, edge.child) for edge in result.edges}


@given(tables())
def test_networkx_gets_names_levels_and_the_numbers_of_the_edges(table):
    result = learned(table)
    graph = handover.to_networkx(result)
    assert list(graph.nodes) == list(table.names)
    for name, labels in zip(table.names, table.levels, strict=True):
        got = graph.nodes[name]["levels"]
        assert [(type(label), label) for label in got] == [(type(one), one) for one in labels]
        assert graph.nodes[name]["entropy"] == result.entropies[name]
    assert set(graph.edges) == pairs(result)
    for edge in result.edges:
        attributes = graph.edges[edge.parent, edge.child]
        for name in ("gain", "entropy_gap", "warrant", "direction_probability"):
            assert attributes[name] == getattr(edge, name)


def test_there_are_edges_to_hand_over_and_each_call_gives_a_graph_of_its_own(result):
    graph = handover.to_networkx(result)
    assert graph.number_of_edges() == 7
    assert graph.nodes["season"]["levels"] == ("dry", "rainy")
    graph.clear()
    assert handover.to_networkx(result).number_of_edges() == 7


def test_a_measured_column_has_no_levels():
    rows = {"x": [i / 7 for i in range(40)], "y": [i * i / 3 for i in range(40)]}
    graph = handover.to_networkx(tamis.TAM(n_jobs=1).fit(rows).result_)
    assert graph.nodes["x"]["levels"] == ()


def test_most_of_the_strange_tables_have_edges_to_hand_over():
    found = []

    @given(tables())
    @settings(database=None, derandomize=True)
    def look(table):
        found.append(bool(learned(table).edges))

    look()
    assert sum(found) > 0.8 * len(found)


@given(tables())
def test_dowhy_gets_a_directed_graph_over_the_columns_and_nothing_it_could_mistake(table):
    """CausalModel tests for nx.DiGraph and writes 'observed' into the nodes itself."""
    result = learned(table)
    graph = handover.to_dowhy(result)
    assert type(graph) is nx.DiGraph
    assert nx.is_directed_acyclic_graph(graph)
    assert list(graph.nodes(data=True)) == [(name, {}) for name in table.names]
    assert set(graph.edges) == pairs(result)


def test_dowhy_draws_open_directions_dashed(result):
    doubtful = doubted(result)
    graph = handover.to_dowhy(doubtful)
    styles = {(parent, child): data for parent, child, data in graph.edges(data=True)}
    first = doubtful.edges[0]
    assert styles.pop((first.parent, first.child)) == {"style": "dashed"}
    assert set(map(str, styles.values())) == {"{}"}


def test_dowhy_gets_isolated_columns_too(result):
    alone = replace(result, edges=())
    assert list(handover.to_dowhy(alone).nodes) == list(result.names)


def unquoted(text):
    """An identifier of DOT as the name it stands for."""
    meant = {"n": "\n", "r": "\r"}
    return re.sub(r"\\(.)", lambda found: meant.get(found[1], found[1]), text[1:-1])


def read_by_pydot(content):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        graph = outside("pydot").graph_from_dot_data(content.decode())[0]
    nodes = [unquoted(node.get_name()) for node in graph.get_nodes()]
    edges = {
        (unquoted(edge.get_source()), unquoted(edge.get_destination())): edge.get_attributes()
        for edge in graph.get_edges()
    }
    return nodes, edges


def plain_or_broken(name):
    """Line breaks aside no control characters: pydot takes some of those for blanks."""
    return graph_files.holds_dot(name) and re.sub("[\n\r]", "", name).isprintable()


@given(tables(names=names.filter(plain_or_broken)))
def test_pydot_reads_the_same_graph_from_dot(table):
    result = learned(table)
    nodes, edges = read_by_pydot(graph_files.render_dot(result))
    assert nodes == list(table.names)
    assert edges.keys() == pairs(result)
    for edge in result.edges:
        assert float(edges[edge.parent, edge.child]["gain"].strip('"')) == edge.gain


@given(table=tables(names=names.filter(graph_files.holds_graphml)))
def test_files_hold_the_same_names_for_networkx_pandas_and_tamis(table, tmp_path_factory):
    result = learned(table)
    folder = tmp_path_factory.mktemp("files")
    paths = [folder / f"x.{ending}" for ending in ("json", "graphml", "csv")]
    handover.save(result, None, *paths)
    assert tamis.load(paths[0]) == result
    graph = nx.read_graphml(paths[1])
    assert set(graph.nodes) == set(table.names)
    assert set(graph.edges) == pairs(result)
    # Unless told otherwise pandas takes a column called nan for a missing value.
    # Before 3.0 its own way of reading a number may be wrong in the last bit.
    texts = {"parent": str, "child": str, "gain": str}
    edges = pd.read_csv(paths[2], dtype=texts, keep_default_na=False)
    assert set(zip(edges["parent"], edges["child"], strict=True)) == pairs(result)
    assert [float(gain) for gain in edges["gain"]] == [edge.gain for edge in result.edges]


def test_json_keeps_the_types_of_labels(tmp_path):
    table = {"text": ["1", "0"] * 20, "number": [1, 0] * 20, "truth": [True, False] * 20}
    result = tamis.TAM(n_jobs=1).fit(table).result_
    handover.save(result, table, tmp_path / "x.json")
    back = tamis.load(tmp_path / "x.json").levels
    assert {name: type(labels[0]) for name, labels in back.items()} == {
        "text": str,
        "number": int,
        "truth": bool,
    }


@pytest.mark.parametrize(("ending", "name"), [("graphml", "bell\a"), ("dot", "nul\0")])
def test_a_name_that_a_format_cannot_hold_is_refused_before_the_run(ending, name, tmp_path):
    table = read_table({name: [0, 1] * 5, "y": [0, 1] * 5})
    with pytest.raises(SettingError, match="cannot hold the column name"):
        handover.check_outputs([tmp_path / f"x.{ending}"], table)
