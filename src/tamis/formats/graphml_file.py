"""The graph as GraphML; a node's identifier is its name."""

from __future__ import annotations

import io
import re
from xml.parsers import expat

from tamis.errors import FileFormatError
from tamis.formats.graph import FileGraph, GraphParts
from tamis.result import Result

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def holds(name: str) -> bool:
    """Whether XML 1.0 can hold a name: most control characters it cannot, even escaped."""
    return _NOT_XML.search(name) is None


def render(result: Result) -> bytes:
    """Nodes with layer, conditional entropy and kind, edges with their numbers."""
    # Imported here because only this format needs it.
    import networkx as nx

    content = io.BytesIO()
    # Not generate_graphml: it cuts names at exotic line separators.
    nx.write_graphml_xml(result.graph, content)
    return content.getvalue()


def parse(content: bytes) -> FileGraph:
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
