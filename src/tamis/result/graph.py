"""The learned graph: a graph of networkx that says its size where a notebook shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import networkx as nx

if TYPE_CHECKING:
    _DiGraph = nx.DiGraph[str]
else:
    _DiGraph = nx.DiGraph


class DiGraph(_DiGraph):
    """A ``networkx.DiGraph`` in all but its repr, which elsewhere is an address.

    Examples
    --------
    >>> from tamis.result.graph import DiGraph
    >>> DiGraph([("rain", "lawn"), ("rain", "road")])
    <DiGraph with 3 nodes and 2 edges>
    """

    def __repr__(self) -> str:
        return f"<{self}>"
