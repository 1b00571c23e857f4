"""Graphs as CSV, GraphML, DOT and BIF: which names each holds, and how it is written and read."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from itertools import pairwise
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
    """The graph in a GraphML file; its names are the identifiers of the nodes.

    Raises ``FileFormatError``, also for what may hold a graph within a node or an edge of several
    ends. Documents that define entities of their own are refused.
    """
    reader = _Reader()
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.StartDoctypeDeclHandler = reader.refuse_doctype
    try:
        parser.Parse(content, True)
    except (expat.ExpatError, LookupError) as error:  # LookupError: an encoding nobody knows
        raise FileFormatError(f"it is not XML ({error})") from error
    return reader.graph()


class _Reader:
    """Hears the elements of a document in turn."""

    def __init__(self) -> None:
        self._parts = GraphParts()
        self._ends: list[tuple[str, str, bool]] = []
        self._depth = 0
        self._graphs = 0
        self._directed = True

    def start(self, element: str, attributes: dict[str, str]) -> None:
        """An element begins."""
        kind = element.rpartition(" ")[2]
        if self._depth == 0 and kind != "graphml":
            raise FileFormatError(f"it begins with <{kind}> and not with <graphml>")
        self._depth += 1
        if kind == "graph":
            self._begin(attributes)
        elif kind == "node":
            self._parts.add_nodes([_needed(kind, "id", attributes)])
        elif kind == "edge":
            ends = (_needed(kind, name, attributes) for name in ("source", "target"))
            own = attributes.get("directed")
            directed = self._directed if own is None else own in ("true", "1")
            self._ends.append((*ends, directed))  # type: ignore[arg-type]
        elif kind == "hyperedge":
            raise FileFormatError("it has an edge of several ends, which no such graph has")

    def end(self, element: str) -> None:
        """An element ends."""
        self._depth -= 1

    def refuse_doctype(self, *_: object) -> None:
        """A document type can define entities, and no graph needs one."""
        raise FileFormatError("it has a document type of its own, which GraphML needs not")

    def graph(self) -> FileGraph:
        """What was heard."""
        if not self._graphs:
            raise FileFormatError("it holds no <graph>")
        known = set(self._parts.names)
        for source, target, directed in self._ends:
            for name in (source, target):
                if name not in known:
                    raise FileFormatError(f"an edge names {name!r}, which is not a node")
            (self._parts.add_arrow if directed else self._parts.add_line)(source, target)
        return self._parts.graph()

    def _begin(self, attributes: dict[str, str]) -> None:
        self._graphs += 1
        if self._graphs > 1:
            raise FileFormatError("it holds several graphs, and one is needed")
        self._directed = attributes.get("edgedefault", "directed") == "directed"


def _needed(kind: str, name: str, attributes: dict[str, str]) -> str:
    if not attributes.get(name):
        raise FileFormatError(f"a <{kind}> has no {name}")
    return attributes[name]


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


_TOKEN = re.compile(
    r"""(?P<blank>\s+|//[^\n]*|/\*.*?\*/|^\#[^\n]*)
      | (?P<quoted>"(?:[^"\\]|\\.)*")
      | (?P<html><)
      | (?P<mark>->|--|[{}\[\];,=:+])
      | (?P<word>[^\W\d]\w*|-?(?:\.\d+|\d+(?:\.\d*)?))""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_ESCAPES = {"\\": "\\", '"': '"', "n": "\n", "r": "\r"}
_DEEPEST = 50
"""Groups within groups beyond which a file is refused."""

Token = tuple[str, str]
"""What a piece of the text is, and what it says."""


def parse_dot(content: bytes) -> FileGraph:
    """The graph in a DOT file, of tamis or of others.

    Of attributes only ``dir`` counts: ``none`` is an undirected edge, ``back`` a turned one.
    Raises ``FileFormatError``.
    """
    return _Parser(list(_tokens(decoded(content)))).graph()


def _tokens(text: str) -> Iterator[Token]:
    place = 0
    while place < len(text):
        found = _TOKEN.match(text, place)
        if found is None:
            line = text.count("\n", 0, place) + 1
            raise FileFormatError(f"line {line} has {text[place]!r}, which no DOT file has there")
        place = found.end()
        kind = str(found.lastgroup)
        if kind == "html":
            place = _after_html(text, place)
        elif kind == "quoted":
            # A line that ends in a backslash goes on in the next.
            inner = found[0][1:-1].replace("\\\n", "")
            yield "name", re.sub(r"\\(.)", lambda one: _ESCAPES.get(one[1], one[0]), inner)
            continue
        if kind != "blank":
            yield kind, found[0]


def _after_html(text: str, place: int) -> int:
    """The place behind a label of HTML, which says nothing about the graph."""
    depth = 1
    while depth:
        if place == len(text):
            raise FileFormatError("a label of HTML does not end")
        depth += {"<": 1, ">": -1}.get(text[place], 0)
        place += 1
    return place


class _Parser:
    """Reads statements from the left to the right; what it cannot read it refuses."""

    def __init__(self, tokens: list[Token]) -> None:
        self._tokens = tokens
        self._place = 0
        self._found = GraphParts()
        self._default = "forward"
        """What ``edge [dir=...]`` has said about the edges that follow."""

    def graph(self) -> FileGraph:
        words = [text.lower() for _, text in self._tokens[:2]]
        if words[:1] == ["strict"]:
            self._place += 1
        kind = self._next()[1].lower()
        if kind not in ("graph", "digraph"):
            raise FileFormatError("it does not begin with digraph or graph")
        self._arrow = "->" if kind == "digraph" else "--"
        if self._peek()[1] != "{":
            self._name()
        self._expect("{")
        self._statements(0)
        if self._place < len(self._tokens):
            raise FileFormatError(f"{self._peek()[1]!r} stands behind the graph's end")
        return self._found.graph()

    def _peek(self) -> Token:
        if self._place >= len(self._tokens):
            raise FileFormatError("it ends before the graph does")
        return self._tokens[self._place]

    def _next(self) -> Token:
        token = self._peek()
        self._place += 1
        return token

    def _expect(self, mark: str) -> None:
        token = self._next()
        if token != ("mark", mark):
            raise FileFormatError(f"{token[1]!r} stands where {mark!r} should")

    def _at(self, *marks: str) -> bool:
        kind, text = self._peek()
        return kind == "mark" and text in marks

    def _name(self) -> str:
        kind, text = self._next()
        if kind not in ("name", "word"):
            what = "a label of HTML" if kind == "html" else repr(text)
            raise FileFormatError(f"{what} stands where a name should")
        while kind == "name" and self._place < len(self._tokens) and self._at("+"):
            self._next()
            kind, more = self._next()
            text += more
        return text

    def _statements(self, depth: int) -> list[str]:
        """What stands between braces; the nodes that are named there."""
        if depth > _DEEPEST:
            raise FileFormatError(f"its groups are nested more than {_DEEPEST} deep")
        named: list[str] = []
        while not self._at("}"):
            if self._at(";", ","):
                self._next()
            else:
                named += self._statement(depth)
        self._expect("}")
        return named

    def _statement(self, depth: int) -> list[str]:
        kind, text = self._peek()
        if kind == "word" and text.lower() in ("node", "edge", "graph"):
            self._next()
            told = self._attributes()
            if text.lower() == "edge":
                self._default = told.get("dir", self._default)
            return []
        ends = [self._end(depth)]
        if self._at("="):
            self._next()
            self._value()
            return []
        while self._at("->", "--"):
            mark = self._next()[1]
            if mark != self._arrow:
                raise FileFormatError(f"it has {mark!r}, where its first word asks for the other")
            ends.append(self._end(depth))
        told = self._attributes()
        named = [name for group in ends for name in group]
        self._found.add_nodes(named)
        for tails, heads in pairwise(ends):
            for tail in tails:
                for head in heads:
                    self._edge(tail, head, told.get("dir", self._default))
        return named

    def _end(self, depth: int) -> list[str]:
        """A node, or all nodes of a group."""
        kind, text = self._peek()
        if kind == "word" and text.lower() == "subgraph":
            self._next()
            if not self._at("{"):
                self._name()
        if self._at("{"):
            self._next()
            return self._statements(depth + 1)
        name = self._name()
        while self._at(":"):
            # A port says where a line ends at its node.
            self._next()
            self._name()
        return [name]

    def _attributes(self) -> dict[str, str]:
        told: dict[str, str] = {}
        while self._at("["):
            self._next()
            while not self._at("]"):
                if self._at(";", ","):
                    self._next()
                    continue
                name = self._name()
                if self._at("="):
                    self._next()
                    told[name] = self._value()
            self._expect("]")
        return told

    def _value(self) -> str:
        """The value of an attribute, which may be HTML."""
        if self._peek()[0] == "html":
            return self._next()[1]
        return self._name()

    def _edge(self, tail: str, head: str, direction: str) -> None:
        if self._arrow == "--" or direction == "none":
            self._found.add_line(tail, head)
        elif direction == "back":
            self._found.add_arrow(head, tail)
        elif direction == "forward":
            self._found.add_arrow(tail, head)
        else:
            raise FileFormatError(
                f"the edge between {tail!r} and {head!r} has dir={direction}, which is neither an "
                "arrow nor an undirected edge"
            )


BIF_ENDING = ".bif"
_IMPOSSIBLE = frozenset('"\n\r')


def holds_bif(text: str) -> bool:
    """Whether BIF can hold a name or a label: no quotation mark, no line break."""
    return _IMPOSSIBLE.isdisjoint(text) and is_unicode(text)


def render_bif(network: BayesianNetwork) -> bytes:
    """The whole file; ``SettingError`` if BIF cannot hold a name or a label."""
    return bif_text(network).encode()
