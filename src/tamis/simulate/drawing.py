"""The front door: a graph, a model and a seed become a table whose truth is known, and files."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

import networkx as nx

from tamis.atomic import check_place, write_files
from tamis.errors import SettingError
from tamis.network import BayesianNetwork
from tamis.network.bif import render
from tamis.plugins import whole
from tamis.simulate.graphs import GRAPHS, Graph
from tamis.simulate.models import EXAMPLES, MODELS, Model, known
from tamis.simulate.models.model import Column
from tamis.simulate.models.networks import NetworkSource, network_to_json
from tamis.simulate.options import completed, named, options_of, plain, refuse_others
from tamis.tables.text import MISSING_MARKERS

if TYPE_CHECKING:
    GraphSource = str | Graph | nx.DiGraph[Any] | Mapping[str, Any]


@dataclass(frozen=True, eq=False, repr=False)
class Simulated:
    """Simulated rows, the model they come from, and the settings that draw them again.

    Attributes
    ----------
    data : dict
        The columns by name, as ``tamis.TAM().fit``, pandas and polars take them.
    model : Model
        The graph and its parameters.
    settings : dict
        ``draw(**settings)`` draws the same rows again; JSON can hold them.

    Examples
    --------
    >>> import tamis
    >>> simulated = tamis.simulate.draw("tree", "mod", n=100, d=5, seed=1)
    >>> simulated
    <Simulated: 100 rows of <Graph: 5 nodes, 4 edges>>
    >>> simulated.graph.number_of_edges()
    4
    """

    data: dict[str, Column]
    model: Model
    settings: dict[str, Any]

    def __repr__(self) -> str:
        return f"<Simulated: {self.settings['n']} rows of {self.model.graph!r}>"

    @cached_property
    def graph(self) -> nx.DiGraph[str]:
        """The true DAG, frozen; ``graph.copy()`` can be changed."""
        graph = self.model.graph.to_networkx()
        nx.freeze(graph)
        return graph

    @cached_property
    def network(self) -> BayesianNetwork | None:
        """The exact network; None if the model is continuous or its tables are too large."""
        try:
            return self.model.network()
        except SettingError:
            return None

    def write(self, path: str | os.PathLike[str]) -> tuple[str, ...]:
        """Write the table, and the truth beside it; returns the paths of all files.

        ``NAME.csv``, ``NAME.parquet`` or ``NAME.pq`` holds the rows, ``NAME.graph.csv`` the
        edges (parent, child) and ``NAME.bif`` the network, if there is one and it is small;
        a file that the network was read from is left alone. Whatever fails, no file is half
        written.
        """
        return write_simulated(self, path)


def draw(
    graph: GraphSource | None = None,
    model: str | None = None,
    *,
    n: int,
    seed: int,
    d: int | None = None,
    network: NetworkSource | None = None,
    replicate: int = 0,
    **options: Any,  # noqa: ANN401 - each part checks its own
) -> Simulated:
    """Draw rows from a model on a random graph.

    The graph, the names, the parameters and the noise have random streams of their own. Another
    ``n``, another ``replicate`` or another model with the same seed has the same graph, and a
    longer sample begins like a shorter one.

    Parameters
    ----------
    graph : str, networkx.DiGraph, Graph or None
        "tree", "er", "sf", "chain", "layered" or "polyforest", or a graph over strings.
    model : str or None
        "mod", "add", "tables", "logistic", "gaussian", "nonlinear", "noisy-or", "dirichlet",
        "ordinal" or "mixed"; or "diamond" or "unfaithful", examples of the paper with graphs of
        their own.
    n : int
        The number of rows.
    seed : int
        The same seed draws the same rows on every machine.
    d : int or None
        The number of nodes.
    network : str, path, BayesianNetwork or None
        Instead of a graph and a model: a known network, the path of a BIF file, or the name of a
        network that comes with tamis.
    replicate : int
        Replicates are independent samples from one model.
    **options
        Options of the graph and the model, such as ``edges=40`` or ``p=0.2``; see
        ``tamis.simulate.graphs`` and ``tamis.simulate.models``.

    Returns
    -------
    Simulated
        The rows with their true graph.

    Examples
    --------
    >>> import tamis
    >>> simulated = tamis.simulate.draw("er", "mod", n=100, d=5, edges=6, p=0.2, seed=1)
    >>> list(simulated.data), simulated.graph.number_of_edges()
    (['v1', 'v2', 'v3', 'v4', 'v5'], 6)
    """
    n, seed, replicate = whole("n", n, 1), whole("seed", seed, 0), whole("replicate", replicate, 0)
    options = options if d is None else {"d": d, **options}
    if network is not None:
        also = {"graph": graph, "model": model, **options}
        made, settings = from_network(
            network, {name: one for name, one in also.items() if one is not None}
        )
    elif model is not None and model in EXAMPLES:
        made, settings = from_example(model, graph, options)
    else:
        made, settings = on_graph(graph, model, seed, options)
    settings |= {"n": n, "seed": seed, "replicate": replicate}
    return Simulated(made.sample(n, seed, replicate), made, settings)


Options = Mapping[str, Any]
Settings = dict[str, Any]


def from_network(network: NetworkSource, also: Options) -> tuple[Model, Settings]:
    """A network is graph and model at once; ``also`` is what was given besides."""
    if also:
        raise SettingError(f"a network is graph and model at once: leave out {', '.join(also)}")
    return known(network), {"network": network_to_json(network)}


def from_example(name: str, graph: GraphSource | None, options: Options) -> tuple[Model, Settings]:
    """An example of the paper, which has its own graph and in which nothing is drawn."""
    if graph is not None:
        raise SettingError(f"graph must be left out: {name} has its own, not {graph!r}")
    function = EXAMPLES[name]
    refuse_others(options, {name: options_of(function)})
    chosen = completed(name, function, options)
    return function(**chosen), {"model": name} | _plain(chosen)


def on_graph(
    graph: GraphSource | None, model: str | None, seed: int, options: Options
) -> tuple[Model, Settings]:
    """A model of any graph on a graph of any kind."""
    # An example has been recognised before; its name belongs into the list all the same.
    law = named("model", model, MODELS | EXAMPLES)
    known_options = {str(model): options_of(law)}
    if graph is None or isinstance(graph, str):
        known_options = {str(graph): options_of(named("graph", graph, GRAPHS))} | known_options
    refuse_others(options, known_options)
    chosen = completed(str(model), law, options)
    placed, settings = _placed(graph, seed, options)
    return law(placed, seed=seed, **chosen), settings | {"model": model} | _plain(chosen)


def _placed(graph: GraphSource | None, seed: int, options: Options) -> tuple[Graph, Settings]:
    if isinstance(graph, str):
        chosen = completed(graph, GRAPHS[graph], options)
        return GRAPHS[graph](**chosen, seed=seed), {"graph": graph} | _plain(chosen)
    given = _given(graph)
    return given, {"graph": given.to_dict()}


def _given(graph: object) -> Graph:
    if isinstance(graph, Graph):
        return graph
    if isinstance(graph, Mapping):
        return Graph.from_dict(graph)
    if isinstance(graph, nx.DiGraph):
        return Graph.from_networkx(graph)
    raise SettingError(
        f"graph must be one of {', '.join(GRAPHS)}, or a networkx.DiGraph, not {graph!r}"
    )


def _plain(options: Options) -> Settings:
    return {name: plain(value) for name, value in options.items() if value is not None}


PathLike = str | os.PathLike[str]
Columns = Mapping[str, Column]

MOST_BIF_CELLS = 100_000
"""The most probabilities with which a network is written beside its rows: a file of 2 MB."""
_CHUNK = 4096
"""Rows turned into Python's numbers at a time."""


def write_simulated(simulated: Simulated, path: PathLike) -> tuple[str, ...]:
    """Render everything, then write everything; the paths that were written."""
    place = checked_path(path)
    table = _FORMATS[_ending(place)](simulated.data)
    contents = {place: table, graph_path(place): _edges(simulated.model.graph.edges)}
    beside, bif = network_path(place), _bif(simulated.network)
    if bif is not None and not _is_source(beside, simulated.settings.get("network")):
        check_place(beside)
        contents[beside] = bif
    write_files(contents)
    if bif is None and os.path.isfile(beside):
        # What an earlier draw left there is not the truth of these rows.
        os.unlink(beside)
    return tuple(contents)


def checked_path(path: PathLike) -> str:
    """The path of the rows; refused if it, or that of the edges, cannot be written."""
    place = os.fspath(path) if isinstance(path, str | os.PathLike) else None
    if not isinstance(place, str):
        raise SettingError(f"a path must be a string or a pathlib.Path, not {path!r}")
    if _ending(place) not in _FORMATS:
        raise SettingError(f"the ending of {place!r} must be one of {', '.join(_FORMATS)}")
    for each in (place, graph_path(place)):
        check_place(each)
    return place


def graph_path(place: str) -> str:
    """Where the true edges go."""
    return os.path.splitext(place)[0] + ".graph.csv"


def network_path(place: str) -> str:
    """Where the exact network goes."""
    return os.path.splitext(place)[0] + ".network.bif"


def _ending(place: str) -> str:
    return os.path.splitext(place)[1].lower()


def _is_source(beside: str, source: object) -> bool:
    """Whether the network was read from this very file, which is then not written anew."""
    both = isinstance(source, str) and os.path.exists(source) and os.path.exists(beside)
    return both and os.path.samefile(str(source), beside)


def _bif(network: BayesianNetwork | None) -> bytes | None:
    """The network as a file, unless it is large or has names that BIF cannot hold."""
    if network is None or sum(table.size for table in network.tables) > MOST_BIF_CELLS:
        return None
    try:
        return render(network).encode()
    except SettingError:
        return None


def _edges(edges: Iterable[tuple[str, str]]) -> bytes:
    return _csv([("parent", "child"), *edges])


def _csv_table(columns: Columns) -> bytes:
    """The rows; floats keep every digit, and integers stay integers."""
    _refuse_lost(columns)
    return _csv(chain([tuple(columns)], _rows(columns)))


def _csv(rows: Iterable[Iterable[object]]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


def _rows(columns: Columns) -> Iterator[tuple[object, ...]]:
    arrays = list(columns.values())
    for start in range(0, len(arrays[0]), _CHUNK):
        yield from zip(*(one[start : start + _CHUNK].tolist() for one in arrays), strict=True)


def _refuse_lost(columns: Columns) -> None:
    """Names and labels that would come back as others; those of networks can be any text."""
    for name, column in columns.items():
        labels = set(column.tolist()) if column.dtype == object else set()
        texts = {label for label in labels if isinstance(label, str)}
        for text in (name, *texts):
            if text != text.strip() or (text in MISSING_MARKERS and text in texts):
                raise SettingError(
                    f"CSV cannot hold {text!r} (column {name!r}): it would be read as another "
                    "text or as a missing value. Rename it, or write .parquet."
                )


def _parquet_table(columns: Columns) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pa.table(dict(columns))
    except (pa.ArrowException, OverflowError) as error:
        raise SettingError(f"Parquet cannot hold these columns ({error}). Write .csv.") from error
    sink = io.BytesIO()
    pq.write_table(table, sink)
    return sink.getvalue()


_PARQUET = (".parquet", ".pq")
_FORMATS: dict[str, Callable[[Columns], bytes]] = {
    ".csv": _csv_table,
    ".parquet": _parquet_table,
    ".pq": _parquet_table,
}
