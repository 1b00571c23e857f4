"""Methods on one table, tamis's own searches among them, or graphs that are there already."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePath

import networkx as nx

from tamis.comparison.graphs import Compared, compared
from tamis.comparison.model import Comparison, compare_graphs, comparison_of
from tamis.comparison.peers import PEERS, learned, obstacle
from tamis.errors import SettingError
from tamis.parameters import require
from tamis.settings import Settings
from tamis.tables import Table, read_table
from tamis.tables.assemble import Missing
from tamis.tables.kinds import Told
from tamis.tables.table import with_rows

OWN = {"tamis": "auto", "sequential": "sequential"}
"""The methods that are tamis's own, and the search that each runs."""
METHODS = (*OWN, *PEERS)
"""The names of all methods."""
LIMIT, LONGEST = 60.0, 1e6
"""Seconds that a method may take unless told, and that it may be told."""
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
    methods: Sequence[str] | None = None,
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
        Of a table: the methods to run. "tamis" is the default search and "sequential" the paper's.
        "hill-climbing", "tabu" and "miic" are pyAgrum's, "pc" and "ges" causal-learn's, and "flop"
        is flopsearch's. None is all of them. A method whose library is not installed, which cannot
        take the table, which fails or which runs out of time has a row that says so.
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
    _check_limit(limit)
    names = _checked_names(methods)
    true = None if truth is None else compared(truth)
    table = read(things[0], types, missing)
    entries = []
    for done, name in enumerate(names):
        if progress is not None:
            progress(name, done, len(names))
        entries.append(_entry(name, table, missing, limit or LIMIT))
    return comparison_of(entries, true, _in_words(things[0], table))


def read(data: object, types: Mapping[str, Told] | None, missing: Missing) -> Table:
    """The table in memory, with kinds and missing values as tamis would read them."""
    settings = Settings(types=types, missing=missing)  # type: ignore[arg-type]
    told = read_table(data, continuous=True, missing=settings.missing, types=settings.types)
    return with_rows(told)


def is_graph(thing: object) -> bool:
    """Whether one thing alone is a graph and no table."""
    if isinstance(thing, str | os.PathLike):
        return str(os.fspath(thing)).lower().endswith(GRAPH_ENDINGS)
    held = getattr(thing, "graph_", getattr(thing, "graph", thing))
    return isinstance(held, nx.Graph)


def _entry(method: str, table: Table, missing: Missing, limit: float) -> Compared:
    """What a method found, or why it found nothing."""
    if method in OWN:
        return learned(method, table, {"search": OWN[method], "missing": missing}, limit)
    problem = obstacle(method, table)
    if problem is not None:
        return Compared(method, problem=problem)
    return learned(method, table, {}, limit)


def _checked_names(methods: Sequence[str] | None) -> Sequence[str]:
    """The methods to run: all of them unless some are named."""
    if methods is None:
        return METHODS
    if isinstance(methods, str):
        raise SettingError(f"methods must be a list of names, such as [{methods!r}]")
    if not isinstance(methods, Sequence):
        raise SettingError(f"methods must be a list of names, such as ['tamis'], not {methods!r}")
    for name in methods:
        if not isinstance(name, str) or name not in METHODS:
            raise SettingError(f"there is no method {name!r}; there are {', '.join(METHODS)}")
    if not methods:
        raise SettingError(f"name at least one method: {', '.join(METHODS)}")
    return methods


def _check_limit(limit: float | None) -> None:
    if limit is None:
        return
    number = isinstance(limit, int | float) and not isinstance(limit, bool)
    if not number or not 0 < limit <= LONGEST:
        raise SettingError(
            f"limit must be a number of seconds above 0 and up to {LONGEST:,.0f}, not {limit!r}"
        )


def _in_words(data: object, table: Table) -> str:
    """What the methods learned from."""
    size = f"{table.n_rows:,} rows, {table.n_variables:,} columns"
    return f"{os.fspath(data)}: {size}" if isinstance(data, str | PurePath) else size


def _refuse_for_graphs(given: Mapping[str, object], missing: str) -> None:
    told = [name for name, value in given.items() if value is not None]
    told += ["missing"] if missing != "error" else []
    if told:
        raise SettingError(f"{told[0]} {FOR_TABLES}")
