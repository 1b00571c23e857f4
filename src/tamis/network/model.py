"""A Bayesian network with its tables: frozen, checked when made."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import networkx as nx

from tamis.errors import SettingError
from tamis.network import conversions
from tamis.network.bif import descriptions, example_parts, read_parts, write_network
from tamis.network.fitting import fit_tables
from tamis.network.interface import FittedEdge, Network
from tamis.network.parts import (
    Floats,
    checked_levels,
    checked_names,
    checked_parents,
    checked_tables,
)
from tamis.network.rows import Rows, log_likelihood, require_known_levels, rows_of
from tamis.network.sampling import Codes, Seed, sample_codes
from tamis.plugins import listed
from tamis.tables import Label, read_table


@dataclass(frozen=True, eq=False, repr=False)
class BayesianNetwork(Network):
    """A DAG over discrete variables with the probabilities of each given its parents.

    Parameters
    ----------
    names : tuple of str
        The variables.
    levels : tuple of tuples
        The labels of each variable: strings, integers or booleans, of one type within a variable.
    parents : tuple of tuples of int
        The parents of each variable, as positions in ``names``.
    tables : tuple of arrays
        ``tables[k]`` has one axis for each parent of variable k, in the order of ``parents[k]``,
        and a last axis for k itself. A row whose sum differs from 1 by at most 1e-6 is divided by
        its sum. The arrays are read-only.

    Raises
    ------
    DataError
        If the contents make no network.

    Examples
    --------
    >>> import tamis
    >>> network = tamis.BayesianNetwork(
    ...     names=("rain", "wet"),
    ...     levels=(("no", "yes"), ("no", "yes")),
    ...     parents=((), (0,)),
    ...     tables=([0.8, 0.2], [[0.9, 0.1], [0.05, 0.95]]),
    ... )
    >>> network
    <BayesianNetwork: 2 variables, 1 edges, 3 parameters>
    >>> network.parents_of("wet")
    ('rain',)
    """

    names: tuple[str, ...]
    levels: tuple[tuple[Label, ...], ...]
    parents: tuple[tuple[int, ...], ...]
    tables: tuple[Floats, ...]

    def __post_init__(self) -> None:
        names = checked_names(self.names)
        levels = checked_levels(names, self.levels)
        parents = checked_parents(names, self.parents)
        tables = checked_tables(names, levels, parents, self.tables)
        checked = {"names": names, "levels": levels, "parents": parents, "tables": tables}
        for field, value in checked.items():
            object.__setattr__(self, field, value)

    def __eq__(self, other: object) -> bool:
        """Whether all four fields agree: the order of variables counts, and so does every bit."""
        if not isinstance(other, BayesianNetwork):
            return NotImplemented
        return self._structure == other._structure and all(
            mine.tobytes() == its.tobytes()
            for mine, its in zip(self.tables, other.tables, strict=True)
        )

    def __hash__(self) -> int:
        return hash(self._structure)

    def __repr__(self) -> str:
        n_edges = sum(map(len, self.parents))
        return (
            f"<BayesianNetwork: {self.n_variables} variables, {n_edges} edges, "
            f"{self.n_parameters} parameters>"
        )

    @cached_property
    def _structure(self) -> tuple[object, ...]:
        # With the type of the labels, because 1 and True are equal.
        kinds = tuple(type(labels[0]) for labels in self.levels)
        return self.names, self.levels, kinds, self.parents

    @property
    def n_parameters(self) -> int:
        """The number of free probabilities: in every row of every table all but one."""
        return sum(table.size - table.size // table.shape[-1] for table in self.tables)

    def in_order(self, names: Sequence[str]) -> Self:
        """List the variables in another order; the network itself stays as it is.

        Parameters
        ----------
        names : sequence of str
            The variables of the network, each once.

        Returns
        -------
        BayesianNetwork
            A network with its variables in this order.

        Examples
        --------
        >>> import tamis
        >>> network = tamis.BayesianNetwork.example("night_shift")
        >>> network.in_order(["call_out", "fault", "shift"]).names
        ('call_out', 'fault', 'shift')
        """
        found = listed(names) or []
        if not all(isinstance(name, str) for name in found) or sorted(found) != sorted(self.names):
            raise SettingError("names must be those of the network, each once")
        order = [self._place[name] for name in found]
        place = {k: i for i, k in enumerate(order)}
        return type(self)(
            tuple(found),
            tuple(self.levels[k] for k in order),
            tuple(tuple(place[p] for p in self.parents[k]) for k in order),
            tuple(self.tables[k] for k in order),
        )

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Self:
        """Read a network from a BIF file.

        Parameters
        ----------
        path : str or path
            A file that ends in .bif, or in .bif.gz if it is compressed. Rows whose sums differ from
            1 by at most 0.02, as in rounded files, are divided by their sums; if the difference is
            more than 1e-6, a ``TamisWarning`` says so.

        Returns
        -------
        BayesianNetwork
            Its levels are strings, since BIF has no others.

        Raises
        ------
        FileFormatError
            If the file is not BIF. The message gives the line, what was expected and what was
            found.

        Examples
        --------
        >>> import tamis
        >>> tamis.BayesianNetwork.example("night_shift").write("shift.bif")
        >>> tamis.BayesianNetwork.read("shift.bif").names
        ('shift', 'fault', 'call_out')
        """
        return cls(*read_parts(path))

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the network as a BIF file, whole or not at all.

        Probabilities keep every digit, so ``read`` returns an equal network, with levels as
        strings. Names and labels that are not plain words are quoted.

        Parameters
        ----------
        path : str or path
            A path that ends in .bif, or in .bif.gz to compress the file.

        Raises
        ------
        SettingError
            If a name or a label contains a quotation mark or a line break, which BIF cannot hold.

        Examples
        --------
        >>> import tamis
        >>> tamis.BayesianNetwork.example("night_shift").write("shift.bif.gz")
        """
        write_network(self, path)

    @classmethod
    def example(cls, name: str) -> Self:
        """Load one of the networks that come with tamis.

        Parameters
        ----------
        name : str
            A name that `examples` lists.

        Returns
        -------
        BayesianNetwork
            The network.

        Examples
        --------
        >>> import tamis
        >>> tamis.BayesianNetwork.example("orchard")
        <BayesianNetwork: 6 variables, 6 edges, 36 parameters>
        """
        return cls(*example_parts(name))

    @staticmethod
    def examples() -> dict[str, str]:
        """List the networks that come with tamis.

        Returns
        -------
        dict
            The name of each network, and what it shows.

        Examples
        --------
        >>> import tamis
        >>> list(tamis.BayesianNetwork.examples())
        ['orchard', 'night_shift', 'm1', 'm2', 'diamond']
        """
        return descriptions()

    def sample_codes(self, n: int, seed: Seed) -> Codes:
        """Draw the rows of `sample` as positions in ``levels``.

        Parameters
        ----------
        n : int
            The number of rows.
        seed : int or numpy.random.SeedSequence
            The same seed gives the same rows on every machine.

        Returns
        -------
        array of shape (d, n)
            One line for each variable, of the smallest unsigned type.

        Examples
        --------
        >>> import tamis
        >>> tamis.BayesianNetwork.example("night_shift").sample_codes(4, seed=1).shape
        (3, 4)
        """
        return sample_codes(self, n, seed)

    @classmethod
    def fit(
        cls,
        graph: nx.DiGraph[Any] | Mapping[str, Iterable[str]],
        data: object,
        *,
        prior: float = 0.0,
        equivalent_sample_size: float | None = None,
    ) -> Self:
        """Count the tables of a graph from data.

        Parameters
        ----------
        graph : networkx.DiGraph or mapping
            A graph over names of columns, or a mapping from each name to its parents.
        data : data frame, array, mapping or path
            A table, as ``tamis.TAM().fit`` takes it.
        prior : float
            A pseudo-count added to every cell; 1 is Laplace's rule. Without a prior the tables are
            the maximum-likelihood estimates, and a configuration of the parents that never occurs
            gets a uniform row.
        equivalent_sample_size : float or None
            Instead of ``prior``: pseudo-counts spread evenly over the cells of each table, as in
            the BDeu score.

        Returns
        -------
        BayesianNetwork
            The nodes of the graph in the order of the columns, with the levels that occur.

        Examples
        --------
        >>> import tamis
        >>> rows = {"rain": [0, 0, 0, 1], "wet": [0, 0, 1, 1]}
        >>> network = tamis.BayesianNetwork.fit({"rain": [], "wet": ["rain"]}, rows)
        >>> network.tables[0].tolist()
        [0.75, 0.25]
        """
        return cls(*fit_tables(graph, read_table(data), prior, equivalent_sample_size))

    @property
    def edges(self) -> tuple[FittedEdge, ...]:
        """The edges, child by child; what they do stands in ``tables``."""
        return tuple(
            FittedEdge(parent, name) for name in self.names for parent in self.parents_of(name)
        )

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
        >>> network = tamis.BayesianNetwork.example("night_shift")
        >>> rows = rows_of(network.names, network.levels, network.sample(20, seed=1))
        >>> network.log_likelihood_of(rows) < 0
        True
        """
        return log_likelihood(self, rows, unseen)

    def bic(self, data: object) -> float:
        """Score the network by the Bayesian information criterion; larger is better.

        Parameters
        ----------
        data : data frame, array, mapping or path
            The rows to score.

        Returns
        -------
        float
            The log-likelihood minus half of ln n for each free probability.

        Examples
        --------
        >>> import tamis
        >>> rows = {"rain": [0, 0, 1, 1] * 20, "wet": [0, 0, 1, 1] * 20}
        >>> joined = tamis.BayesianNetwork.fit({"rain": [], "wet": ["rain"]}, rows)
        >>> apart = tamis.BayesianNetwork.fit({"rain": [], "wet": []}, rows)
        >>> joined.bic(rows) > apart.bic(rows)
        True
        """
        rows = rows_of(self.names, self.levels, data)
        require_known_levels(rows, self.names, self.levels)
        penalty = 0.5 * self.n_parameters * math.log(rows.n)
        return log_likelihood(self, rows) - penalty

    def to_networkx(self) -> nx.DiGraph[str]:
        """Convert the network to networkx.

        Returns
        -------
        networkx.DiGraph
            Nodes carry ``levels``, ``table`` and ``parents``, in the order of the axes of the
            table.

        Examples
        --------
        >>> import tamis
        >>> graph = tamis.BayesianNetwork.example("night_shift").to_networkx()
        >>> graph.nodes["fault"]["parents"]
        ('shift',)
        """
        return conversions.to_networkx(self)

    @classmethod
    def from_networkx(cls, graph: nx.DiGraph[Any]) -> Self:
        """Read a network from a graph of networkx.

        Parameters
        ----------
        graph : networkx.DiGraph
            A graph as `to_networkx` returns it.

        Returns
        -------
        BayesianNetwork
            The network that the graph carries.

        Examples
        --------
        >>> import tamis
        >>> network = tamis.BayesianNetwork.example("night_shift")
        >>> tamis.BayesianNetwork.from_networkx(network.to_networkx()) == network
        True
        """
        return cls(*conversions.from_networkx(graph))

    def to_pgmpy(self) -> Any:  # noqa: ANN401 - a class of a library that may be absent
        """Convert the network to pgmpy.

        Returns
        -------
        pgmpy.models.DiscreteBayesianNetwork
            With the states in the order of ``levels``.

        Examples
        --------
        >>> import tamis
        >>> list(tamis.BayesianNetwork.example("night_shift").to_pgmpy().edges())
        [('shift', 'fault'), ('fault', 'call_out')]
        """
        return conversions.to_pgmpy(self)

    @classmethod
    def from_pgmpy(cls, model: Any) -> Self:  # noqa: ANN401 - as above
        """Read a network from pgmpy.

        Parameters
        ----------
        model : pgmpy.models.DiscreteBayesianNetwork
            A model whose nodes all have tables. Rows whose sums differ from 1 by at most 0.02 are
            rescaled.

        Returns
        -------
        BayesianNetwork
            Its names are strings.

        Examples
        --------
        >>> import tamis
        >>> model = tamis.BayesianNetwork.example("night_shift").to_pgmpy()
        >>> tamis.BayesianNetwork.from_pgmpy(model)
        <BayesianNetwork: 3 variables, 2 edges, 5 parameters>
        """
        return cls(*conversions.from_pgmpy(model))

    def to_pyagrum(self) -> Any:  # noqa: ANN401 - as above
        """Convert the network to pyAgrum.

        Returns
        -------
        pyagrum.BayesNet
            Labels become text. Unlike a BIF file it holds any name and label.

        Examples
        --------
        >>> import tamis
        >>> tamis.BayesianNetwork.example("night_shift").to_pyagrum().size()
        3
        """
        return conversions.to_pyagrum(self)

    @classmethod
    def from_pyagrum(cls, model: Any) -> Self:  # noqa: ANN401 - as above
        """Read a network from pyAgrum.

        Parameters
        ----------
        model : pyagrum.BayesNet
            Rows whose sums differ from 1 by at most 0.02 are rescaled.

        Returns
        -------
        BayesianNetwork
            Its labels are strings.

        Examples
        --------
        >>> import tamis
        >>> network = tamis.BayesianNetwork.example("night_shift")
        >>> tamis.BayesianNetwork.from_pyagrum(network.to_pyagrum()).names
        ('shift', 'fault', 'call_out')
        """
        return cls(*conversions.from_pyagrum(model))
