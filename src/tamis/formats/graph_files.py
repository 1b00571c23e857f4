"""Graphs as CSV, GraphML, DOT and BIF: which names each holds, and how it is written.

CSV and GraphML are read here too, and BIF by `tamis.network`; DOT is for Graphviz to read.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from xml.parsers import expat

from tamis.errors import FileFormatError
from tamis.formats.graph import FileGraph, GraphParts, decoded, is_unicode
from tamis.network import BayesianNetwork
from tamis.network.bif import render as bif_text
from tamis.result import Edge, Result

COLUMNS = (
    "parent", "child", "gain", "p_value", "step", "gain_given_rest", "entropy_gap", "warrant",
    "direction_probability",
)  # fmt: skip

ENDS = (("parent", "child"), ("from", "to"), ("source", "target"), ("cause", "effect"))
"""What the columns of a list of edges may be called, in small letters."""

holds_csv = is_unicode


def render_csv(result: Result) -> bytes:
    """The header and one line for each edge; floats can be read back exactly."""
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    writer.writerow(COLUMNS)
    for edge in result.edges:
        numbers = (
            float(edge.gain),
            float(edge.p_value),
            int(edge.step),
            float(edge.gain_given_rest),
            float(edge.entropy_gap),
            edge.warrant,
            float(edge.direction_probability),
        )
        writer.writerow((edge.parent, edge.child, *numbers))
    return text.getvalue().encode()


def parse_csv(content: bytes) -> FileGraph:
    """The graph in a list of edges; an edge that is listed in both directions is undirected.

    Columns without edges are not in such a list. Raises ``FileFormatError``.
    """
    reader = csv.reader(io.StringIO(decoded(content), newline=""), strict=True)
    parts = GraphParts()
    try:
        ends = _ends([title.strip().lower() for title in next(reader)])
        for row in reader:
            # The csv module gives an empty line as a row of nothing.
            if row:
                parts.add_arrow(*(_cell(row, place, reader.line_num) for place in ends))
    except csv.Error as error:
        raise FileFormatError(f"line {reader.line_num} is not CSV ({error})") from error
    return parts.graph(names_all=False)


def _ends(titles: list[str]) -> tuple[int, int]:
    for tail, head in ENDS:
        if tail in titles and head in titles:
            return titles.index(tail), titles.index(head)
    raise FileFormatError(
        "a list of edges begins with a line that names its columns parent and child, and this "
        f"begins with {', '.join(titles[:5])}"
    )


def _cell(row: list[str], place: int, line: int) -> str:
    if place >= len(row) or not row[place].strip():
        raise FileFormatError(f"line {line} names no two ends of an edge")
    return row[place]


MOST_XML = 2**26
"""Bytes of GraphML beyond which a file is refused."""
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def holds_graphml(name: str) -> bool:
    """Whether XML 1.0 can hold a name: most control characters it cannot, even escaped."""
    return _NOT_XML.search(name) is None


def render_graphml(result: Result) -> bytes:
    """Nodes with layer, conditional entropy and kind, edges with their numbers."""
    # Imported here because only this format needs it.
    import networkx as nx

    content = io.BytesIO()
    # Not generate_graphml: it cuts names at exotic line separators.
    nx.write_graphml_xml(result.graph, content)
    return content.getvalue()


def parse_graphml(content: bytes) -> FileGraph:
    """The graph in a GraphML file, as networkx reads it; its names are the identifiers of nodes.

    Raises ``FileFormatError``, also for edges of several ends or of both kinds.
    """
    _require_plain_xml(content)
    import networkx as nx

    try:
        graph = nx.read_graphml(io.BytesIO(content), node_type=_identifier)  # type: ignore[call-overload]
    # networkx does not check what a key declares, nor how deep groups are nested.
    except (nx.NetworkXError, LookupError, ValueError, AttributeError, RecursionError) as error:
        raise FileFormatError(f"networkx does not read it ({error})") from error
    parts = GraphParts()
    parts.add_nodes(graph.nodes)
    for tail, head in graph.edges():
        (parts.add_arrow if graph.is_directed() else parts.add_line)(tail, head)
    return parts.graph()


def _require_plain_xml(content: bytes) -> None:
    """Refuse what is no XML, or too much, or defines entities, or holds more than one graph."""
    if len(content) > MOST_XML:
        raise FileFormatError(f"it has {len(content):,} bytes; at most {MOST_XML:,} are read")
    graphs = 0

    def start(element: str, _: object) -> None:
        nonlocal graphs
        graphs += element.rpartition(" ")[2] == "graph"

    def refuse(*_: object) -> None:
        raise FileFormatError("it has a document type of its own, which GraphML needs not")

    parser = expat.ParserCreate(namespace_separator=" ")
    parser.StartElementHandler = start
    parser.StartDoctypeDeclHandler = refuse
    try:
        parser.Parse(content, True)
    except (expat.ExpatError, LookupError) as error:  # LookupError: an encoding nobody knows
        raise FileFormatError(f"it is not XML ({error})") from error
    if graphs != 1:
        raise FileFormatError(f"it holds {graphs} graphs, and one is needed")


def _identifier(value: str | None) -> str:
    if not value:
        raise ValueError("a node or an end of an edge has no name")
    return value


STYLES = {"given": "bold", "entropy": "dashed", "none": "dotted"}
"""Graphviz's names for the lines of `tamis.result.LOOKS` that are not solid. It has no line of
dashes and dots, so that what follows from knowledge is bold."""


def holds_dot(name: str) -> bool:
    """Whether DOT can hold a name: no text of Graphviz goes beyond a NUL."""
    return "\0" not in name and is_unicode(name)


def render_dot(result: Result) -> bytes:
    """Nodes with conditional entropy and kind, edges with their numbers and lines."""
    return "\n".join(_lines(result)).encode()


def quoted(name: str) -> str:
    """A name as an identifier of DOT; different names stay different."""
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + escaped.replace("\n", "\\n").replace("\r", "\\r") + '"'


def _lines(result: Result) -> Iterator[str]:
    yield "digraph tamis {"
    for name in result.names:
        kind = "" if result.kinds is None else f", kind={result.kinds[name]}"
        entropy = _number(result.entropies[name])
        yield f"  {quoted(name)} [{_label(name)}entropy={entropy}{kind}];"
    for layer in (layer for layer in result.layers if len(layer) > 1):
        yield "  { rank=same; " + " ".join(f"{quoted(name)};" for name in layer) + " }"
    for edge in result.edges:
        yield f"  {quoted(edge.parent)} -> {quoted(edge.child)} [{_numbers(edge)}];"
    yield "}\n"


def _label(name: str) -> str:
    if "&" not in name and "\r" not in name:
        return ""
    # \r would align the line to the right.
    plain = name.replace("&", "&amp;").replace("\r\n", "\n").replace("\r", "\n")
    return f"label={quoted(plain)}, "


def _numbers(edge: Edge) -> str:
    look = f", style={STYLES[edge.warrant]}" if edge.warrant in STYLES else ""
    return (
        f"gain={_number(edge.gain)}, p_value={_number(edge.p_value)}, step={edge.step}, "
        f"gain_given_rest={_number(edge.gain_given_rest)}, "
        f"entropy_gap={_number(edge.entropy_gap)}, warrant={edge.warrant}, "
        f"direction_probability={_number(edge.direction_probability)}{look}"
    )


def _number(value: float) -> str:
    # Quoted: a bare numeral of DOT has no exponent.
    return f'"{float(value)!r}"'


BIF_ENDING = ".bif"
_IMPOSSIBLE = frozenset('"\n\r')


def holds_bif(text: str) -> bool:
    """Whether BIF can hold a name or a label: no quotation mark, no line break."""
    return _IMPOSSIBLE.isdisjoint(text) and is_unicode(text)


def render_bif(network: BayesianNetwork) -> bytes:
    """The whole file; ``SettingError`` if BIF cannot hold a name or a label."""
    return bif_text(network).encode()
