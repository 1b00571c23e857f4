"""The graph in the language of Graphviz, one row of the drawing for each layer.

DOT knows one escape inside quotes, ``\\"``, so a name that ends in a backslash cannot be
written as it is. Here every backslash is doubled and every line break becomes ``\\n``, which
Graphviz draws as the name itself; other readers show the doubled backslashes. Names that
Graphviz would take apart further (``&amp;`` is an entity to it) get a label of their own.
"""

from __future__ import annotations

from collections.abc import Iterator

from tamis.formats.text import is_unicode
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
