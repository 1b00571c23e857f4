"""Linear Gaussian models, and the unfaithful one of app. C.7."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tamis.portable import Floats
from tamis.simulate.graphs.graph import Graph
from tamis.simulate.models.model import Column, NodeModel, per_edge
from tamis.simulate.options import span
from tamis.simulate.streams import Purpose, Seed, Stream


@dataclass(frozen=True)
class Gaussian(NodeModel):
    """X = sum of beta x over the parents + N(0, variance); all means are 0."""

    beta: tuple[tuple[float, ...], ...]
    variances: tuple[float, ...]

    def column(self, k: int, given: Sequence[Column], n: int, chance: Stream) -> Column:
        """Floats."""
        values = float(np.sqrt(self.variances[k])) * chance.normals(n)
        for beta, parent in zip(self.beta[k], given, strict=True):
            values += beta * parent
        return values

    def covariance(self) -> Floats:
        """The covariances of all nodes, in the order of the names.

        Built up parents first: cov(X, V) = sum of beta cov(parent, V) for earlier V.
        """
        found = np.zeros((len(self.variances),) * 2)
        for k in self.graph.order:
            given = list(self.graph.parents[k])
            row = np.asarray(self.beta[k]) @ found[given] if given else found[k]
            found[k], found[:, k] = row, row
            found[k, k] = self.variances[k] + (row[given] @ np.asarray(self.beta[k]))
        return found


def gaussian(
    graph: Graph,
    *,
    coefficients: float | Sequence[float] = (0.5, 1.0),
    variances: float | Sequence[float] = 1.0,
    seed: Seed,
) -> Gaussian:
    """|beta| and the variances of the noise are drawn evenly from these ranges.

    The sign of beta is drawn by a fair coin. One variance for all nodes is the differential
    form of condition C3: the same entropy given the parents.
    """
    sizes, noises = span("coefficients", coefficients, above=0), span("variances", variances, 0)
    chance = Stream(seed, Purpose.PARAMETERS)
    beta = chance.between(*sizes, graph.n_edges) * chance.signs(graph.n_edges)
    noise = chance.between(*noises, len(graph.names))
    return Gaussian(graph, per_edge(graph, beta), tuple(noise.tolist()))


def unfaithful() -> Gaussian:
    """The example of app. C.7: Z is a parent of Y and yet independent of it.

    W ~ N(0, 1/2), Z ~ N(0, 1), X = W + Z/2 + N(0, 1/2), Y = X - Z/2 + N(0, 1); the second
    number is the variance. Nothing about it is drawn.
    """
    graph = Graph(("W", "Z", "X", "Y"), ((), (), (0, 1), (1, 2)))
    return Gaussian(graph, ((), (), (1.0, 0.5), (-0.5, 1.0)), (0.5, 1.0, 0.5, 1.0))
