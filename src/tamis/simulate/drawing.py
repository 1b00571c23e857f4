"""The front door: a graph, a model and a seed become a table whose truth is known."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import networkx as nx

from tamis.errors import SettingError
from tamis.network import BayesianNetwork
from tamis.simulate.files import write_simulated
from tamis.simulate.models import EXAMPLES, Model
from tamis.simulate.models.known import NetworkSource
from tamis.simulate.models.model import Column
from tamis.simulate.options import whole
from tamis.simulate.sources import from_example, from_network, on_graph

if TYPE_CHECKING:
    from tamis.simulate.sources import GraphSource


@dataclass(frozen=True, eq=False, repr=False)
class Simulated:
    """Rows, the model they come from, and the settings that draw them again."""

    data: dict[str, Column]
    """The columns by name, as ``tamis.TAM().fit``, pandas and polars take them."""
    model: Model
    settings: dict[str, Any]
    """``draw(**settings)`` gives the same again; JSON holds them."""

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
    """Draw ``n`` rows of a model on a random graph.

    ``graph`` is ``"tree"``, ``"er"``, ``"sf"``, ``"chain"``, ``"layered"`` or ``"polyforest"``,
    a ``networkx.DiGraph`` over strings, or a ``Graph``. ``model`` is ``"mod"``, ``"add"``,
    ``"tables"``, ``"logistic"``, ``"gaussian"`` or ``"nonlinear"``. Their options are given by
    name (``edges=40``, ``p=0.2``); ``tamis.simulate.graphs`` and ``.models`` explain them. ``d``
    is the number of nodes. The models ``"diamond"`` and ``"unfaithful"`` are examples of the
    paper with graphs of their own. Otherwise ``network`` is the path of a BIF file, the name
    of a network that comes with tamis, or a ``BayesianNetwork``.

    Everything follows from ``seed``, the same on every machine. Graph, names, parameters and
    noise have streams of their own: another ``n``, another ``replicate`` or another model with
    the same seed has the same graph. A longer sample begins like a shorter one. Replicates
    are independent samples of one model.
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
