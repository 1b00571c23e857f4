"""Run a baseline on a table: in this process, or in a child with a time limit."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import networkx as nx

from tamis.baselines.interface import Baseline
from tamis.baselines.limited import attempt_within
from tamis.baselines.outcome import attempt
from tamis.baselines.registry import find_baseline, import_libraries, require, versions
from tamis.errors import SettingError
from tamis.tables import Table, read_table
from tamis.tables.table import with_rows


@dataclass(frozen=True, eq=False)
class BaselineRun:
    """What came of one run.

    Attributes
    ----------
    graph : networkx.DiGraph or None
        A graph over the columns of the table in their order, with both directions for an undirected
        edge. None if the run ``timed_out`` or has a ``failure``.
    name : str
        The name of the method.
    seconds : float
        The time of learning alone, without starting and importing.
    timed_out : bool
        Whether the time limit was reached.
    versions : mapping
        The versions of the libraries.
    failure : str or None
        What the method raised, or how its process ended.

    Examples
    --------
    >>> import tamis
    >>> rows = {"x": [0.0, 1.0, 2.0, 3.5], "y": [0.1, 2.1, 3.9, 7.1]}
    >>> found = tamis.baselines.run("equal-variance", rows)
    >>> found.name, found.timed_out, found.failure
    ('equal-variance', False, None)
    """

    graph: nx.DiGraph[str] | None
    name: str
    seconds: float
    timed_out: bool
    versions: Mapping[str, str]
    failure: str | None


def run(
    baseline: str | Baseline,
    data: object,
    *,
    time_limit: float | None = None,
    seed: int | None = None,
) -> BaselineRun:
    """Learn a graph with another method, on one thread.

    Columns that never vary get no edges.

    Parameters
    ----------
    baseline : str or Baseline
        A name that `available` lists, or a baseline with settings of its own, such as
        ``tamis.baselines.pc.PC(penalty=2.0)``.
    data : data frame, array, mapping or path
        A table, as ``tamis.TAM().fit`` takes it.
    time_limit : float or None
        Seconds of learning. With a limit the method runs in a process of its own, which is ended at
        the limit, with whatever it has started. Starting the process and importing the library take
        a second or two more. A script that calls this needs no guard. Without a limit the method
        runs in this process.
    seed : int or None
        For methods that draw random numbers, at present BOSS; results repeat without it.

    Returns
    -------
    BaselineRun
        What a method raises ends up in its ``failure``.

    Raises
    ------
    SettingError
        If a library is not installed.
    DataError
        If the table cannot be read.

    Examples
    --------
    >>> import tamis
    >>> rows = {"x": [0.0, 1.0, 2.0, 3.5], "y": [0.1, 2.1, 3.9, 7.1]}
    >>> list(tamis.baselines.run("equal-variance", rows).graph.edges)
    [('x', 'y')]
    """
    method = find_baseline(baseline)
    check_limit(time_limit)
    _check_seed(seed)
    require(method)
    table = read_table(data, continuous=getattr(method, "takes_numbers", False))
    return run_on(with_rows(table), method, time_limit=time_limit, seed=seed)


def run_on(
    table: Table, method: Baseline, *, time_limit: float | None = None, seed: int | None = None
) -> BaselineRun:
    """Learn from a table that is read already, with a method whose libraries are there."""
    if time_limit is None:
        import_libraries(method)
        outcome = attempt(method, table, seed)
    else:
        outcome = attempt_within(time_limit, method, table, seed)
    return BaselineRun(
        graph=None if outcome.learned is None else outcome.learned.graph(table.names),
        name=method.name,
        seconds=outcome.seconds,
        timed_out=outcome.timed_out,
        versions=versions(method),
        failure=outcome.failure,
    )


def check_limit(time_limit: float | None, name: str = "time_limit") -> None:
    """Refuse what is no number of seconds."""
    if time_limit is None:
        return
    number = isinstance(time_limit, int | float) and not isinstance(time_limit, bool)
    if not number or not 0 < time_limit < math.inf:
        raise SettingError(f"{name} must be a number of seconds above 0, not {time_limit!r}")


def _check_seed(seed: object) -> None:
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int) or seed < 0):
        raise SettingError(f"seed must be a whole number from 0 on or None, not {seed!r}")
