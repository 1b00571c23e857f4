"""A learned DAG in the hands of other libraries: networkx, pgmpy, DoWhy, and BIF for the rest.

A graph needs the result only; probabilities need the rows too. Names and labels of levels arrive
as they were in the user's table.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import networkx as nx

from tamis.errors import SettingError
from tamis.formats import bif_file, files
from tamis.network import BayesianNetwork
from tamis.network.conversions import graph_to_pgmpy
from tamis.result import Result
from tamis.tables import read_table
from tamis.tables.table import AnyTable, with_rows

Path = files.Path

SAMPLE_SIZE = 1.0
"""Rows that the prior is worth: what was never seen is rare then, and not impossible."""
_SHOWN = 5


def to_networkx(result: Result) -> nx.DiGraph[str]:
    """The DAG with all there is about it.

    Nodes carry ``layer``, ``entropy`` and ``levels``, the labels of the column, none for a
    measured one; edges carry the numbers of ``tamis.result.Edge``. The levels are tuples, for
    which GraphML has no type: ``tamis.save`` writes that.
    """
    graph = result.graph
    nx.set_node_attributes(graph, {name: result.levels[name] for name in result.names}, "levels")
    return graph


def to_dowhy(result: Result) -> nx.DiGraph[str]:
    """The DAG as ``dowhy.CausalModel(data, treatment, outcome, graph=...)`` takes it.

    DoWhy wants a ``networkx.DiGraph`` over the names of the data's columns; a graph of this kind
    also goes into ``dowhy.gcm.StructuralCausalModel``. Of DoWhy's forms this is the one that holds
    any name: in a string of GML or DOT it replaces line breaks. Edges whose direction is open
    have ``style="dashed"``, which DoWhy draws; it reasons with all edges alike, so look at those
    before trusting an effect. Nothing is imported from DoWhy. Tried with 0.14.
    """
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(result.names)
    for edge in result.edges:
        style = {} if edge.is_claimed else {"style": "dashed"}
        graph.add_edge(edge.parent, edge.child, **style)
    return graph


def fitted_network(
    result: Result, data: object, *, equivalent_sample_size: float = SAMPLE_SIZE
) -> BayesianNetwork:
    """The DAG with its probabilities, counted from data of any kind that ``TAM.fit`` takes.

    The data must have the columns of the result and may have others. ``equivalent_sample_size``
    rows are spread evenly over the cells of every table, as in the BDeu score; 0 gives the
    frequencies, and the uniform row where the parents' levels never occur together. Raises
    ``SettingError`` if a column is measured, for a table of probabilities needs levels.
    """
    given = data if isinstance(data, AnyTable) else read_table(data, continuous=True)
    if given.missing or given.weights is not None:
        raise SettingError(
            "tables of probabilities are counted from whole rows that count alike, and these rows "
            "have missing values or survey weights: fit with missing='drop' or 'level', without "
            "such weights"
        )
    table = _columns(result, given)
    _require_levels(table, of_counts=result.settings["information"] == "counts")
    rows = with_rows(table)
    return BayesianNetwork.fit(result.graph, rows, equivalent_sample_size=equivalent_sample_size)


def to_pgmpy(result: Result, data: object, *, equivalent_sample_size: float = SAMPLE_SIZE) -> Any:  # noqa: ANN401 - a class of a library that may be absent
    """A fitted ``pgmpy.models.DiscreteBayesianNetwork``; its states are the labels of the levels.

    Strings, integers and booleans stay what they are. See ``fitted_network`` for the data and
    the prior. Without pgmpy: ``SettingError``.
    """
    network = fitted_network(result, data, equivalent_sample_size=equivalent_sample_size)
    return network.to_pgmpy()


def to_pgmpy_graph(result: Result) -> Any:  # noqa: ANN401 - as above
    """The DAG alone as a ``pgmpy.base.DAG``, for which no rows are needed."""
    return graph_to_pgmpy(result.names, ((edge.parent, edge.child) for edge in result.edges))


def save(
    result: Result, data: object, *paths: Path, equivalent_sample_size: float = SAMPLE_SIZE
) -> None:
    """Write as ``tamis.save`` does, and for ``.bif`` the fitted network.

    ``data`` is looked at only if a path ends in ``.bif``. ``tamis.BayesianNetwork.read``, pgmpy
    and pyAgrum read such a file. BIF knows strings only, so other labels become their text, and
    it cannot hold quotation marks and line breaks: those raise ``SettingError``. Blanks, commas
    and other signs are quoted, which pgmpy 1.1 reads in labels for the most part and pyAgrum 3.3
    not at all; for pyAgrum names and labels must be words of letters, digits, ``_``, ``-`` and
    ``.``, or whole numbers as labels, and no column may be constant.
    """
    network = None
    fitted = next(filter(_is_fitted, paths), None)
    if fitted is not None:
        if data is None:
            raise SettingError(
                f"{os.fspath(fitted)!r} holds probabilities, and a result holds no rows to count "
                "them from: pass the table, as in result.save('model.bif', data=table)"
            )
        network = fitted_network(result, data, equivalent_sample_size=equivalent_sample_size)
    files.save(result, *paths, network=network)


def check_outputs(paths: Iterable[Path], table: AnyTable | None = None) -> None:
    """Refuse what ``save`` would refuse, before a long run; without a table the paths only."""
    paths = list(paths)
    files.check_outputs(paths, () if table is None else table.names, fitted=True)
    if table is None or not any(map(_is_fitted, paths)):
        return
    _require_levels(table)
    for name, labels in zip(table.names, table.levels, strict=True):
        unheld = next((label for label in labels if not bif_file.holds(str(label))), None)
        if unheld is not None:
            raise SettingError(
                f"BIF cannot hold the level {unheld!r} of {name!r}: it has a quotation mark or a "
                "line break. Rename it, or use another format."
            )


def _is_fitted(path: Path) -> bool:
    return files.ending_of(path) in files.FITTED


def _columns(result: Result, table: AnyTable) -> AnyTable:
    """The columns of the result, in its order: the network is the same for all orders of data."""
    place = {name: k for k, name in enumerate(table.names)}
    absent = [name for name in result.names if name not in place]
    if absent:
        raise SettingError(
            f"the data has no column {absent[0]!r}, which the result has; give the data that "
            "the result was learned from, or data with the same columns"
        )
    return table.select([place[name] for name in result.names])


def _require_levels(table: AnyTable, *, of_counts: bool = True) -> None:
    """Refuse numbers: those without levels, and others unless they were counted."""
    measured = [
        name
        for k, name in enumerate(table.names)
        if table.is_continuous(k) or (table.kinds[k] == "number" and not of_counts)
    ]
    if measured:
        shown = ", ".join(map(repr, measured[:_SHOWN]))
        more = f" and {len(measured) - _SHOWN} more" if len(measured) > _SHOWN else ""
        raise SettingError(
            f"numbers have no table of probabilities: {shown}{more}. Cut them into "
            "levels with tamis.discretize and learn from those, or leave them out."
        )
