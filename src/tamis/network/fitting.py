"""The tables of a given graph, counted from rows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from tamis.errors import DataError, SettingError
from tamis.network.checks import arrows, find_cycle
from tamis.network.indexing import flat_index
from tamis.network.laws import Variable
from tamis.network.parts import MOST_CELLS, MOST_PARENTS, Floats, Parts
from tamis.plugins import is_number, shortened
from tamis.tables import Table

if TYPE_CHECKING:
    Graph = nx.DiGraph[Any] | Mapping[str, Iterable[str]]


def fit_tables(
    graph: Graph, table: Table, prior: float, equivalent_sample_size: float | None
) -> Parts:
    """The network over the nodes of the graph, in the order of the table's columns."""
    _check_priors(prior, equivalent_sample_size)
    chosen, parents = named_parents(graph, table)
    arities = [len(labels) for labels in chosen.levels]
    _check_size(chosen.names, parents, arities)
    tables = tuple(
        _conditional(chosen.codes, (*parents[k], k), arities, prior, equivalent_sample_size)
        for k in range(chosen.n_variables)
    )
    return Parts(chosen.names, chosen.levels, parents, tables)


def named_parents(graph: Graph, table: Table) -> tuple[Table, tuple[tuple[int, ...], ...]]:
    """The columns that are nodes of the graph, in the order of the table, and their parents."""
    wanted = _parents_by_name(graph, table.names)
    chosen = table.select([k for k, name in enumerate(table.names) if name in wanted])
    return chosen, _positions(wanted, chosen.names)


def conditional_table(
    own: Variable,
    parents: Sequence[Variable],
    codes: NDArray[np.int64],
    given: Sequence[NDArray[Any]],
    equivalent_sample_size: float,
) -> Floats:
    """The table of one variable given others of levels, from their codes."""
    arities = [len(one.levels) for one in (*parents, own)]
    names = [one.name for one in (*parents, own)]
    family = tuple(range(len(arities)))
    _check_size(names, [()] * len(parents) + [family[:-1]], arities)
    rows = np.array([*given, codes], dtype=np.int64)
    return _conditional(rows, family, arities, 0.0, equivalent_sample_size)


def _conditional(
    codes: NDArray[np.integer],
    family: tuple[int, ...],
    arities: Sequence[int],
    prior: float,
    equivalent_sample_size: float | None,
) -> Floats:
    shape = tuple(arities[k] for k in family)
    cells = math.prod(shape)
    if equivalent_sample_size is not None:
        prior = equivalent_sample_size / cells
    counts = np.bincount(flat_index(codes, family, arities), minlength=cells)
    rows = counts.reshape(-1, shape[-1]) + float(prior)
    total = rows.sum(axis=1, keepdims=True)
    # A configuration that was never seen, without a prior, says nothing: all levels alike.
    uniform = np.full_like(rows, 1.0 / shape[-1])
    np.divide(rows, total, out=uniform, where=total > 0)
    return uniform.reshape(shape)


def _parents_by_name(graph: Graph, columns: Sequence[str]) -> dict[str, list[str]]:
    """The parents of every node; those of a networkx graph in the order of the columns."""
    if isinstance(graph, nx.DiGraph) and not graph.is_multigraph():
        parents = {node: list(graph.predecessors(node)) for node in graph.nodes}
    elif isinstance(graph, Mapping):
        parents = {child: _names(child, given) for child, given in graph.items()}
        parents = {name: [] for given in parents.values() for name in given} | parents
    else:
        raise SettingError(
            "graph must be a networkx.DiGraph or a mapping from names to lists of parents, "
            f"not {type(graph).__name__}"
        )
    _check_columns(parents, columns)
    if isinstance(graph, nx.DiGraph):
        place = {name: k for k, name in enumerate(columns)}
        return {child: sorted(given, key=place.__getitem__) for child, given in parents.items()}
    return parents


def _names(child: object, given: object) -> list[str]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise SettingError(
            f"the parents of {child!r} must be a list of names, not {given!r}; "
            "write [] for a variable without parents"
        )
    names = list(given)
    if len(set(names)) < len(names):
        raise DataError(f"A parent of {child!r} is named twice: {names!r}.")
    return names


def _check_columns(parents: Mapping[str, object], columns: Sequence[str]) -> None:
    if not parents:
        raise DataError("The graph has no nodes; a network needs at least one variable.")
    known = set(columns)
    unknown = [node for node in parents if node not in known]
    if unknown:
        raise DataError(
            f"The graph has a node {unknown[0]!r} that is not a column of the table. Rename or "
            "remove the node, or add the column."
        )


def _positions(
    wanted: Mapping[str, Sequence[str]], names: Sequence[str]
) -> tuple[tuple[int, ...], ...]:
    place = {name: k for k, name in enumerate(names)}
    parents = tuple(tuple(place[parent] for parent in wanted[name]) for name in names)
    cycle = find_cycle(names, parents)
    if cycle:
        raise DataError(
            f"The graph has a cycle: {arrows(cycle)}. Only a graph without cycles has tables."
        )
    return parents


def _check_size(
    names: Sequence[str], parents: Sequence[Sequence[int]], arities: Sequence[int]
) -> None:
    sizes = [arities[k] * math.prod(arities[p] for p in given) for k, given in enumerate(parents)]
    largest = max(range(len(names)), key=sizes.__getitem__)
    if sum(sizes) > MOST_CELLS:
        raise DataError(
            f"The tables would hold {sum(sizes)} probabilities, {sizes[largest]} of them for "
            f"{names[largest]!r} with its {len(parents[largest])} parents; at most {MOST_CELLS} "
            "are fitted. Remove parents or group levels."
        )
    crowded = max(range(len(names)), key=lambda k: len(parents[k]))
    if len(parents[crowded]) > MOST_PARENTS:
        raise DataError(
            f"The variable {names[crowded]!r} has {len(parents[crowded])} parents; a table holds "
            f"at most {MOST_PARENTS}. Remove parents."
        )


def _check_priors(prior: float, equivalent_sample_size: float | None) -> None:
    check_amount("prior", prior)
    if equivalent_sample_size is None:
        return
    check_amount("equivalent_sample_size", equivalent_sample_size)
    if prior:
        raise SettingError(
            "give either prior, which is added to every cell, or equivalent_sample_size, which "
            "is spread over the cells of every table, not both"
        )


def check_amount(what: str, value: object) -> None:
    """Refuse what is no number from 0 on."""
    if not is_number(value, 0):
        raise SettingError(f"{what} must be a number from 0 on, not {shortened(value)}")
