"""Graphs come back from every format that tamis writes, and from files of others."""

from __future__ import annotations

import warnings

import networkx as nx
import pytest
from hypothesis import given, settings
from made_results import names_of, results, xml_characters

import tamis
from tamis.errors import FileFormatError, TamisError
from tamis.formats import graph_files, load_graph, save
from tamis.network import BayesianNetwork

# Graphviz knows no other line breaks than these; a reader of XML turns \r into \n.
dot_names = names_of().filter(graph_files.holds_dot)
xml_names = names_of(xml_characters)


def arrows_of(result):
    return {(edge.parent, edge.child) for edge in result.edges}


@given(results(dot_names))
@settings(deadline=None, max_examples=80)
def test_dot_comes_back_with_every_name_and_arrow(result):
    graph = graph_files.parse_dot(graph_files.render_dot(result))
    assert set(graph.names) == set(result.names)
    assert graph.arrows == arrows_of(result)
    assert not graph.lines


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
    for ending in (".json", ".dot", ".graphml", ".csv"):
        save(result, tmp_path / f"r{ending}")
        assert load_graph(tmp_path / f"r{ending}").arrows == arrows_of(result)


@pytest.mark.parametrize("ending", [".bif", ".bif.gz"])
def test_the_graph_of_a_network_is_read(tmp_path, ending):
    network = BayesianNetwork.example("orchard")
    network.write(tmp_path / f"n{ending}")
    graph = load_graph(tmp_path / f"n{ending}")
    assert graph.names == network.names
    assert graph.arrows == set(network.graph.edges)


@pytest.mark.parametrize(
    ("text", "arrows", "lines"),
    [
        ("digraph { a -> b -> c }", {("a", "b"), ("b", "c")}, set()),
        ("strict DiGraph G { a -> {b; c} }", {("a", "b"), ("a", "c")}, set()),
        ("graph { a -- b }", set(), {("a", "b")}),
        ("digraph { b -> a [dir=none, label=<<b>x</b>>] }", set(), {("a", "b")}),
        ("digraph { a -> b [dir=back] }", {("b", "a")}, set()),
        ("digraph { edge [dir=none] a -> b }", set(), {("a", "b")}),
        ("digraph { a -> b; b -> a }", set(), {("a", "b")}),
        ('digraph { "a" + "b" -> c:port:n // end\n /* x */ }', {("ab", "c")}, set()),
        (
            "# made by x\ndigraph { rankdir=LR; node [shape=box]; 1 -> -2.5; }",
            {("1", "-2.5")},
            set(),
        ),
        ("digraph { subgraph cluster_0 { label=x; a } -> b }", {("a", "b")}, set()),
        ('digraph { "\\N" -> "a\\\nb" }', {("\\N", "ab")}, set()),
    ],
)
def test_dot_files_of_others_are_read(text, arrows, lines):
    graph = graph_files.parse_dot(text.encode())
    assert (graph.arrows, graph.lines) == (arrows, lines)


def test_dot_files_agree_with_pydot():
    with warnings.catch_warnings():
        # pydot uses names that pyparsing has given up.
        warnings.simplefilter("ignore")
        pydot = pytest.importorskip("pydot")
        parser = pytest.importorskip("pydot.dot_parser")
    text = 'digraph { a -> "b c" -> d; e; subgraph s { f -> g } }'
    (outside,) = parser.parse_dot_data(text)
    theirs = {
        (one.get_source().strip('"'), one.get_destination().strip('"'))
        for part in (outside, *outside.get_subgraphs())
        for one in part.get_edges()
    }
    graph = graph_files.parse_dot(text.encode())
    assert graph.arrows == theirs
    assert isinstance(outside, pydot.Dot)
    assert graph.names == ("a", "b c", "d", "e", "f", "g")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "it is empty"),
        ("digraph { a -> b", "it ends before the graph does"),
        ("digraph", "it ends before the graph does"),
        ("tree { a }", "does not begin with digraph or graph"),
        ("digraph { a -> }", "stands where a name should"),
        ("digraph { a -- b }", "asks for the other"),
        ("digraph { a -> a }", "edge from 'a' to itself"),
        ("digraph { a -> b [dir=both] }", "neither an arrow nor an undirected edge"),
        ("digraph { a } digraph", "stands behind the graph's end"),
        ("digraph { <b>x</b> }", "stands where a name should"),
        ("digraph { a [label=<x] }", "does not end"),
        ("digraph { a ? b }", "line 1 has '\\?'"),
        ("digraph {" + "{" * 60 + "a" + "}" * 61, "nested more than 50 deep"),
        ('digraph { "a', "line 1 has"),
    ],
)
def test_what_is_no_dot_is_refused(text, why):
    with pytest.raises(FileFormatError, match=why):
        graph_files.parse_dot(text.encode())


def test_graphml_of_networkx_is_read_whatever_its_directions():
    graph = nx.Graph([("a", "b")])
    graph.add_node("c")
    read = graph_files.parse_graphml("\n".join(nx.generate_graphml(graph)).encode())
    assert (read.names, read.lines) == (("a", "b", "c"), {("a", "b")})


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "it is not XML"),
        ("<svg/>", "begins with <svg>"),
        ("<graphml></graphml>", "holds no <graph>"),
        ("<graphml><graph><node/></graph></graphml>", "a <node> has no id"),
        ("<graphml><graph/><graph/></graphml>", "several graphs"),
        ("<graphml><graph><node id='a'/><hyperedge/></graph></graphml>", "several ends"),
        (
            "<graphml><graph><node id='a'/><edge source='a' target='b'/></graph></graphml>",
            "names 'b', which is not a node",
        ),
        ("<graphml><graph><node id='a'/>", "it is not XML"),
        (
            "<!DOCTYPE x [<!ENTITY a 'b'>]><graphml><graph><node id='&a;'/></graph></graphml>",
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
    for ending in (".json", ".dot", ".graphml"):
        path = tmp_path / f"r{ending}"
        save(result, path)
        whole = path.read_bytes().rstrip()
        for end in range(0, len(whole), 7):
            path.write_bytes(whole[:end])
            with pytest.raises(FileFormatError, match="is not a"):
                load_graph(path)


def test_a_file_that_is_not_there_is_refused():
    with pytest.raises(TamisError, match=r"There is no file 'nowhere\.dot'"):
        load_graph("nowhere.dot")
    with pytest.raises(TamisError, match=r"There is no file 'nowhere\.json'"):
        tamis.load("nowhere.json")
