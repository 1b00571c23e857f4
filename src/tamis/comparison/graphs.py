"""One graph of a comparison, from whatever holds a graph; or the reason why there is none."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tamis.errors import SettingError
from tamis.formats.files import load_graph
from tamis.formats.graph import in_order
from tamis.metrics import to_cpdag
from tamis.metrics.graphs import positions_of, read_graph
from tamis.result import show

Pair = tuple[str, str]


@dataclass(frozen=True)
class Compared:
    """One graph of a comparison, or a method that gave none.

    Attributes
    ----------
    name : str
        What the comparison calls it: the name of a method or of a file.
    columns : tuple of str
        The nodes of the graph.
    arrows : frozenset of (str, str)
        The directed edges, each from parent to child.
    undirected : frozenset of (str, str)
        The undirected edges, each once with its ends in alphabetical order.
    seconds : float or None
        The time that a method took to learn.
    problem : str or None
        Why there is no graph; None if there is one.
    names_all : bool
        Whether the columns without edges are known; a list of edges does not name them.
    """

    name: str
    columns: tuple[str, ...] = ()
    arrows: frozenset[Pair] = frozenset()
    undirected: frozenset[Pair] = frozenset()
    seconds: float | None = None
    problem: str | None = None
    names_all: bool = True

    @property
    def has_graph(self) -> bool:
        """Whether there is a graph to compare."""
        return self.problem is None

    @property
    def n_edges(self) -> int:
        """The number of edges, directed or not."""
        return len(self.arrows) + len(self.undirected)

    @property
    def skeleton(self) -> frozenset[Pair]:
        """The pairs that have an edge, with their ends in alphabetical order."""
        return self.undirected | {in_order(*arrow) for arrow in self.arrows}

    @property
    def is_dag(self) -> bool:
        """Whether every edge is directed and none closes a cycle."""
        return read_graph(self.matrix(self.columns), "given").is_dag

    def kind_of(self, parent: str, child: str) -> str | None:
        """The edge between two columns: "forward", "backward", "undirected", or None."""
        if (parent, child) in self.arrows:
            return "forward"
        if (child, parent) in self.arrows:
            return "backward"
        return "undirected" if in_order(parent, child) in self.undirected else None

    def matrix(self, columns: Sequence[str]) -> NDArray[np.int8]:
        """The edges among these columns, as `tamis.metrics` reads them."""
        place = {name: k for k, name in enumerate(columns)}
        found = np.zeros((len(columns), len(columns)), dtype=np.int8)
        both = {(b, a) for a, b in self.undirected}
        for tail, head in self.arrows | self.undirected | both:
            if tail in place and head in place:
                found[place[tail], place[head]] = 1
        return found

    def cpdag(self, columns: Sequence[str]) -> NDArray[np.int8]:
        """The CPDAG's edges among these columns; a graph that is no DAG is taken for one."""
        if not self.is_dag:
            return self.matrix(columns)
        place = {name: k for k, name in enumerate(self.columns)}
        kept = [place[name] for name in columns]
        whole: NDArray[np.int8] = to_cpdag(self.matrix(self.columns))
        return whole[np.ix_(kept, kept)]


def compared(graph: object, name: str | None = None) -> Compared:
    """A graph of any kind as one of a comparison.

    Parameters
    ----------
    graph : path, result, fitted model, network, networkx graph or mapping
        A path is read by its ending: .json, .graphml, .csv (a list of edges) or .bif. Other
        things are read as by `tamis.metrics`; an adjacency matrix is refused, since its columns
        have no names.
    name : str, optional
        What to call it; the name of the file, or what kind of thing it is.

    Returns
    -------
    Compared
        The graph under its name.
    """
    if isinstance(graph, Compared):
        return graph if name is None else replace(graph, name=name)
    if isinstance(graph, str | os.PathLike):
        path = os.fspath(graph)
        held = load_graph(path)
        called = name or os.path.basename(path)
        return Compared(called, held.names, held.arrows, held.lines, names_all=held.names_all)
    return _of_object(graph, name or _called(graph))


def _of_object(graph: object, name: str) -> Compared:
    read = read_graph(graph, name)
    if read.names is None:
        raise SettingError(
            f"{name!r} is a matrix, whose columns have no names to compare by: give a networkx "
            "graph or a mapping from each column to its parents"
        )
    positions_of(read.names, name)
    names = read.names
    edges = {(names[i], names[j]) for i, j in np.argwhere(read.matrix).tolist()}
    arrows = frozenset((a, b) for a, b in edges if (b, a) not in edges)
    lines = frozenset((a, b) for a, b in edges if (b, a) in edges and a < b)
    return Compared(name, names, arrows, lines)


def _called(graph: object) -> str:
    """A name for something that came without one."""
    path = getattr(graph, "read_from", None)
    if isinstance(path, str):
        return os.path.basename(path)
    own = getattr(graph, "name", None)
    return own if isinstance(own, str) and own else type(graph).__name__


def named_apart(graphs: Iterable[Compared]) -> tuple[Compared, ...]:
    """The graphs under names that differ: equal ones are numbered."""
    found: list[Compared] = []
    taken: set[str] = set()
    for graph in graphs:
        name, number = graph.name, 1
        while name in taken:
            number += 1
            name = f"{graph.name} ({number})"
        taken.add(name)
        found.append(replace(graph, name=name))
    return tuple(found)


def completed(graphs: Collection[Compared]) -> tuple[Compared, ...]:
    """The graphs, where lists of edges get the columns that the others name: those without edges
    are not in such a list."""
    known = dict.fromkeys(name for graph in graphs for name in graph.columns)
    return tuple(
        graph if graph.names_all or not graph.has_graph else replace(graph, columns=tuple(known))
        for graph in graphs
    )


def names_in_words(names: Sequence[str], most: int = 10) -> str:
    """Names side by side, not too many."""
    if not names:
        return "none"
    said = ", ".join(map(show, names[:most]))
    return said if len(names) <= most else f"{said} and {len(names) - most:,} more"
