"""Nonlinear additive models: a smooth random function of each parent, and Gaussian noise."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tamis.portable import Floats
from tamis.simulate.graphs.graph import Graph
from tamis.simulate.models.model import Column, NodeModel
from tamis.simulate.options import span, whole
from tamis.simulate.streams import Purpose, Seed, Stream

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
