"""Networks as graphs of networkx and as models of pgmpy and pyAgrum, and back."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np

from tamis.errors import DataError, SettingError
from tamis.network.laws import CellLaw, Regression, Variable
from tamis.network.parts import ROUNDING, Floats, Parts, fault_in, rescaled, row_text
from tamis.tables import Label

if TYPE_CHECKING:
    from tamis.network.gaussian import GaussianNetwork
    from tamis.network.interface import FittedEdge
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
    models, factors = _library("pgmpy.models"), _library("pgmpy.factors.discrete")
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
    graph = _library("pgmpy.base").DAG()
    graph.add_nodes_from(names)
    graph.add_edges_from(edges)
    return graph


def from_pgmpy(model: Any) -> Parts:  # noqa: ANN401 - as above
    """The parts of a network from a ``DiscreteBayesianNetwork``."""
    if not isinstance(model, _library("pgmpy.models").DiscreteBayesianNetwork):
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
    _require_distributions(table, k, names, levels, parents)
    return rescaled(table)


def _require_distributions(
    table: Floats,
    k: int,
    names: tuple[str, ...],
    levels: tuple[tuple[Label, ...], ...],
    parents: tuple[tuple[int, ...], ...],
) -> None:
    """Refuse rows of a table that are no probabilities, but for rounding."""
    fault = fault_in(table, ROUNDING)
    if fault is not None:
        among = [levels[p] for p in parents[k]]
        about = row_text(names[k], [names[p] for p in parents[k]], among, fault[0])
        raise DataError(f"The probabilities of {about} {fault[1]}.")


def to_pyagrum(network: BayesianNetwork) -> Any:  # noqa: ANN401 - as above
    """A ``pyagrum.BayesNet`` with the same names, labels as text, and tables."""
    gum = _library("pyagrum")
    model = gum.BayesNet("tamis")
    for name, labels in zip(network.names, network.levels, strict=True):
        texts = [str(label) for label in labels]
        cut = next((text for text in (name, *texts) if "\0" in text), None)
        if cut is not None:
            raise SettingError(
                f"column {name!r} cannot go to pyAgrum: it ends texts at NUL characters, and there "
                f"is one in {cut!r}; rename it"
            )
        model.add(gum.LabelizedVariable(name, name, texts))
    for name in network.names:
        for parent in network.parents_of(name):
            model.addArc(parent, name)
    for name, table in zip(network.names, network.tables, strict=True):
        # pyAgrum names the axes of its arrays from last to first: the child, then its parents.
        n_parents = table.ndim - 1
        axes = (*reversed(range(n_parents)), n_parents)
        model.cpt(name)[:] = np.ascontiguousarray(table.transpose(axes))
    return model


def from_pyagrum(model: Any) -> Parts:  # noqa: ANN401 - as above
    """The parts of a network from a ``pyagrum.BayesNet``."""
    if not isinstance(model, _library("pyagrum").BayesNet):
        raise SettingError(f"model must be a pyagrum.BayesNet, not {type(model).__name__}")
    names = tuple(model.variable(node).name() for node in sorted(model.nodes()))
    place = {name: k for k, name in enumerate(names)}
    levels = tuple(tuple(model.variable(name).labels()) for name in names)
    orders = [tuple(model.cpt(name).names[1:]) for name in names]
    parents = tuple(tuple(place[one] for one in order) for order in orders)
    tables = []
    for k, name in enumerate(names):
        n_parents = len(parents[k])
        values = np.asarray(model.cpt(name).toarray(), dtype=np.float64)
        table = values.transpose(*reversed(range(n_parents)), n_parents)
        _require_distributions(table, k, names, levels, parents)
        tables.append(rescaled(table))
    return Parts(names, levels, parents, tuple(tables))


def edge_numbers(edge: FittedEdge) -> dict[str, object]:
    """The numbers of an edge by name, as an edge of networkx carries them."""
    found: dict[str, object] = {"coefficients": edge.coefficients}
    if len(edge.coefficients) == 1:
        (one,) = edge.coefficients
        found |= {
            "coefficient": one.value,
            "standard_error": one.standard_error,
            "standardised": one.standardised,
        }
    return found


def to_linear_gaussian(network: GaussianNetwork) -> Any:  # noqa: ANN401 - as above
    """A ``LinearGaussianBayesianNetwork`` with the same regressions."""
    with_levels = [name for name, own in zip(network.names, network.levels, strict=True) if own]
    if with_levels:
        raise SettingError(
            f"pgmpy has no model of numbers beside levels, and {with_levels[0]!r} has levels: use "
            "the network itself (sample, log_likelihood, edges), its to_networkx, or cut the "
            "numbers into levels with tamis.discretize"
        )
    models, factors = _library("pgmpy.models"), _library("pgmpy.factors.continuous")
    model = models.LinearGaussianBayesianNetwork()
    model.add_nodes_from(network.names)
    for name, law in zip(network.names, network.laws, strict=True):
        parents = list(network.parents_of(name))
        model.add_edges_from((parent, name) for parent in parents)
        one = law.regressions[0]  # type: ignore[attr-defined]  # numbers have no other law
        beta = [one.intercept, *one.slopes]
        model.add_cpds(factors.LinearGaussianCPD(name, beta, one.scale, evidence=parents))
    return model


def from_linear_gaussian(
    model: Any,  # noqa: ANN401 - as above
) -> tuple[tuple[str, ...], tuple[tuple[int, ...], ...], tuple[CellLaw, ...]]:
    """Names, parents and laws from a ``LinearGaussianBayesianNetwork``."""
    if not isinstance(model, _library("pgmpy.models").LinearGaussianBayesianNetwork):
        raise SettingError(
            "model must be a pgmpy.models.LinearGaussianBayesianNetwork, not "
            f"{type(model).__name__}"
        )
    nodes = list(model.nodes)
    place = {node: k for k, node in enumerate(nodes)}
    cpds = [model.get_cpds(node=node) for node in nodes]
    bare = [node for node, cpd in zip(nodes, cpds, strict=True) if cpd is None]
    if bare:
        raise DataError(f"The node {bare[0]!r} has no law. Add one with model.add_cpds.")
    deviations = _deviations(nodes, cpds)
    laws = tuple(
        CellLaw(
            Variable(str(node), ()),
            tuple(Variable(str(one), ()) for one in cpd.evidence),
            np.zeros((), dtype=np.int64),
            (_regression(cpd),),
            tuple(deviations[one] for one in (*cpd.evidence, node)),
        )
        for node, cpd in zip(nodes, cpds, strict=True)
    )
    parents = tuple(tuple(place[one] for one in cpd.evidence) for cpd in cpds)
    return tuple(map(str, nodes)), parents, laws


def _regression(cpd: Any) -> Regression:  # noqa: ANN401 - as above
    intercept, *slopes = (float(one) for one in cpd.beta)
    unknown = (math.inf,) * len(slopes)
    return Regression(intercept, tuple(slopes), float(cpd.std), unknown, intercept, math.inf, 0)


def _deviations(nodes: Sequence[Any], cpds: Sequence[Any]) -> dict[Any, float]:
    """The standard deviations that the model gives its variables.

    With B the slopes and D the noise variances, X = B X + noise has (I - B)^-1 D (I - B)^-T.
    """
    place = {node: k for k, node in enumerate(nodes)}
    slopes = np.zeros((len(nodes), len(nodes)))
    for node, cpd in zip(nodes, cpds, strict=True):
        for one, slope in zip(cpd.evidence, cpd.beta[1:], strict=True):
            slopes[place[node], place[one]] = slope
    mixing = np.linalg.inv(np.eye(len(nodes)) - slopes)
    noise = np.array([float(cpd.std) ** 2 for cpd in cpds])
    variances = (mixing**2) @ noise
    return dict(zip(nodes, np.sqrt(variances).tolist(), strict=True))


def _library(module: str) -> Any:  # noqa: ANN401 - a module
    package = module.split(".")[0]
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
        raise SettingError(
            f"this conversion needs {package}, which is not installed: pip install {package}"
        ) from error
