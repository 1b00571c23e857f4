"""What rows are drawn from: a model on a graph, an example of the paper, or a network.

Each comes with the settings that make it again, as JSON holds them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import networkx as nx

from tamis.errors import SettingError
from tamis.simulate.graphs import GRAPHS, Graph
from tamis.simulate.models import EXAMPLES, MODELS, Model, known
from tamis.simulate.models.known import NetworkSource, network_to_json
from tamis.simulate.options import plain
from tamis.simulate.recipes import completed, named, options_of, refuse_others

if TYPE_CHECKING:
    GraphSource = str | Graph | nx.DiGraph[Any] | Mapping[str, Any]

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
