"""Binary nodes by logistic regression on their parents; the diamonds of app. C.4."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tamis.portable import Floats, log, sigmoid
from tamis.simulate.graphs.graph import Graph
from tamis.simulate.models.model import Column, TableModel, outer_sum, per_edge
from tamis.simulate.options import number, probability, span, whole
from tamis.simulate.streams import Purpose, Seed, Stream


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

    def arities(self) -> Sequence[int]:
        """All nodes are binary."""
        return (2,) * len(self.graph.names)

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
