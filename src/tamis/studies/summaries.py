"""Means, standard errors and comparisons: what tables and figures show of the rows."""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median, stdev

from tamis.studies.methods import in_order
from tamis.studies.rows import OK, SKIPPED, TIMED_OUT, Row

Place = tuple[str, str, int, int]
"""A cell of the study: model, graph, d and n."""

NAMES = {"mod": "MOD", "add": "ADD", "tree": "Tree", "er": "ER", "sf": "SF"}
"""As the paper writes them, and in its order."""
WARRANTS = ("given", "equivalence", "entropy", "none")


def title(name: str) -> str:
    """A model or a graph type as a heading says it."""
    return NAMES.get(name, name)


@dataclass(frozen=True)
class Summary:
    """One method over the replications of a cell; means are over the runs that finished.

    ``mean`` and ``error`` are those of the measure: error is its standard error, 0 for one run.
    ``exact`` is the share of runs where it is 0. All are nan if no run finished.
    """

    mean: float
    error: float
    exact: float
    statuses: Counter[str]

    @property
    def runs(self) -> int:
        """How many runs there are, finished or not."""
        return self.statuses.total()

    @property
    def finished(self) -> int:
        """How many came to a graph."""
        return self.statuses[OK]

    @property
    def is_complete(self) -> bool:
        """Whether all of them did."""
        return self.finished == self.runs


class Cells(Mapping[Place, Mapping[str, Sequence[Row]]]):
    """The rows by cell and method, in the order of the paper; ``measure`` is what is compared."""

    def __init__(self, rows: Iterable[Row], measure: str = "shd") -> None:
        found = defaultdict[Place, defaultdict[str, list[Row]]](lambda: defaultdict(list))
        for row in rows:
            found[row.cell][row.method].append(row)
        self._rows = {place: dict(found[place]) for place in sorted(found, key=_paper_order)}
        self.measure = measure
        self.methods = in_order({name for methods in found.values() for name in methods})
        """All methods, tamis's own first."""

    def __getitem__(self, place: Place) -> Mapping[str, Sequence[Row]]:
        return self._rows[place]

    def __iter__(self) -> Iterator[Place]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def kinds(self) -> dict[tuple[str, str], list[tuple[int, int]]]:
        """The pairs (d, n) of each model and graph type."""
        found = defaultdict[tuple[str, str], list[tuple[int, int]]](list)
        for model, graph, d, n in self:
            found[model, graph].append((d, n))
        return dict(found)

    @property
    def models(self) -> list[str]:
        """The models there are."""
        return list(dict.fromkeys(model for model, *_ in self))

    @property
    def is_grid(self) -> bool:
        """Whether there are graphs of several sizes; otherwise models are all that differs."""
        return any(len({d for d, _ in sizes}) > 1 for sizes in self.kinds.values())

    def of(self, method: str, model: str | None = None, **where: object) -> list[Row]:
        """The rows of a method, in the cells of a model, a graph, a d or an n."""
        where = {"model": model, **where} if model is not None else where
        return [
            row
            for methods in self.values()
            for row in methods.get(method, ())
            if all(getattr(row, name) == value for name, value in where.items())
        ]

    def summary(self, rows: Sequence[Row]) -> Summary:
        """What the runs of one method came to."""
        values = [self._value(row) for row in rows if row.status == OK]
        statuses = Counter(row.status for row in rows)
        if not values:
            return Summary(math.nan, math.nan, math.nan, statuses)
        return Summary(
            fmean(values), _standard_error(values), values.count(0) / len(values), statuses
        )

    def best(self, place: Place) -> tuple[str, ...]:
        """The methods with the least mean, and those that it does not beat by a standard error.

        The standard error is that of the differences, table by table, since all learn from the
        same tables. Methods with runs that did not finish are not compared: those that did are
        the easy ones.
        """
        rivals = {name: own for name, own in self[place].items() if self.summary(own).is_complete}
        if not rivals:
            return ()
        first = min(rivals, key=lambda name: self.summary(rivals[name]).mean)
        return in_order(name for name in rivals if self._is_equal(rivals[name], rivals[first]))

    def _value(self, row: Row) -> float:
        value: float = getattr(row, self.measure)
        return value

    def _is_equal(self, rows: Sequence[Row], others: Sequence[Row]) -> bool:
        values = {row.replication: self._value(row) for row in others}
        differences = [
            self._value(row) - values[row.replication] for row in rows if row.replication in values
        ]
        return bool(differences) and fmean(differences) <= _standard_error(differences)


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


def _paper_order(place: Place) -> tuple[int, str, int, str, int, int]:
    model, graph, d, n = place
    return *_rank(model), *_rank(graph.removesuffix("-by-label")), d, n


def _rank(name: str) -> tuple[int, str]:
    return (list(NAMES).index(name) if name in NAMES else len(NAMES)), name


def _standard_error(values: Sequence[float]) -> float:
    return stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0
