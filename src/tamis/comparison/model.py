"""A comparison of graphs: frozen, computed from the graphs alone.

An edge that a graph leaves undirected counts for the skeleton and for no direction. Distances are
structural Hamming distances between CPDAGs, strict: an undirected edge against an arrow counts 1.
They are over the columns that all graphs have; which columns those are not is said.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any

from tamis.comparison.graphs import Compared, Pair, compared, completed, named_apart, names_in_words
from tamis.errors import SettingError
from tamis.metrics import shd, skeleton_scores

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True)
class Agreement:
    """How many graphs have the edge between two columns, and which way they direct it.

    ``parent`` → ``child`` is the direction that more graphs have. ``graphs`` counts those that
    have both columns, ``edge`` those with an edge between them, ``forward`` and ``backward`` those
    with an arrow this way or the other, ``undirected`` those that leave it open. ``truth`` is what
    the true graph has: "forward", "backward", "undirected", "none", or None without a truth.
    """

    parent: str
    child: str
    graphs: int
    edge: int
    forward: int
    backward: int
    undirected: int
    truth: str | None = None


@dataclass(frozen=True, slots=True)
class Distance:
    """How far a graph is from the truth.

    ``shd`` is the structural Hamming distance in the paper's convention, which counts an
    undirected edge as right; ``cpdag`` is the strict distance between the CPDAGs; ``skeleton_f1``
    is the F1 score of the adjacent pairs.
    """

    shd: int
    cpdag: int
    skeleton_f1: float


@dataclass(frozen=True, slots=True)
class Changes:
    """What is different in the second of two graphs, among the columns that both have.

    ``appeared`` and ``vanished`` are edges that only the second or only the first has. ``turned``
    are arrows of the second that point the other way in the first. ``directed`` are arrows of the
    second that the first leaves undirected, ``undirected`` are arrows of the first that the
    second leaves so. ``apart`` are edges with an end that only one of the graphs has.
    """

    appeared: tuple[Pair, ...]
    vanished: tuple[Pair, ...]
    turned: tuple[Pair, ...]
    directed: tuple[Pair, ...]
    undirected: tuple[Pair, ...]
    same: tuple[Pair, ...]
    apart: tuple[Pair, ...]

    @property
    def n(self) -> int:
        """How many edges differ."""
        differing = (self.appeared, self.vanished, self.turned, self.directed, self.undirected)
        return sum(map(len, differing))


@dataclass(frozen=True, repr=False)
class Comparison:
    """Graphs side by side; made by `tamis.compare` and `Result.compare`.

    Attributes
    ----------
    entries : tuple of Compared
        The graphs in the order given. A method that returned none has a ``problem`` that says why.
    truth : Compared or None
        The true graph, if it is known.
    table : str or None
        What the methods learned from, in words; None where graphs were given.

    Examples
    --------
    >>> import tamis
    >>> found = tamis.compare({"a": [], "b": ["a"]}, {"a": ["b"], "b": []})
    >>> found
    <Comparison of 2 graphs: 2 columns, 1 pairs with an edge, 1 in all graphs>
    >>> found.agreement[0].edge
    2
    """

    entries: tuple[Compared, ...]
    truth: Compared | None = None
    table: str | None = None

    @cached_property
    def graphs(self) -> tuple[Compared, ...]:
        """The entries that have a graph."""
        return tuple(entry for entry in self.entries if entry.has_graph)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The columns that any graph has, in the order in which they are met."""
        return tuple(dict.fromkeys(name for graph in self._all for name in graph.columns))

    @cached_property
    def shared(self) -> tuple[str, ...]:
        """The columns that all graphs have: distances are over these."""
        held = [set(graph.columns) for graph in self._all]
        return tuple(name for name in self.columns if all(name in own for own in held))

    @cached_property
    def lacking(self) -> dict[str, tuple[str, ...]]:
        """For each graph that lacks columns of the others, those columns."""
        found = {
            graph.name: tuple(name for name in self.columns if name not in set(graph.columns))
            for graph in self._all
        }
        return {name: columns for name, columns in found.items() if columns}

    @cached_property
    def agreement(self) -> tuple[Agreement, ...]:
        """Every edge of any graph, those that most graphs have first."""
        pairs = {pair for graph in self._all for pair in graph.skeleton}
        found = [self._agreement(*pair) for pair in pairs]
        return tuple(sorted(found, key=lambda e: (-e.edge, -e.forward, e.parent, e.child)))

    @cached_property
    def distances(self) -> dict[Pair, int]:
        """For each pair of graphs by name, the strict distance between their CPDAGs."""
        classes = {graph.name: graph.cpdag(self.shared) for graph in self.graphs}
        found: dict[Pair, int] = {}
        for one, other in combinations(classes, 2):
            far = shd(classes[one], classes[other], undirected="strict")
            found[one, other] = found[other, one] = far
        return found

    @cached_property
    def to_truth(self) -> dict[str, Distance]:
        """For each graph by name, how far it is from the truth; empty without one."""
        truth = self.truth
        if truth is None:
            return {}
        true, true_class = truth.matrix(self.shared), truth.cpdag(self.shared)
        return {
            graph.name: Distance(
                shd(graph.matrix(self.shared), true),
                shd(graph.cpdag(self.shared), true_class, undirected="strict"),
                skeleton_scores(graph.matrix(self.shared), true).f1,
            )
            for graph in self.graphs
        }

    def mean_distance(self, name: str) -> float | None:
        """Give the mean distance of a graph from the others.

        Parameters
        ----------
        name : str
            The name of the graph.

        Returns
        -------
        float or None
            The mean of its strict distances between CPDAGs; None if there are no other graphs.

        Examples
        --------
        >>> import tamis
        >>> found = tamis.compare({"a": [], "b": ["a"]}, {"a": [], "b": []})
        >>> found.mean_distance(found.entries[0].name)
        1.0
        """
        own = [far for (one, _), far in self.distances.items() if one == name]
        return sum(own) / len(own) if own else None

    def entry(self, name: str) -> Compared:
        """Find an entry by its name.

        Parameters
        ----------
        name : str
            The name of a graph, of a method or of the truth.

        Returns
        -------
        Compared
            The entry.

        Raises
        ------
        SettingError
            If there is none of this name. The message lists those there are.

        Examples
        --------
        >>> import tamis
        >>> found = tamis.compare({"a": [], "b": ["a"]}, {"a": [], "b": []})
        >>> found.entry(found.entries[1].name).n_edges
        0
        """
        for entry in (*self.entries, *([] if self.truth is None else [self.truth])):
            if entry.name == name:
                return entry
        known = ", ".join(repr(entry.name) for entry in self.entries)
        raise SettingError(f"the comparison has no {name!r}; it has {known}")

    def changes(self, first: str | None = None, second: str | None = None) -> Changes:
        """Say what appeared, vanished and turned from one graph to another.

        Parameters
        ----------
        first, second : str or None
            The names of the graphs; by default the first two.

        Returns
        -------
        Changes
            The edges by what happened to them.

        Examples
        --------
        >>> import tamis
        >>> tamis.compare({"a": [], "b": ["a"]}, {"a": [], "b": []}).changes().vanished
        (('a', 'b'),)
        """
        if len(self.graphs) < 2 and (first is None or second is None):
            raise SettingError("there are no two graphs to compare: name the graphs")
        before = self.graphs[0] if first is None else self.entry(first)
        after = self.graphs[1] if second is None else self.entry(second)
        return changes_between(before, after)

    def rows(self) -> list[dict[str, Any]]:
        """List the entries as rows of a table, one for each graph or method.

        Returns
        -------
        list of dict
            ``name``, ``n_edges``, ``seconds``, ``problem``, the ``mean_distance`` to the others
            and, with a truth, ``shd``, ``cpdag_distance`` and ``skeleton_f1``. A data frame takes
            the list as it is.

        Examples
        --------
        >>> import tamis
        >>> found = tamis.compare({"a": [], "b": ["a"]}, {"a": [], "b": []})
        >>> [row["n_edges"] for row in found.rows()]
        [1, 0]
        """
        return [self._row(entry) for entry in self.entries]

    def edge_rows(self) -> list[dict[str, Any]]:
        """List the edges as rows of a table, those that most graphs have first.

        Returns
        -------
        list of dict
            The fields of `Agreement`, and for each graph under "in NAME" what it has: "forward",
            "backward", "undirected" or "none".

        Examples
        --------
        >>> import tamis
        >>> row = tamis.compare({"a": [], "b": ["a"]}, {"a": [], "b": []}).edge_rows()[0]
        >>> row["parent"], row["child"], row["edge"]
        ('a', 'b', 1)
        """
        return [
            {name: getattr(edge, name) for name in Agreement.__slots__}
            | {f"in {g.name}": g.kind_of(edge.parent, edge.child) or "none" for g in self.graphs}
            for edge in self.agreement
        ]

    def to_dict(self) -> dict[str, Any]:
        """Convert the whole comparison to what JSON can hold.

        Returns
        -------
        dict
            What `save` writes to a .json file.

        Examples
        --------
        >>> import tamis
        >>> sorted(tamis.compare({"a": [], "b": ["a"]}, {"a": [], "b": []}).to_dict())
        ['columns_not_shared', 'distances', 'edges', 'graphs', 'table', 'truth']
        """
        return {
            "table": self.table,
            "graphs": self.rows(),
            "truth": None if self.truth is None else self.truth.name,
            "columns_not_shared": {name: list(own) for name, own in self.lacking.items()},
            "distances": [
                {"graphs": [one, other], "cpdag_distance": far}
                for (one, other), far in self.distances.items()
                if [one, other] == [g.name for g in self.graphs if g.name in (one, other)]
            ],
            "edges": self.edge_rows(),
        }

    def save(self, *paths: str | os.PathLike[str]) -> None:
        """Write the comparison to files, in the format that each file name ends in.

        All files are written whole, or none is.

        Parameters
        ----------
        *paths : str or path
            .json holds everything, .csv a line for each edge; .svg, .png and .pdf are the picture.

        Examples
        --------
        >>> import tamis
        >>> found = tamis.compare({"a": [], "b": ["a"]}, {"a": [], "b": []})
        >>> found.save("graphs.json", "graphs.csv")
        """
        from tamis.comparison.picture import save

        save(self, *paths)

    def plot(self) -> Figure:
        """Draw the graphs side by side, every column at the same place in each.

        Returns
        -------
        matplotlib figure
            One panel for each graph, the truth first if there is one.

        Examples
        --------
        >>> import tamis
        >>> figure = tamis.compare({"a": [], "b": ["a"]}, {"a": ["b"], "b": []}).plot()
        >>> figure.savefig("graphs.png")
        """
        from tamis.comparison.picture import draw

        return draw(self)

    def __repr__(self) -> str:
        failed = len(self.entries) - len(self.graphs)
        without = f", {failed} without a graph" if failed else ""
        truth = "" if self.truth is None else ", with the truth"
        common = sum(edge.edge == len(self.graphs) for edge in self.agreement)
        return (
            f"<Comparison of {len(self.graphs)} graphs{without}{truth}: {len(self.columns)} "
            f"columns, {len(self.agreement)} pairs with an edge, {common} in all graphs>"
        )

    @cached_property
    def _all(self) -> tuple[Compared, ...]:
        return self.graphs if self.truth is None else (self.truth, *self.graphs)

    def _agreement(self, a: str, b: str) -> Agreement:
        both = [g for g in self.graphs if a in g.columns and b in g.columns]
        kinds = [graph.kind_of(a, b) for graph in both]
        counts = {kind: kinds.count(kind) for kind in ("forward", "backward", "undirected")}
        truth = None
        if self.truth is not None:
            truth = self.truth.kind_of(a, b) or "none"
        if counts["backward"] > counts["forward"] or (
            counts["backward"] == counts["forward"] and truth == "backward"
        ):
            a, b = b, a
            counts["forward"], counts["backward"] = counts["backward"], counts["forward"]
            turned = {"forward": "backward", "backward": "forward"}
            truth = None if truth is None else turned.get(truth, truth)
        return Agreement(a, b, len(both), sum(counts.values()), **counts, truth=truth)

    def _row(self, entry: Compared) -> dict[str, Any]:
        row: dict[str, Any] = {
            "name": entry.name,
            "n_edges": entry.n_edges if entry.has_graph else None,
            "seconds": entry.seconds,
            "problem": entry.problem,
            "mean_distance": self.mean_distance(entry.name),
        }
        if self.truth is not None:
            far = self.to_truth.get(entry.name)
            row |= {
                "shd": None if far is None else far.shd,
                "cpdag_distance": None if far is None else far.cpdag,
                "skeleton_f1": None if far is None else far.skeleton_f1,
            }
        return row


def compare_graphs(
    graphs: Iterable[object] | Mapping[str, object], truth: object = None
) -> Comparison:
    """Compare graphs with each other, and with the truth if it is known.

    Parameters
    ----------
    graphs : iterable, or mapping from names to graphs
        At least two graphs of any kind that `compared` takes; with a truth, at least one.
    truth : graph, optional
        The true graph, of any such kind.

    Returns
    -------
    Comparison
        The graphs in their order.

    Examples
    --------
    >>> from tamis.comparison import compare_graphs
    >>> before = {"rain": [], "lawn": ["rain"], "shoes": []}
    >>> after = {"rain": ["lawn"], "lawn": [], "shoes": ["lawn"]}
    >>> found = compare_graphs({"before": before, "after": after})
    >>> found.changes().turned, found.changes().appeared
    ((('lawn', 'rain'),), (('lawn', 'shoes'),))
    """
    pairs = graphs.items() if isinstance(graphs, Mapping) else ((None, one) for one in graphs)
    read = [compared(graph, name) for name, graph in pairs]
    true = None if truth is None else compared(truth)
    if len(read) < (2 if true is None else 1):
        raise SettingError("a comparison needs at least two graphs, or one and the truth")
    return comparison_of(read, true)


def comparison_of(
    entries: Iterable[Compared], truth: Compared | None = None, table: str | None = None
) -> Comparison:
    """A comparison of entries that are read already: under names that differ, and with the columns
    that lists of edges leave out."""
    listed = list(entries)
    last = [] if truth is None else [truth]
    found = completed(named_apart([*listed, *last]))
    made = Comparison(found[: len(listed)], found[-1] if truth is not None else None, table)
    if made.columns and not made.shared:
        raise SettingError(
            "the graphs have no column in common: "
            + "; ".join(f"{g.name!r} has {names_in_words(g.columns, 5)}" for g in found[:4])
        )
    return made


def changes_between(before: Compared, after: Compared) -> Changes:
    """What happened to every edge from one graph to the other."""
    both = {*before.columns} & {*after.columns}
    found: dict[str, list[Pair]] = {name: [] for name in Changes.__slots__}
    for a, b in sorted(before.skeleton | after.skeleton):
        was, now = before.kind_of(a, b), after.kind_of(a, b)
        # The direction is that of the second graph, or of the first where the second has none.
        direction = now if now in ("forward", "backward") else was
        kind = _change(was, now) if {a, b} <= both else "apart"
        found[kind].append((b, a) if direction == "backward" else (a, b))
    return Changes(**{name: tuple(pairs) for name, pairs in found.items()})


def _change(was: str | None, now: str | None) -> str:
    if was is None or now is None:
        return "appeared" if was is None else "vanished"
    if was == now:
        return "same"
    if was == "undirected":
        return "directed"
    return "undirected" if now == "undirected" else "turned"
