"""What a baseline is: a name, what it needs, and one function from a table to a graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from tamis.tables import Table

Adjacency = NDArray[np.int8]
"""1 at [i, j] for i → j; 1 at [i, j] and at [j, i] for an undirected edge."""


@dataclass(frozen=True, eq=False)
class Learned:
    """What a method found, by the positions of the columns.

    Attributes
    ----------
    adjacency : array of shape (d, d)
        1 at [i, j] for i → j; 1 at [i, j] and at [j, i] for an undirected edge.
    warrants : mapping
        What the direction of an arrow (i, j) rests on, if the method says so, as tamis does.

    Examples
    --------
    >>> import numpy as np, tamis
    >>> learned = tamis.baselines.Learned(np.array([[0, 1], [0, 0]], dtype=np.int8))
    >>> list(learned.graph(("rain", "wet")).edges)
    [('rain', 'wet')]
    """

    adjacency: Adjacency
    warrants: Mapping[tuple[int, int], str] = field(default_factory=dict)

    def graph(self, names: tuple[str, ...]) -> nx.DiGraph[str]:
        """The graph over the names; an undirected edge is there in both directions."""
        graph: nx.DiGraph[str] = nx.DiGraph()
        graph.add_nodes_from(names)
        graph.add_edges_from(
            (names[i], names[j]) for i, j in np.argwhere(self.adjacency != 0).tolist()
        )
        return graph


@runtime_checkable
class Baseline(Protocol):
    """A method that learns a graph from a table.

    Implementations are frozen dataclasses whose fields are plain numbers and strings, in a module
    that can be imported, so that a child process can make its own.

    Examples
    --------
    >>> import tamis
    >>> from tamis.baselines.pc import PC
    >>> PC(penalty=2.0).name
    'pc'
    """

    @property
    def name(self) -> str:
        """What ``run`` calls it."""

    @property
    def extra(self) -> str:
        """The extra of tamis that installs what it needs; empty if nothing."""

    @property
    def modules(self) -> tuple[str, ...]:
        """What it imports from elsewhere: imported before the clock starts."""

    @property
    def packages(self) -> tuple[str, ...]:
        """The distributions whose versions belong to a result."""

    def learn(self, table: Table, seed: int | None) -> Learned:
        """Learn from a table of at least two columns, none of them constant.

        ``seed`` is for methods that draw random numbers; of those here BOSS does.
        """
