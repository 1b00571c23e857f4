"""All methods, tamis's own searches among them, on one table, or graphs that are there already."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import ClassVar

import networkx as nx
import numpy as np

from tamis.baselines.interface import Adjacency, Baseline, Learned
from tamis.baselines.running import BASELINES, BaselineRun, check_limit, needed_by, run_on
from tamis.comparison import Compared, Comparison, compare_graphs, compared
from tamis.comparison.model import comparison_of
from tamis.counting.compiled import uncompiled
from tamis.errors import SettingError, TamisError
from tamis.learning import learn
from tamis.parameters import Search, require
from tamis.settings import Settings
from tamis.tables import Table, read_table
from tamis.tables.assemble import Missing
from tamis.tables.kinds import Told
from tamis.tables.refusals import shown
from tamis.tables.table import with_rows

ROWS, COLUMNS = 800, 24
"""The part of a table that asks for the same compiled loops as the whole."""


@dataclass(frozen=True)
class OwnSearch:
    """The DAG that ``tamis.TAM(search)`` learns, with one thread. ``information`` and
    ``look_ahead`` are as in ``tamis.TAM``; None is its default."""

    name: str = "tamis"
    search: Search = "auto"
    missing: Missing = "error"
    information: str | None = None
    look_ahead: int | None = None

    extra: ClassVar[str] = ""
    modules: ClassVar[tuple[str, ...]] = ()
    packages: ClassVar[tuple[str, ...]] = ("tamis", "numba")
    takes_numbers: ClassVar[bool] = True
    takes_missing: ClassVar[bool] = True

    def prepare(self, table: Table) -> None:
        """Have the compiled loops at hand, which takes no part in the time of learning."""
        before, uncompiled.spent = uncompiled.spent, math.inf
        try:
            # What is to be said about the table is said about the whole of it.
            with warnings.catch_warnings(), suppress(TamisError):
                warnings.simplefilter("ignore")
                self.learn(part_of(table), None)
        finally:
            uncompiled.spent = before

    def learn(self, table: Table, seed: int | None) -> Learned:
        """The DAG; nothing is random."""
        wanted = {"information": self.information, "look_ahead": self.look_ahead}
        given = {name: value for name, value in wanted.items() if value is not None}
        settings = Settings(self.search, missing=self.missing, n_jobs=1, **given)  # type: ignore[arg-type]
        found = learn(table, settings)
        place = {name: k for k, name in enumerate(table.names)}
        adjacency: Adjacency = np.zeros((len(place), len(place)), dtype=np.int8)
        warrants = {}
        for edge in found.edges:
            adjacency[place[edge.parent], place[edge.child]] = 1
            warrants[place[edge.parent], place[edge.child]] = edge.warrant
        return Learned(adjacency, warrants)


def part_of(table: Table) -> Table:
    """Some rows and columns of a table, of every kind of columns that it has."""
    kinds = _kinds(table)
    share = max(COLUMNS // len(set(kinds)), 2)
    chosen = [k for k, kind in enumerate(kinds) if kinds[:k].count(kind) < share]
    rows = np.arange(min(table.n_rows, ROWS), dtype=np.int64)
    return table.select(chosen).arrange(rows)


def _kinds(table: Table) -> list[tuple[str, bool]]:
    """The kind of each column, and whether it is continuous."""
    return [(kind, not own) for kind, own in zip(table.kinds, table.levels, strict=True)]


OWN: dict[str, Search] = {"tamis": "auto", "sequential": "sequential"}
"""The methods that are tamis's own, and the search that each runs."""
METHODS = (*OWN, *BASELINES)
"""The names of all methods."""
LIMIT = 60.0
"""Seconds that a method may take."""
GRAPH_ENDINGS = (".json", ".graphml", ".bif", ".bif.gz")
"""Endings of files that hold a graph and never a table."""
FOR_TABLES = (
    "is for methods that learn from one table, and these are graphs: leave it out, or give the "
    "table alone"
)

Progress = Callable[[str, int, int], None]


def compare(
    *things: object,
    truth: object = None,
    methods: Sequence[str | Baseline] | None = None,
    limit: float | None = None,
    types: Mapping[str, Told] | None = None,
    missing: Missing = "error",
    progress: Progress | None = None,
) -> Comparison:
    """Compare methods on a table, or graphs with each other.

    Parameters
    ----------
    *things : one table, or graphs
        A table is anything that `TAM.fit` takes: every method learns from it. Two things or more
        are graphs: results, fitted models, networks, networkx graphs, mappings from each column to
        its parents, or paths that end in .json, .graphml, .csv (a list of edges) or .bif.
    truth : graph, optional
        The true graph, of any such kind.
    methods : sequence of str, optional
        Of a table: the methods to run, "tamis" (the default search), "sequential" and the names of
        `tamis.baselines.available`. None is all of them. A method whose library is not installed,
        which cannot take the table, which fails or which runs out of time has a row that says so.
    limit : float, optional
        Of a table: the seconds that each method may take, 60 unless given.
    types, missing
        Of a table: as in `TAM`.
    progress : callable, optional
        Called with the name of a method before it runs, the number that have run and of all.

    Returns
    -------
    Comparison
        Edges agreed on, distances, times, and a picture.

    Examples
    --------
    >>> import tamis
    >>> chain = {"a": [], "b": ["a"], "c": ["b"]}
    >>> fork = {"a": ["b"], "b": [], "c": ["b"]}
    >>> found = tamis.compare(chain, fork)
    >>> found.changes().turned
    (('b', 'a'),)
    >>> found.rows()[0]["mean_distance"]  # both are in one equivalence class
    0.0
    """
    require(progress=progress, missing=missing)
    if not things:
        raise SettingError("compare needs a table, or graphs")
    given = {"methods": methods, "limit": limit, "types": types}
    if len(things) > 1 or is_graph(things[0]):
        _refuse_for_graphs(given, missing)
        if len(things) == 1 and truth is None:
            raise SettingError(
                "one graph has nothing to be compared with: give another graph, or the truth"
            )
        return compare_graphs(things, truth)
    check_limit(limit, "limit")
    if isinstance(methods, str):
        raise SettingError(f"methods must be a list of names, such as [{methods!r}]")
    found = [find_method(one, missing) for one in METHODS if methods is None]
    found += [find_method(one, missing) for one in methods or ()]
    true = None if truth is None else compared(truth)
    table = read(things[0], types, missing)
    return compare_methods(table, found, true, limit or LIMIT, progress, in_words(things[0], table))


def compare_methods(
    table: Table,
    methods: Sequence[Baseline],
    truth: Compared | None,
    limit: float,
    progress: Progress | None,
    called: str,
) -> Comparison:
    """Run the methods on the table one after another, so that none takes time from another."""
    if not methods:
        raise SettingError(f"name at least one method: {', '.join(METHODS)}")
    entries = []
    for done, method in enumerate(methods):
        if progress is not None:
            progress(method.name, done, len(methods))
        entries.append(entry_of(method, table, limit))
    return comparison_of(entries, truth, called)


def read(data: object, types: Mapping[str, Told] | None, missing: Missing) -> Table:
    """The table in memory, with kinds and missing values as tamis would read them."""
    settings = Settings(types=types, missing=missing)  # type: ignore[arg-type]
    told = read_table(data, continuous=True, missing=settings.missing, types=settings.types)
    return with_rows(told)


def in_words(data: object, table: Table) -> str:
    """What the methods learned from."""
    size = f"{table.n_rows:,} rows, {table.n_variables:,} columns"
    return f"{os.fspath(data)}: {size}" if isinstance(data, str | PurePath) else size


def find_method(method: str | Baseline, missing: Missing = "error") -> Baseline:
    """The method of that name; one that is no name is taken as it is."""
    if isinstance(method, Baseline):
        return method
    if method in OWN:
        return OwnSearch(method, OWN[method], missing)
    if method in BASELINES:
        return BASELINES[method]
    raise SettingError(f"there is no method {method!r}; there are {', '.join(METHODS)}")


def entry_of(method: Baseline, table: Table, limit: float) -> Compared:
    """What a method found, or why it found nothing."""
    problem = needed_by(method) or cannot_take(method, table)
    if problem is not None:
        return Compared(method.name, problem=problem)
    if isinstance(method, OwnSearch):
        # Compiling may take longer than the limit. What is compiled here is kept for the process
        # that learns, and whoever waits is told.
        method.prepare(table)
    run = run_on(table, method, time_limit=limit)
    if run.graph is None:
        return Compared(method.name, seconds=run.seconds, problem=_failed(run, limit))
    return replace(compared(run, method.name), seconds=run.seconds)


def cannot_take(method: Baseline, table: Table) -> str | None:
    """Why a method cannot learn from a table; None if it can."""
    names = table.names
    if table.missing and not getattr(method, "takes_missing", False):
        name = shown(names[min(table.missing)])
        return f"takes no missing values, and column {name} has some: use missing='drop'"
    for k, levels in enumerate(table.levels):
        if not levels and not getattr(method, "takes_numbers", False):
            return (
                f"takes levels only, and column {shown(names[k])} holds numbers: cut them with "
                "tamis.discretize"
            )
        label = next((label for label in levels if isinstance(label, str)), None)
        if label is not None and getattr(method, "needs_numbers", False):
            return (
                f"takes numbers only, and column {shown(names[k])} holds labels such as "
                f"{shown(label)}"
            )
    return None


def _failed(run: BaselineRun, limit: float) -> str:
    if run.timed_out:
        return f"stopped after {limit:g} seconds, its limit"
    return f"failed: {' '.join((run.failure or 'it gave no reason').split())}"


def is_graph(thing: object) -> bool:
    """Whether one thing alone is a graph and no table."""
    if isinstance(thing, str | os.PathLike):
        return str(os.fspath(thing)).lower().endswith(GRAPH_ENDINGS)
    held = getattr(thing, "graph_", getattr(thing, "graph", thing))
    return isinstance(held, nx.Graph)


def _refuse_for_graphs(given: Mapping[str, object], missing: str) -> None:
    told = [name for name, value in given.items() if value is not None]
    told += ["missing"] if missing != "error" else []
    if told:
        raise SettingError(f"{told[0]} {FOR_TABLES}")
