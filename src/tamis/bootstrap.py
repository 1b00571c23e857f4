"""How sure is an arrow: the share of resampled tables that show it.

A resample is one half of the rows, drawn without replacement: its estimates spread like those of
the classical bootstrap (Politis and Romano, 1994), and no row comes twice. Half of the rows see
less than all, so that weak arrows come out less sure than they are. The other scheme draws as many
rows as there are, with replacement (Efron, 1979). There tests take copies of rows for evidence, the
more so the more cells a table has: with columns of several levels arrows that do not exist come out
as sure. docs/confidence.md shows how well either is calibrated.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from tamis.counting.sharing import usable_jobs
from tamis.errors import SettingError
from tamis.learning import found_in
from tamis.opening import open_outside
from tamis.parameters import kind_of, require
from tamis.plugins import shortened
from tamis.progress import showing
from tamis.result import Result
from tamis.settings import Settings
from tamis.tables import Table, read_table
from tamis.tables.table import with_rows

Scheme = Literal["half", "rows"]
MORE_PARENTS = 2
"""A column may have this number of parents more in a resample than any has in the result."""
WORTH_PROCESSES = 3.0
"""Seconds of work from which on it is shared with other processes."""
TOGETHER = 8
"""Resamples that a worker does before it reports."""

Progress = Callable[[int, int], None]


class Drawn(NamedTuple):
    """What one resample gave: its arrows and the layer of each column, by position."""

    edges: tuple[tuple[int, int], ...]
    layers: tuple[int, ...]


@dataclass(frozen=True, repr=False)
class Confidence:
    """The share of resampled tables that show each arrow and each layer.

    `tamis.TAM.bootstrap` and `tamis.Result.bootstrap` make it.

    Attributes
    ----------
    names : tuple of str
        The columns.
    n : int
        The number of resamples.
    seed : int
        The seed that they were drawn with.
    search : str
        The search that learned them.
    scheme : {"half", "rows"}
        How rows were drawn.
    edges : mapping from (parent, child) to float
        The share of every arrow that was ever found, the largest first.
    layers : mapping from str to mapping
        For each column the layers it was found in, counted from 1, with their shares.

    Examples
    --------
    >>> import tamis
    >>> rows = {"rain": [0, 0, 1, 1] * 20, "wet": [0, 0, 1, 1] * 20, "coin": [0, 1] * 40}
    >>> confidence = tamis.TAM().fit(rows).bootstrap(10)
    >>> confidence
    <Confidence from 10 resamples (half) with search 'node': 3 columns, 1 arrows seen>
    >>> confidence.edges["rain", "wet"]
    1.0
    """

    names: tuple[str, ...]
    n: int
    seed: int
    search: str
    scheme: Scheme
    edges: Mapping[tuple[str, str], float]
    layers: Mapping[str, Mapping[int, float]]

    def __repr__(self) -> str:
        return (
            f"<Confidence from {self.n} resamples ({self.scheme}) with search {self.search!r}: "
            f"{len(self.names)} columns, {len(self.edges)} arrows seen>"
        )

    def _repr_html_(self) -> str:
        from tamis.report.notebook import HALF, confidence_in_html

        return confidence_in_html(self, self.names, self.graph(HALF))

    def skeleton(self, a: str, b: str) -> float:
        """Give the share of resamples with an arrow between two columns, either way.

        Parameters
        ----------
        a, b : str
            The columns.

        Returns
        -------
        float
            From 0 to 1.

        Examples
        --------
        >>> import tamis
        >>> rows = {"rain": [0, 0, 1, 1] * 20, "wet": [0, 0, 1, 1] * 20}
        >>> tamis.TAM().fit(rows).bootstrap(10).skeleton("wet", "rain")
        1.0
        """
        for name in (a, b):
            if not isinstance(name, str) or name not in self.layers:
                raise SettingError(f"there is no column {shortened(name)}")
        return self.edges.get((a, b), 0.0) + self.edges.get((b, a), 0.0)

    def direction(self, parent: str, child: str) -> float:
        """Give the share that points this way, of the resamples with an arrow between two columns.

        Parameters
        ----------
        parent, child : str
            The columns.

        Returns
        -------
        float
            From 0 to 1; nan if there never is an arrow.

        Examples
        --------
        >>> import tamis
        >>> rows = {"rain": [0, 0, 1, 1] * 20, "wet": [0, 0, 1, 1] * 20, "coin": [0, 1] * 40}
        >>> tamis.TAM().fit(rows).bootstrap(10).direction("rain", "coin")
        nan
        """
        either = self.skeleton(parent, child)
        return self.edges.get((parent, child), 0.0) / either if either else float("nan")

    def graph(self, threshold: float = 0.5) -> nx.DiGraph[str]:
        """Make the averaged graph: the arrows that enough resamples show.

        Arrows are added from the surest on; one that would close a cycle is left out.

        Parameters
        ----------
        threshold : float
            The least share of resamples that an arrow needs, above 0 and at most 1.

        Returns
        -------
        networkx.DiGraph
            Each edge carries its share as ``probability``.

        Examples
        --------
        >>> import tamis
        >>> rows = {"rain": [0, 0, 1, 1] * 20, "wet": [0, 0, 1, 1] * 20}
        >>> list(tamis.TAM().fit(rows).bootstrap(10).graph(0.9).edges)
        [('rain', 'wet')]
        """
        require(threshold=threshold)
        graph: nx.DiGraph[str] = nx.DiGraph()
        graph.add_nodes_from(self.names)
        for (parent, child), share in self.edges.items():
            if share >= threshold and not nx.has_path(graph, child, parent):
                graph.add_edge(parent, child, probability=share)
        return graph


def bootstrap(
    table: Table,
    result: Result,
    asked: Settings,
    n: int = 200,
    *,
    seed: int = 1,
    scheme: Scheme = "half",
    search: str | None = None,
    progress: Progress | None = None,
) -> Confidence:
    """Learn ``n`` resamples of a table as the result was learned from it.

    ``search`` None is that of the result. The outcome depends on the seed and the order of the
    rows, not on ``n_jobs``.
    """
    require(n=n, seed=seed, scheme=scheme, progress=progress)
    if search is not None:
        require(search=search)
    settings = _settings(table, result, asked, search)
    names = sorted(table.names)
    arranged = table.select([table.names.index(name) for name in names])
    wanted = _Wanted(arranged, settings, seed, scheme)
    done: list[Drawn] = []
    with showing("learning resamples", progress) as heard:
        for fresh in _in_parallel(wanted, range(n), usable_jobs(asked.n_jobs)):
            done += fresh
            if heard is not None:
                heard(len(done), n)
    return _summed(names, table.names, done, seed, settings.search, scheme)


def read_again(
    result: Result, data: object, weights: object, n_jobs: int | None
) -> tuple[Table, Settings]:
    """The table of a result and what was asked of it, from what the result has recorded.

    Raises ``SettingError`` for a table that cannot be the one the result was learned from.
    """
    settings = replace(Settings.from_dict(result.settings), n_jobs=n_jobs)
    if settings.from_outside:
        raise SettingError(
            f"the result was learned with {', '.join(settings.from_outside)}, of which a file "
            "holds the name only: fit a model with it and call its bootstrap"
        )
    table = read_table(
        data,
        continuous=settings.read_as != "counts",
        missing=settings.missing,
        weights=weights,
        types=settings.types,
    )
    if sorted(table.names) != sorted(result.names) or table.n_rows != result.n_rows:
        raise SettingError(
            f"the table has {table.n_rows:,} rows and {len(table.names)} columns, and not the "
            f"{result.n_rows:,} rows and {len(result.names)} columns that the result was learned "
            "from: pass the table that the result was learned from"
        )
    return with_rows(table), settings


class _Wanted(NamedTuple):
    """What a worker needs to know."""

    table: Table
    settings: Settings
    seed: int
    scheme: Scheme


def _settings(table: Table, result: Result, asked: Settings, search: str | None) -> Settings:
    """Those of the result, with the search that found it and nothing left to be chosen."""
    own = asked.own_information
    asked.require_renewable("bootstrap")
    information = own or result.settings["information"]
    kind = None if own is None else kind_of(open_outside(own, table))
    whole = asked.on(information, kind=kind)
    known = whole if search is None else asked.on(information, kind=kind, search=search)
    return replace(known, max_boundary=_most_parents(result, known))


def _most_parents(result: Result, settings: Settings) -> int | None:
    """As many parents as any column of the result has, and some more. Copies of rows fill the
    cells of large tables, and what looks like dependence there would go on for ever."""
    if settings.boundary != "pps":
        return None
    most = max(map(len, result.parents.values()), default=0) + MORE_PARENTS
    return most if settings.max_boundary is None else min(most, settings.max_boundary)


def _rows(n_rows: int, seed: int, number: int, scheme: str) -> NDArray[np.int64]:
    rng = np.random.default_rng([seed, number])
    if scheme == "rows":
        drawn = rng.integers(0, n_rows, n_rows)
    else:
        drawn = rng.permutation(n_rows)[: max(n_rows // 2, 1)]
    return np.sort(drawn).astype(np.int64)


def _resamples(wanted: _Wanted, numbers: Sequence[int]) -> list[Drawn]:
    return [_resample(wanted, number) for number in numbers]


def _resample(wanted: _Wanted, number: int) -> Drawn:
    rows = _rows(wanted.table.n_rows, wanted.seed, number, wanted.scheme)
    parents, layers = found_in(wanted.table.arrange(rows), wanted.settings)
    edges = tuple(sorted((p, k) for k, members in parents.items() for p in members))
    place = {k: i for i, layer in enumerate(layers, start=1) for k in layer}
    return Drawn(edges, tuple(place[k] for k in range(len(place))))


def _in_parallel(wanted: _Wanted, numbers: Sequence[int], n_jobs: int) -> Iterator[list[Drawn]]:
    """Batches of resamples as they come, whichever is ready first."""
    batches = [numbers[i : i + TOGETHER] for i in range(0, len(numbers), TOGETHER)]
    # Other processes take a second or more to begin: what is done sooner is done here.
    while batches:
        started = time.perf_counter()
        yield _resamples(wanted, batches.pop(0))
        left = len(batches) * (time.perf_counter() - started)
        if n_jobs > 1 and len(batches) > 1 and left > WORTH_PROCESSES:
            break
    if not batches:
        return
    from joblib import Parallel, delayed

    workers = Parallel(n_jobs=min(n_jobs, len(batches)), return_as="generator_unordered")
    yield from workers(delayed(_resamples)(wanted, batch) for batch in batches)


def _summed(
    names: Sequence[str],
    as_in_table: tuple[str, ...],
    drawn: Sequence[Drawn],
    seed: int,
    search: str,
    scheme: Scheme,
) -> Confidence:
    n = len(drawn)
    edges = Counter((names[p], names[k]) for one in drawn for p, k in one.edges)
    layers = [Counter(one.layers[k] for one in drawn) for k in range(len(names))]
    shares = dict(zip(names, layers, strict=True))
    return Confidence(
        names=as_in_table,
        n=n,
        seed=seed,
        search=search,
        scheme=scheme,
        edges={
            arrow: count / n for arrow, count in sorted(edges.items(), key=lambda e: (-e[1], e[0]))
        },
        layers={
            name: {layer: count / n for layer, count in sorted(shares[name].items())}
            for name in as_in_table
        },
    )
