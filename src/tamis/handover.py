"""A learned DAG in the hands of other libraries: networkx, pgmpy, pyAgrum, DoWhy, BIF for the rest.

A graph needs the result only; probabilities need the rows too. Names and labels of levels arrive
as they were in the user's table.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import networkx as nx

from tamis.errors import SettingError
from tamis.formats import files, graph_files
from tamis.naming import kinds_read
from tamis.network import BayesianNetwork, GaussianNetwork, Network
from tamis.network.conversions import edge_numbers, graph_to_pgmpy
from tamis.network.gaussian import SAMPLE_SIZE
from tamis.parameters import require
from tamis.result import Result
from tamis.tables import read_table
from tamis.tables.table import AnyTable, with_rows

Path = files.Path

_SHOWN = 5


def to_networkx(result: Result, network: Network | None = None) -> nx.DiGraph[str]:
    """The DAG with all there is about it.

    Parameters
    ----------
    result : Result
        What was learned.
    network : Network or None
        A fitted network of the same graph, such as ``model.network_``.

    Returns
    -------
    networkx.DiGraph
        Nodes carry ``layer``, ``entropy`` and ``levels``, the labels of the column, none for
        numbers; edges carry the numbers of ``tamis.result.Edge``. With a network, edges carry its
        ``coefficients`` too, and where an edge has just one, ``coefficient``, ``standard_error``
        and ``standardised``. Tuples have no type in GraphML: ``tamis.save`` writes that.
    """
    require(network=network)
    graph = result.graph
    nx.set_node_attributes(graph, {name: result.levels[name] for name in result.names}, "levels")
    for edge in () if network is None else network.edges:
        if not graph.has_edge(edge.parent, edge.child):
            raise SettingError(
                f"the network has an edge {edge.parent!r} -> {edge.child!r} that the result lacks: "
                "give the fitted network of this result"
            )
        graph.edges[edge.parent, edge.child].update(edge_numbers(edge))
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
) -> Network:
    """The DAG with the law of each column given its parents, fitted to data.

    Parameters
    ----------
    result : Result
        What was learned.
    data : anything that ``TAM.fit`` takes
        It must have the columns of the result and may have others.
    equivalent_sample_size : float
        Rows that the prior is worth. They are spread evenly over the cells of every table of
        levels, as in the BDeu score; 0 gives the frequencies, and the uniform row where the
        parents' levels never occur together. `tamis.GaussianNetwork.fit` says what they do where
        there are numbers.

    Returns
    -------
    BayesianNetwork or GaussianNetwork
        Tables where all columns were read as levels; linear regressions where all were read as
        numbers; both, and log odds of levels given numbers, where the columns are mixed. That goes
        by the kinds of the columns, whatever information found the graph.
    """
    table = _columns(result, _read_as(result, data))
    return _fitted(result, table, _numbers_in(result, table), equivalent_sample_size)


def _fitted(result: Result, table: AnyTable, numbers: list[str], prior: float) -> Network:
    """The network, some of whose columns are numbers."""
    if table.missing or table.weights is not None:
        raise SettingError(
            "a network is fitted to whole rows that count alike, and these have missing values or "
            "survey weights: fit with missing='drop' or 'level', without such weights"
        )
    rows = with_rows(table)
    if not numbers:
        return BayesianNetwork.fit(result.graph, rows, equivalent_sample_size=prior)
    return GaussianNetwork.fit(result.graph, rows, numbers=numbers, equivalent_sample_size=prior)


def _fitted_tables(result: Result, data: object, needed_by: str, prior: float) -> BayesianNetwork:
    """The network, if all its columns have levels; ``needed_by`` is what holds nothing else."""
    table = _columns(result, _read_as(result, data))
    numbers = _numbers_in(result, table)
    network = None if numbers else _fitted(result, table, [], prior)
    if not isinstance(network, BayesianNetwork):
        raise _no_tables(numbers, needed_by)
    return network


def _numbers_in(result: Result, table: AnyTable) -> list[str]:
    """The columns that were read as numbers."""
    kinds = kinds_read(table, result.settings["information"])
    return [name for name, kind in kinds.items() if kind == "number"]


def to_pgmpy(result: Result, data: object, *, equivalent_sample_size: float = SAMPLE_SIZE) -> Any:  # noqa: ANN401 - a class of a library that may be absent
    """A fitted model of pgmpy, for columns of levels or of numbers.

    It is a ``pgmpy.models.DiscreteBayesianNetwork``, whose states are the labels (strings,
    integers and booleans stay what they are), or a ``pgmpy.models.LinearGaussianBayesianNetwork``.
    pgmpy has no model for both together: ``SettingError``, as without pgmpy. See
    ``fitted_network`` for the data and the prior.
    """
    network = fitted_network(result, data, equivalent_sample_size=equivalent_sample_size)
    return network.to_pgmpy()


def to_pyagrum(result: Result, data: object, *, equivalent_sample_size: float = SAMPLE_SIZE) -> Any:  # noqa: ANN401 - as above
    """A fitted ``pyagrum.BayesNet``, for columns of levels; labels become their text.

    See ``fitted_network`` for the data and the prior. Numbers, and an install without pyAgrum,
    raise ``SettingError``.
    """
    network = _fitted_tables(result, data, "a pyagrum.BayesNet", equivalent_sample_size)
    return network.to_pyagrum()


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
        network = _fitted_tables(result, data, "a .bif file", equivalent_sample_size)
    files.save(result, *paths, network=network)


def check_outputs(
    paths: Iterable[Path], table: AnyTable | None = None, *, counted: bool = True
) -> None:
    """Refuse what ``save`` would refuse, before a long run; without a table the paths only.

    ``counted`` says that whole numbers are levels however many there are; else those of many values
    are numbers beside categories, and alone may be either.
    """
    paths = list(paths)
    files.check_outputs(paths, () if table is None else table.names, fitted=True)
    if table is None or not any(map(_is_fitted, paths)):
        return
    _require_levels(table, counted)
    for name, labels in zip(table.names, table.levels, strict=True):
        unheld = next((label for label in labels if not graph_files.holds_bif(str(label))), None)
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


def _read_as(result: Result, data: object) -> AnyTable:
    """The data as the result's settings say it is read."""
    if isinstance(data, AnyTable):
        return data
    types = result.settings.get("types")
    return read_table(
        data,
        continuous=True,
        missing=result.settings.get("missing", "error"),
        types=types,
        stacklevel=4,
    )


def _require_levels(table: AnyTable, counted: bool) -> None:
    """Refuse what is surely numbers before a run."""
    beside_categories = not counted and set(table.kinds) > {"number"}
    with_numbers = [
        name
        for k, (name, kind) in enumerate(zip(table.names, table.kinds, strict=True))
        if table.is_continuous(k) or (kind == "number" and beside_categories)
    ]
    if with_numbers:
        raise _no_tables(with_numbers, "a .bif file")


def _no_tables(names: list[str], needed_by: str) -> SettingError:
    """Why numbers are not written as tables, and what to use instead."""
    shown = ", ".join(map(repr, names[:_SHOWN]))
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return SettingError(
        f"{needed_by} holds tables of probabilities, and numbers have none: {shown}{more}. Use "
        "model.network_, with coefficients in place of tables, and its to_pgmpy or to_networkx; "
        "or cut the numbers into levels with tamis.discretize and learn from those."
    )
