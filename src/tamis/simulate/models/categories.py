"""Laws of levels: the paper's "mod" and ADD (section 6), logistic regressions with the diamonds of
app. C.4, and laws that applied tables have: causes that suffice alone, tables of no particular
shape, ordered levels, and levels beside numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tamis.errors import SettingError
from tamis.network import BayesianNetwork
from tamis.plugins import whole
from tamis.portable import Floats, log, sigmoid, sums
from tamis.simulate.graphs import Graph
from tamis.simulate.models.model import (
    Column,
    NodeModel,
    TableModel,
    at_least,
    check_cells,
    outer_sum,
    per_edge,
    smallest_signed,
)
from tamis.simulate.models.networks import Known
from tamis.simulate.options import flag, number, probability, span
from tamis.simulate.streams import Purpose, Seed, Stream


@dataclass(frozen=True)
class Mod(TableModel):
    """X = (S mod 2)^Z (1 - S mod 2)^(1 - Z), S the sum of the parents, Z ~ Ber(p).

    With 0^0 = 1 this is S mod 2 if Z = 1, and 1 - (S mod 2) if Z = 0. A source has S = 0 and
    is therefore Ber(1 - p). H(X | parents) = h(p) for every node: condition C3 holds.
    """

    p: tuple[float, ...]

    def column(self, k: int, given: Sequence[Column], n: int, chance: Stream) -> Column:
        """0 and 1: modulo 2 a sum is an exclusive or, and so is turning."""
        values = (~chance.coins(self.p[k], n)).view(np.int8)
        for parent in given:
            values ^= parent
        return values

    def table(self, k: int) -> Floats:
        """Two rows, chosen by the parity of the parents."""
        p, parents = self.p[k], self.graph.parents[k]
        parity = outer_sum(0, [np.arange(2)] * len(parents)) % 2
        return np.asarray(np.array([[p, 1.0 - p], [1.0 - p, p]])[parity])


def mod(graph: Graph, *, p: float = 0.2, flip: bool = False, seed: Seed) -> Mod:
    """The paper's model; with ``flip``, as in the authors' program, p is 1 - p at random nodes."""
    return Mod(graph, noise_of(graph, p, flip, seed))


LARGEST = 2**63 - 1


@dataclass(frozen=True)
class Add(TableModel):
    """X = sum of the parents + Z, Z ~ Ber(p).

    H(X | parents) = h(p) for every node: condition C3 holds.
    """

    p: tuple[float, ...]

    def __post_init__(self) -> None:
        k = max(range(len(self.largest)), key=self.largest.__getitem__)
        if self.largest[k] > LARGEST:
            raise SettingError(
                f"the sum at {self.graph.names[k]!r} can reach {at_least(self.largest[k])}, which "
                "no integer type holds: every directed path that ends there adds 1. Use a sparser "
                "graph."
            )

    def column(self, k: int, given: Sequence[Column], n: int, chance: Stream) -> Column:
        """Whole numbers in the smallest type that holds the largest possible sum."""
        values = chance.coins(self.p[k], n).astype(smallest_signed(self.largest[k]))
        for parent in given:
            values += parent
        return values

    @cached_property
    def largest(self) -> tuple[int, ...]:
        """The largest value of each node, with every coin 1."""
        found: dict[int, int] = {}
        for k in self.graph.order:
            found[k] = 1 + sum(found[p] for p in self.graph.parents[k])
        return tuple(found[k] for k in range(len(found)))

    def arities(self) -> Sequence[int]:
        """From 0 to the largest possible sum."""
        return tuple(value + 1 for value in self.largest)

    def table(self, k: int) -> Floats:
        """p one above the sum of the parents, 1 - p at it, nothing elsewhere."""
        total = outer_sum(0, [np.arange(self.largest[p] + 1) for p in self.graph.parents[k]])
        rows = (1.0 - self.p[k]) * np.eye(self.largest[k], self.largest[k] + 1)
        rows += self.p[k] * np.eye(self.largest[k], self.largest[k] + 1, k=1)
        return np.asarray(rows[total])


def add(graph: Graph, *, p: float = 0.2, flip: bool = False, seed: Seed) -> Add:
    """The paper's model; with ``flip`` p is 1 - p at random nodes."""
    return Add(graph, noise_of(graph, p, flip, seed))


def noise_of(graph: Graph, p: float, flip: bool, seed: Seed) -> tuple[float, ...]:
    """P(Z = 1) for every node: p, or with ``flip`` p or 1 - p, equally likely."""
    p = probability("p", p)
    turned = np.zeros(len(graph.names), dtype=np.bool_)
    if flag("flip", flip):
        turned = Stream(seed, Purpose.PARAMETERS).coins(0.5, len(turned))
    return tuple(np.where(turned, 1.0 - p, p).tolist())


@dataclass(frozen=True)
class Logistic(TableModel):
    """P(X = 1 | parents) = sigma(alpha + sum of beta x), one beta for each parent."""

    alpha: tuple[float, ...]
    beta: tuple[tuple[float, ...], ...]

    def column(self, k: int, given: Sequence[Column], n: int, chance: Stream) -> Column:
        """0 and 1."""
        score = np.full(n, self.alpha[k])
        for beta, parent in zip(self.beta[k], given, strict=True):
            score += beta * parent
        return np.asarray(chance.uniforms(n) < sigmoid(score)).view(np.int8)

    def table(self, k: int) -> Floats:
        """The two probabilities for every setting of the parents."""
        ones = sigmoid(outer_sum(self.alpha[k], [beta * np.arange(2) for beta in self.beta[k]]))
        return np.stack([1.0 - ones, ones], axis=-1)


def logistic(
    graph: Graph,
    *,
    coefficients: float | Sequence[float] = (0.5, 2.0),
    intercepts: float | Sequence[float] = (-1.0, 1.0),
    seed: Seed,
) -> Logistic:
    """|beta| and alpha are drawn evenly from these ranges, the sign of beta by a fair coin."""
    sizes, offsets = span("coefficients", coefficients, above=0), span("intercepts", intercepts)
    chance = Stream(seed, Purpose.PARAMETERS)
    alpha = chance.between(*offsets, len(graph.names))
    beta = chance.between(*sizes, graph.n_edges) * chance.signs(graph.n_edges)
    return Logistic(graph, tuple(alpha.tolist()), per_edge(graph, beta))


def diamond(
    *,
    paths: int = 2,
    length: int = 1,
    effect: float = 2.0,
    spread: float = 1.0,
    p: float = 0.3,
) -> Logistic:
    """The example of app. C.4: paths from Z to Y that cancel, so that I(Z ; Y) = 0.

    Z ~ Ber(p) has ``paths`` children, P(Xi = 1 | Z) = sigma(ai + bi Z), and Y has as many
    parents with one and the same effect. The ai go evenly from ``spread`` to ``-spread`` and
    ai + bi is the next of them, the last's being the first: setting Z passes the roles of the
    Xi round, which Y, seeing only their sum, cannot tell. (The paper has two paths exchange their
    roles, and asks of more only that the bi add up to 0. That neither suffices nor is necessary,
    with two paths or with more: docs/departures.md.) With ``length`` above 1 every Xi goes to Y
    by way of ``length - 1`` more nodes, whose laws are the same on all paths. Nothing here is
    drawn.

    By default it is the network ``diamond`` that comes with tamis.
    """
    paths, length = whole("paths", paths, 2), whole("length", length, 1)
    effect, spread = number("effect", effect, 0.01, 50), number("spread", spread, 0.01, 50)
    p = probability("p", p)
    graph = _diamond_graph(paths, length)
    first = [spread - 2.0 * spread * i / (paths - 1) for i in range(paths)]
    turn = [(after - own,) for own, after in zip(first, first[1:] + first[:1], strict=True)]
    later = paths * (length - 1)
    source = float(log(np.array([p / (1.0 - p)]))[0])
    return Logistic(
        graph,
        (source, *first, *[-effect / 2.0] * later, -effect * paths / 2.0 - 1.0),
        ((), *turn, *[(effect,)] * later, (effect,) * paths),
    )


def _diamond_graph(paths: int, length: int) -> Graph:
    """Z, the first nodes of all paths, then their second ones and so on, and Y."""
    names = [
        f"X{i}" if length == 1 else f"X{i}_{step}"
        for step in range(1, length + 1)
        for i in range(1, paths + 1)
    ]
    before = [(0,)] * paths + [(i,) for i in range(1, paths * (length - 1) + 1)]
    last = tuple(range(paths * (length - 1) + 1, paths * length + 1))
    return Graph(("Z", *names, "Y"), ((), *before, last))


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
        uniform = chance.inner_uniforms(n)
        score = np.asarray(log(uniform) - log(1.0 - uniform))
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
