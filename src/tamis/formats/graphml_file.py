"""The graph as GraphML; a node's identifier is its name."""

from __future__ import annotations

import io
import re

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
