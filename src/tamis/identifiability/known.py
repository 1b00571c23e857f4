"""A known network as the conditions see it: layers, ancestors, and exact H and I.

Given an ancestral set A, a node outside it depends on no member of A but its own ancestors:
the tables of the other members involve nothing that is hidden. So H(X_k | A) is H(X_k | A and
an(k)), which is what is asked here.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cached_property

import networkx as nx
import numpy as np

from tamis.errors import SettingError
from tamis.information.exact import MEMORY_LIMIT, ExactInformation, ExactSource
from tamis.information.inference import RESOLUTION
from tamis.information.interface import Floats
from tamis.information.separation import Dag, members, node_set
from tamis.network import BayesianNetwork, GaussianNetwork

Nodes = tuple[int, ...]
FRUGAL_LIMIT = 2**22
"""The largest table, in bytes, where nothing is promised: half a million cells."""


def resolved(gain: float) -> float:
    """A gain as a difference of entropies, without what is rounding."""
    return float(gain) if gain > RESOLUTION else 0.0


class Known:
    """A network with its layers and its exact quantities; nodes are positions."""

    def __init__(
        self, network: BayesianNetwork | GaussianNetwork, memory_limit: int | None = None
    ) -> None:
        # By name, so that the order in which a file lists its nodes plays no part anywhere.
        self.names = tuple(sorted(network.names))
        place = {name: k for k, name in enumerate(self.names)}
        self.parents: tuple[Nodes, ...] = tuple(
            tuple(place[p] for p in network.parents_of(name)) for name in self.names
        )
        self.is_continuous = isinstance(network, GaussianNetwork)
        self.network = (
            network if isinstance(network, GaussianNetwork) else network.in_order(self.names)
        )
        self.memory_limit = MEMORY_LIMIT if memory_limit is None else memory_limit
        self.compared: dict[
            tuple[int, Nodes, frozenset[int]], tuple[float, float, float, int | None, Nodes]
        ] = {}
        """What `pps_condition` has compared already."""
        self.information = self._source(self.memory_limit, range(len(self.names)))

    def _source(self, memory_limit: int, order: Sequence[int]) -> Exact:
        """The network's information, its nodes in this order."""
        network = self.network
        if isinstance(network, GaussianNetwork):
            return LinearInformation(network, self.called(order))
        place = {k: i for i, k in enumerate(order)}
        return ExactInformation(
            [network.names[k] for k in order],
            [tuple(place[p] for p in network.parents[k]) for k in order],
            [network.tables[k] for k in order],
            memory_limit=memory_limit,
        )

    @cached_property
    def frugal(self) -> Exact:
        """A source that makes small tables only."""
        return self._source(min(self.memory_limit, FRUGAL_LIMIT), range(self.n_variables))

    @cached_property
    def frugal_backwards(self) -> Exact:
        """The frugal source with all ties broken the other way."""
        return self._source(min(self.memory_limit, FRUGAL_LIMIT), range(self.n_variables)[::-1])

    @property
    def n_variables(self) -> int:
        """The paper's d."""
        return len(self.names)

    @cached_property
    def graph(self) -> nx.DiGraph[int]:
        """The DAG over positions."""
        graph: nx.DiGraph[int] = nx.DiGraph()
        graph.add_nodes_from(range(self.n_variables))
        graph.add_edges_from((p, k) for k, parents in enumerate(self.parents) for p in parents)
        return graph

    @cached_property
    def layers(self) -> list[Nodes]:
        """L_1, L_2, ...: the first is ``layers[0]``."""
        return [tuple(sorted(layer)) for layer in nx.topological_generations(self.graph)]

    @cached_property
    def layer_of(self) -> dict[int, int]:
        """The place of each node's layer in ``layers``."""
        return {k: j for j, layer in enumerate(self.layers) for k in layer}

    @cached_property
    def canonical(self) -> list[frozenset[int]]:
        """A_0, A_1, ..., A_r: the unions of the first layers; the last holds all nodes."""
        sets = [frozenset[int]()]
        for layer in self.layers:
            sets.append(sets[-1] | frozenset(layer))
        return sets

    @cached_property
    def ancestors(self) -> list[frozenset[int]]:
        """an(k) of each node, without the node itself."""
        found: dict[int, frozenset[int]] = {}
        for k in nx.topological_sort(self.graph):
            found[k] = frozenset(self.parents[k]).union(*(found[p] for p in self.parents[k]))
        return [found[k] for k in range(self.n_variables)]

    def important_candidates(self, k: int, j: int) -> list[int]:
        """an_j(k): the ancestors of k in layer L_{j+1}, which is ``layers[j]``."""
        return [i for i in self.layers[j] if i in self.ancestors[k]]

    def pairs(self) -> Iterable[tuple[int, int]]:
        """Every (k, j) of Condition 1: k lies beyond layer L_{j+1}."""
        for j in range(len(self.layers) - 1):
            for layer in self.layers[j + 1 :]:
                for k in layer:
                    yield k, j

    def beyond(self, A: frozenset[int]) -> list[int]:
        """The nodes outside a set."""
        return [k for k in range(self.n_variables) if k not in A]

    def sources(self, A: frozenset[int]) -> set[int]:
        """The nodes outside A whose parents all lie in A."""
        return {k for k in self.beyond(A) if A.issuperset(self.parents[k])}

    def own(self, k: int) -> float:
        """h_k = H(X_k | pa(k)), remembered by the source of information."""
        return self.information.conditional_entropy(k, self.parents[k])

    def entropy(self, k: int, A: Iterable[int]) -> float:
        """H(X_k | A) of a node outside an ancestral set."""
        given = self.ancestors[k].intersection(A)
        if given.issuperset(self.parents[k]):
            return self.own(k)
        return self.information.conditional_entropy(k, given)

    def gain_of_ancestors(self, k: int, others: Iterable[int], A: frozenset[int]) -> float:
        """I(X_k ; others | A), where A is ancestral, and so is A with the others."""
        others = set(others)
        if self.information.separated(k, others, A & self.ancestors[k]):
            return 0.0
        return resolved(self.entropy(k, A) - self.entropy(k, A | others))

    def separated_in_graph(self, x: int, y: int, S: Iterable[int]) -> bool:
        """d-separation by the graph alone; the source of information leaves out nodes of a single
        level, which say nothing but still are part of the graph."""
        if all(len(levels) > 1 for levels in self.network.levels):
            return self.information.separated(x, [y], S)
        return bool(nx.is_d_separator(self.graph, {x}, {y}, set(S)))

    def name(self, k: int) -> str:
        """A node as messages call it."""
        return self.names[k]

    def called(self, nodes: Iterable[int]) -> tuple[str, ...]:
        """Several of them, in their order."""
        return tuple(self.names[k] for k in nodes)


class LinearInformation(ExactSource):
    """Differential entropies ln(2 pi e v) / 2, v the variance that is left; its nodes in the order
    of ``names``."""

    def __init__(self, network: GaussianNetwork, names: Sequence[str]) -> None:
        if any(network.levels):
            k = next(k for k, levels in enumerate(network.levels) if levels)
            raise SettingError(
                "network must have levels in all columns or numbers in all columns, and "
                f"{network.names[k]!r} has levels beside numbers: leave it out, or cut the numbers "
                "into levels with tamis.discretize"
            )
        self.names = tuple(names)
        place = {name: k for k, name in enumerate(self.names)}
        parents = [tuple(place[p] for p in network.parents_of(name)) for name in self.names]
        self._dag = Dag(parents)
        self._covariance = _covariance(network, parents, [place[name] for name in network.names])

    def conditional_entropy(self, k: int, given: Iterable[int] = ()) -> float:
        """H(k | given)."""
        return math.log(2 * math.pi * math.e * self._left(k, given)) / 2

    def gain(self, k: int, others: Iterable[int], given: Iterable[int] = ()) -> float:
        """I(k ; others | given), the others taken as one variable."""
        given = set(given)
        others = set(others) - given - {k}
        if k in given or self.separated(k, others, given):
            return 0.0
        gain = math.log(self._left(k, given) / self._left(k, given | others)) / 2
        return gain if gain > RESOLUTION else 0.0

    def relevant(self, k: int, given: Iterable[int]) -> tuple[int, ...]:
        """The part of the given that says anything about k: the rest is d-separated by it."""
        z = node_set(given)
        return tuple(members(self._dag.reached(1 << k & ~z, z) & z))

    def separated(self, k: int, others: Iterable[int], given: Iterable[int] = ()) -> bool:
        """Whether the given d-separate k from all of the others that are not given."""
        z = node_set(given)
        return not self._dag.reached(1 << k & ~z, z) & node_set(others) & ~(1 << k) & ~z

    def _left(self, k: int, given: Iterable[int]) -> float:
        """The variance of k that linear regression on the given leaves."""
        S = sorted(set(given))
        between = self._covariance[S, k]
        among = self._covariance[np.ix_(S, S)]
        return float(self._covariance[k, k] - between @ np.linalg.solve(among, between))


def _covariance(
    network: GaussianNetwork, parents: Sequence[tuple[int, ...]], place: Sequence[int]
) -> Floats:
    """(1 - B)^-1 D (1 - B)^-T of the slopes B and the variances D of the noise."""
    d = len(place)
    slopes, noise = np.zeros((d, d)), np.zeros(d)
    for k, law in zip(place, network.laws, strict=True):
        one = law.regressions[0]  # type: ignore[attr-defined]  # numbers have no other law
        slopes[k, list(parents[k])] = one.slopes
        noise[k] = one.scale**2
        if not noise[k] > 0:
            raise SettingError(
                f"{law.own.name!r} has noise of variance 0, so its differential entropy is not "  # type: ignore[attr-defined]
                "finite: leave out the column, which is a function of its parents"
            )
    mixing = np.linalg.inv(np.eye(d) - slopes)
    return np.asarray(mixing * noise @ mixing.T)


Exact = ExactInformation | LinearInformation
