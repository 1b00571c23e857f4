"""Laws that are not the paper's, as applied tables have them: causes that suffice alone, tables
of no particular shape, ordered levels, and levels beside numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tamis.network import BayesianNetwork
from tamis.portable import Floats, log, sigmoid, sums
from tamis.simulate.graphs.graph import Graph
from tamis.simulate.models.known import Known
from tamis.simulate.models.model import Column, NodeModel, TableModel, check_cells, per_edge
from tamis.simulate.options import span, whole
from tamis.simulate.streams import Purpose, Seed, Stream


@dataclass(frozen=True)
class NoisyOr(TableModel):
    """X is 1 by itself with probability ``leak``, and by each parent that is 1 with its
    ``strengths``, all independently."""

    leak: tuple[float, ...]
    strengths: tuple[tuple[float, ...], ...]

    def column(self, k: int, given: Sequence[Column], n: int, chance: Stream) -> Column:
        """0 and 1."""
        silent = np.full(n, 1.0 - self.leak[k])
        for strength, parent in zip(self.strengths[k], given, strict=True):
            silent *= 1.0 - strength * parent
        return np.asarray(chance.uniforms(n) >= silent).view(np.int8)

    def arities(self) -> Sequence[int]:
        """All nodes are binary."""
        return (2,) * len(self.graph.names)

    def table(self, k: int) -> Floats:
        """The two probabilities for every setting of the parents."""
        silent = np.asarray(1.0 - self.leak[k])
        for strength in self.strengths[k]:
            silent = np.multiply.outer(silent, [1.0, 1.0 - strength])
        return np.stack([silent, 1.0 - silent], axis=-1)


def noisy_or(
    graph: Graph,
    *,
    leak: float | Sequence[float] = (0.05, 0.4),
    strengths: float | Sequence[float] = (0.4, 0.9),
    seed: Seed,
) -> NoisyOr:
    """Leaks and strengths are drawn evenly from these ranges, within 0 and 1."""
    leaks, sizes = span("leak", leak, above=0), span("strengths", strengths, above=0)
    chance = Stream(seed, Purpose.PARAMETERS)
    own = np.minimum(chance.between(*leaks, len(graph.names)), 1.0)
    each = np.minimum(chance.between(*sizes, graph.n_edges), 1.0)
    return NoisyOr(graph, tuple(own.tolist()), per_edge(graph, each))


def dirichlet(graph: Graph, *, least: int = 2, most: int = 4, seed: Seed) -> Known:
    """Every node has ``least`` to ``most`` levels, and a distribution of its own, drawn evenly from
    all there are, for every setting of its parents."""
    least = whole("least", least, 2)
    chance = Stream(seed, Purpose.PARAMETERS)
    arities = _levels(least, whole("most", most, least), len(graph.names), chance)
    check_cells(graph, arities)
    tables = []
    for k, given in enumerate(graph.parents):
        shape = tuple(arities[j] for j in (*given, k))
        weights = Stream(seed, Purpose.PARAMETERS, k).exponentials(math.prod(shape))
        table = weights.reshape(shape)
        tables.append(np.asarray(table / sums(table)[..., np.newaxis]))
    levels = tuple(tuple(range(arity)) for arity in arities)
    return Known(graph, BayesianNetwork(graph.names, levels, graph.parents, tuple(tables)))


@dataclass(frozen=True)
class Ordinal(NodeModel):
    """Levels 0, 1, ... by cumulative logits: X is above a cut if the sum of beta x over the
    parents, each on the scale from -1 to 1, and logistic noise are."""

    levels: tuple[int, ...]
    beta: tuple[tuple[float, ...], ...]

    def column(self, k: int, given: Sequence[Column], n: int, chance: Stream) -> Column:
        """Whole numbers."""
        score = _logistic_noise(n, chance)
        for j, beta, parent in zip(self.graph.parents[k], self.beta[k], given, strict=True):
            score += beta * _from_minus_one(parent, self.levels[j])
        cuts = np.linspace(-1.5, 1.5, self.levels[k] - 1) if self.levels[k] > 2 else np.zeros(1)
        return np.asarray((score[:, np.newaxis] > cuts).sum(axis=1), dtype=np.int8)


def ordinal(
    graph: Graph,
    *,
    least: int = 3,
    most: int = 5,
    coefficients: float | Sequence[float] = (1.0, 3.0),
    seed: Seed,
) -> Ordinal:
    """``least`` to ``most`` levels; |beta| is drawn evenly, and its sign by a fair coin."""
    least, sizes = whole("least", least, 2), span("coefficients", coefficients, above=0)
    chance = Stream(seed, Purpose.PARAMETERS)
    levels = _levels(least, whole("most", most, least), len(graph.names), chance)
    beta = chance.between(*sizes, graph.n_edges) * chance.signs(graph.n_edges)
    return Ordinal(graph, levels, per_edge(graph, beta))


@dataclass(frozen=True)
class Mixed(NodeModel):
    """Numbers and levels: a number is the sum of beta x over its parents and N(0, 1), a node with
    levels has two, by the logit of that sum. Parents with levels count as -1 and 1."""

    measured: tuple[bool, ...]
    beta: tuple[tuple[float, ...], ...]

    def column(self, k: int, given: Sequence[Column], n: int, chance: Stream) -> Column:
        """Floats, or 0 and 1."""
        score = np.zeros(n)
        for j, beta, parent in zip(self.graph.parents[k], self.beta[k], given, strict=True):
            score += beta * (parent if self.measured[j] else _from_minus_one(parent, 2))
        if self.measured[k]:
            return score + chance.normals(n)
        return np.asarray(chance.uniforms(n) < sigmoid(score)).view(np.int8)


def mixed(
    graph: Graph,
    *,
    share: float = 0.5,
    coefficients: float | Sequence[float] = (0.5, 1.5),
    seed: Seed,
) -> Mixed:
    """A ``share`` of the nodes, drawn at random, holds numbers."""
    sizes, d = span("coefficients", coefficients, above=0), len(graph.names)
    chance = Stream(seed, Purpose.PARAMETERS)
    measured = chance.permutation(d) < round(share * d)
    beta = chance.between(*sizes, graph.n_edges) * chance.signs(graph.n_edges)
    return Mixed(graph, tuple(measured.tolist()), per_edge(graph, beta))


def _levels(least: int, most: int, d: int, chance: Stream) -> tuple[int, ...]:
    return tuple((least + chance.below(most - least + 1, d)).tolist())


def _from_minus_one(column: Column, levels: int) -> Floats:
    return np.asarray(2.0 * column / (levels - 1) - 1.0, dtype=np.float64)


def _logistic_noise(n: int, chance: Stream) -> Floats:
    uniform = chance.inner_uniforms(n)
    return np.asarray(log(uniform) - log(1.0 - uniform))
