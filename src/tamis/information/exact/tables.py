"""Carry out plans: multiply and sum the tables of a network."""

from __future__ import annotations

import math
from collections.abc import Sequence
from string import ascii_letters

import numpy as np
from scipy.special import entr

from tamis.information.exact.graph import members, node_set
from tamis.information.exact.plan import Made, Plan, Step
from tamis.information.interface import Floats

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
