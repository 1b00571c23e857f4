"""DOT, GraphML and CSV give other programs the same edges between the same names."""

from __future__ import annotations

import csv
import io
import re

import networkx as nx
import pytest
from hypothesis import given, settings
from made_results import names_of, results, xml_characters

from tamis.formats import graph_files
from tamis.result import LOOKS

QUOTED = r'"((?:[^"\\]|\\.)*)"'
NODE = re.compile(rf"  {QUOTED} \[(?:label={QUOTED}, )?entropy={QUOTED}(?:, kind=(\w+))?\];")
EDGE = re.compile(
    rf"  {QUOTED} -> {QUOTED} \[gain={QUOTED}, p_value={QUOTED}, "
    rf"step=(\d+), gain_given_rest={QUOTED}, entropy_gap={QUOTED}, "
    rf"warrant=(\w+), direction_probability={QUOTED}(?:, style=(\w+))?\];"
)
STYLES = {"given": "bold", "equivalence": None, "entropy": "dashed", "none": "dotted"}
RANK = re.compile(rf"  \{{ rank=same; (?:{QUOTED}; )+\}}")

dot_names = names_of(xml_characters).filter(graph_files.holds_dot)
xml_names = names_of(xml_characters)


def unquoted(text):
    meant = {"n": "\n", "r": "\r"}
    return re.sub(r"\\(.)", lambda found: meant.get(found[1], found[1]), text)


def read_dot(content):
    """Nodes and edges of a file that holds nothing but what tamis writes."""
    first, *lines, last, empty = content.decode().split("\n")
    assert (first, last, empty) == ("digraph tamis {", "}", "")
    nodes = [found for found in map(NODE.fullmatch, lines) if found]
    edges = [found for found in map(EDGE.fullmatch, lines) if found]
    ranks = [line for line in lines if RANK.fullmatch(line)]
    assert len(nodes) + len(edges) + len(ranks) == len(lines)
    return nodes, edges


@given(results(dot_names))
@settings(deadline=None, max_examples=60)
def test_dot_holds_every_name_and_edge(result):
    nodes, edges = read_dot(graph_files.render_dot(result))
    assert [unquoted(node[1]) for node in nodes] == list(result.names)
    assert [node[4] for node in nodes] == [(result.kinds or {}).get(name) for name in result.names]
    assert [(unquoted(edge[1]), unquoted(edge[2])) for edge in edges] == [
        (edge.parent, edge.child) for edge in result.edges
    ]
    assert [float(edge[3]) for edge in edges] == [edge.gain for edge in result.edges]
    assert [(float(edge[7]), edge[8], float(edge[9])) for edge in edges] == [
        (edge.entropy_gap, edge.warrant, edge.direction_probability) for edge in result.edges
    ]
    assert [edge[10] for edge in edges] == [STYLES[edge.warrant] for edge in result.edges]


def test_lines_that_are_dashed_in_pictures_are_not_solid_in_dot():
    assert set(graph_files.STYLES) == {warrant for warrant, look in LOOKS.items() if look.dash}
    assert len(set(graph_files.STYLES.values())) == len(graph_files.STYLES)


@pytest.mark.parametrize(
    ("name", "label"),
    [("&lt;", "&amp;lt;"), ("a & b", "a &amp; b"), ("a\rb", r"a\nb"), ("a\r\nb", r"a\nb")],
)
def test_dot_labels_what_graphviz_would_take_apart(name, label):
    assert graph_files._label(name) == f'label="{label}", '


def test_dot_puts_the_nodes_of_a_layer_side_by_side(result):
    assert b'{ rank=same; "hail"; "rain"; }' in graph_files.render_dot(result)


@given(results(xml_names))
@settings(deadline=None, max_examples=60)
def test_graphml_holds_every_name_and_edge_with_its_numbers(result):
    graph = nx.read_graphml(io.BytesIO(graph_files.render_graphml(result)))
    assert set(graph.nodes) == set(result.names)
    assert set(graph.edges) == set(result.graph.edges)
    assert dict(graph.nodes(data="kind", default=None)) == {
        name: (result.kinds or {}).get(name) for name in result.names
    }
    for edge in result.edges:
        numbers = graph.edges[edge.parent, edge.child]
        assert numbers["gain"] == edge.gain
        assert numbers["p_value"] == edge.p_value
        assert numbers["step"] == edge.step
        assert numbers["entropy_gap"] == edge.entropy_gap
        assert numbers["warrant"] == edge.warrant
        assert numbers["direction_probability"] == edge.direction_probability


@pytest.mark.parametrize("name", ["nul\0", "bell\a", "escape\x1b", "\ufffe", "\ud800"])
def test_graphml_knows_which_names_xml_cannot_hold(name):
    assert not graph_files.holds_graphml(name)


@given(results())
@settings(deadline=None, max_examples=60)
def test_csv_holds_every_edge_with_all_digits(result):
    text = graph_files.render_csv(result).decode()
    header, *rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    assert tuple(header) == graph_files.COLUMNS
    told = [(*row[:2], *map(float, row[2:7]), row[7], float(row[8])) for row in rows]
    assert told == [
        (
            edge.parent,
            edge.child,
            edge.gain,
            edge.p_value,
            edge.step,
            edge.gain_given_rest,
            edge.entropy_gap,
            edge.warrant,
            edge.direction_probability,
        )
        for edge in result.edges
    ]


def test_csv_quotes_words_and_not_numbers(result):
    assert graph_files.render_csv(result).decode().split("\n")[1] == (
        '"rain","lawn",0.2,1e-20,1,0.2,0.28,"equivalence",0.97'
    )
