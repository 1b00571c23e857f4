"""What every model is: a graph, and a law for each node given its parents' columns."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.errors import SettingError
from tamis.network import BayesianNetwork
from tamis.plugins import whole
from tamis.portable import Floats
from tamis.simulate.graphs import Graph
from tamis.simulate.streams import Purpose, Seed, Stream, checked_seed

Column = NDArray[Any]

MOST_CELLS = 2**22
"""The most probabilities, over all tables, with which a model is turned into a network."""


@dataclass(frozen=True)
class Model(ABC):
    """A graph with parameters, from which rows are drawn.

    Attributes
    ----------
    graph : Graph
        The true DAG.

    Examples
    --------
    >>> import tamis
    >>> from tamis.simulate.graphs import tree
    >>> from tamis.simulate.models import mod
    >>> model = mod(tree(4, seed=1), p=0.2, seed=1)
    >>> isinstance(model, tamis.simulate.Model), list(model.sample(10, seed=1))
    (True, ['v1', 'v2', 'v3', 'v4'])
    """

    graph: Graph

    @abstractmethod
    def sample(self, n: int, seed: Seed, replicate: int = 0) -> dict[str, Column]:
        """Draw ``n`` independent rows: an array for every node, in the order of the names.

        The same seed and replicate give the same rows on every machine, and a longer sample
        begins like a shorter one; other replicates are independent.
        """

    def network(self) -> BayesianNetwork:
        """Convert the model to a network with tables; ``SettingError`` if it has none."""
        raise SettingError("a continuous model has no tables, and so no network")


class NodeModel(Model):
    """A model that says how one column comes out of its parents and a stream of noise."""

    @abstractmethod
    def column(self, k: int, given: Sequence[Column], n: int, chance: Stream) -> Column:
        """``n`` values of node k, given the columns of its parents in the graph's order."""

    def sample(self, n: int, seed: Seed, replicate: int = 0) -> dict[str, Column]:
        """Draw ``n`` independent rows, parents first; every node has a stream of its own."""
        n, replicate = whole("n", n, 1), whole("replicate", replicate, 0)
        root, columns = checked_seed(seed), dict[int, Column]()
        for k in self.graph.order:
            given = [columns[p] for p in self.graph.parents[k]]
            chance = Stream(root, Purpose.NOISE, replicate, k)
            columns[k] = self.column(k, given, n, chance)
        return {name: columns[k] for k, name in enumerate(self.graph.names)}


class TableModel(NodeModel):
    """A model whose nodes take the values 0, 1, ... up to a largest one."""

    def arities(self) -> Sequence[int]:
        """How many values each node can take: two, unless a model says otherwise."""
        return (2,) * len(self.graph.names)

    @abstractmethod
    def table(self, k: int) -> Floats:
        """The probabilities of node k: one axis for each parent, the last for k itself."""

    def network(self) -> BayesianNetwork:
        """Convert the model to a network; ``SettingError`` if its tables would be too large."""
        arities = self.arities()
        check_cells(self.graph, arities)
        return BayesianNetwork(
            self.graph.names,
            tuple(tuple(range(arity)) for arity in arities),
            self.graph.parents,
            tuple(self.table(k) for k in range(len(arities))),
        )


def check_cells(graph: Graph, arities: Sequence[int]) -> None:
    """Refuse tables that would take too much memory, and name the node with the largest."""
    cells = list(_cells(graph, arities))
    if sum(cells) <= MOST_CELLS:
        return
    k = max(range(len(cells)), key=cells.__getitem__)
    raise SettingError(
        f"the tables would have {at_least(sum(cells))} probabilities, most of them for "
        f"{graph.names[k]!r}, which has {len(graph.parents[k])} parents; at most "
        f"{at_least(MOST_CELLS)} are made. Use a graph in which nodes have fewer parents."
    )


def at_least(number: int) -> str:
    """A power of two not above the number, which no float may hold."""
    return f"2^{number.bit_length() - 1}"


def _cells(graph: Graph, arities: Sequence[int]) -> Iterator[int]:
    for k, given in enumerate(graph.parents):
        yield arities[k] * math.prod(arities[p] for p in given)


def smallest_signed(largest: int) -> np.dtype[np.signedinteger[Any]]:
    """The smallest signed type that holds 0 to ``largest``; differences of values fit, too."""
    return np.dtype(np.min_scalar_type(-largest - 1))


def per_edge(graph: Graph, values: Floats) -> tuple[tuple[float, ...], ...]:
    """A flat array, one number an edge, as numbers for the parents of every node."""
    numbers = iter(values.tolist())
    return tuple(tuple(next(numbers) for _ in given) for given in graph.parents)


def outer_sum(start: float, terms: Sequence[Column]) -> Column:
    """``start`` plus a term of each, for all combinations: an axis for each array of terms."""
    total = np.asarray(start)
    for one in terms:
        total = np.add.outer(total, one)
    return total
