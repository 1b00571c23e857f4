"""Laws of numbers: linear Gaussian models, the unfaithful one of app. C.7, and nonlinear additive
models with a smooth random function of each parent.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tamis.plugins import whole
from tamis.portable import Floats
from tamis.simulate.graphs import Graph
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


SLOPES = (0.5, 2.0)
CENTRES = (-2.0, 2.0)


@dataclass(frozen=True)
class Curve:
    """f(x) = sum of w s(b (x - c)) with s(u) = u / sqrt(1 + u^2).

    s rises from -1 to 1 as tanh does, but without a function that machines compute
    differently. Steps of different signs make f rise and fall. It is bounded: values do not
    grow along a path.
    """

    weights: tuple[float, ...]
    slopes: tuple[float, ...]
    centres: tuple[float, ...]

    def __call__(self, x: Floats) -> Floats:
        """The function at these points."""
        total = np.zeros_like(x)
        for weight, slope, centre in zip(self.weights, self.slopes, self.centres, strict=True):
            u = slope * (x - centre)
            total += weight * (u / np.sqrt(1.0 + u * u))
        return total


@dataclass(frozen=True)
class Nonlinear(NodeModel):
    """X = sum of f(x) over the parents, each with a curve of its own, + N(0, variance)."""

    curves: tuple[tuple[Curve, ...], ...]
    variances: tuple[float, ...]

    def column(self, k: int, given: Sequence[Column], n: int, chance: Stream) -> Column:
        """Floats."""
        values = float(np.sqrt(self.variances[k])) * chance.normals(n)
        for curve, parent in zip(self.curves[k], given, strict=True):
            values += curve(parent)
        return values


def nonlinear(
    graph: Graph,
    *,
    terms: int = 3,
    weights: float | Sequence[float] = (0.5, 1.5),
    variances: float | Sequence[float] = 1.0,
    seed: Seed,
) -> Nonlinear:
    """Every curve has ``terms`` steps, their sizes drawn from ``weights``, their signs by a coin.

    Slopes and centres are drawn evenly from ``SLOPES`` and ``CENTRES``, and the variances of
    the noise from their range.
    """
    terms = whole("terms", terms, 1)
    sizes, noises = span("weights", weights, above=0), span("variances", variances, above=0)
    chance = Stream(seed, Purpose.PARAMETERS)
    noise = chance.between(*noises, len(graph.names))
    drawn = _curves(graph.n_edges, terms, sizes, chance)
    curves = tuple(tuple(next(drawn) for _ in given) for given in graph.parents)
    return Nonlinear(graph, curves, tuple(noise.tolist()))


def _curves(number: int, terms: int, sizes: tuple[float, float], chance: Stream) -> Iterator[Curve]:
    shape, total = (number, terms), number * terms
    weights = (chance.between(*sizes, total) * chance.signs(total)).reshape(shape)
    slopes = chance.between(*SLOPES, total).reshape(shape)
    centres = chance.between(*CENTRES, total).reshape(shape)
    for steps in zip(weights.tolist(), slopes.tolist(), centres.tolist(), strict=True):
        yield Curve(*map(tuple, steps))
