"""MOD, the paper's "mod" model (section 6): the parity of the parents, passed on or turned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tamis.portable import Floats
from tamis.simulate.graphs.graph import Graph
from tamis.simulate.models.bernoulli import noise_of
from tamis.simulate.models.model import Column, TableModel, outer_sum
from tamis.simulate.streams import Seed, Stream


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

    def arities(self) -> Sequence[int]:
        """All nodes are binary."""
        return (2,) * len(self.graph.names)

    def table(self, k: int) -> Floats:
        """Two rows, chosen by the parity of the parents."""
        p, parents = self.p[k], self.graph.parents[k]
        parity = outer_sum(0, [np.arange(2)] * len(parents)) % 2
        return np.asarray(np.array([[p, 1.0 - p], [1.0 - p, p]])[parity])


def mod(graph: Graph, *, p: float = 0.2, flip: bool = False, seed: Seed) -> Mod:
    """The paper's model; with ``flip``, as in the authors' program, p is 1 - p at random nodes."""
    return Mod(graph, noise_of(graph, p, flip, seed))
