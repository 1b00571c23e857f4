"""What tables and figures show of the rows: groups of them, means, standard errors, the best."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, median, stdev
from typing import Any

from tamis.errors import FileFormatError
from tamis.studies.methods import in_order
from tamis.studies.plans import Plan
from tamis.studies.rows import OK, SKIPPED, TIMED_OUT, Row

Group = dict[str, list[Row]]
"""Rows by method."""

CELL = ("model", "graph", "d", "n")
NAMES = {"mod": "MOD", "add": "ADD", "tree": "Tree", "er": "ER", "sf": "SF"}
"""As the paper writes them, and in its order."""


def title(name: str) -> str:
    """A model or a graph type as a heading says it."""
    return NAMES.get(name, name)


@dataclass(frozen=True)
class Summary:
    """Some runs of one method; means are over those that finished.

    ``mean`` and ``error`` are those of the measure: error is its standard error, 0 for one run.
    ``exact`` is the share of runs where it is 0, ``f1`` the mean of the skeleton's. All are nan if
    no run finished.
    """

    mean: float
    error: float
    exact: float
    f1: float
    finished: int


class Cells(dict[tuple[Any, ...], Group]):
    """The rows by cell and method, in the order of the paper; ``measure`` is what is compared, the
    SHD unless a plan says otherwise."""

    def __init__(self, rows: Iterable[Row], plan: Plan | None = None) -> None:
        self.rows = sorted(rows, key=_paper_order)
        super().__init__(grouped(self.rows, CELL))
        self.measure = "shd" if plan is None else plan.measure
        self.methods = in_order({row.method for row in self.rows})
        """All methods, tamis's own first."""
        self.everywhere = self.methods if plan is None else in_order(plan.methods)
        """Those that are run on all tables."""
        self.models = list(dict.fromkeys(model for model, *_ in self))
        self.is_grid = len({cell[:2] for cell in self}) < len({cell[:3] for cell in self})
        """Whether there are graphs of several sizes; otherwise models are all that differs."""

    def summary(self, rows: Sequence[Row]) -> Summary:
        """What the runs of one method came to."""
        values = [self._value(row) for row in rows if row.status == OK]
        f1 = [row.skeleton_f1 for row in rows if row.skeleton_f1 is not None]
        return Summary(
            fmean(values) if values else math.nan,
            _standard_error(values) if values else math.nan,
            values.count(0) / len(values) if values else math.nan,
            fmean(f1) if f1 else math.nan,
            len(values),
        )

    def best(self, group: Group) -> list[str]:
        """The methods with the least mean in a cell, and those that it does not beat by a standard
        error.

        The standard error is that of the differences, table by table, since all learn from the
        same tables. Methods with runs that did not finish are not compared: those that did are
        the easy ones.
        """
        rivals = complete(group)
        if not rivals:
            return []
        first = min(rivals, key=lambda name: self.summary(group[name]).mean)
        return [name for name in rivals if self._is_equal(group[name], group[first])]

    def _value(self, row: Row) -> float:
        value: float | None = getattr(row, self.measure)
        if value is None:
            raise FileFormatError(f"The run {row.key} is finished and has no {self.measure}.")
        return value

    def _is_equal(self, rows: Sequence[Row], others: Sequence[Row]) -> bool:
        values = {row.replication: self._value(row) for row in others}
        differences = [self._value(row) - values[row.replication] for row in rows]
        return fmean(differences) <= _standard_error(differences)


def grouped(rows: Iterable[Row], by: Sequence[str]) -> dict[tuple[Any, ...], Group]:
    """The rows by some of their columns, and then by method."""
    found: dict[tuple[Any, ...], Group] = {}
    for row in rows:
        place = tuple(getattr(row, name) for name in by)
        found.setdefault(place, {}).setdefault(row.method, []).append(row)
    return found


def tables_in(group: Group) -> int:
    """How many tables somebody has learned from, in one cell."""
    return len({row.replication for rows in group.values() for row in rows})


def complete(group: Group) -> tuple[str, ...]:
    """The methods that came to a graph on every table of a cell."""
    tables = tables_in(group)
    return in_order(
        name for name, rows in group.items() if [row.status for row in rows] == [OK] * tables
    )


def median_seconds(rows: Iterable[Row]) -> float:
    """The median CPU time of learning; a run that timed out or was given up counts with its limit.

    So it is too small, if at all, only where half of the runs did not finish.
    """
    spent = [
        row.time_limit
        if row.status in (TIMED_OUT, SKIPPED)
        else (row.seconds if row.cpu_seconds is None else row.cpu_seconds)
        for row in rows
        if row.status in (OK, TIMED_OUT, SKIPPED)
    ]
    known = [one for one in spent if one is not None]
    return median(known) if known else math.nan


def directions(rows: Iterable[Row]) -> dict[str, list[int]]:
    """The counts of ``Row.directions``, added up."""
    found: dict[str, list[int]] = {}
    for row in rows:
        for name, counts in json.loads(row.directions or "{}").items():
            before = found.get(name, [0] * len(counts))
            found[name] = [a + b for a, b in zip(before, counts, strict=True)]
    return found


def _paper_order(row: Row) -> tuple[object, ...]:
    graph = row.graph.removesuffix("-by-label")
    return *_rank(row.model), *_rank(graph), row.graph, row.d, row.n, row.replication


def _rank(name: str) -> tuple[int, str]:
    return (list(NAMES).index(name) if name in NAMES else len(NAMES)), name


def _standard_error(values: Sequence[float]) -> float:
    return stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0
