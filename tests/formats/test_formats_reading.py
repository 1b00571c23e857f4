"""Graphs come back from JSON, GraphML, CSV and BIF, of tamis and of others."""

from __future__ import annotations

import networkx as nx
import pytest
from hypothesis import given, settings
from made_results import names_of, results, xml_characters

import tamis
from tamis.errors import FileFormatError, TamisError
from tamis.formats import graph_files, load_graph, save
from tamis.network import BayesianNetwork

xml_names = names_of(xml_characters)


def arrows_of(result):
    return {(edge.parent, edge.child) for edge in result.edges}


@given(results(xml_names))
@settings(deadline=None, max_examples=80)
def test_graphml_comes_back_with_every_name_and_arrow(result):
    graph = graph_files.parse_graphml(graph_files.render_graphml(result))
    assert set(graph.names) == set(result.names)
    assert graph.arrows == arrows_of(result)


@given(results(names_of()))
@settings(deadline=None, max_examples=80)
def test_csv_comes_back_with_every_arrow(result):
    graph = graph_files.parse_csv(graph_files.render_csv(result))
    assert graph.arrows == arrows_of(result)
    assert set(graph.names) == {name for arrow in arrows_of(result) for name in arrow}
    assert not graph.names_all


def test_every_format_is_read_by_its_ending(result, tmp_path):
    for ending in (".json", ".graphml", ".csv"):
        save(result, tmp_path / f"r{ending}")
        assert load_graph(tmp_path / f"r{ending}").arrows == arrows_of(result)


@pytest.mark.parametrize("ending", [".bif", ".bif.gz"])
def test_the_graph_of_a_network_is_read(tmp_path, ending):
    network = BayesianNetwork.example("orchard")
    network.write(tmp_path / f"n{ending}")
    graph = load_graph(tmp_path / f"n{ending}")
    assert graph.names == network.names
    assert graph.arrows == set(network.graph.edges)


def test_more_graphml_than_any_graph_needs_is_refused(monkeypatch):
    monkeypatch.setattr(graph_files, "MOST_XML", 20)
    with pytest.raises(FileFormatError, match="21 bytes; at most 20"):
        graph_files.parse_graphml(b"<graphml/>" + b" " * 11)


def test_a_document_type_is_refused_in_any_encoding():
    text = "<?xml version='1.0' encoding='utf-16'?><!DOCTYPE graphml><graphml><graph/></graphml>"
    with pytest.raises(FileFormatError, match="document type"):
        graph_files.parse_graphml(text.encode("utf-16"))


def test_graphml_of_networkx_is_read_whatever_its_directions():
    graph = nx.Graph([("a", "b")])
    graph.add_node("c")
    read = graph_files.parse_graphml("\n".join(nx.generate_graphml(graph)).encode())
    assert (read.names, read.lines) == (("a", "b", "c"), {("a", "b")})


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "it is not XML"),
        ("<svg/>", "holds 0 graphs"),
        ("<svg><graph/></svg>", "networkx does not read it"),
        ("<graphml></graphml>", "holds 0 graphs"),
        ("<graphml><graph><node/></graph></graphml>", "a node .* has no name"),
        ("<graphml><graph><edge source='a'/></graph></graphml>", "an end of an edge has no name"),
        ("<graphml><graph/><graph/></graphml>", "holds 2 graphs"),
        ("<graphml><graph><node id='a'/><hyperedge/></graph></graphml>", "hyperedges"),
        ("<graphml><key id='k' attr.name='n' attr.type='x'/><graph/></graphml>", "not read it"),
        (
            "<graphml><graph><node id='a'/><edge source='a' target='a'/></graph></graphml>",
            "edge from 'a' to itself",
        ),
        ("<graphml><graph><node id='a'/>", "it is not XML"),
        (
            "<!DOCTYPE x [<!ENTITY a 'b'>]><graphml><graph><node id='&a;'/></graph></graphml>",
            "document type of its own",
        ),
        (
            "<!DOCTYPE x [<!ENTITY a 'b'><!ENTITY c '&a;&a;'>]><graphml>&c;</graphml>",
            "document type of its own",
        ),
    ],
)
def test_what_is_no_graphml_is_refused(text, why):
    with pytest.raises(FileFormatError, match=why):
        graph_files.parse_graphml(text.encode())


@pytest.mark.parametrize(
    ("titles", "row"),
    [
        ("parent,child", "a,b"),
        ("From,TO", "a,b"),
        ("source,target,weight", "a,b,1"),
        ("x,effect,cause", "0,b,a"),
    ],
)
def test_lists_of_edges_may_call_their_ends_by_several_names(titles, row):
    assert graph_files.parse_csv(f"{titles}\n{row}\n".encode()).arrows == {("a", "b")}


def test_an_edge_listed_in_both_directions_is_undirected():
    graph = graph_files.parse_csv(b"parent,child\nb,a\na,b\nc,a\n\n")
    assert (graph.arrows, graph.lines) == ({("c", "a")}, {("a", "b")})


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "it is empty"),
        (b"\xff\xfe", "not UTF-8"),
        (b"rain,lawn\n0,1\n", "begins with rain, lawn"),
        (b"parent,child\na\n", "line 2 names no two ends"),
        (b"parent,child\na, \n", "line 2 names no two ends"),
        (b'parent,child\n"a,b\n', "line 2 is not CSV"),
        (b"parent,child\na,a\n", "edge from 'a' to itself"),
    ],
)
def test_what_is_no_list_of_edges_is_refused(content, why):
    with pytest.raises(FileFormatError, match=why):
        graph_files.parse_csv(content)


def test_cut_off_files_are_refused_or_hold_less(result, tmp_path):
    # A list of edges may end after any line; the others say where they end.
    for ending in (".json", ".graphml"):
        path = tmp_path / f"r{ending}"
        save(result, path)
        whole = path.read_bytes().rstrip()
        for end in range(0, len(whole), 7):
            path.write_bytes(whole[:end])
            with pytest.raises(FileFormatError, match="is not a"):
                load_graph(path)


def test_a_file_that_is_not_there_is_refused():
    with pytest.raises(TamisError, match=r"There is no file 'nowhere\.graphml'"):
        load_graph("nowhere.graphml")
    with pytest.raises(TamisError, match=r"There is no file 'nowhere\.json'"):
        tamis.load("nowhere.json")
