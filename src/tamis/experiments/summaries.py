"""Means, standard errors and comparisons: what tables and figures show of the rows."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median, stdev

from tamis.baselines.registry import BASELINES
from tamis.defaults import SEARCHES
from tamis.experiments.gaussian_peers import PEERS
from tamis.experiments.methods import VARIANTS
from tamis.experiments.plans import GRAPHS, MODELS
from tamis.experiments.rows import OK, SKIPPED, TIMED_OUT, Row

Place = tuple[str, str, int, int]
"""A cell of the study: model, graph, d and n."""

_SEARCHES = [search + variant for variant in VARIANTS for search in SEARCHES]
_ORDER = {name: place for place, name in enumerate([*_SEARCHES, *BASELINES, *PEERS])}


@dataclass(frozen=True)
class Summary:
    """One method over the replications of a cell; means are over the runs that finished.

    ``mean`` and ``error`` are those of the SHD: error is its standard error, 0 for one run.
    ``exact`` is the share of runs with SHD 0. All are nan if no run finished.
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
    """The rows by cell and method, in the order of the paper."""

    def __init__(self, rows: Iterable[Row]) -> None:
        found = defaultdict[Place, defaultdict[str, list[Row]]](lambda: defaultdict(list))
        for row in rows:
            found[row.model, row.graph, row.d, row.n][row.method].append(row)
        self._rows = {place: dict(found[place]) for place in sorted(found, key=_paper_order)}
        self.methods = in_order({name for methods in found.values() for name in methods})
        """All methods, tamis's own first."""

    def __getitem__(self, place: Place) -> Mapping[str, Sequence[Row]]:
        return self._rows[place]

    def __iter__(self) -> Iterator[Place]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def models(self) -> list[str]:
        """The models there are."""
        return list(dict.fromkeys(model for model, *_ in self))

    def graphs(self, model: str) -> list[str]:
        """The graph types of a model."""
        return list(dict.fromkeys(graph for one, graph, *_ in self if one == model))

    def sizes(self, model: str, graph: str) -> list[tuple[int, int]]:
        """The pairs (d, n) of a model and graph type."""
        return [(d, n) for one, other, d, n in self if (one, other) == (model, graph)]


def summary(rows: Sequence[Row]) -> Summary:
    """One method in one cell."""
    distances = [row.shd for row in rows if row.shd is not None]
    statuses = Counter(row.status for row in rows)
    if not distances:
        return Summary(math.nan, math.nan, math.nan, statuses)
    exact = distances.count(0) / len(distances)
    return Summary(fmean(distances), _standard_error(distances), exact, statuses)


def best(methods: Mapping[str, Sequence[Row]]) -> tuple[str, ...]:
    """The method with the least mean SHD, and those it does not beat by a standard error.

    The standard error is that of the differences, table by table, since all learn from the same
    tables. Methods with runs that did not finish are not compared: those that did are the easy
    ones.
    """
    rivals = {name: rows for name, rows in methods.items() if summary(rows).is_complete}
    if not rivals:
        return ()
    first = min(rivals, key=lambda name: summary(rivals[name]).mean)
    return in_order(name for name in rivals if _is_equal(rivals[name], rivals[first]))


def _is_equal(rows: Sequence[Row], others: Sequence[Row]) -> bool:
    distances = {row.replication: row.shd for row in others}
    differences = [
        row.shd - other
        for row in rows
        if row.shd is not None and (other := distances.get(row.replication)) is not None
    ]
    return bool(differences) and fmean(differences) <= _standard_error(differences)


def median_seconds(rows: Iterable[Row]) -> float:
    """The median time of learning; a run that timed out or was given up counts with its limit.

    So it is too small, if at all, only where half of the runs did not finish.
    """
    seconds = [
        row.time_limit if row.status in (TIMED_OUT, SKIPPED) else row.seconds
        for row in rows
        if row.status in (OK, TIMED_OUT, SKIPPED)
    ]
    known = [one for one in seconds if one is not None]
    return median(known) if known else math.nan


def in_order(methods: Iterable[str]) -> tuple[str, ...]:
    """Methods as they are always listed: tamis's own, baselines, others by name."""
    return tuple(sorted(methods, key=lambda name: (_ORDER.get(name, len(_ORDER)), name)))


def _paper_order(place: Place) -> tuple[int, str, int, str, int, int]:
    model, graph, d, n = place
    return *_rank(model, MODELS), *_rank(graph, GRAPHS), d, n


def _rank(name: str, known: Sequence[str]) -> tuple[int, str]:
    return (known.index(name) if name in known else len(known)), name


def _standard_error(values: Sequence[float]) -> float:
    return stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0
