"""The graph reaches networkx, DoWhy, Graphviz, GraphML, CSV and JSON with every name intact."""

from __future__ import annotations

import re
import warnings
from dataclasses import replace

import networkx as nx
import pandas as pd
import pytest
from hostile_tables import learned, names, outside, tables
from hypothesis import given

import tamis
from tamis import handover
from tamis.formats import graph_files


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
