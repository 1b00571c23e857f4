"""Entropies and joint tables of a Bayesian network by eliminating variables.

A plan says what to multiply and what to sum out; it is made from the scopes of the tables alone, so
that its cost is known before any table is, and what is too large is refused.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable, Sequence
from string import ascii_letters
from typing import NamedTuple

import numpy as np
from scipy.special import entr

from tamis.errors import DataError
from tamis.information.interface import Floats
from tamis.information.kept import Kept
from tamis.information.separation import (
    Dag,
    Graph,
    Splitter,
    Terms,
    Turn,
    fewest_links,
    members,
    node_set,
    smallest_table,
)

RESOLUTION = 1e-12
"""Below this an entropy or a gain is rounding and is reported as exactly 0."""
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
        self._plans: Kept[int, Plan] = Kept(PLANS)
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


LIGHT = 2**14
"""Cells up to which the first plan found will do; looking for another takes as long."""

Order = Callable[[Graph, int, Sequence[int]], list[Turn]]


class Made(NamedTuple):
    """A table by what it is: the conditionals multiplied into it and the axes it has left.

    The variables of those conditionals that are no axes have been summed out.
    """

    conditionals: int
    scope: int


class Step(NamedTuple):
    """Multiply one table or two, keep the axes of the result and sum over the others."""

    operands: tuple[Made, ...]
    result: Made

    @property
    def scope(self) -> int:
        """All axes of the tables that go in."""
        scope = 0
        for table in self.operands:
            scope |= table.scope
        return scope


class Plan(NamedTuple):
    """The steps from the conditionals of a network to the joint table of some variables.

    Every table is an operand once; ``cells`` is the size of the largest that is made.
    """

    steps: tuple[Step, ...]
    result: Made
    cells: int


class Planner:
    """Plans joint tables of one network."""

    def __init__(self, dag: Dag, levels: Sequence[int]) -> None:
        self._dag = dag
        self._levels = levels

    def cells(self, variables: int) -> int:
        """The size of the joint table of some variables."""
        return math.prod([self._levels[k] for k in members(variables)])

    def plan(self, variables: int) -> Plan:
        """A way to the joint table of some variables whose own tables are small."""
        graph = self._dag.moral(self._dag.ancestral(variables))
        found = self._by(smallest_table, graph, variables)
        if found.cells <= max(LIGHT, self.cells(variables)):
            return found
        return min(found, self._by(fewest_links, graph, variables), key=lambda plan: plan.cells)

    def _by(self, order: Order, graph: Graph, variables: int) -> Plan:
        turns = [turn.node for turn in order(graph, node_set(graph) & ~variables, self._levels)]
        place = {k: i for i, k in enumerate(turns)}
        # Every table waits for the first of its variables that is summed out, or for the end.
        waiting: list[list[Made]] = [[] for _ in range(len(turns) + 1)]

        def put(table: Made) -> None:
            first = min(place.get(k, len(turns)) for k in members(table.scope))
            waiting[first].append(table)

        for k in graph:
            put(Made(1 << k, self._dag.parents[k] | 1 << k))
        steps: list[Step] = []
        for k, tables in zip(turns, waiting, strict=False):
            put(self._product(tables, 1 << k, steps))
        result = self._product(waiting[-1], 0, steps)
        largest = max((self.cells(step.result.scope) for step in steps), default=0)
        return Plan(tuple(steps), result, max(largest, self.cells(variables)))

    def _product(self, tables: list[Made], gone: int, steps: list[Step]) -> Made:
        """Multiply tables, the smallest first with the one it grows least by, and sum last."""
        left = [(self.cells(table.scope), table) for table in tables]
        heapq.heapify(left)
        while len(left) > 2:
            one = heapq.heappop(left)[1]
            cells, place = min(
                (self.cells(one.scope | two.scope), i) for i, (_, two) in enumerate(left)
            )
            steps.append(_step((one, left.pop(place)[1]), 0))
            heapq.heapify(left)
            heapq.heappush(left, (cells, steps[-1].result))
        operands = tuple(table for _, table in left)
        if len(operands) == 1:
            return _narrowed(operands[0], gone, steps) if gone else operands[0]
        steps.append(_step(operands, gone))
        return steps[-1].result


def _step(operands: tuple[Made, ...], gone: int) -> Step:
    conditionals = scope = 0
    for table in operands:
        conditionals |= table.conditionals
        scope |= table.scope
    return Step(operands, Made(conditionals, scope & ~gone))


def _narrowed(table: Made, gone: int, steps: list[Step]) -> Made:
    """Sum over a variable of a single table, in the step that makes it if there is one."""
    for i in reversed(range(len(steps))):
        before = steps[i]
        if before.result == table and before.scope.bit_count() <= MOST_AXES:
            steps[i] = _step(before.operands, before.scope & ~table.scope | gone)
            return steps[i].result
    steps.append(_step((table,), gone))
    return steps[-1].result


BLOCK = 2**16
"""Cells whose terms of an entropy are in memory at a time."""


class Workshop:
    """Makes joint tables from the conditional tables of a network.

    ``axes[k]`` are the variables of the axes of ``conditionals[k]``.
    """

    def __init__(self, axes: Sequence[Sequence[int]], conditionals: Sequence[Floats]) -> None:
        self._given: dict[Made, Floats] = {}
        for k, (variables, table) in enumerate(zip(axes, conditionals, strict=True)):
            ordered = table.transpose(np.argsort(variables))
            # A plan without steps hands out one of these, and nobody may change it.
            ordered.flags.writeable = False
            self._given[Made(1 << k, node_set(variables))] = ordered

    def make(self, plan: Plan) -> Floats:
        """The joint table of a plan, axes in order of position."""
        tables = dict(self._given)
        for step in plan.steps:
            # Every table is an operand once, so it can be let go as soon as it has been one.
            operands = [tables.pop(operand) for operand in step.operands]
            tables[step.result] = contracted(step, operands)
        return tables[plan.result]


def contracted(step: Step, operands: Sequence[Floats]) -> Floats:
    """The result of one step from the tables that go in."""
    letter = dict(zip(members(step.scope), ascii_letters, strict=False))

    def axes(table: Made) -> str:
        return "".join([letter[k] for k in members(table.scope)])

    subscripts = ",".join(map(axes, step.operands)) + "->" + axes(step.result)
    return np.asarray(np.einsum(subscripts, *operands))


def summed(table: Floats, scope: int, kept: int) -> Floats:
    """The joint table of some of the variables of a joint table."""
    # One axis at a time adds few numbers at a time, so the rounding stays that of few.
    for axis, k in reversed(list(enumerate(members(scope)))):
        if not kept >> k & 1:
            table = table.sum(axis=axis)
    return np.asarray(table)


def entropy(table: Floats) -> float:
    """- sum p ln p in nats, block by block: no second table of that size, little rounding.

    A product of many conditionals sums to 1 only up to their rounding, which is undone here.
    """
    cells = table.ravel(order="K")
    blocks = [cells[i : i + BLOCK] for i in range(0, cells.size, BLOCK)]
    total = math.fsum(float(block.sum()) for block in blocks)
    value = math.fsum(float(entr(block).sum()) for block in blocks)
    return value / total + math.log(total)


CELL = 8
"""Bytes of a probability."""
MOST_AXES = 32
"""The number of dimensions that every supported numpy can hold."""
MOST_CELLS = 2**31
"""With two levels or more a variable, a table and one axis more stay below ``MOST_AXES``."""
SHOWN = 8
"""Variables that a message names."""


class TooLarge(DataError):  # noqa: N818 -- an error by its family, a size by its name
    """A question that exact inference cannot answer in the memory it was allowed.

    ``cells`` and ``bytes`` are the size of the largest single table that it needs, and ``what``
    names the variables whose joint distribution needs it.
    """

    def __init__(self, cells: int, limit: float, what: Sequence[str]) -> None:
        self.cells = cells
        self.bytes = cells * CELL
        self.what = tuple(what)
        most = MOST_CELLS * CELL
        super().__init__(
            f"the joint distribution of {_listed(self.what)} needs a table of {cells:.3g} cells, "
            f"{_size(self.bytes)}; {_size(min(limit, most))} are allowed. Condition on fewer "
            f"variables, merge levels, or raise memory_limit, which can be {_size(most)} at most."
        )


def check_size(cells: int, limit: float, what: Sequence[str]) -> None:
    """Refuse a table of more cells than fit into the limit, which is in bytes."""
    if cells > MOST_CELLS or cells * CELL > limit:
        raise TooLarge(cells, limit, what)


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:SHOWN])
    return shown if len(names) <= SHOWN else f"{shown} and {len(names) - SHOWN} more"


def _size(n_bytes: float) -> str:
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if n_bytes < 1024:
            return f"{n_bytes:.3g} {unit}"
        n_bytes /= 1024
    return f"{n_bytes:.3g} TiB"
