"""Sums of joint entropies, and joint tables, of a Bayesian network by eliminating variables."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from tamis.information.exact.graph import Dag, members
from tamis.information.exact.limits import MOST_CELLS, check_size
from tamis.information.exact.pieces import Splitter, Terms
from tamis.information.exact.plan import Plan, Planner
from tamis.information.exact.recent import Recent
from tamis.information.exact.tables import Workshop, entropy, summed
from tamis.information.interface import Floats
from tamis.information.joint import RESOLUTION

ROUNDING = 4e-15
"""The error of an entropy in parts of its value, at most: ten times what has been measured."""
PLANS = 1024
"""Plans kept between forecast and work."""


class Inference:
    """Answers about sets of variables, which are sets of bits; entropies are remembered.

    Every variable must have two levels or more, or be left out of all sets and scopes.
    """

    def __init__(
        self,
        names: Sequence[str],
        parents: Sequence[tuple[int, ...]],
        tables: Sequence[Floats],
        memory_limit: float,
    ) -> None:
        levels = [table.shape[-1] for table in tables]
        self.dag = Dag(parents)
        self.splits = Splitter(self.dag, levels)
        self._names = names
        self._memory_limit = memory_limit
        self._planner = Planner(self.dag, levels)
        self._plans: Recent[int, Plan] = Recent(PLANS)
        self._workshop = Workshop([(*sources, k) for k, sources in enumerate(parents)], tables)
        self._sizes: dict[int, int] = {}
        self._entropies: dict[int, float] = {}

    def size(self, terms: Terms) -> int:
        """The number of cells of the largest table that a sum of entropies needs."""
        return max(map(self._size, _maximal(terms)), default=0)

    def values(self, questions: Sequence[Terms]) -> list[float]:
        """Sums of entropies that cannot be negative; all are refused if one is too large.

        A value no larger than its rounding can be is 0.
        """
        for terms in questions:
            for variables in self._unknown(terms):
                self._check(variables)
        return [self._value(terms) for terms in questions]

    def table(self, variables: int) -> Floats:
        """The joint table of some variables, axes in order of position."""
        if not variables:
            return np.ones(())
        self._check(variables)
        return self._workshop.make(self._plan(variables))

    def _value(self, terms: Terms) -> float:
        for variables in self._unknown(terms):
            self._learn(variables, terms)
        parts = [count * self._entropies[part] for part, count in terms.items()]
        rounding = max(RESOLUTION, ROUNDING * math.fsum(map(abs, parts)))
        value = math.fsum(parts)
        return value if value > rounding else 0.0

    def _unknown(self, terms: Terms) -> list[int]:
        return _maximal([part for part in terms if part not in self._entropies])

    def _learn(self, variables: int, terms: Terms) -> None:
        """The entropy of some variables, and of those subsets that are wanted as well."""
        table = self.table(variables)
        self._entropies[variables] = entropy(table)
        for part in terms:
            if part & ~variables == 0 and part not in self._entropies:
                self._entropies[part] = entropy(summed(table, variables, part))

    def _check(self, variables: int) -> None:
        what = [self._names[k] for k in members(variables)]
        check_size(self._size(variables), self._memory_limit, what)

    def _plan(self, variables: int) -> Plan:
        return self._plans.recall(variables, self._planner.plan)

    def _size(self, variables: int) -> int:
        if variables not in self._sizes:
            cells = self._planner.cells(variables)
            # Where the table itself is beyond all memory there is nothing to plan.
            beyond = cells > MOST_CELLS
            self._sizes[variables] = cells if beyond else self._plan(variables).cells
        return self._sizes[variables]


def _maximal(sets: Iterable[int]) -> list[int]:
    """The sets that are part of no other, the largest first."""
    found: list[int] = []
    for one in sorted(sets, key=int.bit_count, reverse=True):
        if all(one & ~other for other in found):
            found.append(one)
    return found
