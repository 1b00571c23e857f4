"""ADD, the paper's additive model (section 6): the sum of the parents and a coin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tamis.errors import SettingError
from tamis.portable import Floats
from tamis.simulate.graphs.graph import Graph
from tamis.simulate.models.bernoulli import noise_of
from tamis.simulate.models.model import Column, TableModel, at_least, outer_sum, smallest_signed
from tamis.simulate.streams import Seed, Stream

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
