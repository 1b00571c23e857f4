"""Families of random DAGs, one a file; each is a function of its options and a seed."""

from __future__ import annotations

from collections.abc import Callable

from tamis.simulate.graphs.chains import chain
from tamis.simulate.graphs.erdos_renyi import er
from tamis.simulate.graphs.forests import polyforest
from tamis.simulate.graphs.graph import Graph
from tamis.simulate.graphs.layers import layered
from tamis.simulate.graphs.scale_free import sf
from tamis.simulate.graphs.trees import tree

GRAPHS: dict[str, Callable[..., Graph]] = {
    "tree": tree,
    "er": er,
    "sf": sf,
    "chain": chain,
    "layered": layered,
    "polyforest": polyforest,
}
"""The families by the names they are asked for."""

__all__ = ["GRAPHS", "Graph", "chain", "er", "layered", "polyforest", "sf", "tree"]
