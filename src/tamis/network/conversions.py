"""Networks as graphs of networkx and as models of pgmpy, and back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np

from tamis.errors import DataError, SettingError
from tamis.network.parts import Floats, Parts, row_text
from tamis.network.tables import ROUNDING, fault_in, rescaled
from tamis.tables import Label

if TYPE_CHECKING:
    from tamis.network.model import BayesianNetwork


def to_networkx(network: BayesianNetwork) -> nx.DiGraph[str]:
    """A graph whose nodes carry ``levels``, ``parents`` and ``table``."""
    graph: nx.DiGraph[str] = nx.DiGraph()
    for k, name in enumerate(network.names):
        graph.add_node(
            name,
            levels=network.levels[k],
            parents=network.parents_of(name),
            table=network.tables[k],
        )
    for name in network.names:
        graph.add_edges_from((parent, name) for parent in network.parents_of(name))
    return graph


def from_networkx(graph: nx.DiGraph[Any]) -> Parts:
    """The parts of a network from a graph such as ``to_networkx`` makes."""
    if not isinstance(graph, nx.DiGraph) or graph.is_multigraph():
        raise SettingError(f"graph must be a networkx.DiGraph, not {type(graph).__name__}")
    names = tuple(graph.nodes)
    place = {name: k for k, name in enumerate(names)}
    for name in names:
        for field in ("levels", "table"):
            if field not in graph.nodes[name]:
                raise DataError(f"The node {name!r} has no {field!r}; to_networkx shows the form.")
    return Parts(
        names,
        tuple(graph.nodes[name]["levels"] for name in names),
        tuple(tuple(place[p] for p in _parents(graph, name)) for name in names),
        tuple(graph.nodes[name]["table"] for name in names),
    )


def _parents(graph: nx.DiGraph[Any], name: object) -> Sequence[object]:
    """The order of the axes, which the edges cannot tell: copying a graph reorders them."""
    edges = list(graph.predecessors(name))
    parents = graph.nodes[name].get("parents", edges if len(edges) < 2 else None)
    if parents is None or sorted(map(repr, parents)) != sorted(map(repr, edges)):
        raise DataError(
            f"The edges into {name!r} come from {edges!r}, but its 'parents' are {parents!r}. "
            "Give the node a list 'parents' that names them in the order of the table's axes."
        )
    return tuple(parents)


def to_pgmpy(network: BayesianNetwork) -> Any:  # noqa: ANN401 - a class of a library that may be absent
    """A ``DiscreteBayesianNetwork`` with the same names, levels and tables."""
    models, factors = _pgmpy("pgmpy.models"), _pgmpy("pgmpy.factors.discrete")
    model = models.DiscreteBayesianNetwork()
    model.add_nodes_from(network.names)
    for name in network.names:
        model.add_edges_from((parent, name) for parent in network.parents_of(name))
    model.add_cpds(*(_to_cpd(factors.TabularCPD, network, k) for k in range(len(network.names))))
    return model


def _to_cpd(kind: Any, network: BayesianNetwork, k: int) -> Any:  # noqa: ANN401 - as above
    table, family = network.tables[k], (k, *network.parents[k])
    evidence = [network.names[p] for p in network.parents[k]]
    return kind(
        network.names[k],
        table.shape[-1],
        table.reshape(-1, table.shape[-1]).T,
        evidence=evidence or None,
        evidence_card=list(table.shape[:-1]) or None,
        state_names={network.names[p]: list(network.levels[p]) for p in family},
    )


def graph_to_pgmpy(names: Iterable[str], edges: Iterable[tuple[str, str]]) -> Any:  # noqa: ANN401 - as above
    """A ``pgmpy.base.DAG``: a graph without probabilities."""
    graph = _pgmpy("pgmpy.base").DAG()
    graph.add_nodes_from(names)
    graph.add_edges_from(edges)
    return graph


def from_pgmpy(model: Any) -> Parts:  # noqa: ANN401 - as above
    """The parts of a network from a ``DiscreteBayesianNetwork``."""
    if not isinstance(model, _pgmpy("pgmpy.models").DiscreteBayesianNetwork):
        raise SettingError(
            f"model must be a pgmpy.models.DiscreteBayesianNetwork, not {type(model).__name__}"
        )
    nodes = list(model.nodes)
    cpds = [model.get_cpds(node) for node in nodes]
    bare = [node for node, cpd in zip(nodes, cpds, strict=True) if cpd is None]
    if bare:
        raise DataError(f"The node {bare[0]!r} has no table. Add one with model.add_cpds.")
    place = {node: k for k, node in enumerate(nodes)}
    levels = tuple(tuple(cpd.state_names[node]) for node, cpd in zip(nodes, cpds, strict=True))
    parents = tuple(tuple(place[node] for node in cpd.variables[1:]) for cpd in cpds)
    names = tuple(map(str, nodes))
    tables = tuple(_from_cpd(cpd, k, names, levels, parents) for k, cpd in enumerate(cpds))
    return Parts(names, levels, parents, tables)


def _from_cpd(
    cpd: Any,  # noqa: ANN401 - as above
    k: int,
    names: tuple[str, ...],
    levels: tuple[tuple[Label, ...], ...],
    parents: tuple[tuple[int, ...], ...],
) -> Floats:
    """The table with the child's axis last and every level where the child's own table has it."""
    values = np.asarray(cpd.values, dtype=np.float64)
    for axis, (node, p) in enumerate(zip(cpd.variables, (k, *parents[k]), strict=True)):
        own = list(cpd.state_names[node])
        if sorted(map(repr, own)) != sorted(map(repr, levels[p])):
            raise DataError(
                f"The table of {names[k]!r} has the levels {own!r} for {names[p]!r}, whose own "
                f"table has {list(levels[p])!r}. Give both the same state_names."
            )
        values = values.take([own.index(level) for level in levels[p]], axis=axis)
    table = np.moveaxis(values, 0, -1)
    fault = fault_in(table, ROUNDING)
    if fault is not None:
        among = [levels[p] for p in parents[k]]
        about = row_text(names[k], [names[p] for p in parents[k]], among, fault[0])
        raise DataError(f"The probabilities of {about} {fault[1]}.")
    return rescaled(table)


def _pgmpy(module: str) -> Any:  # noqa: ANN401 - a module
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != "pgmpy":
            raise
        raise SettingError(
            "this conversion needs pgmpy, which is not installed: pip install pgmpy"
        ) from error
