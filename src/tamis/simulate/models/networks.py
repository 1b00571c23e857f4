"""Models that are networks with tables: known ones, from a file, by name or from Python, and random
tables with a prescribed conditional entropy, the same for every node if wanted (C3).

Every row of every table has the entropy that H(X | parents) is to have. Their mean is then the
same number whatever the law of the parents, so that nothing has to be inferred and the value is
exact. Two binary rows of equal entropy are equal or mirror images: binary tables are random
Boolean functions of the parents, passed through noise.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.errors import DataError, SettingError
from tamis.network import BayesianNetwork
from tamis.plugins import whole
from tamis.portable import Floats, sums
from tamis.portable import entropy as entropy_of
from tamis.simulate.graphs import Graph
from tamis.simulate.models.model import Column, Model, check_cells
from tamis.simulate.options import span, wholes
from tamis.simulate.streams import Purpose, Seed, Stream, child

NetworkSource = str | os.PathLike[str] | BayesianNetwork | Mapping[str, Any]
"""A path of a BIF file, the name of a network that comes with tamis, the network itself, or what
``network_to_json`` makes of it."""


@dataclass(frozen=True)
class Known(Model):
    """The law of a given network, whose labels are the values."""

    tables: BayesianNetwork

    def sample(self, n: int, seed: Seed, replicate: int = 0) -> dict[str, Column]:
        """Draw ``n`` independent rows of labels, by streams that go with the names of nodes."""
        key = whole("replicate", replicate, 0)
        return self.tables.sample(whole("n", n, 1), child(seed, Purpose.NOISE, key))

    def network(self) -> BayesianNetwork:
        """The network."""
        return self.tables


def known(source: NetworkSource) -> Known:
    """The model of a network, however it is given."""
    network = _network(source)
    return Known(Graph(network.names, network.parents), network)


def _network(source: NetworkSource) -> BayesianNetwork:
    if isinstance(source, BayesianNetwork):
        return source
    if isinstance(source, Mapping):
        return _from_dict(source)
    if not isinstance(source, str | os.PathLike):
        raise SettingError(
            "network must be the path of a BIF file, the name of an example or a "
            f"BayesianNetwork, not {source!r}"
        )
    if source in BayesianNetwork.examples():
        return BayesianNetwork.example(str(source))
    return BayesianNetwork.read(source)


def network_to_json(source: NetworkSource) -> Any:  # noqa: ANN401 - whatever JSON holds
    """The source as JSON holds it: a path stays a path, a network is written out."""
    if isinstance(source, str | os.PathLike):
        return os.fspath(source)
    network = _network(source)
    return {
        "names": list(network.names),
        "levels": [list(labels) for labels in network.levels],
        "parents": [list(given) for given in network.parents],
        "tables": [table.tolist() for table in network.tables],
    }


def _from_dict(contents: Mapping[str, Any]) -> BayesianNetwork:
    fields = ("names", "levels", "parents", "tables")
    absent = [field for field in fields if field not in contents]
    if absent:
        raise DataError(f"A network written out has {', '.join(fields)}; {absent[0]!r} is absent.")
    return BayesianNetwork(*(contents[field] for field in fields))


MOST_EVEN = 1 - 1e-6
"""The largest entropy, in parts of ln(arity): at 1 all rows are the same and no parent matters."""
_HALVINGS = 64


def tables(
    graph: Graph,
    *,
    entropy: float | Sequence[float] = 0.3,
    arity: int | Sequence[int] = 2,
    seed: Seed,
) -> Known:
    """H(X | parents) is ``entropy`` nats for every node, or drawn for each between two values.

    ``arity`` is the number of levels, 0, 1, ..., of all nodes or of each. Every parent
    matters: for some values of the others, it decides which level is the likeliest.
    """
    arities = _arities(arity, graph)
    low, high = _entropies(entropy, min(arities))
    check_cells(graph, arities)
    wanted = Stream(seed, Purpose.PARAMETERS).between(low, high, len(arities))
    drawn = [_drawn(graph, k, arities, seed) for k in range(len(arities))]
    network = BayesianNetwork(
        graph.names,
        tuple(tuple(range(levels)) for levels in arities),
        graph.parents,
        _solved(drawn, wanted),
    )
    return Known(graph, network)


def _drawn(graph: Graph, k: int, arities: Sequence[int], seed: Seed) -> Floats:
    """Rows spread evenly over all distributions, drawn again until every parent matters."""
    shape = tuple(arities[j] for j in (*graph.parents[k], k))
    chance = Stream(seed, Purpose.PARAMETERS, k)
    while True:
        weights = chance.exponentials(math.prod(shape)).reshape(shape)
        if _all_matter(weights.argmax(axis=-1)):
            return np.asarray(weights / sums(weights)[..., np.newaxis])


def _all_matter(likeliest: NDArray[np.intp]) -> bool:
    """Whether the likeliest level changes with every parent, an axis each."""
    return all(
        bool((likeliest != likeliest.take([0], axis=axis)).any()) for axis in range(likeliest.ndim)
    )


def _solved(drawn: Sequence[Floats], wanted: Floats) -> tuple[Floats, ...]:
    """All tables with the wanted entropies; those of one arity are solved together."""
    solved: dict[int, Floats] = {}
    for arity in {table.shape[-1] for table in drawn}:
        chosen = [k for k, table in enumerate(drawn) if table.shape[-1] == arity]
        parts = [drawn[k].reshape(-1, arity) for k in chosen]
        lengths = list(map(len, parts))
        rows = with_entropy(np.concatenate(parts), np.repeat(wanted[chosen], lengths))
        for k, part in zip(chosen, np.split(rows, np.cumsum(lengths)[:-1]), strict=True):
            solved[k] = part.reshape(drawn[k].shape)
    return tuple(solved[k] for k in range(len(drawn)))


def with_entropy(rows: Floats, wanted: Floats) -> Floats:
    """Each row moved straight towards its likeliest level, or towards evenness.

    Entropy is concave. On the way to the likeliest level, where it is 0, it therefore takes a
    value below the first one once; and on the way to evenness, where it is largest, it rises.
    So there is one place with the wanted entropy, found by halving. The likeliest level stays
    the likeliest.
    """
    arity = rows.shape[-1]
    falling = entropy_of(rows) > wanted
    corner = np.eye(arity)[rows.argmax(axis=-1)]
    goal = np.where(falling[:, np.newaxis], corner, 1.0 / arity)
    low, high = np.zeros(len(rows)), np.ones(len(rows))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        # What is kept of the row raises its entropy where the goal is a corner.
        above = (entropy_of(_mixed(rows, goal, middle)) > wanted) == falling
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return _mixed(rows, goal, high)


def _mixed(rows: Floats, goal: Floats, kept: Floats) -> Floats:
    return np.asarray(goal + kept[:, np.newaxis] * (rows - goal))


def _arities(arity: int | Sequence[int], graph: Graph) -> tuple[int, ...]:
    d = len(graph.names)
    if not isinstance(arity, Sequence | np.ndarray):
        return (whole("arity", arity, 2),) * d
    found = wholes("arity", arity, 2)
    if len(found) != d:
        raise SettingError(f"arity must be one number or one for each of {d} nodes, not {arity!r}")
    return found


def _entropies(wanted: float | Sequence[float], arity: int) -> tuple[float, float]:
    low, high = span("entropy", wanted, above=0)
    most = math.log(arity)
    if high > MOST_EVEN * most:
        raise SettingError(
            f"entropy must be below {most:.6g}, the entropy of {arity} even levels, "
            f"not {wanted!r}; allow more levels with arity, or less entropy"
        )
    return low, high
