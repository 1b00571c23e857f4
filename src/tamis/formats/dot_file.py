"""The graph in the language of Graphviz, one row of the drawing for each layer.

DOT knows one escape inside quotes, ``\\"``, so a name that ends in a backslash cannot be
written as it is. Here every backslash is doubled and every line break becomes ``\\n``, which
Graphviz draws as the name itself; other readers show the doubled backslashes. Names that
Graphviz would take apart further (``&amp;`` is an entity to it) get a label of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from tamis.errors import FileFormatError
from tamis.formats.graph import FileGraph, GraphParts
from tamis.formats.text import decoded, is_unicode
from tamis.result import Edge, Result

STYLES = {"given": "bold", "entropy": "dashed", "none": "dotted"}
"""Graphviz's names for the lines of `tamis.result.LOOKS` that are not solid. It has no line of
dashes and dots, so that what follows from knowledge is bold."""


def holds(name: str) -> bool:
    """Whether DOT can hold a name: no text of Graphviz goes beyond a NUL."""
    return "\0" not in name and is_unicode(name)


def render(result: Result) -> bytes:
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


def parse(content: bytes) -> FileGraph:
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
