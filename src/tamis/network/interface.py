"""What all fitted networks can be asked, whatever the kinds of their columns."""

from __future__ import annotations

import difflib
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import networkx as nx
from numpy.typing import NDArray

from tamis.errors import SettingError
from tamis.network.laws import Coefficient
from tamis.network.rows import Rows, require_known_levels, rows_of
from tamis.network.sampling import Seed, labelled
from tamis.plugins import shortened
from tamis.tables import Label


@dataclass(frozen=True)
class FittedEdge:
    """An edge of a fitted network with what the parent does to the child.

    ``coefficients`` has one entry for a number that depends on a number, one for each level or cell
    otherwise, and none where the table of the child says it all.
    """

    parent: str
    child: str
    coefficients: tuple[Coefficient, ...] = ()

    def __str__(self) -> str:
        lines = (f"  {one.about(self.parent)}" for one in self.coefficients)
        return "\n".join((f"{self.parent!r} -> {self.child!r}", *lines))


class Network(ABC):
    """A DAG with the law of each variable given its parents.

    ``parents[k]`` holds positions in ``names``; ``levels[k]`` the labels of variable k, none if it
    has numbers. There are two kinds: `tamis.BayesianNetwork`, of levels, and
    `tamis.GaussianNetwork`, of numbers or of numbers and levels.
    """

    names: tuple[str, ...]
    levels: tuple[tuple[Label, ...], ...]
    parents: tuple[tuple[int, ...], ...]

    @property
    def n_variables(self) -> int:
        """The number of variables."""
        return len(self.names)

    @cached_property
    def graph(self) -> nx.DiGraph[str]:
        """The DAG over the names, frozen; ``graph.copy()`` can be changed."""
        graph: nx.DiGraph[str] = nx.DiGraph()
        graph.add_nodes_from(self.names)
        for name in self.names:
            graph.add_edges_from((parent, name) for parent in self.parents_of(name))
        nx.freeze(graph)
        return graph

    @cached_property
    def layers(self) -> tuple[tuple[str, ...], ...]:
        """The paper's layers: sources first, each layer in the order of ``names``."""
        place = self._place
        return tuple(
            tuple(sorted(layer, key=place.__getitem__))
            for layer in nx.topological_generations(self.graph)
        )

    @cached_property
    def order(self) -> tuple[int, ...]:
        """All positions, parents before children: layer by layer, as listed within a layer."""
        return tuple(self._place[name] for layer in self.layers for name in layer)

    @cached_property
    def _place(self) -> dict[str, int]:
        return {name: k for k, name in enumerate(self.names)}

    def parents_of(self, name: str) -> tuple[str, ...]:
        """List the parents of a variable.

        Parameters
        ----------
        name : str
            The variable.

        Returns
        -------
        tuple of str
            Its parents, in the order of ``parents``.

        Examples
        --------
        >>> import tamis
        >>> tamis.BayesianNetwork.example("orchard").parents_of("fruit")
        ('blossom', 'bees')
        """
        if not isinstance(name, str) or name not in self._place:
            close = difflib.get_close_matches(str(name), self.names, n=1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise SettingError(f"the network has no variable {shortened(name)}{hint}")
        return tuple(self.names[p] for p in self.parents[self._place[name]])

    @property
    @abstractmethod
    def n_parameters(self) -> int:
        """The number of free parameters."""

    @property
    @abstractmethod
    def edges(self) -> tuple[FittedEdge, ...]:
        """The edges with their numbers, child by child in the order of ``names``."""

    def sample(self, n: int, seed: Seed) -> dict[str, NDArray[Any]]:
        """Draw independent rows.

        Parameters
        ----------
        n : int
            The number of rows.
        seed : int or numpy.random.SeedSequence
            The same seed gives the same rows on every machine, whatever the order of the variables.

        Returns
        -------
        dict
            An array of labels or numbers for each variable. ``tamis.TAM().fit``,
            ``pandas.DataFrame`` and ``polars.DataFrame`` take it as it is.

        Examples
        --------
        >>> import tamis
        >>> rows = tamis.BayesianNetwork.example("night_shift").sample(4, seed=1)
        >>> {name: len(column) for name, column in rows.items()}
        {'shift': 4, 'fault': 4, 'call_out': 4}
        """
        drawn = self.sample_codes(n, seed)
        return {
            name: labelled(values, own) if own else values
            for name, own, values in zip(self.names, self.levels, drawn, strict=True)
        }

    @abstractmethod
    def sample_codes(self, n: int, seed: Seed) -> Iterable[NDArray[Any]]:
        """Draw the rows of `sample`: positions in ``levels``, or numbers."""

    def log_likelihood(self, data: object, *, unseen: float | None = None) -> float:
        """Compute the log-likelihood of rows, in nats.

        Parameters
        ----------
        data : data frame, array, mapping or path
            Complete rows; one is enough. Labels are matched to levels by their text, so that the 0
            of a CSV file is the '0' of a BIF file. Other columns are ignored.
        unseen : float or None
            None refuses labels that are not levels. A number is what rows with such labels weigh
            beside all others: a label that is none of k levels has the probability ``unseen`` / (k
            + 1), and says nothing about its children.

        Returns
        -------
        float
            The sum over rows of the logarithm of their probability or density; minus infinity if a
            row is impossible. Densities are per unit of each number, so the sum depends on the
            units.

        Examples
        --------
        >>> import tamis
        >>> rows = {"rain": [0, 1], "wet": [0, 1]}
        >>> network = tamis.BayesianNetwork.fit({"rain": [], "wet": ["rain"]}, rows)
        >>> round(network.log_likelihood(rows), 3)
        -1.386
        """
        rows = rows_of(self.names, self.levels, data)
        if unseen is None:
            require_known_levels(rows, self.names, self.levels)
        return self.log_likelihood_of(rows, unseen)

    @abstractmethod
    def log_likelihood_of(self, rows: Rows, unseen: float | None = None) -> float:
        """Compute the log-likelihood of rows that have been matched to the network."""

    @abstractmethod
    def to_networkx(self) -> nx.DiGraph[str]:
        """The DAG with the numbers of the network on nodes and edges."""

    @abstractmethod
    def to_pgmpy(self) -> Any:  # noqa: ANN401 - a class of a library that may be absent
        """The network as a model of pgmpy."""
