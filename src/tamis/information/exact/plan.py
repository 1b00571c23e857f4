"""The plan of a joint table: what to multiply, what to sum out, and how large that gets.

A plan is made from the scopes of the tables alone. Its cost is known before any table is.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from tamis.information.exact.graph import Dag, Graph, members, node_set
from tamis.information.exact.limits import MOST_AXES
from tamis.information.exact.ordering import Turn, fewest_links, smallest_table

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
