"""Fitted networks of numbers, and of numbers beside levels: linear and conditional Gaussian."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from tamis.errors import DataError, SettingError
from tamis.network import conversions
from tamis.network.fitting import (
    check_amount,
    conditional_table,
    fit_cells,
    fit_log_odds,
    named_parents,
)
from tamis.network.interface import FittedEdge, Network
from tamis.network.laws import CellLaw, Law, LogitLaw, TableLaw, Values, Variable, short
from tamis.network.parts import checked_names, checked_parents
from tamis.network.rows import Rows
from tamis.network.sampling import (
    Seed,
    checked_n,
    checked_seed,
    inner_uniforms,
    uniforms,
)
from tamis.plugins import listed, shortened
from tamis.tables import Label, Table, read_table
from tamis.tables.moments import require_moments
from tamis.tables.table import in_canonical_order

SAMPLE_SIZE = 1.0
"""Rows that the prior is worth: what was never seen is rare then, and not impossible."""


@dataclass(frozen=True, eq=False, repr=False)
class GaussianNetwork(Network):
    """A DAG over numbers, or numbers and levels, with the law of each variable given its parents.

    A number is linear in those parents that are numbers, with normal noise: X = intercept + sum of
    slopes times parents + N(0, scale²). If it also has parents of levels, each cell of these levels
    has such a regression of its own (a conditional Gaussian). A variable of levels has a table of
    probabilities if its parents are levels, and log odds (multinomial logistic regression) if a
    number is among them.

    Parameters
    ----------
    names : tuple of str
        The variables.
    levels : tuple of tuples
        The labels of each variable; an empty tuple makes it a number.
    parents : tuple of tuples of int
        The parents of each variable, as positions in ``names``.
    laws : tuple
        The distribution of each variable: a ``CellLaw``, ``TableLaw`` or ``LogitLaw`` of
        ``tamis.network.laws``.

    Examples
    --------
    >>> import tamis
    >>> rows = {"x": [0.0, 1.0, 2.0, 3.5], "y": [0.1, 2.1, 3.9, 7.1]}
    >>> network = tamis.GaussianNetwork.fit({"y": ["x"]}, rows)
    >>> round(network.edges[0].coefficients[0].value, 2)
    1.99
    """

    names: tuple[str, ...]
    levels: tuple[tuple[Label, ...], ...]
    parents: tuple[tuple[int, ...], ...]
    laws: tuple[Law, ...]

    def __post_init__(self) -> None:
        names = checked_names(self.names)
        parents = checked_parents(names, self.parents)
        if not len(names) == len(self.levels) == len(self.laws):
            raise DataError(
                f"There are {len(names)} names, {len(self.levels)} lists of levels and "
                f"{len(self.laws)} laws; give one of each for every variable."
            )
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "parents", parents)

    def __repr__(self) -> str:
        n_edges = sum(map(len, self.parents))
        return (
            f"<GaussianNetwork, {self.kind}: {self.n_variables} variables, {n_edges} edges, "
            f"{self.n_parameters} parameters>"
        )

    def __str__(self) -> str:
        return "\n".join((repr(self), *self._lines()))

    @property
    def kind(self) -> str:
        """ "linear Gaussian" if all variables are numbers, else "conditional Gaussian"."""
        return "conditional Gaussian" if any(self.levels) else "linear Gaussian"

    @property
    def n_parameters(self) -> int:
        """The number of free parameters."""
        return sum(law.n_parameters for law in self.laws)

    @cached_property
    def edges(self) -> tuple[FittedEdge, ...]:
        """The edges with their coefficients, child by child in the order of ``names``."""
        return tuple(
            FittedEdge(self.names[p], self.names[k], self.laws[k].coefficients(place))
            for k in range(self.n_variables)
            for place, p in enumerate(self.parents[k])
        )

    @classmethod
    def fit(
        cls,
        graph: nx.DiGraph[Any] | Mapping[str, Iterable[str]],
        data: object,
        *,
        numbers: Iterable[str] | None = None,
        equivalent_sample_size: float = SAMPLE_SIZE,
    ) -> Self:
        """Fit the distribution of each variable of a graph to data.

        Parameters
        ----------
        graph : networkx.DiGraph or mapping
            A graph over names of columns, or a mapping from each name to its parents.
        data : data frame, array, mapping or path
            Complete rows of equal weight, as ``tamis.TAM().fit`` takes them.
        numbers : iterable of str or None
            The columns that are numbers; None is those that `tamis.inspect` calls so. All others
            have levels.
        equivalent_sample_size : float
            The rows that the prior is worth. They are spread evenly over the cells of every table.
            In every cell of levels they have the noise variance of all rows. On every squared
            weight of log odds (of standardised columns) they are a penalty of a quarter each.
            Linear regressions without levels have no prior.

        Returns
        -------
        GaussianNetwork
            The nodes of the graph in the order of the columns.

        Notes
        -----
        A cell of levels with fewer than 10 rows, or with fewer than four rows more than it has
        parents that are numbers, gets the regression of all rows. So does a cell that never occurs.
        Noise is at least a millionth of the column's standard deviation.

        Examples
        --------
        >>> import tamis
        >>> rows = {"x": [0.0, 1.0, 2.0, 3.5], "y": [0.1, 2.1, 3.9, 7.1]}
        >>> tamis.GaussianNetwork.fit({"x": [], "y": ["x"]}, rows)
        <GaussianNetwork, linear Gaussian: 2 variables, 1 edges, 5 parameters>
        """
        check_amount("equivalent_sample_size", equivalent_sample_size)
        given = data if isinstance(data, Table) else read_table(data, continuous=True)
        if given.missing or given.weights is not None:
            raise SettingError(
                "a network is fitted to whole rows that count alike, and these have missing "
                "values or survey weights: leave such rows out, and the weights"
            )
        table, parents = named_parents(graph, in_canonical_order(given))
        apart = _numbers_among(table, numbers)
        variables = [
            Variable(name, () if name in apart else labels)
            for name, labels in zip(table.names, table.levels, strict=True)
        ]
        for k, one in enumerate(variables):
            if one.is_number:
                require_moments(one.name, table.numbers(k))
        columns: list[Values] = [
            table.numbers(k) if one.is_number else table.codes[k].astype(np.int64)
            for k, one in enumerate(variables)
        ]
        laws = tuple(
            _fitted(k, parents[k], variables, columns, float(equivalent_sample_size))
            for k in range(table.n_variables)
        )
        return cls(table.names, tuple(one.levels for one in variables), parents, laws)

    def sample_codes(self, n: int, seed: Seed) -> list[Values]:
        """Draw the rows of `sample`, with levels as positions in ``levels``.

        Parameters
        ----------
        n : int
            The number of rows.
        seed : int or numpy.random.SeedSequence
            The same seed gives the same rows on every machine.

        Returns
        -------
        list of arrays
            One column for each variable: positions in ``levels``, or numbers.

        Examples
        --------
        >>> import tamis
        >>> rows = {"x": [0.0, 1.0, 2.0, 3.5], "y": [0.1, 2.1, 3.9, 7.1]}
        >>> len(tamis.GaussianNetwork.fit({"x": [], "y": ["x"]}, rows).sample_codes(3, seed=1))
        2
        """
        n_rows, root = checked_n(n), checked_seed(seed)
        values: dict[int, Values] = {}
        for k in self.order:
            given = [values[p] for p in self.parents[k]]
            # The law of numbers has no quantile at 0.
            chance = uniforms if self.levels[k] else inner_uniforms
            values[k] = self.laws[k].draw(given, chance(root, self.names[k], n_rows))
        return [values[k] for k in range(self.n_variables)]

    def log_likelihood_of(self, rows: Rows, unseen: float | None = None) -> float:
        """Compute the log-likelihood of rows that have been matched to the network.

        Parameters
        ----------
        rows : tamis.network.rows.Rows
            Rows as `log_likelihood` matches them.
        unseen : float or None
            As in `log_likelihood`.

        Returns
        -------
        float
            The sum over rows, in nats.

        Examples
        --------
        >>> import tamis
        >>> from tamis.network.rows import rows_of
        >>> data = {"x": [0.0, 1.0, 2.0, 3.5], "y": [0.1, 2.1, 3.9, 7.1]}
        >>> network = tamis.GaussianNetwork.fit({"x": [], "y": ["x"]}, data)
        >>> rows = rows_of(network.names, network.levels, data)
        >>> network.log_likelihood_of(rows) == network.log_likelihood(data)
        True
        """
        return math.fsum(self.row_log_likelihoods(rows, unseen).tolist())

    def row_log_likelihoods(self, rows: Rows, unseen: float | None = None) -> NDArray[np.float64]:
        """Compute the log density of each row that has been matched to the network.

        Parameters
        ----------
        rows : tamis.network.rows.Rows
            Rows as `log_likelihood` matches them.
        unseen : float or None
            As in `log_likelihood`.

        Returns
        -------
        array of shape (n,)
            In nats.

        Examples
        --------
        >>> import tamis
        >>> from tamis.network.rows import rows_of
        >>> data = {"x": [0.0, 1.0, 2.0, 3.5], "y": [0.1, 2.1, 3.9, 7.1]}
        >>> network = tamis.GaussianNetwork.fit({"x": [], "y": ["x"]}, data)
        >>> network.row_log_likelihoods(rows_of(network.names, network.levels, data)).shape
        (4,)
        """
        total = np.zeros(rows.n)
        for k, law in enumerate(self.laws):
            given = [rows.values[p] for p in self.parents[k]]
            total += law.log_densities(rows.values[k], given, unseen)
        return total

    def to_networkx(self) -> nx.DiGraph[str]:
        """Convert the network to networkx.

        Returns
        -------
        networkx.DiGraph
            Nodes carry ``law`` and ``levels``, edges ``coefficients``. An edge with just one
            coefficient also carries ``coefficient``, ``standard_error`` and ``standardised``.

        Examples
        --------
        >>> import tamis
        >>> rows = {"x": [0.0, 1.0, 2.0, 3.5], "y": [0.1, 2.1, 3.9, 7.1]}
        >>> graph = tamis.GaussianNetwork.fit({"x": [], "y": ["x"]}, rows).to_networkx()
        >>> round(graph.edges["x", "y"]["coefficient"], 2)
        1.99
        """
        graph: nx.DiGraph[str] = nx.DiGraph()
        for name, levels, law in zip(self.names, self.levels, self.laws, strict=True):
            graph.add_node(name, levels=levels, law=law)
        for edge in self.edges:
            graph.add_edge(edge.parent, edge.child, **conversions.edge_numbers(edge))
        return graph

    def to_pgmpy(self) -> Any:  # noqa: ANN401 - a class of a library that may be absent
        """Convert the network to pgmpy; its variables must all be numbers.

        Returns
        -------
        pgmpy.models.LinearGaussianBayesianNetwork
            With the same regressions.

        Raises
        ------
        SettingError
            For a conditional Gaussian network: pgmpy has no model of numbers beside levels.

        Examples
        --------
        >>> import tamis
        >>> rows = {"x": [0.0, 1.0, 2.0, 3.5], "y": [0.1, 2.1, 3.9, 7.1]}
        >>> network = tamis.GaussianNetwork.fit({"x": [], "y": ["x"]}, rows)
        >>> list(network.to_pgmpy().edges())
        [('x', 'y')]
        """
        return conversions.to_linear_gaussian(self)

    @classmethod
    def from_pgmpy(cls, model: Any) -> Self:  # noqa: ANN401 - as above
        """Read a network from pgmpy.

        Parameters
        ----------
        model : pgmpy.models.LinearGaussianBayesianNetwork
            A model whose nodes all have regressions.

        Returns
        -------
        GaussianNetwork
            pgmpy keeps no standard errors, so those of the network are infinite.

        Examples
        --------
        >>> import tamis
        >>> rows = {"x": [0.0, 1.0, 2.0, 3.5], "y": [0.1, 2.1, 3.9, 7.1]}
        >>> model = tamis.GaussianNetwork.fit({"x": [], "y": ["x"]}, rows).to_pgmpy()
        >>> tamis.GaussianNetwork.from_pgmpy(model).kind
        'linear Gaussian'
        """
        names, parents, laws = conversions.from_linear_gaussian(model)
        return cls(names, tuple(() for _ in names), parents, laws)

    def _lines(self) -> Iterator[str]:
        for k, law in enumerate(self.laws):
            yield from _described(self.names[k], law, self.edges)


def _fitted(
    k: int,
    parents: tuple[int, ...],
    variables: list[Variable],
    columns: list[Values],
    prior: float,
) -> Law:
    """The law of one variable."""
    own, among = variables[k], tuple(variables[p] for p in parents)
    given = [columns[p] for p in parents]
    if own.is_number:
        return fit_cells(own, among, np.asarray(columns[k], dtype=np.float64), given, prior)
    codes = np.asarray(columns[k], dtype=np.int64)
    if any(one.is_number for one in among):
        return fit_log_odds(own, among, codes, given, prior)
    return TableLaw(own, among, conditional_table(own, among, codes, given, prior))


def _numbers_among(table: Table, numbers: Iterable[str] | None) -> set[str]:
    """The columns that are numbers, if they can be."""
    kinds = zip(table.names, table.kinds, strict=True)
    if numbers is None:
        return {name for name, kind in kinds if kind == "number"}
    named = listed(numbers)
    if named is None:
        raise SettingError(
            f"numbers must be the names of columns, such as ['age'], not {shortened(numbers)}"
        )
    found = {one for one in named if isinstance(one, str)} & set(table.names)
    for k, name in enumerate(table.names):
        if table.is_continuous(k) and name not in found:
            raise SettingError(
                f"column {name!r} holds numbers with fractions and has no levels: name it among "
                "the numbers, or cut it into levels with tamis.discretize"
            )
    return found


def _described(name: str, law: Law, edges: tuple[FittedEdge, ...]) -> Iterator[str]:
    """A variable in one line, and a line for each coefficient."""
    if isinstance(law, CellLaw):
        n_own = len(law.regressions) - 1
        one = law.regressions[0]
        about = (
            f"{n_own} regressions, one for each cell of levels with rows enough"
            if n_own
            else f"intercept {short(one.intercept, 4)}, noise {short(one.scale, 4)}"
        )
    elif isinstance(law, LogitLaw):
        about = f"log odds against {law.own.levels[0]!r}"
    else:
        about = f"a table of {len(law.own.levels)} levels" if isinstance(law, TableLaw) else ""
    yield f"{name!r}: {about}"
    for edge in edges:
        if edge.child == name:
            yield from (f"  {one.about(edge.parent)}" for one in edge.coefficients)
