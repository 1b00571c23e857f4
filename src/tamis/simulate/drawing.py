"""The front door: a graph, a model and a seed become a table whose truth is known."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import networkx as nx

from tamis.errors import SettingError
from tamis.network import BayesianNetwork
from tamis.simulate.files import write_simulated
from tamis.simulate.graphs import GRAPHS, Graph
from tamis.simulate.models import EXAMPLES, MODELS, Model, known
from tamis.simulate.models.model import Column
from tamis.simulate.models.networks import NetworkSource, network_to_json
from tamis.simulate.options import completed, named, options_of, plain, refuse_others, whole

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
